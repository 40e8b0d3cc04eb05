"""The ownership graph as rows: owners on the left, their partitions on the right, edges between, drawn for a focus.

What the cursor is on has its edges drawn strong; the rest is dim, but for what needs a look. Edges are drawn with line
characters: a stem for each star of edges, each in a column of its own where stems would touch.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from model.cluster.topic_image import Longs
from model.consumers.ownership import partition_ranges
from tui.engine.consumers.graph_layout import GraphNode, Layers, VisibleGraph
from tui.engine.consumers.groups import lag_cell
from tui.engine.consumers.owners import NO_OWNER, owner_cells, owner_columns
from tui.engine.queries import BLANK, LAST_FRAME, NO_REPLAY, PARTITION, STILL, GraphList
from tui.engine.rows import Column, Line, Row, line, span

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


ROOMY, WIDE = 90, 110
"""Cells from which there is room for the partitions' lag, and for wider bands of edges."""
BANDS = (10, 14, 24)
LAG = 8
NO_READERS: Mapping[str, str] = MappingProxyType({})
TITLES = {"partitions": "partitions", "ranges": "partitions, by owner", "topics": "topics"}


@dataclass(frozen=True, eq=False)
class GraphPicture:
    """One answer: what stands in each row."""

    layers: Layers
    drawn: VisibleGraph
    focus: GraphNode | None
    query: GraphList
    read_on: Mapping[str, str]
    """Partition → who reads it beside its owner."""

    def columns(self, title: str) -> tuple[Column, ...]:
        left_out, width = self._band.left_out, self.query.width
        label = max(min(self._label_width, width * 2 // 7), 8)
        return (
            *owner_columns(self.layers.sharing, label, LAG),
            Column(f"+{left_out} undrawn" if left_out else "", self._band_width),
            Column(title or TITLES[self.layers.level], -12),
            *((Column("lag", LAG, ">"),) if width >= ROOMY else ()),
        )

    def row(self, row: int) -> Row:
        left, right = self._left.get(row), self._right.get(row)
        mine = right if self._is_among_nodes else left
        mark = "" if left is None else self.layers.sharing.owners[left.place].mark
        cells = (*self._owner(left), self._band.lines.get(row, ()), *self._node(row, right))
        return Row(f"{BLANK}{row}" if mine is None else self._key(mine), cells, mark=mark)

    @property
    def _band_width(self) -> int:
        return BANDS[(self.query.width >= ROOMY) + (self.query.width >= WIDE)]

    @property
    def _is_among_nodes(self) -> bool:
        return self.focus is not None and self.focus.side == "node"

    @cached_property
    def _left(self) -> dict[int, GraphNode]:
        return self.drawn.at("owner")

    @cached_property
    def _right(self) -> dict[int, GraphNode]:
        return self.drawn.at("node")

    @cached_property
    def _near(self) -> set[GraphNode]:
        """The focus and what it is tied to; empty where it is tied to nothing: then nothing need step back."""
        if self.focus is None or self.focus not in self.drawn.graph or not self.drawn.graph[self.focus]:
            return set()
        return {self.focus, *self.drawn.graph[self.focus]}

    @cached_property
    def _label_width(self) -> int:
        owners = self.layers.sharing.owners[:200]
        return max((sum(len(text) for text, _ in owner_cells(owner)[0]) for owner in owners), default=0)

    def _key(self, node: GraphNode) -> str:
        one = self.layers.sharing
        if node.side == "owner":
            return one.owners[node.place].name
        return PARTITION + one.name(int(self.layers.members(node.place)[0]))

    def _owner(self, node: GraphNode | None) -> tuple[Line, ...]:
        if node is None:
            return ((), (), ())
        far = "dim" if self._near and node not in self._near else None
        return owner_cells(self.layers.sharing.owners[node.place], far)

    def _node(self, row: int, node: GraphNode | None) -> tuple[Line, ...]:
        if node is None:
            is_rest = self.drawn.more and row == max(self._right, default=-1) + 1
            return (line(span(f"  and {self.drawn.more:,} more", "dim")) if is_rest else (), ())
        one, places = self.layers.sharing, self.layers.members(node.place)
        orphans = int((one.owner[places] == NO_OWNER).sum())
        style = "error" if orphans else "dim" if self._near and node not in self._near else self._hue(places)
        is_moved = self.query.frame != NO_REPLAY and bool((one.owner[places] != one.before[places]).any())
        mark = span("X ", "error") if orphans else span("~ ", "changed") if is_moved else span("  ")
        told = line(mark, span(self._named(node, places), style), *self._told(places, orphans, is_moved))
        return (told, lag_cell(one.lag_of(places)))

    def _hue(self, places: Longs) -> str:
        """That of whoever owns all of these."""
        one = self.layers.sharing
        owners = np.unique(one.owner[places])
        return one.owners[int(owners[0])].hue if len(owners) == 1 else ""

    def _named(self, node: GraphNode, places: Longs) -> str:
        """`orders 0-3,7`; of a topic that several own, which part of it the focus has: `orders 6/51 0-3,7`."""
        one = self.layers.sharing
        topic = one.topics[int(one.topic[places[0]])]
        if self.layers.level != "topics":
            return f"{topic} {partition_ranges(one.number[places].tolist())}"
        if node in self._near and self.focus is not None and self.focus.side == "owner":
            own = places[one.owner[places] == self.focus.place]
            return f"{topic} {len(own):,}/{len(places):,} {partition_ranges(one.number[own].tolist())}"
        return f"{topic} {len(places):,}"

    def _told(self, places: Longs, orphans: int, is_moved: bool) -> Line:
        one = self.layers.sharing
        parts: list[tuple[str, str]] = []
        if orphans:
            parts.append((f"  {orphans:,} unowned" if orphans < len(places) else "  no owner", "error"))
        if is_moved and self.layers.level != "topics":
            then = int(one.before[places[0]])
            parts.append((f"  was {'nobody' if then == NO_OWNER else one.owners[then].label}", "changed"))
        elif is_moved:
            parts.append((f"  {int((one.owner[places] != one.before[places]).sum()):,} moved", "changed"))
        return (*parts, *self._readers(places, has_owner=orphans == 0))

    def _readers(self, places: Longs, *, has_owner: bool) -> Line:
        """Who reads these though they are not its own, as far as that is said."""
        if not self.read_on:
            return ()
        names = map(self.layers.sharing.name, places.tolist())
        readers = Counter(self.read_on[name] for name in names if name in self.read_on)
        too = " too" if has_owner else ""
        return tuple((f"  ! {who} reads {_which(count, len(places))}{too}", "warn") for who, count in readers.items())

    @cached_property
    def _band(self) -> Band:
        return band(self._stars(), self._band_width)

    def _stars(self) -> list[Star]:
        """Of each owner: what it has; in a replay what it lost and gained; and of the focus, drawn over these."""
        before, after = _parts_of(self.query.frame)
        stars: list[Star] = []
        own = self.drawn.cursor if self._is_among_nodes else -1
        for node, row in self.drawn.rows.items():
            if node not in self.drawn.graph or node.side == "node":
                continue
            gained = self._tied(node, "gained") if after or before else ()
            kept = tuple(leaf for leaf in self._tied(node, "now") if leaf not in gained and leaf != own)
            stars.append(Star(FOCUS if node == self.focus else NOW, row, kept))
            stars += [Star(GAINED, row, gained)] if after else []
            stars += [Star(THEN, row, self._tied(node, "then"))] if before else []
        if self.focus is not None and self.focus.side == "node" and self.focus in self.drawn.graph:
            row = self.drawn.rows[self.focus]
            moved = {*self._tied(self.focus, "gained"), *self._tied(self.focus, "then")} if before or after else set()
            kept = tuple(leaf for leaf in self._tied(self.focus, "now") if leaf not in moved)
            stars.append(Star(FOCUS, row, kept, from_left=False))
        return [star for star in stars if star.leaves]

    def _tied(self, node: GraphNode, kind: str) -> tuple[int, ...]:
        graph, rows = self.drawn.graph, self.drawn.rows
        return tuple(sorted(rows[other] for other in graph[node] if graph.edges[node, other].get(kind)))


def _which(count: int, among: int) -> str:
    return f"{count:,} of them" if count < among else "it" if count == 1 else "them"


def _parts_of(frame: int) -> tuple[bool, bool]:
    """Whether edges as they were are drawn, and those as they are."""
    if frame == STILL:
        return True, True
    return (0 <= frame <= LAST_FRAME - 2, 2 <= frame <= LAST_FRAME)
