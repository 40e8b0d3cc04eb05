"""Many PartitionRecords at once, as columns: a snapshot has one for each partition, and hardly anything else.

Read here are those of the usual form: versions 0 to 2, no tags, nobody added or removed, at most 16 replicas, as many
directories as replicas or none. What is of another form, or damaged, is left to `decoder`; both say the same.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from model.cluster.partition_columns import StateColumns
from model.cluster.topic_image import NOBODY, UNTOLD, Flags, Ints, Longs, rows_of

_START: Final = b"\1\3"
"""Frame version and api key; the record's version is the byte behind them."""
_NEWEST: Final = 2
_IDS_AT: Final = 3
"""The partition's number, and the topic's id behind it."""
_ARRAYS_AT: Final = 23
_SMALLEST: Final = 40
"""Bytes of a record of version 0 whose arrays are empty."""
_MOST: Final = 16
"""Replicas of a record that is read here: one with many must not make the rows of all others as wide."""


class Values(NamedTuple):
    """Values of many records where they lie: `data[start : start + size]` each; a size of -1 for null."""

    data: bytes
    starts: Longs  # [N]
    sizes: Longs  # [N]


@dataclass(frozen=True)
class Placed:
    """What PartitionRecords say, in their order; nobody is being added or removed."""

    replicas: Ints  # [N, RF], padded with -1
    states: StateColumns

    def __len__(self) -> int:
        return len(self.replicas)

    def part(self, start: int, end: int) -> "Placed":
        """Some that follow each other."""
        return Placed(self.replicas[start:end], self.states[start:end])

    def assignment(self) -> dict[int, tuple[int, ...]]:
        """Partition → replicas."""
        return dict(zip(self.states.partition.tolist(), rows_of(self.replicas), strict=True))


@dataclass(frozen=True)
class PartitionsRead:
    """Those of a snapshot's records that could be read; it does not say when, or by whom, a state was written."""

    rows: Longs  # [N] which of the records, ascending
    topics: NDArray[np.void]  # [N] ids of 16 bytes
    placed: Placed  # what is not told of eligible leader replicas is not known
    placed_with_elr: Placed  # what is not told of eligible leader replicas is that there are none

    def runs(self, count: int) -> Iterator[tuple[int, int, int]]:
        """All of `count` records: from where to where, and the first's row here; -1: to be read one by one."""
        at, rows = 0, self.rows
        cuts = np.flatnonzero((np.diff(rows) != 1) | (self.topics[1:] != self.topics[:-1])) + 1
        starts = [0, *cuts.tolist()] if len(rows) else []
        for start, end in zip(starts, [*cuts.tolist(), len(rows)], strict=False):
            first = int(rows[start])
            if at < first:
                yield at, first, -1
            at = first + end - start
            yield first, at, start
        if at < count:
            yield at, count, -1


def read_partitions(values: Values) -> PartitionsRead:
    """Those of the records of a snapshot that are of the usual form."""
    data = np.frombuffer(values.data or b"\0", np.uint8)
    is_whole = values.starts + values.sizes <= len(values.data)
    rows = np.flatnonzero((values.sizes >= _SMALLEST) & is_whole)
    start = values.starts[rows]
    usual = (data[start] == _START[0]) & (data[start + 1] == _START[1]) & (data[start + 2] <= _NEWEST)
    rows, start = rows[usual], start[usual]
    replicas, isr, rest, usual = _arrays(data, start, start + values.sizes[rows])
    rows, start, rest = rows[usual], start[usual], rest[usual]
    number = np.ndarray(max(len(data) - 3, 0), ">i4", values.data, strides=(1,))
    count = len(rows)
    untold, nobody = (np.broadcast_to(np.int32(mark), (count, 1)) for mark in (UNTOLD, NOBODY))
    states = StateColumns(
        partition=number[start + _IDS_AT].astype(np.int32),
        leader=number[rest].astype(np.int32),
        leader_epoch=number[rest + 4].astype(np.int32),
        isr=isr[usual],
        controller_epoch=np.zeros(count, np.int32),
        version=number[rest + 8].astype(np.int32),
        recovering=np.zeros(count, np.bool_),
        zxid=np.full(count, -1, np.int64),
        time_ms=np.zeros(count, np.int64),
        elr=untold,
        last_known_elr=untold,
    )
    topics = np.ndarray(max(len(data) - 15, 0), "V16", values.data, strides=(1,))[start + _IDS_AT + 4]
    placed = Placed(replicas[usual], states)
    with_elr = replace(placed, states=replace(states, elr=nobody, last_known_elr=nobody))
    return PartitionsRead(rows, topics, placed, with_elr)


def _arrays(data: NDArray[np.uint8], start: Longs, end: Longs) -> tuple[Ints, Ints, Longs, Flags]:
    """Replicas, ISR, where the leader stands, and which records have the usual form up to where they end."""
    replica_count, isr_at, usual = _counted(data, start + _ARRAYS_AT, 4)
    isr_count, removing_at, fits = _counted(data, isr_at, 4)
    usual &= fits & (data.take(removing_at, mode="clip") == 1) & (data.take(removing_at + 1, mode="clip") == 1)
    rest = removing_at + 2
    folder_count, tags_at, fits = _counted(data, rest + 12, 16)
    is_old = data[start + 2] == 0
    usual &= is_old | (fits & ((folder_count == 0) | (folder_count == replica_count)))
    tags_at = np.where(is_old, rest + 12, tags_at)
    usual &= (data.take(tags_at, mode="clip") == 0) & (tags_at + 1 == end)
    replicas, is_sound = _brokers(data, start + _ARRAYS_AT + 1, np.where(usual, replica_count, 0))
    isr, is_sound_too = _brokers(data, isr_at + 1, np.where(usual, isr_count, 0))
    return replicas, isr, rest, usual & is_sound & is_sound_too


def _counted(data: NDArray[np.uint8], at: Longs, size: int) -> tuple[Longs, Longs, Flags]:
    """Elements of the arrays at these places, what stands behind them, and which have neither null nor too many."""
    count = data.take(at, mode="clip").astype(np.int64) - 1
    return count, at + 1 + count * size, (count >= 0) & (count <= _MOST)


def _brokers(data: NDArray[np.uint8], at: Longs, count: Longs) -> tuple[Ints, Flags]:
    """So many ids of brokers at each place, padded; and where all of them are ids."""
    width = max(int(count.max(initial=0)), 1)
    number = np.ndarray(max(len(data) - 3, 0), ">i4", data, strides=(1,))
    is_there = np.arange(width) < count[:, None]
    places = at[:, None] + 4 * np.arange(width)
    found = np.where(is_there, number[np.where(is_there, places, 0)] if len(number) else NOBODY, NOBODY)
    strange = np.count_nonzero(is_there & (found < 0), axis=1)
    return found.astype(np.int32), strange == 0
