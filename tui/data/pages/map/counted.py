"""What the farther levels of the map count: the partitions that match the filter, by topic, broker and rack.

Made once for as long as the partitions and the filter stay. A filter means the same on every level.
"""

from functools import cached_property, lru_cache
from typing import NamedTuple

import msgspec
import numpy as np

from model.cluster.cluster_image import ClusterImage
from model.cluster.topic_image import Ints, Longs
from model.sources.feed import Moment
from tui.data.messages import ListQuery
from tui.data.pages.listing import Listing, Memory, indices, rows_in_order, window
from tui.data.pages.map.signs import SignCounts, worst
from tui.data.pages.partitions import partition_listing, table_of
from tui.data.partition_table import PartitionTable
from tui.rows import Window

NO_RACK = "none"
"""Where brokers are that name no rack, or are dead: a rack is known only from a registration."""

TOPICS_KEPT = 1_024


def rack_name(image: ClusterImage, broker: int) -> str:
    """The rack that a broker's registration names, or NO_RACK."""
    registered = image.brokers.get(broker)
    return (registered.rack if registered else "") or NO_RACK


class Cells(NamedTuple):
    """A row of the map: for each column an index into SIGNS, and how many replicas are so."""

    codes: list[int]
    counts: list[int]


class Counted:
    """The partitions of a table that are counted, all or some; `rows` ascend."""

    def __init__(self, table: PartitionTable, rows: Longs) -> None:
        self.table = table
        self._rows = None if len(rows) == len(table) else rows
        topic = table.columns.topic if self._rows is None else table.columns.topic[rows]
        self.starts = np.flatnonzero(np.diff(topic, prepend=-1))
        self.sizes = np.diff(self.starts, append=len(topic))
        self.topics = [table.columns.topics[number] for number in topic[self.starts].tolist()]
        self.place_of_topic = {known.name: place for place, known in enumerate(self.topics)}
        self.cells_of = lru_cache(TOPICS_KEPT)(self._cells_of)

    @cached_property
    def worst_states(self) -> Ints:
        """int32[T]: of each topic the worst of its partitions' states, an index into STATES."""
        states = self.table.states if self._rows is None else self.table.states[self._rows]
        return np.minimum.reduceat(states, self.starts) if len(self.starts) else states

    @cached_property
    def widest_name(self) -> int:
        """Characters of the longest topic's name."""
        return max((len(topic.name) for topic in self.topics), default=0)

    @cached_property
    def all_topics(self) -> int:
        """Topics that have partitions, counted or not."""
        return sum(1 for topic in self.table.columns.topics if len(topic))

    @cached_property
    def signs(self) -> SignCounts:
        """Counts replicas by sign."""
        return SignCounts(self.table)

    @cached_property
    def by_broker(self) -> Longs:
        """int64[B, 7]: replicas by broker and sign."""
        return self.signs.of(slice(None) if self._rows is None else self._rows)

    @cached_property
    def racks(self) -> list[str]:
        """Their names in order; NO_RACK last, where it is needed."""
        return sorted(set(self._rack_names) - {NO_RACK}) + [NO_RACK] * (NO_RACK in self._rack_names)

    @cached_property
    def rack_of(self) -> list[int]:
        """For each of the table's brokers, which of `racks` it is in."""
        return [self.racks.index(name) for name in self._rack_names]

    @cached_property
    def _rack_names(self) -> list[str]:
        return [rack_name(self.table.image, broker) for broker in self.table.brokers]

    def by_rack(self, by_broker: Longs) -> Longs:
        """int64[R, 7]: counts of brokers summed up by rack."""
        counts = np.zeros((len(self.racks), by_broker.shape[1]), np.int64)
        np.add.at(counts, self.rack_of, by_broker)
        return counts

    def _cells_of(self, topic: int, racks: bool) -> Cells:
        start, end = int(self.starts[topic]), int(self.starts[topic] + self.sizes[topic])
        counts = self.signs.of(slice(start, end) if self._rows is None else self._rows[start:end])
        codes, numbers = worst(self.by_rack(counts) if racks else counts)
        return Cells(codes.tolist(), numbers.tolist())


def counted_of(moment: Moment, query: ListQuery, now_ms: int, memory: Memory) -> tuple[Counted, str]:
    """The moment's partitions that match the query's filter, and what is wrong with that filter."""
    table = table_of(moment, memory)
    wanted = msgspec.structs.replace(query, list="counted partitions", view="", sort="", reverse=False)
    rows, error = rows_in_order(partition_listing(table, wanted, now_ms), wanted, memory, now_ms)
    return memory.recall("counted", (table, rows), lambda: Counted(table, indices(rows))), error


def level_window(listing: Listing, query: ListQuery, now_ms: int, memory: Memory, error: str) -> Window:
    """The window of a level; its filter was one of partitions, and has done its work."""
    asked = msgspec.structs.replace(query, list=f"partitions by {query.view}", filter="")
    shown = window(listing, asked, memory, now_ms)
    note = error or ("nothing matches the filter" if query.filter and not shown.total else shown.note)
    return msgspec.structs.replace(shown, note=note)
