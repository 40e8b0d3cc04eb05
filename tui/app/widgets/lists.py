"""Where a list stands, as a value, and what it has to say to the screen it is on, as messages.

The cursor belongs to a row's key; an index only says where that row was when last heard of.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from operator import itemgetter

from msgspec import structs
from textual.events import Event
from textual.message import Message
from textual.widget import Widget

from tui.engine.rows import Line, Row, Span, Window


class ListMessage(Message):
    """Something one list says; `@on(RowSelected, "#brokers")` hears one list only."""

    def __init__(self, view: Widget) -> None:
        super().__init__()
        self.view = view

    @property
    def control(self) -> Widget:
        return self.view


class Latest(ListMessage):
    """A message that makes an earlier one of its kind from the same list pointless."""

    def can_replace(self, message: Message) -> bool:
        return type(message) is type(self) and isinstance(message, Latest) and message.view is self.view


class ContentShown(Latest):
    """A pane holds something else and wants more room for it, or less."""


class WindowWanted(Latest):
    """These rows are due now, and again with every change of the data, until other ones are wanted.

    `key` is the row that the cursor is on or should go to; the answer says at which index it is now.
    """

    def __init__(self, view: Widget, first: int, count: int, key: str) -> None:
        super().__init__(view)
        self.first = first
        self.count = count
        self.key = key


class RowHighlighted(Latest):
    """The cursor came to stand on another row; an empty key: there is no row any more."""

    def __init__(self, view: Widget, key: str, index: int) -> None:
        super().__init__(view)
        self.key = key
        self.index = index


class RowSelected(ListMessage, Event):
    """The operator opened a row. The screen has done what it means before the next key is looked at."""

    def __init__(self, view: Widget, key: str, index: int) -> None:
        super().__init__(view)
        self.key = key
        self.index = index


class NodeMessage(ListMessage):
    """Something about one node of a tree."""

    def __init__(self, view: Widget, key: str) -> None:
        super().__init__(view)
        self.key = key


class OpenNode(NodeMessage):
    """The children of this node should be shown."""


class CloseNode(NodeMessage):
    """The children of this node should be hidden."""


class ParentWanted(NodeMessage):
    """The cursor should go to the parent of this node, which is not among the rows held: `seek` it by its key."""


def clamp_top(top: int, height: int, total: int) -> int:
    """The first line of the viewport, kept where there is something to see."""
    return max(0, min(top, total - height))


def reveal(index: int, top: int, height: int) -> int:
    """The nearest top from which line `index` can be seen."""
    return max(min(top, index), index - height + 1)


def thumb(top: int, height: int, total: int) -> range:
    """Lines of the viewport that the thumb covers; none when everything is in view.

    It touches an end only when the viewport does.
    """
    if total <= height or height <= 0:
        return range(0)
    size = max(1, height * height // total)
    free = height - size
    last = total - height
    start = 0 if top <= 0 else free if top >= last else max(min(1, free), min(free - 1, top * free // last))
    return range(max(start, 0), max(start, 0) + size)


def top_at(y: int, height: int, total: int) -> int:
    """The viewport's top after a press on line `y` of the scroll bar."""
    return clamp_top(y * (total - height) // max(height - 1, 1), height, total)


@dataclass(frozen=True)
class CursorPosition:
    """`key` is empty while the row under the cursor has not arrived; `sought` is a row on the way to which we are."""

    cursor: int = 0
    key: str = ""
    top: int = 0
    sought: str = ""


def row_at(window: Window, index: int) -> Row | None:
    """The row, if it is among those held."""
    place = index - window.first
    return window.rows[place] if 0 <= place < len(window.rows) else None


def moved(position: CursorPosition, index: int, window: Window, page: int) -> CursorPosition:
    """The operator put the cursor on this row; the nearest one there is."""
    index = max(0, min(index, window.total - 1))
    row = row_at(window, index)
    return CursorPosition(index, row.key if row else "", reveal(index, position.top, max(page, 1)))


def paged(position: CursorPosition, pages: float, window: Window, page: int) -> CursorPosition:
    """Cursor and viewport go by as many lines, so that the cursor keeps its place on the screen."""
    lines = int(max(page, 2) * pages)
    scrolled_first = scrolled(position, position.top + lines, window, page)
    return moved(scrolled_first, position.cursor + lines, window, page)


def scrolled(position: CursorPosition, top: int, window: Window, page: int) -> CursorPosition:
    """The viewport moved and left the cursor where it was, maybe out of sight."""
    return replace(position, top=clamp_top(top, page, window.total))


def resized(position: CursorPosition, window: Window, page: int) -> CursorPosition:
    """The viewport has another height; the cursor's row stays in sight."""
    return scrolled(position, reveal(position.cursor, position.top, max(page, 1)), window, page)


def followed(
    position: CursorPosition, window: Window, asked: str, page: int, *, stay_on_top: bool = False
) -> CursorPosition:
    """Other rows arrived, asked for with the key `asked`: the cursor goes along with its row.

    Where the row is gone, the cursor is left to the row that took its place. With `stay_on_top`, a cursor on the
    first row stays there, as in a list of news.
    """
    goal = _index_of(position.sought, position, window, asked)
    if goal is not None:
        # In a list that just began, what follows the row that is sought tells more than what stands before it.
        near = position if position.key else scrolled(position, goal - page // 3, window, page)
        return moved(near, goal, window, page)
    sought = "" if position.sought == asked else position.sought
    index, top = position.cursor, position.top
    if not (stay_on_top and index == 0):
        now = _index_of(position.key, position, window, asked)
        index = position.cursor if now is None else now
        if top <= position.cursor < top + page:
            top += index - position.cursor
    index = max(0, min(index, window.total - 1))
    row = row_at(window, index)
    key = row.key if row else position.key if window.total else ""
    return CursorPosition(index, key, clamp_top(top, page, window.total), sought)


BRIGHT = "bright"
"""The style of what has just changed."""


BRIGHT_S = 0.6
"""How long it is bright."""


class RecentChanges:
    """Rows in which something has just changed, by key: until when (s, on any clock), and how they look till then."""

    def __init__(self) -> None:
        self._rows: dict[str, tuple[float, Row]] = {}

    def seen(self, row: Row) -> Row:
        """How the row looks now."""
        return self._rows[row.key][1] if row.key in self._rows else row

    def learn(self, old: Window, new: Window, indices: Sequence[int], most: int, now_s: float) -> bool:
        """These rows, in view, are not those of the window before; whether any is bright: none if more than `most`."""
        pairs = [(row_at(old, index), row_at(new, index)) for index in indices]
        for _, now in pairs:
            self._rows.pop(now.key if now else "", None)
        # With other columns in view it is another part of the list, not another state of what it shows.
        is_same = old.across == new.across and [c.width for c in old.columns] == [c.width for c in new.columns]
        if not is_same or len(pairs) > most:
            return False
        same = ((before, now) for before, now in pairs if before and now and before.key == now.key)
        learnt = {now.key: bright for before, now in same if (bright := brightened(before, now))}
        self._rows |= {key: (now_s + BRIGHT_S, bright) for key, bright in learnt.items()}
        return bool(learnt)

    def forget(self, now_s: float) -> set[str]:
        """The rows whose moment is over."""
        over = {key for key, (until, _) in self._rows.items() if until <= now_s}
        self._rows = {key: row for key, row in self._rows.items() if key not in over}
        return over


def brightened(before: Row, now: Row) -> Row | None:
    """The row with what changed in it in BRIGHT; None where that is nothing but what is dim, such as an age."""
    lines = tuple(map(_brightened, before.cells, now.cells)) if len(before.cells) == len(now.cells) else now.cells
    return None if lines == now.cells else structs.replace(now, cells=lines)


def _brightened(before: Line, now: Line) -> Line:
    if before == now or all(style == "dim" for _, style in now):
        return now
    was, signs = _signs(before), _signs(now)
    if len(was) != len(signs):
        return tuple((text, BRIGHT) for text, _ in now)
    marked = [(sign, style if (sign, style) == old else BRIGHT) for (sign, style), old in zip(signs, was, strict=True)]
    runs = groupby(marked, key=itemgetter(1))
    return tuple(("".join(sign for sign, _ in run), style) for style, run in runs)


def _signs(line: Line) -> list[Span]:
    return [(sign, style) for text, style in line for sign in text]


def _index_of(key: str, position: CursorPosition, window: Window, asked: str) -> int | None:
    if not key:
        return None
    row = row_at(window, position.cursor)
    if row and row.key == key:
        return position.cursor
    if key == asked and window.cursor >= 0:
        return window.cursor
    return next((window.first + place for place, row in enumerate(window.rows) if row.key == key), None)
