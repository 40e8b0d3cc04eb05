"""The ownership graph's two layers, and what of them is in view, and in which rows.

Partitions are nodes one by one, by who has them, or by topic, so that their layer fits. Owners keep their place, so
that nothing moves under the hand. The nodes stand in the order of the mean place of those they are tied to (the
barycentre heuristic of Sugiyama, 1981), which leaves no crossing where none is needed; what nobody owns comes first.

While both layers fit, all of both is there, and the shorter one is spread out so that edges stay short. Otherwise the
cursor's layer is a list of its own, and beside it stands the part of the other layer that the cursor's node leads to.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from model.cluster.topic_image import Longs
from tui.engine.consumers.owners import NO_OWNER, Sharing
from tui.engine.queries import LAST_FRAME, NO_REPLAY, STILL

if TYPE_CHECKING:
    import networkx as nx

    Graph = nx.Graph[Any]


Level = Literal["partitions", "ranges", "topics"]
LEVELS: tuple[Level, ...] = ("partitions", "ranges", "topics")


@dataclass(frozen=True, eq=False)
class Layers:
    """N nodes in order. `node` int64[P] says in which one a partition is."""

    sharing: Sharing
    level: Level
    node: Longs
    count: int

    def members(self, node: int) -> Longs:
        """Places of the partitions in a node."""
        return self._sorted[self._starts[node] : self._starts[node + 1]]

    @cached_property
    def now(self) -> Longs:
        """int64[E, 2]: (owner, node), each edge once."""
        return _edges(self.sharing.owner, self.node, self.count)

    @cached_property
    def then(self) -> Longs:
        """The same of those that lost something, to what they lost."""
        moved = self.sharing.moved
        return _edges(self.sharing.before[moved], self.node[moved], self.count)

    @cached_property
    def gained(self) -> Longs:
        """The same of those that gained something, to what they gained."""
        moved = self.sharing.moved
        return _edges(self.sharing.owner[moved], self.node[moved], self.count)

    @cached_property
    def _sorted(self) -> Longs:
        return np.argsort(self.node, kind="stable")

    @cached_property
    def _starts(self) -> Longs:
        return np.searchsorted(self.node[self._sorted], np.arange(self.count + 1))


def level_for(one: Sharing, rows: int) -> Level:
    """The finest one that fits into so many rows; topics only where there are several, and ranges do not fit."""
    if len(one.number) <= rows:
        return "partitions"
    ranges = len(np.unique(_codes(one, "ranges")))
    return "ranges" if ranges <= rows or len(one.topics) < 2 or ranges <= len(one.topics) else "topics"


def layers_of(one: Sharing, level: Level, frame: int = NO_REPLAY) -> Layers:
    """The nodes in order; in a replay, on their way from where they were."""
    codes, node = np.unique(_codes(one, level), return_inverse=True)
    node, count = node.reshape(-1), len(codes)
    share = 1.0 if frame in (NO_REPLAY, STILL) else frame / LAST_FRAME
    place = (1 - share) * one.before + share * one.owner
    parts = np.bincount(node, minlength=count)
    mean = np.bincount(node, weights=place, minlength=count) / np.maximum(parts, 1)
    orphaned = np.bincount(node, weights=place <= NO_OWNER, minlength=count) > 0
    order = np.lexsort((np.arange(count), mean, ~orphaned))
    to = np.empty(count, np.int64)
    to[order] = np.arange(count)
    return Layers(one, level, to[node], count)


def _codes(one: Sharing, level: Level) -> Longs:
    if level == "topics":
        return one.topic
    if level == "partitions":
        return np.arange(len(one.topic))
    owners = len(one.owners) + 1
    return (one.topic * owners + one.owner + 1) * owners + one.before + 1


def _edges(owner: Longs, node: Longs, nodes: int) -> Longs:
    owned = owner != NO_OWNER
    pairs = np.unique(owner[owned] * max(nodes, 1) + node[owned])
    return np.stack((pairs // max(nodes, 1), pairs % max(nodes, 1)), axis=1)


Side = Literal["owner", "node"]


class GraphNode(NamedTuple):
    """Of the graph: an owner's place among all owners, or a node's number in its layer."""

    side: Side
    place: int


class GraphPosition(NamedTuple):
    """What is asked for: rows that are held, those of them that are in view, and what the cursor is on."""

    held: range
    seen: range
    focus: GraphNode | None


@dataclass(frozen=True, eq=False)
class VisibleGraph:
    """Rows of both layers, counted from the list's first row; `graph` has what is in view.

    An edge of the graph has the attributes `now` (bool), `then` and `gained` (of what moved). `cursor` is the row of
    the focus, `more` the number of nodes tied to it that found no room.
    """

    graph: "Graph"
    rows: dict[GraphNode, int]
    total: int
    cursor: int
    more: int = 0

    def at(self, side: Side) -> dict[int, GraphNode]:
        """Row → what stands in it on one side."""
        return {row: node for node, row in self.rows.items() if node.side == side}


def visible_graph(layers: Layers, owners: Longs, nodes: Longs, view: GraphPosition) -> VisibleGraph:
    """Of these owners and nodes, each in order."""
    height, focus = max(len(view.seen), 1), view.focus
    if max(len(owners), len(nodes)) <= height:
        left, right = _nodes("owner", owners), _nodes("node", nodes)
        graph = _graph(layers, left, right)
        rows = _spread(graph, left, right)
        cursor = -1 if focus is None else rows.get(focus, -1)
        return VisibleGraph(graph, rows, max(rows.values(), default=-1) + 1, cursor)
    on_left = focus is None or focus.side == "owner"
    sides: tuple[Side, Side] = ("owner", "node") if on_left else ("node", "owner")
    own, other = (owners, nodes) if on_left else (nodes, owners)
    top = max(min(view.seen.start, len(own) - height), 0)
    beside, more = _beside(other, tied(layers, focus), height)
    shown = _nodes(sides[1], beside)
    seen = _nodes(sides[0], own[top : top + height])
    graph = _graph(layers, *((seen, shown) if on_left else (shown, seen)))
    held = range(max(min(view.held.start, top), 0), min(max(view.held.stop, top + height), len(own)))
    rows = dict(zip(_nodes(sides[0], own[held.start : held.stop]), held, strict=True))
    rows |= {node: row for row, node in enumerate(shown, top)}
    found = np.flatnonzero(own == focus.place) if focus is not None else own[:0]
    total = max(len(own), top + len(shown) + bool(more))
    return VisibleGraph(graph, rows, total, int(found[0]) if len(found) else -1, more)


def tied(layers: Layers, node: GraphNode | None) -> Longs:
    """Places in the other layer of what a node is tied to now, or was before; the former first."""
    if node is None:
        return np.zeros(0, np.int64)
    mine, other = (0, 1) if node.side == "owner" else (1, 0)
    return np.concatenate([edges[edges[:, mine] == node.place, other] for edges in (layers.now, layers.then)])


def _nodes(side: Side, places: Longs) -> list[GraphNode]:
    return [GraphNode(side, place) for place in places.tolist()]


def _beside(layer: Longs, tied_to: Longs, height: int) -> tuple[Longs, int]:
    """As much of the other layer as there is room for, and how many of those that are tied are not in it."""
    if len(layer) <= height:
        return layer, 0
    places = np.flatnonzero(np.isin(layer, tied_to))
    first, last = (int(places[0]), int(places[-1])) if len(places) else (0, 0)
    span = last - first + 1
    if span <= height:
        start = max(min(first - (height - span) // 2, len(layer) - height), 0)
        return layer[start : start + height], 0
    kept = places if len(places) <= height else places[: height - 1]
    return layer[kept], len(places) - len(kept)


def _graph(layers: Layers, left: Sequence[GraphNode], right: Sequence[GraphNode]) -> "Graph":
    """The bipartite graph of what is in view."""
    import networkx as nx  # noqa: PLC0415 - takes 0.2 s

    graph: Graph = nx.Graph()
    graph.add_nodes_from(left, bipartite=0)
    graph.add_nodes_from(right, bipartite=1)
    kinds = (("now", layers.now), ("then", layers.then), ("gained", layers.gained))
    owners = _mask(left, len(layers.sharing.owners))
    nodes = _mask(right, layers.count)
    for kind, edges in kinds:
        for owner, node in edges[owners[edges[:, 0]] & nodes[edges[:, 1]]].tolist():
            graph.add_edge(GraphNode("owner", owner), GraphNode("node", node), **{kind: True})
    return graph


def _mask(nodes: Sequence[GraphNode], count: int) -> Longs:
    mask = np.zeros(count, bool)
    mask[[node.place for node in nodes]] = True
    return mask


def _spread(graph: "Graph", left: Sequence[GraphNode], right: Sequence[GraphNode]) -> dict[GraphNode, int]:
    """The longer layer row by row; each of the other one beside the middle of what it is tied to, in order."""
    longer, shorter = (right, left) if len(right) >= len(left) else (left, right)
    rows = {node: row for row, node in enumerate(longer)}
    next_row = 0
    for node in shorter:
        tied = [rows[other] for other in graph[node] if graph.edges[node, other].get("now")]
        row = max(next_row, sum(tied) // len(tied) if tied else next_row)
        rows[node], next_row = row, row + 1
    return rows
