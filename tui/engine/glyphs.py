"""Pictures out of characters: bars, sparklines, areas, half blocks, boxes and lines; each sign has a twin in ASCII.

A bar is as exact as an eighth of a cell, a line of sparks as an eighth of a line. Whoever is there at all gets the
smallest of its signs: only nothing looks like nothing. Knows no colours; styles are the palette's.
"""

from collections.abc import Iterable, Sequence
from itertools import groupby, pairwise
from math import isnan, nan
from typing import NamedTuple

from tui.engine.palette import drawn, heat, stacked
from tui.engine.rows import Line, Span
from tui.engine.text import cells, fit, plain

EIGHTHS = " ▏▎▍▌▋▊▉█"
"""Of a cell, from the left."""
LEVELS = " ▁▂▃▄▅▆▇█"
"""Of a cell, from below."""
UPPER = "▀"
FOLD = "⋯"
"""Time that was left out of an axis."""

ASCII = str.maketrans(
    "▏▎▍▌▋▊▉█" + "▁▂▃▄▅▆▇▀" + "▘▖▛▙" + "─│┌┐└┘├┤┬┴┼╭╮╰╯┄┆" + "═║╔╗╚╝" + "━╌╎⋯●○◆★▲▼→←↑↓▶◀…·×✖✔▒░",  # noqa: RUF001
    "..-=-=##" + '_.-:=+*"' + "'.##" + "-|+++++++++++++.:" + "=#####" + "=-:~*o**^v><^v><~.xXv=.",
)
"""The twin of every sign that is not ASCII, one cell for one cell."""


def bar(part: float, width: int) -> str:
    """As much of `width` cells as `part` says, 0 to 1; the rest is blank."""
    eighths = _steps(part, width * 8)
    full, rest = divmod(eighths, 8)
    return ("█" * full + (EIGHTHS[rest] if rest else "")).ljust(width)


def bars(parts: Sequence[tuple[float, str]], width: int) -> Line:
    """Parts of a whole one after the other, each in its style, as leaders among replicas; blank up to `width` cells."""
    ends: list[tuple[int, str]] = []
    for part, style in parts:
        ends.append((min((ends[-1][0] if ends else 0) + _steps(part, width * 8), width * 8), style))
    return tuple(_shared(ends, cell * 8, EIGHTHS) for cell in range(width))


PAIRS = (" ▖▄", "▘▌▙", "▀▛█")
"""Half cells of the upper of two bars, and of the lower one, from the left → sign."""


def paired(upper: float, lower: float, width: int, styles: tuple[str, str, str]) -> Line:
    """Two bars of parts of one scale, 0 to 1, above each other in a line, as exact as half a cell.

    `styles`: where both are, where the upper one alone goes on, where the lower one does.
    """
    halves_of = [_steps(part, width * 2) for part in (upper, lower)]
    line: list[Span] = []
    for cell in range(width):
        above, below = (min(max(size - 2 * cell, 0), 2) for size in halves_of)
        line.append((PAIRS[above][below], styles[0 if above == below else 1 if above > below else 2]))
    return tuple(line)


def sparks(values: Sequence[float], width: int, most: float | None = None) -> str:
    """The last `width` values, oldest first, each a cell; of fewer, the left stays blank. NaN: nothing is known.

    The lowest sign is that of zero alone.
    """
    shown = values[-width:] if width > 0 else ()
    top = max((value for value in shown if not isnan(value)), default=0) if most is None else most
    signs = (
        " " if isnan(value) else LEVELS[max(_steps(value / top if top > 0 else 0, 8), 1 + (value > 0))]
        for value in shown
    )
    return "".join(signs).rjust(width)


def condensed(values: Sequence[float], width: int) -> list[float]:
    """As many values as there are cells, oldest first: the largest of those that share a cell. NaN where none is known.

    Of fewer values than cells, each takes several.
    """
    ends = [round(cell * len(values) / width) for cell in range(width + 1)] if width > 0 else []
    shares = (values[min(low, len(values) - 1) : max(high, low + 1)] for low, high in pairwise(ends))
    return [max((value for value in share if not isnan(value)), default=nan) for share in shares]


def area(stacks: Sequence[Sequence[float]], styles: Sequence[str], height: int, most: float) -> tuple[Line, ...]:
    """Columns of stacked parts, `height` lines from the top; `stacks` has for each column the parts from below.

    Where two parts meet within a cell, it is shared: whose part is larger there alone where three do.
    """
    columns = [_column(parts, styles, height, most) for parts in stacks]
    return tuple(tuple(column[y] for column in columns) for y in range(height))


def _column(parts: Sequence[float], styles: Sequence[str], height: int, most: float) -> list[Span]:
    tops: list[tuple[int, str]] = []
    level = 0
    for part, style in zip(parts, styles, strict=True):
        level = min(level + _steps(part / most if most > 0 else 0, height * 8), height * 8)
        tops.append((level, style))
    return [_shared(tops, cell * 8, LEVELS) for cell in reversed(range(height))]


def _shared(tops: Sequence[tuple[int, str]], floor: int, signs: str) -> Span:
    """The cell from `floor` on, which can have two colours.

    Of three parts, one that is seen in the cell before gives way, else whoever stands between.
    """
    parts: list[tuple[int, str]] = []
    bottom = 0
    for top, style in (*tops, (floor + 8, "")):
        if top > max(bottom, floor) and bottom < floor + 8:
            parts.append((bottom, style))
        bottom = max(bottom, top)
    if len(parts) > 2 and parts[0][0] < floor:
        del parts[0]
    (_, style), (end, above) = parts[0], parts[-1]
    if len(parts) == 1:
        return ("█", drawn(style)) if style else (" ", "")
    return (signs[end - floor], stacked(style, above) if above else drawn(style))


def halves(upper: Iterable[str], lower: Iterable[str]) -> Line:
    """Two rows of cells in one line, each a style that fills."""
    return tuple((UPPER, stacked(above, below)) for above, below in zip(upper, lower, strict=True))


def scale(low: str, high: str) -> Line:
    """The ramp's legend: from what to what."""
    steps = tuple(("  ", heat(step / 7)) for step in range(8))
    return ((f"{low} ", "dim"), *steps, (f" {high}", "dim"))


def _steps(part: float, of: int) -> int:
    """A part of so many steps: one at least for anything, all of them only for the whole."""
    if part <= 0 or of <= 0:
        return 0
    return of if part >= 1 else min(max(round(part * of), 1), max(of - 1, 1))


THIN, DOUBLE = "╭─╮│╰╯", "╔═╗║╚╝"
UP, DOWN, LEFT, RIGHT = 1, 2, 4, 8
JOINTS = {
    UP: "│", DOWN: "│", UP | DOWN: "│", LEFT: "─", RIGHT: "─", LEFT | RIGHT: "─",
    DOWN | RIGHT: "╭", DOWN | LEFT: "╮", UP | RIGHT: "╰", UP | LEFT: "╯",
    UP | DOWN | RIGHT: "├", UP | DOWN | LEFT: "┤", LEFT | RIGHT | DOWN: "┬", LEFT | RIGHT | UP: "┴",
    UP | DOWN | LEFT | RIGHT: "┼",
}  # fmt: skip
"""In which directions lines leave a cell → the sign that does so."""

_BLANK: Span = (" ", "")
"""The very cell on which nothing was drawn yet; a blank of a text is another one."""


class Box(NamedTuple):
    """Left upper corner, and cells across and down, frame included."""

    x: int
    y: int
    width: int
    height: int

    @property
    def centre(self) -> int:
        """The column in its middle."""
        return self.x + self.width // 2


class Canvas:
    """A grid of cells to draw on: text, boxes, lines that join where they meet. What lies outside is not drawn."""

    def __init__(self, width: int, height: int) -> None:
        self._width, self._height = width, height
        self._cells = [[_BLANK] * width for _ in range(height)]
        self._joints: dict[tuple[int, int], int] = {}

    def put(self, x: int, y: int, text: str, style: str = "", end: int | None = None) -> int:
        """Writes untrusted text up to the column `end`, as far as it fits; the column behind it."""
        end = self._width if end is None else min(end, self._width)
        if not 0 <= y < self._height or not 0 <= x < end or not text:
            return x
        shown = plain(text)
        if cells(shown) > end - x:
            shown = fit(shown, end - x)
        if shown.isascii():
            row = [(character, style) for character in shown]
        else:
            row = [part for character in shown for part in _parted(character, style)]
        self._part(x, y)
        self._part(x + len(row), y)
        self._cells[y][x : x + len(row)] = row
        return x + len(row)

    def write(self, x: int, y: int, parts: Iterable[Span], end: int | None = None) -> None:
        """Pieces one after the other, each in its style."""
        for text, style in parts:
            x = self.put(x, y, text, style, end)

    def _part(self, x: int, y: int) -> None:
        """Of a character two cells wide nothing stays where only one of them is written anew."""
        row = self._cells[y]
        if 0 < x < self._width and not row[x][0]:
            row[x - 1 : x + 1] = [(" ", row[x][1])] * 2

    def fill(self, box: Box, style: str) -> None:
        """Blanks in a style."""
        for y in range(box.y, box.y + box.height):
            self.put(box.x, y, " " * box.width, style)

    def box(
        self, box: Box, title: str, style: str, *, is_double: bool = False, right: str = "", title_style: str = ""
    ) -> None:
        """A frame with a title, and a word at the right of it where there is room."""
        left, flat, corner, side, low_left, low_right = DOUBLE if is_double else THIN
        x, y, width, height = box
        self.put(x, y, left + flat * (width - 2) + corner, style)
        for line in range(y + 1, y + height - 1):
            self.put(x, line, side, style)
            self.put(x + width - 1, line, side, style)
        self.put(x, y + height - 1, low_left + flat * (width - 2) + low_right, style)
        end = self.put(x + 2, y, f" {title} ", title_style or style, x + width - 1)
        word = f" {right} "
        if right and end + cells(plain(word)) < x + width - 1:
            self.put(x + width - 2 - cells(plain(word)), y, word, style)

    def wire(self, x: int, y: int, to_x: int, to_y: int) -> None:
        """A straight line from one cell to another, joined to others that it meets and to frames that it ends at."""
        for place in range(min(x, to_x), max(x, to_x)):
            self._join(place, y, RIGHT)
            self._join(place + 1, y, LEFT)
        for place in range(min(y, to_y), max(y, to_y)):
            self._join(x, place, DOWN)
            self._join(x, place + 1, UP)

    def _join(self, x: int, y: int, direction: int) -> None:
        if 0 <= x < self._width and 0 <= y < self._height:
            self._joints[x, y] = self._joints.get((x, y), 0) | direction

    def lines(self) -> tuple[Line, ...]:
        """What was drawn; lines that end at a thin frame are joined to it."""
        for (x, y), directions in self._joints.items():
            sign, style = cell = self._cells[y][x]
            if cell is _BLANK:
                self._cells[y][x] = (JOINTS[directions], "dim")
            elif sign == "─":
                self._cells[y][x] = (JOINTS[directions | LEFT | RIGHT], style)
        return tuple(_runs(row) for row in self._cells)


def _parted(character: str, style: str) -> list[Span]:
    """The cells that it takes, the first of which holds it."""
    return [(character, style), *[("", style)] * (cells(character) - 1)] if cells(character) else []


def _runs(row: list[tuple[str, str]]) -> Line:
    return tuple(("".join(text for text, _ in run), style) for style, run in groupby(row, key=lambda cell: cell[1]))
