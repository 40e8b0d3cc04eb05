"""Where a list stands: the row under the cursor and the first row in view, as a value. Draws nothing, asks nobody.

The cursor belongs to a row's key. An index only says where that row was when last heard of.
"""

from dataclasses import dataclass, replace

from tui.rows import Row, Window
from tui.widgets.scrolling import clamp_top, reveal


@dataclass(frozen=True)
class Position:
    """`key` is empty while the row under the cursor has not arrived; `sought` is a row on the way to which we are."""

    cursor: int = 0
    key: str = ""
    top: int = 0
    sought: str = ""


def row_at(window: Window, index: int) -> Row | None:
    """The row, if it is among those held."""
    place = index - window.first
    return window.rows[place] if 0 <= place < len(window.rows) else None


def moved(position: Position, index: int, window: Window, page: int) -> Position:
    """The operator put the cursor on this row; the nearest one there is."""
    index = max(0, min(index, window.total - 1))
    row = row_at(window, index)
    return Position(index, row.key if row else "", reveal(index, position.top, max(page, 1)))


def paged(position: Position, pages: float, window: Window, page: int) -> Position:
    """Cursor and viewport go by as many lines, so that the cursor keeps its place on the screen."""
    lines = int(max(page, 2) * pages)
    scrolled_first = scrolled(position, position.top + lines, window, page)
    return moved(scrolled_first, position.cursor + lines, window, page)


def scrolled(position: Position, top: int, window: Window, page: int) -> Position:
    """The viewport moved and left the cursor where it was, maybe out of sight."""
    return replace(position, top=clamp_top(top, page, window.total))


def resized(position: Position, window: Window, page: int) -> Position:
    """The viewport has another height; the cursor's row stays in sight."""
    return scrolled(position, reveal(position.cursor, position.top, max(page, 1)), window, page)


def followed(position: Position, window: Window, asked: str, page: int, *, stay_on_top: bool = False) -> Position:
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
    return Position(index, key, clamp_top(top, page, window.total), sought)


def _index_of(key: str, position: Position, window: Window, asked: str) -> int | None:
    if not key:
        return None
    row = row_at(window, position.cursor)
    if row and row.key == key:
        return position.cursor
    if key == asked and window.cursor >= 0:
        return window.cursor
    return next((window.first + place for place, row in enumerate(window.rows) if row.key == key), None)
