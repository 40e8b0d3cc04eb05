"""From a list's rows to the window a screen asked for: filtered, sorted, cut, with the cursor's row found again.

A list can also have columns of one width, of which as many are in view as fit, and a cursor that goes across them. It
is a sign first: `>` before its column's name, `|` before its cells, which may be filled with a colour.

Knows no particular list. What is remembered between two questions lives in a Memory that the caller owns.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cached_property
from importlib import import_module
from itertools import groupby
from operator import itemgetter
from typing import Any, TypeVar, cast

import msgspec
import numpy as np

from model.cluster.topic_image import Longs
from tui.engine.filters import BadFilter, ListField, Searched, depends_on_time, matching_rows
from tui.engine.messages import Answer, ListQuery, TextQuery
from tui.engine.rows import NO_ACROSS, Across, Column, Line, Row, Span, Window

NOWHERE = -1
"""The column of a cursor that is not there."""

NAMED, BESIDE = ">", "|"


@dataclass(frozen=True)
class VisibleColumns:
    """The `count` columns from `first` on, each `cell` characters with the blank before it; `column` has the cursor."""

    first: int
    count: int
    cell: int
    column: int = NOWHERE
    is_led: bool = False
    """Whether the first cell's blank is there without a cursor, too: then nothing moves aside when there is one."""

    @property
    def lead(self) -> int:
        """Characters before the first cell's own: its blank, where the cursor may have to stand."""
        return int(self.is_led or self.column != NOWHERE)

    @property
    def width(self) -> int:
        """Characters of all together."""
        return max(self.count * self.cell - 1 + self.lead, 0)

    @property
    def view(self) -> slice:
        """The columns in view, of all there are."""
        return slice(self.first, self.first + self.count)

    def line(self, cells: Sequence[Span]) -> Line:
        """What is in view of a row, each to the right of its cell, with the cursor's sign where it is."""
        texts = [
            ((BESIDE if place == self.column else " ") + text.rjust(self.cell - 1), style)
            for place, (text, style) in enumerate(cells, self.first)
        ]
        runs = [(style, "".join(text for text, _ in run)) for style, run in groupby(texts, lambda one: one[1])]
        skipped = 1 - self.lead
        return tuple((text if place else text[skipped:], style) for place, (style, text) in enumerate(runs))

    def filled(self, cells: Sequence[Span], between: str = "") -> Line:
        """As `line`, each cell filled with its style. The blanks before cells are in the style `between`.

        Where a cell has one character besides its blank, it fills both: the colour would be too thin else.
        """
        own = self.cell - 1
        pieces: list[Span] = []
        for place, (text, style) in enumerate(cells, self.first):
            before = style if own == 1 else between
            pieces += [(BESIDE, "key" if own > 1 else style) if place == self.column else (" ", before)]
            pieces.append((text.rjust(own), style))
        runs = groupby(pieces[1 - self.lead :], key=itemgetter(1))
        return tuple(("".join(text for text, _ in run), style) for style, run in runs)

    def title(self, names: Sequence[str], signs: Sequence[str] = ()) -> str:
        """The names in view, above their cells, after each one's own sign if it has any; else after the cursor's."""
        signs = signs or " " * len(names)
        signs = [
            NAMED if place == self.column and sign == " " else sign for place, sign in enumerate(signs, self.first)
        ]
        return "".join((sign + name).rjust(self.cell) for sign, name in zip(signs, names, strict=True))[1 - self.lead :]

    def across(self, names: Sequence[str], place: int) -> Across:
        """What the list has to know; `names` are all there are, `place` is the column of the list that holds them."""
        column = names[self.column] if self.column != NOWHERE else ""
        return Across(tuple(names), column, place, self.first, self.cell, self.lead)


def visible_columns(
    count: int, cell: int, room: int, offset: int, column: int = NOWHERE, *, is_led: bool = False
) -> VisibleColumns:
    """As many of `count` columns as fit, at least one, from the one at `offset` on, but with the cursor's in view."""
    room -= is_led or column != NOWHERE
    most = max((room + 1) // cell, 1)
    first = max(0, min(offset, count - most))
    if column != NOWHERE:
        first = max(min(first, column), column - most + 1)
    return VisibleColumns(first, min(most, count - first), cell, column, is_led)


T = TypeVar("T")

MOST_COMPARED = 2_000
"""Names that a mistyped one is compared with."""
_NAMED = re.compile(r"(?:^|\s)([a-z_-]+):=?([^\s<>=|!]+)(?=\s|$)")

Order = Longs | range
"""Indices of rows; a range where these are all rows, forwards or backwards."""


@dataclass
class AnswerMemo:
    """Answers kept for as long as what they were made from is still the very same; one for each name."""

    _kept: dict[str, tuple[tuple[object, ...], Any]] = field(default_factory=dict[str, tuple[tuple[object, ...], Any]])
    good_filters: dict[str, str] = field(default_factory=dict[str, str])
    """List → the last filter that could be understood: its rows stay while a bad one is typed."""

    def recall(self, name: str, made_from: tuple[object, ...], make: Callable[[], T]) -> T:
        """What was made from these very objects (texts and numbers: equal ones), or is made now."""
        known = self._kept.get(name)
        if known is None or len(known[0]) != len(made_from) or not all(map(_same, known[0], made_from)):
            known = self._kept[name] = (made_from, make())
        return cast(T, known[1])

    def last(self, name: str) -> Any:
        """What was made last under this name, of whatever; None where nothing was."""
        return self._kept.get(name, ((), None))[1]


def _same(one: object, other: object) -> bool:
    return one is other or (isinstance(one, str | int) and type(one) is type(other) and one == other)


@dataclass(frozen=True, eq=False)
class Listing:
    """A list before it is filtered, in its own order. Fields are made only when a question needs them."""

    count: int
    fields: Callable[[], Mapping[str, ListField]]
    shown: Sequence[str]
    """Fields that a plain word of a filter is looked for in: the columns on the screen."""
    row: Callable[[int], Row]
    place: Callable[[str], int | range]
    """Index of the row with a key, -1 if there is none; a range where the first in view of several rows is meant."""
    columns: tuple[Column, ...]
    made_from: tuple[object, ...]
    """The objects that the rows and their order depend on."""
    nothing: str = ""
    """What to say when the list is empty, filter or not."""
    sought: int = -1
    """Index of the row that is meant where no key says it."""
    across: Across = NO_ACROSS
    wants: int = 0
    """See Window."""
    names: Mapping[str, Callable[[], Iterable[str]]] = field(default_factory=dict[str, Callable[[], Iterable[str]]])
    """Fields whose values are names of things → all there are, whether or not a row is about them."""

    @cached_property
    def all_fields(self) -> Mapping[str, ListField]:
        return self.fields()


def place_in(keys: Sequence[str]) -> Callable[[str], int]:
    """A Listing's `place` for keys in a sequence."""
    return lambda key: keys.index(key) if key in keys else -1


def window(listing: Listing, query: ListQuery, memory: AnswerMemo, now_ms: int, name: str = "") -> Window:
    """The rows asked for. `name`: what they are remembered by, where that is not the list's own name."""
    order, error = rows_in_order(listing, query, memory, now_ms, name)
    first = max(0, min(query.first, len(order) - query.count))
    shown = map(int, order[first : first + max(query.count, 0)])
    return Window(
        first=first,
        total=len(order),
        rows=tuple(listing.row(index) for index in shown),
        columns=listing.columns,
        cursor=_cursor(order, listing.place(query.key) if query.key else listing.sought),
        unfiltered_total=listing.count,
        note=error or _emptiness(listing, query, len(order)),
        across=listing.across,
        wants=listing.wants,
    )


Page = Callable[..., Listing | Answer]
"""Of what it shows, a query, what ages are counted from (ms), and the lists' memory."""


def loaded(page: Page | str) -> Page:
    """The page itself; of one that is loaded late the registry has the name, `lab.rows.lab_groups`."""
    if not isinstance(page, str):
        return page
    module, _, name = page.rpartition(".")
    return getattr(import_module(f"tui.engine.{module}"), name)


def shown(page: Page, source: object, query: ListQuery | TextQuery, now_ms: int, memory: AnswerMemo) -> Answer:
    """What a page has to show."""
    found = page(source, query, now_ms, memory)
    if not isinstance(found, Listing):
        return found
    assert isinstance(query, ListQuery)
    return window(found, query, memory, now_ms)


def rows_in_order(
    listing: Listing, query: ListQuery, memory: AnswerMemo, now_ms: int, name: str = ""
) -> tuple[Order, str]:
    """Indices of the rows that match, in the order asked for; with a bad filter those of the last good one, and why."""
    name = name or query.name
    good = f"{name} {query.form[0]}"
    try:
        order = _remembered(listing, query, memory, now_ms, name)
        memory.good_filters[good] = query.filter
    except BadFilter as bad:
        last = msgspec.structs.replace(query, filter=memory.good_filters.get(good, ""))
        return _remembered(listing, last, memory, now_ms, name), str(bad)
    return order, ""


def _remembered(listing: Listing, query: ListQuery, memory: AnswerMemo, now_ms: int, name: str) -> Order:
    second = now_ms // 1000 if depends_on_time(query.filter) else 0
    asked = (*query.form, query.filter, query.sort, query.reverse, listing.count, second)

    def order() -> Order:
        return ordered(listing, query.filter, query.sort, query.reverse)

    return memory.recall(f"{name} order", (*listing.made_from, *asked), order)


def ordered(listing: Listing, text: str = "", sort: str = "", reverse: bool = False) -> Order:
    """Indices of the rows that match, in order. Rows that rank the same keep the list's own order. Raises BadFilter."""
    rows: Order = range(listing.count)
    if text.strip():
        searched = Searched(listing.count, listing.all_fields, listing.shown)
        rows = np.flatnonzero(matching_rows(text, searched))
    if sort and sort in listing.all_fields:
        rows = indices(rows)
        ranks = listing.all_fields[sort].ranks()[rows]
        return rows[np.argsort(-ranks if reverse else ranks, kind="stable")]
    return rows[::-1] if reverse else rows


def indices(order: Order) -> Longs:
    """The same as an array."""
    return np.arange(order.start, order.stop, order.step) if isinstance(order, range) else order


def _cursor(order: Order, place: int | range) -> int:
    meant = place if isinstance(place, range) else range(place, place + 1)
    if isinstance(order, range):
        ends = (meant[0], meant[-1]) if meant else ()
        return min((order.index(end) for end in ends if end in order), default=-1)
    found = np.flatnonzero((order >= max(meant.start, 0)) & (order < meant.stop))
    return int(found[0]) if len(found) else -1


def _emptiness(listing: Listing, query: ListQuery, count: int) -> str:
    if count:
        return ""
    if not (listing.count and query.filter):
        return listing.nothing
    return _absent(listing, query.filter) or "nothing matches the filter"


def _absent(listing: Listing, text: str) -> str:
    """What the filter names and nothing is called; with the names nearest to it, which are its author's way out."""
    for kind, name in _NAMED.findall(text.lower()):
        names = {each.lower(): each for each in listing.names[kind]()} if kind in listing.names else {}
        if names and not any(name in each for each in names):
            # Only of those that begin alike where there are many: this is worked out as often as the list is looked at.
            few = list(names) if len(names) <= MOST_COMPARED else [each for each in names if each[:2] == name[:2]]
            near = [names[each] for each in get_close_matches(name, few[:MOST_COMPARED], 3, 0.5)]
            return f"there is no {kind} {name}" + (f": did you mean {' or '.join(near)}?" if near else "")
    return ""
