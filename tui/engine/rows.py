"""Rows as the screens draw them: text with a style's name, no terminal in sight.

Built in the data process, drawn in the UI process; so they are plain values that travel as MessagePack.
"""

import msgspec

Span = tuple[str, str]
"""(text, style name). The text may be untrusted: widgets pass it through `tui.engine.text.plain` before drawing."""

Line = tuple[Span, ...]


class Row(msgspec.Struct, frozen=True, array_like=True):
    """One line of a list. `key` identifies the thing shown, whatever its place in the list.

    `depth`, `open` are for trees: `open` is None for a leaf, else whether the children are shown.
    """

    key: str
    cells: tuple[Line, ...]
    depth: int = 0
    open: bool | None = None
    mark: str = ""
    """One cell before the row: severity (`X` `!` `~`) or change (`+` `~` `-`)."""


class Column(msgspec.Struct, frozen=True, array_like=True):
    """A column's title and width in cells; a negative width is a minimum that takes what is left over."""

    title: str
    width: int
    align: str = "<"
    sort: str = ""
    """Name to ask for when sorting by it; empty where it cannot be sorted."""
    rank: int = 0
    """Which columns stay where not all fit: the lower, the longer. What the list is read for, its verdict, has 0."""
    head: str = ""
    """A line above the title: what names in it have in common."""
    most: int = 0
    """Cells beyond which it grows only once no other column is cut off, however long its texts are; 0: none.

    A column of a fixed width has that, and asks for room for no more than this.
    """


class Across(msgspec.Struct, frozen=True, array_like=True):
    """What goes across a map whose cells stand in one column of a list: what could be chosen there, in order.

    A thing is a broker, `b3`, or a rack, `rack:r1`.
    """

    things: tuple[str, ...] = ()
    column: str = ""
    """The one under the column cursor; empty where there is no such cursor."""
    place: int = 0
    """The number of the list's column."""
    first: int = 0
    """The number of the first thing in view."""
    cell: int = 1
    """Characters for each, a blank before it included."""
    lead: int = 0
    """How many of these blanks the first one in view has."""


NO_ACROSS = Across()


class Window(msgspec.Struct, frozen=True, array_like=True):
    """Rows `first` … of `total`; `cursor` is the present index of the row whose key was asked for, -1 if it is gone."""

    first: int
    total: int
    rows: tuple[Row, ...]
    columns: tuple[Column, ...] = ()
    cursor: int = -1
    unfiltered_total: int = 0
    note: str = ""
    """One line under or instead of the rows: a bad filter, nothing found, why there is nothing."""
    across: Across = NO_ACROSS
    turn: int = 0
    """Of the ownership graph: when its group was last rebalanced, ms since the epoch; 0 where that was never seen."""
    wants: int = 0
    """Cells that the list would fill, where what is in its columns depends on its width."""


def span(text: object, style: str = "") -> Span:
    """One piece of text in a style."""
    return (str(text), style)


def line(*parts: Span | str) -> Line:
    """A line from pieces; a bare string has no style."""
    return tuple(part if isinstance(part, tuple) else (part, "") for part in parts)
