"""The ownership graph as rows: owners on the left, their partitions on the right, edges between, drawn for a focus.

What the cursor is on has its edges drawn strong; the rest is dim, but for what needs a look.
"""

from dataclasses import dataclass
from functools import cached_property

from model.cluster.topic_image import Longs
from model.consumers.partition_ranges import partition_ranges
from tui.data.graph_rows import BLANK, LAST_FRAME, PARTITION, PLAIN, STILL
from tui.data.messages import ListQuery
from tui.data.pages.groups import lag_cell
from tui.data.pages.ownership.band import FOCUS, GAINED, NOW, THEN, Band, Star, band
from tui.data.pages.ownership.layers import Layers
from tui.data.pages.ownership.owners import owner_cells, owner_columns
from tui.data.pages.ownership.scene import Node, Scene
from tui.data.pages.ownership.sharing import NO_OWNER
from tui.rows import Column, Line, Row, line, span

ROOMY, WIDE = 90, 110
"""Cells from which there is room for the partitions' lag, and for wider bands of edges."""
BANDS = (10, 14, 24)
LAG = 8
TITLES = {"partitions": "partitions", "ranges": "partitions, by owner", "topics": "topics"}


@dataclass(frozen=True, eq=False)
class Picture:
    """One answer: what stands in each row."""

    layers: Layers
    drawn: Scene
    focus: Node | None
    query: ListQuery

    def columns(self, title: str) -> tuple[Column, ...]:
        left_out, width = self._band.left_out, self.query.width
        label = max(min(self._label_width, width * 2 // 7), 15)
        return (
            *owner_columns(label, LAG),
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
    def _left(self) -> dict[int, Node]:
        return self.drawn.at("owner")

    @cached_property
    def _right(self) -> dict[int, Node]:
        return self.drawn.at("node")

    @cached_property
    def _near(self) -> set[Node]:
        """The focus and what it is tied to; empty where it is tied to nothing: then nothing need step back."""
        if self.focus is None or self.focus not in self.drawn.graph or not self.drawn.graph[self.focus]:
            return set()
        return {self.focus, *self.drawn.graph[self.focus]}

    @cached_property
    def _label_width(self) -> int:
        return max((len(owner.label) for owner in self.layers.sharing.owners[:200]), default=0)

    def _key(self, node: Node) -> str:
        one = self.layers.sharing
        if node.side == "owner":
            return one.owners[node.place].name
        return PARTITION + one.name(int(self.layers.members(node.place)[0]))

    def _owner(self, node: Node | None) -> tuple[Line, ...]:
        if node is None:
            return ((), (), ())
        far = "dim" if self._near and node not in self._near else None
        return owner_cells(self.layers.sharing.owners[node.place], far)

    def _node(self, row: int, node: Node | None) -> tuple[Line, ...]:
        if node is None:
            is_rest = self.drawn.more and row == max(self._right, default=-1) + 1
            return (line(span(f"  and {self.drawn.more:,} more", "dim")) if is_rest else (), ())
        one, places = self.layers.sharing, self.layers.members(node.place)
        orphans = int((one.owner[places] == NO_OWNER).sum())
        style = "error" if orphans else "dim" if self._near and node not in self._near else ""
        is_moved = self.query.frame != PLAIN and bool((one.owner[places] != one.before[places]).any())
        mark = span("X ", "error") if orphans else span("~ ", "changed") if is_moved else span("  ")
        told = line(mark, span(self._named(node, places), style), *self._told(places, orphans, is_moved))
        return (told, lag_cell(one.lag_of(places)))

    def _named(self, node: Node, places: Longs) -> str:
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
        return tuple(parts)

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

    def _tied(self, node: Node, kind: str) -> tuple[int, ...]:
        graph, rows = self.drawn.graph, self.drawn.rows
        return tuple(sorted(rows[other] for other in graph[node] if graph.edges[node, other].get(kind)))


def _parts_of(frame: int) -> tuple[bool, bool]:
    """Whether edges as they were are drawn, and those as they are."""
    if frame == STILL:
        return True, True
    return (0 <= frame <= LAST_FRAME - 2, 2 <= frame <= LAST_FRAME)
