"""The partitions of a group as nodes of a layer that fits: one by one, by who has them, or by topic; and the edges.

Owners keep their place, so that nothing moves under the hand. The nodes stand in the order of the mean place of those
they are tied to (the barycentre heuristic of Sugiyama, 1981), which leaves no crossing where none is needed; what
nobody owns comes first.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from model.cluster.topic_image import Longs
from tui.data.graph_rows import LAST_FRAME, PLAIN, STILL
from tui.data.pages.ownership.sharing import NO_OWNER, Sharing

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


def layers_of(one: Sharing, level: Level, frame: int = PLAIN) -> Layers:
    """The nodes in order; in a replay, on their way from where they were."""
    codes, node = np.unique(_codes(one, level), return_inverse=True)
    node, count = node.reshape(-1), len(codes)
    share = 1.0 if frame in (PLAIN, STILL) else frame / LAST_FRAME
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
