"""Pictures out of characters: bars, sparklines, areas, half blocks; each sign has a twin in ASCII.

A bar is as exact as an eighth of a cell, a line of sparks as an eighth of a line. Whoever is there at all gets the
smallest of its signs: only nothing looks like nothing. Knows no colours; styles are the palette's.
"""

from collections.abc import Iterable, Sequence
from math import isnan

from tui.engine.palette import heat, stacked
from tui.engine.rows import Line, Span

EIGHTHS = " ▏▎▍▌▋▊▉█"
"""Of a cell, from the left."""
LEVELS = " ▁▂▃▄▅▆▇█"
"""Of a cell, from below."""
UPPER = "▀"
FOLD = "⋯"
"""Time that was left out of an axis."""

ASCII = str.maketrans(
    "▏▎▍▌▋▊▉█" + "▁▂▃▄▅▆▇▀" + "─│┌┐└┘├┤┬┴┼╭╮╰╯┄┆" + "╌╎⋯●○◆★▲▼→←↑↓▶◀…·×✖✔▒░",  # noqa: RUF001
    "..-=-=##" + '_.-:=+*"' + "-|+++++++++++++.:" + "-:~*o*A^v><^v><~.xXv=.",
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


def sparks(values: Sequence[float], width: int, most: float | None = None) -> str:
    """The last `width` values, oldest first, each a cell; of fewer, the left stays blank. NaN: nothing is known."""
    shown = values[-width:] if width > 0 else ()
    top = max((value for value in shown if not isnan(value)), default=0) if most is None else most
    signs = (" " if isnan(value) else LEVELS[max(_steps(value / top if top > 0 else 0, 8), 1)] for value in shown)
    return "".join(signs).rjust(width)


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
    """The cell from `floor` on: the part that it begins with, how far that goes, and what follows."""
    within = [(top, style) for top, style in tops if top > floor]
    if not within:
        return (" ", "")
    top, style = within[0]
    if top >= floor + 8:
        return ("█", style)
    above = within[1][1] if len(within) > 1 else ""
    return (signs[top - floor], stacked(style, above) if above else style)


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
