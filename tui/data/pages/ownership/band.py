"""The edges between the two layers, drawn with line characters: a stem for each star of edges, each in a column of
its own where stems would touch. Knows rows and columns only.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

from tui.rows import Line

NOW, THEN, GAINED, FOCUS = "now", "then", "gained", "focus"
"""Kinds of edges, the later drawn over the earlier: as it is; lost; gained; of what is under the cursor."""
_RANK = {NOW: 0, THEN: 1, GAINED: 2, FOCUS: 3}
_STYLES = {NOW: "dim", THEN: "removed", GAINED: "added", FOCUS: "key"}
_E, _W, _N, _S = 1, 2, 4, 8
_LIGHT = {
    _E: "─", _W: "─", _E | _W: "─", _N: "│", _S: "│", _N | _S: "│", _E | _S: "┌", _W | _S: "┐", _E | _N: "└",
    _W | _N: "┘", _E | _N | _S: "├", _W | _N | _S: "┤", _E | _W | _S: "┬", _E | _W | _N: "┴", 15: "┼",
}  # fmt: skip
_HEAVY = str.maketrans("─│┌┐└┘├┤┬┴┼", "━┃┏┓┗┛┣┫┳┻╋")
_DOUBLE = str.maketrans("─│┌┐└┘├┤┬┴┼", "═║╔╗╚╝╠╣╦╩╬")
_DASHED = str.maketrans("─│", "┄┆")
_GLYPHS: Mapping[str, Mapping[int, str]] = {
    NOW: _LIGHT,
    THEN: {bits: sign.translate(_DASHED) for bits, sign in _LIGHT.items()},
    GAINED: {bits: sign.translate(_DOUBLE) for bits, sign in _LIGHT.items()},
    FOCUS: {bits: sign.translate(_HEAVY) for bits, sign in _LIGHT.items()},
}
_ENDS = {THEN: "x", GAINED: ">"}
"""What stands at a partition that an edge leads away from, or to."""


class Star(NamedTuple):
    """Edges from one row to others: from the left layer to the right one, or from the right to the left."""

    kind: str
    centre: int
    leaves: tuple[int, ...]
    from_left: bool = True

    @property
    def span(self) -> range:
        """The rows that its stem runs through."""
        return range(min(self.centre, *self.leaves), max(self.centre, *self.leaves) + 1)


class Band(NamedTuple):
    """Row → its line, and how many stars were left out because stems have no room."""

    lines: Mapping[int, Line]
    left_out: int


def band(stars: Iterable[Star], width: int) -> Band:
    """Draws the stars into this many cells. Of those of kind NOW the longest are left out where there is no room."""
    stars = sorted((star for star in stars if star.leaves), key=_outwards)
    columns, left_out = _columns(stars, width - 2)
    cells: dict[tuple[int, int], tuple[str, int]] = {}
    drawn = sorted(columns, key=lambda star: _RANK[star.kind])
    for star in drawn:
        _draw(cells, star, columns[star], width)
    for star in drawn:
        if star.from_left and star.kind in _ENDS:
            for row in star.leaves:
                if cells[row, width - 1][0] == star.kind:
                    cells[row, width - 1] = (star.kind, 0)
    rows = sorted({row for row, _ in cells})
    return Band({row: _line(cells, row, width) for row in rows}, left_out)


def _outwards(star: Star) -> tuple[bool, bool, int, int]:
    """The order of stems from the left: those of what was lost, which any edge would hide; those that bend up, then
    those that bend down, the upper ones and the lower ones first, for so they cross least.
    """
    down = sum(star.leaves) > star.centre * len(star.leaves)
    bends_down = down if star.from_left else not down
    near = star.centre if star.from_left else min(star.leaves)
    return (star.kind != THEN, bends_down, -near if bends_down else near, _RANK[star.kind])


def _columns(stars: Sequence[Star], most: int) -> tuple[dict[Star, int], int]:
    """Star → the column of its stem, 1 … most; a column is shared by stems that do not meet."""
    kept = _with_room(stars, max(most, 1))
    columns: dict[Star, int] = {}
    for star in stars:
        if star not in kept:
            continue
        beside = [column for other, column in columns.items() if _meet(other, star)]
        column = max(beside, default=0) + 1
        if column <= most or star.kind != NOW:
            columns[star] = min(column, max(most, 1))
    return columns, len(set(stars)) - len(columns)


def _with_room(stars: Sequence[Star], most: int) -> set[Star]:
    """Those that matter, and of the rest the shortest, as long as no row has more stems than there are columns."""
    load: dict[int, int] = {}
    kept: set[Star] = set()
    for star in sorted(stars, key=lambda star: (star.kind == NOW, len(star.span))):
        if star.kind == NOW and any(load.get(row, 0) >= most for row in star.span):
            continue
        kept.add(star)
        for row in star.span:
            load[row] = load.get(row, 0) + 1
    return kept


def _meet(one: Star, other: Star) -> bool:
    return one.span.start < other.span.stop and other.span.start < one.span.stop


def _draw(cells: dict[tuple[int, int], tuple[str, int]], star: Star, stem: int, width: int) -> None:
    def mark(row: int, column: int, bits: int) -> None:
        kind, there = cells.get((row, column), (star.kind, 0))
        cells[row, column] = (star.kind, there | bits if kind == star.kind else bits)

    near, far = (_W, _E) if star.from_left else (_E, _W)
    before, behind = range(stem), range(stem + 1, width)
    ways = {star.centre: (before if star.from_left else behind, near)}
    for column in ways[star.centre][0]:
        mark(star.centre, column, _E | _W)
    for row in star.leaves:
        for column in behind if star.from_left else before:
            mark(row, column, _E | _W)
        mark(row, stem, far)
    mark(star.centre, stem, near)
    for row in star.span:
        mark(row, stem, (_N if row > star.span.start else 0) | (_S if row < star.span.stop - 1 else 0))


def _line(cells: Mapping[tuple[int, int], tuple[str, int]], row: int, width: int) -> Line:
    pieces = [_piece(cells.get((row, column))) for column in range(width)]
    return tuple(
        ("".join(sign for sign, _ in same), style) for style, same in groupby(pieces, key=lambda piece: piece[1])
    )


def _piece(cell: tuple[str, int] | None) -> tuple[str, str]:
    if cell is None:
        return (" ", "")
    kind, bits = cell
    return (_GLYPHS[kind][bits] if bits else _ENDS[kind], _STYLES[kind])
