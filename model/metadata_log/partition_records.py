"""Many records at once, as columns: a snapshot has one for each topic and each partition, and hardly anything else.

Read here are those of the usual form: PartitionRecords of versions 0 to 2 without tags, nobody added or removed, 1 to
16 replicas, as many directories as replicas or none; TopicRecords with a short name. What is of another form, or
damaged, is left to `decoder`; both say the same.
"""

import heapq
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from model.cluster.image_parts import directory_number
from model.cluster.partition_columns import StateColumns
from model.cluster.records import PartitionState
from model.cluster.topic_image import NOBODY, UNTOLD, Flags, Ints, Longs, rows_of, unpadded
from model.metadata_log.decoder import java_text, uuid_text, uuid_texts

_TOPIC, _PARTITION = 2, 3
"""Api keys: the byte behind the frame version, which is 1, and before the record's version."""
_NEWEST: Final = 2
_IDS_AT: Final = 3
"""The partition's number, and the topic's id behind it."""
_ARRAYS_AT: Final = 23
_FOLDERS_AT: Final = 12
"""From the leader, behind its epoch and the partition's, to the ids of log directories."""
_ODD: Final = np.uint64(0x9E3779B97F4A7C15)
_SMALLEST: Final = 40
"""Bytes of a record of version 0 whose arrays are empty."""
_NAME_AT: Final = 3
_SMALLEST_TOPIC: Final = 21
"""Bytes of a TopicRecord whose name is empty."""
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

    replicas: Ints  # [N, RF], padded with -1; none is empty
    states: StateColumns

    def __len__(self) -> int:
        return len(self.replicas)


class PlacedRun(NamedTuple):
    """Some that follow each other: of one topic, partitions ascending."""

    placed: Placed
    start: int
    end: int

    def states(self) -> StateColumns:
        return self.placed.states.take(slice(self.start, self.end))

    def replicas(self) -> Ints:
        return self.placed.replicas[self.start : self.end]

    def state(self, partition: int) -> PartitionState | None:
        """Of one partition; None where it is not among them."""
        row = self._row(partition)
        return None if row < 0 else self.placed.states[row]

    def brokers(self, partition: int) -> tuple[int, ...]:
        """The replicas of one partition; empty where it is not among them."""
        row = self._row(partition)
        return () if row < 0 else unpadded(self.placed.replicas[row])

    def _row(self, partition: int) -> int:
        partitions = self.placed.states.partition[self.start : self.end]
        row = int(partitions.searchsorted(partition))
        return self.start + row if row < len(partitions) and partitions[row] == partition else -1

    def assignment(self) -> dict[int, tuple[int, ...]]:
        """Partition → replicas."""
        partitions = self.placed.states.partition[self.start : self.end]
        return dict(zip(partitions.tolist(), rows_of(self.replicas()), strict=True))


class RecordRun(NamedTuple):
    """Records that follow each other, `first` to `end`, and what they are."""

    first: int
    end: int
    row: int = -1
    """Of the first of PartitionRecords of one topic, partitions ascending."""
    topic_id: str = ""
    """Of these, or of a TopicRecord."""
    name: str | None = None
    """Of a TopicRecord; None and no row: to be read one by one."""


@dataclass(frozen=True)
class RecordsRead:
    """Those of a snapshot's records that could be read; it does not say when, or by whom, a state was written."""

    rows: Longs  # [N] which of the records are PartitionRecords, ascending
    topics: NDArray[np.void]  # [N] ids of 16 bytes
    placed: Placed  # [N] what is not told of eligible leader replicas is not known
    placed_with_elr: Placed  # [N] what is not told of eligible leader replicas is that there are none
    created: list[tuple[int, str, str]]  # which of the records are TopicRecords, ascending; their ids and names

    def runs(self, count: int) -> Iterator[RecordRun]:
        """All of `count` records."""
        at = 0
        for run in heapq.merge(
            (RecordRun(row, row + 1, -1, *named) for row, *named in self.created), self._partitions()
        ):
            if at < run.first:
                yield RecordRun(at, run.first)
            yield run
            at = run.end
        if at < count:
            yield RecordRun(at, count)

    def _partitions(self) -> Iterator[RecordRun]:
        rows = self.rows
        if not len(rows):
            return
        is_next = np.diff(rows) == 1
        is_next &= (self.topics[1:] == self.topics[:-1]) & (np.diff(self.placed.states.partition) > 0)
        cuts = np.flatnonzero(~is_next) + 1
        starts = np.concatenate(([0], cuts))
        ends = np.append(cuts, len(rows))
        first = rows[starts]
        ids = uuid_texts(self.topics[starts].tobytes())
        columns = (first.tolist(), (first + ends - starts).tolist(), starts.tolist(), ids)
        yield from map(RecordRun, *columns)


def read_records(values: Values) -> RecordsRead:
    """Those of the records of a snapshot that are of the usual form."""
    data = np.frombuffer(values.data or b"\0", np.uint8)
    is_whole = values.starts + values.sizes <= len(values.data)
    rows, topics, placed = _partitions(values, data, is_whole)
    nobody = np.broadcast_to(np.int32(NOBODY), (len(rows), 1))
    with_elr = replace(placed, states=replace(placed.states, elr=nobody, last_known_elr=nobody))
    return RecordsRead(rows, topics, placed, with_elr, _created(values, data, is_whole))


def _created(values: Values, data: NDArray[np.uint8], is_whole: Flags) -> list[tuple[int, str, str]]:
    """TopicRecords of version 0 with a name of at most 126 bytes, and no tags."""
    rows = np.flatnonzero((values.sizes >= _SMALLEST_TOPIC) & is_whole)
    start = values.starts[rows]
    size = data[start + _NAME_AT].astype(np.int64) - 1
    usual = (data[start] == 1) & (data[start + 1] == _TOPIC) & (data[start + 2] == 0)
    usual &= (size >= 0) & (size < 0x7F) & (values.sizes[rows] == _SMALLEST_TOPIC + size)
    usual &= data.take(start + _SMALLEST_TOPIC - 1 + size, mode="clip") == 0
    rows, name_at, size = rows[usual], start[usual] + _NAME_AT + 1, size[usual]
    id_at = name_at + size
    ids = uuid_texts(np.ndarray(max(len(data) - 15, 0), "V16", values.data, strides=(1,))[id_at].tobytes())
    places = zip(name_at.tolist(), id_at.tolist(), strict=True)
    names = [java_text(values.data[at:end]) for at, end in places]
    return list(zip(rows.tolist(), ids, names, strict=True))


def _partitions(values: Values, data: NDArray[np.uint8], is_whole: Flags) -> tuple[Longs, NDArray[np.void], Placed]:
    """PartitionRecords: which records they are, their topics, and what they say."""
    rows = np.flatnonzero((values.sizes >= _SMALLEST) & is_whole)
    start = values.starts[rows]
    usual = (data[start] == 1) & (data[start + 1] == _PARTITION) & (data[start + 2] <= _NEWEST)
    rows, start = rows[usual], start[usual]
    replicas, isr, rest, usual = _arrays(data, start, start + values.sizes[rows])
    rows, start, rest = rows[usual], start[usual], rest[usual]
    number = np.ndarray(max(len(data) - 3, 0), ">i4", values.data, strides=(1,))
    count = len(rows)
    untold = np.broadcast_to(np.int32(UNTOLD), (count, 1))
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
        directories=_directories(values.data, data, start, rest + _FOLDERS_AT),
    )
    topics = np.ndarray(max(len(data) - 15, 0), "V16", values.data, strides=(1,))[start + _IDS_AT + 4]
    return rows, topics, Placed(replicas[usual], states)


def _arrays(data: NDArray[np.uint8], start: Longs, end: Longs) -> tuple[Ints, Ints, Longs, Flags]:
    """Replicas, ISR, where the leader stands, and which records have the usual form up to where they end."""
    replica_count, isr_at, usual = _counted(data, start + _ARRAYS_AT, 4)
    isr_count, removing_at, fits = _counted(data, isr_at, 4)
    usual &= (
        (replica_count > 0)
        & fits
        & (data.take(removing_at, mode="clip") == 1)
        & (data.take(removing_at + 1, mode="clip") == 1)
    )
    rest = removing_at + 2
    folder_count, tags_at, fits = _counted(data, rest + _FOLDERS_AT, 16)
    is_old = data[start + 2] == 0
    usual &= is_old | (fits & ((folder_count == 0) | (folder_count == replica_count)))
    tags_at = np.where(is_old, rest + _FOLDERS_AT, tags_at)
    usual &= (data.take(tags_at, mode="clip") == 0) & (tags_at + 1 == end)
    replicas, is_sound = _brokers(data, start + _ARRAYS_AT + 1, np.where(usual, replica_count, 0))
    isr, is_sound_too = _brokers(data, isr_at + 1, np.where(usual, isr_count, 0))
    return replicas, isr, rest, usual & is_sound & is_sound_too


def _directories(raw: bytes, data: NDArray[np.uint8], start: Longs, at: Longs) -> Ints:
    """The numbers of the log directories of each record's replicas; untold where it names none."""
    count = np.where(data[start + 2] == 0, 0, data.take(at, mode="clip").astype(np.int64) - 1)
    width = int(count.max(initial=0))
    if not width:
        return np.broadcast_to(np.int32(UNTOLD), (len(start), 1))
    is_there = np.arange(width) < count[:, None]
    places = (at[:, None] + 1 + 16 * np.arange(width))[is_there]
    halves = np.ndarray((max(len(data) - 15, 0), 2), "<u8", raw, strides=(1, 8))[places]
    _, first, which = np.unique(halves[:, 0] * _ODD ^ halves[:, 1], return_index=True, return_inverse=True)
    if not (halves[first][which] == halves).all():  # two ids look alike, which only who means harm writes
        first = which = np.arange(len(places))
    numbers = [directory_number(uuid_text(raw[place : place + 16])) for place in places[first].tolist()]
    found = np.full((len(start), width), NOBODY, np.int32)
    found[count == 0, 0] = UNTOLD
    found[is_there] = np.array(numbers, np.int32)[which]
    return found


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
