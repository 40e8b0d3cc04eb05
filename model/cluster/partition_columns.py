"""Many partitions as columns: those of many topics, and states that were told, for those who read a million of them.

A question about all of them is one vector operation. States are facts as they were told: partitions in any order, and
one of them perhaps twice (see `latest`).
"""

from collections.abc import ItemsView, Iterator, KeysView, Mapping, Sequence, ValuesView
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise, repeat
from typing import Any, cast, overload

import numpy as np

from model.cluster.ids import NO_LEADER, NO_STATE
from model.cluster.records import PartitionState
from model.cluster.topic_image import (
    BROKERS_COLUMNS,
    NOBODY,
    STATE_COLUMNS,
    UNTOLD,
    Column,
    Flags,
    Ints,
    Longs,
    TopicImage,
    rows_of,
    told,
    told_in,
    widened,
)

Rows = slice | Column
"""Which rows of a topic: all of them, or these."""

ALL: Rows = slice(None)

COPIED = 256
"""Partitions of a topic, on average, that are copied sooner than a row of theirs is looked up."""


@dataclass(frozen=True, eq=False)
class PartitionColumns:
    """Rows of `topics`, one topic after the other; column names mean what they mean in TopicImage."""

    topics: tuple[TopicImage, ...]
    topic: Ints  # [N] index into topics, ascending
    partitions: Ints  # [N]
    replicas: Ints  # [N, RF]
    leader: Ints  # [N]
    isr: Ints  # [N, W]
    leader_epoch: Ints  # [N]
    controller_epoch: Ints  # [N]
    version: Ints  # [N]
    recovering: Flags  # [N]
    zxid: Longs  # [N]
    time_ms: Longs  # [N]
    elr: Ints  # [N, E]
    last_known_elr: Ints  # [N, L]
    directories: Ints  # [N, D]

    def __len__(self) -> int:
        return len(self.partitions)

    @cached_property
    def in_isr(self) -> Flags:
        """bool[N, RF]: whether the replica at that position is in the ISR."""
        return contained(self.replicas, self.isr)

    @cached_property
    def leader_in_isr(self) -> Flags:
        """bool[N]: whether the leader, if there is one, is a member of the ISR."""
        return (self.isr == self.leader[:, None]).any(axis=1) & (self.leader >= 0)

    @cached_property
    def replica_count(self) -> Ints:
        """int32[N]: replicas assigned."""
        return (self.replicas != NOBODY).sum(axis=1, dtype=np.int32)

    @cached_property
    def isr_count(self) -> Ints:
        """int32[N]: members of the ISR, strangers included."""
        return (self.isr != NOBODY).sum(axis=1, dtype=np.int32)

    @cached_property
    def has_state(self) -> Flags:
        """bool[N]: whether the partition has a state znode."""
        return self.version != NO_STATE

    def by_topic(self, flags: Flags) -> Iterator[tuple[TopicImage, Ints]]:
        """The topics with flagged rows, and those rows of this table."""
        rows = np.flatnonzero(flags).astype(np.int32)
        if not len(rows):
            return
        cuts = np.flatnonzero(np.diff(self.topic[rows])) + 1
        for start, end in pairwise([0, *cuts.tolist(), len(rows)]):
            yield self.topics[int(self.topic[rows[start]])], rows[start:end]


def contained(some: Ints, others: Ints) -> Flags:
    """bool like `some`: whether the broker there is in the same row of `others`. Padding is in nothing."""
    found = np.zeros_like(some, np.bool_)
    for column in range(others.shape[1]):
        found |= some == others[:, column, None]
    return found & (some != NOBODY)


def rows_at(column: Column, rows: Rows) -> Column:
    """Some rows, by numbers or flags; by numbers of a table in a tenth of the time that indexing takes."""
    if column.ndim == 1 or isinstance(rows, slice) or rows.dtype == np.bool_:
        return column[rows]
    return column.take(rows, 0)


class _Stacked(PartitionColumns):
    """Columns that are put together when somebody first looks at them: most questions look at few."""

    def __init__(self, topics: Sequence[TopicImage], rows: Sequence[Rows] | None) -> None:
        self_ = vars(self)
        self_["topics"], self_["_rows"] = tuple(topics), rows
        partitions = self._parts("partitions")
        lengths = [len(part) for part in partitions]
        self_["partitions"] = np.concatenate([np.empty(0, bool), *partitions])
        self_["topic"] = np.repeat(np.arange(len(topics), dtype=np.int32), lengths)
        self_["_at"] = _among(topics, rows, lengths)

    def __getattr__(self, name: str) -> Column:
        if name not in _LATER:
            raise AttributeError(name)
        column = vars(self)[name] = self._column(name)
        return column

    def _column(self, name: str) -> Column:
        at: Longs | None = vars(self)["_at"]
        if at is None:
            parts = self._parts(name)
            return _stacked_rows(parts, len(self)) if name in _ROWS else np.concatenate([np.empty(0, bool), *parts])
        whole: list[Column] = [vars(topic)[name] for topic in self.topics]
        if name not in _ROWS:
            return np.concatenate(whole)[at]
        is_even = len({column.shape[1] for column in whole}) == 1
        every = np.concatenate(whole) if is_even else _stacked_rows(whole, sum(map(len, whole)))
        return np.asfortranarray(every.take(at, 0))

    def _parts(self, name: str) -> list[Column]:
        columns: list[Column] = [vars(topic)[name] for topic in self.topics]
        rows: Sequence[Rows] | None = vars(self)["_rows"]
        return columns if rows is None else list(map(rows_at, columns, rows))


def _among(topics: Sequence[TopicImage], rows: Sequence[Rows] | None, lengths: Sequence[int]) -> Longs | None:
    """Where the rows are among all rows of these topics, where these are so few that it is quicker to copy them all."""
    if rows is None or not rows or not all(isinstance(some, np.ndarray) and some.dtype != np.bool_ for some in rows):
        return None
    starts = np.cumsum([0, *map(len, topics)])
    if starts[-1] > COPIED * len(topics):
        return None
    return np.concatenate(cast("Sequence[Longs]", rows)) + np.repeat(starts[:-1], lengths)


def stacked(topics: Sequence[TopicImage], rows: Sequence[Rows] | None = None) -> PartitionColumns:
    """All partitions of these topics; with `rows`, only those rows of each topic, in that order."""
    return _Stacked(topics, rows)


def restacked(before: PartitionColumns, topics: Sequence[TopicImage]) -> PartitionColumns:
    """As `stacked`, where `before` has all of the same partitions: only topics that are other objects are copied in."""
    changed = [place for place, pair in enumerate(zip(before.topics, topics, strict=True)) if pair[0] is not pair[1]]
    rows_of_brokers: dict[str, int] = {name: getattr(before, name).shape[1] for name in _ROWS}
    if any(
        getattr(topics[place], name).shape[1] > width for name, width in rows_of_brokers.items() for place in changed
    ):
        return stacked(topics)
    columns: dict[str, Column] = {
        name: getattr(before, name).copy(order="K") for name in (*STATE_COLUMNS, *rows_of_brokers)
    }
    for place, start in zip(changed, np.searchsorted(before.topic, changed).tolist(), strict=True):
        topic = topics[place]
        for name, column in columns.items():
            values: Column = getattr(topic, name)
            column[start : start + len(topic)] = widened(values, rows_of_brokers[name]) if values.ndim > 1 else values
    return PartitionColumns(topics=tuple(topics), topic=before.topic, partitions=before.partitions, **columns)


_ROWS = ("replicas", *BROKERS_COLUMNS)
_LATER = frozenset((*_ROWS, *STATE_COLUMNS))


def _stacked_rows(parts: list[Column], length: int) -> Ints:
    width = max((part.shape[1] for part in parts), default=1)
    whole = np.full((length, width), NOBODY, np.int32, order="F")  # long columns: questions go down them
    start = 0
    for part in parts:
        end = start + len(part)
        whole[start:end, : part.shape[1]] = part
        start = end
    return whole


@dataclass(frozen=True, eq=False)
class StateColumns(Sequence[PartitionState]):
    """Columns of the same length N; what they mean is told in TopicImage. A version of NO_STATE: the znode is gone."""

    partition: Ints  # [N]
    leader: Ints  # [N]
    leader_epoch: Ints  # [N]
    isr: Ints  # [N, W], padded with -1
    controller_epoch: Ints  # [N]
    version: Ints  # [N]
    recovering: Flags  # [N]
    zxid: Longs  # [N]
    time_ms: Longs  # [N]
    elr: Ints  # [N, E], padded with -1, or UNTOLD
    last_known_elr: Ints  # [N, L], the same
    directories: Ints  # [N, D], padded with -1, or UNTOLD

    def __len__(self) -> int:
        return len(self.partition)

    @overload
    def __getitem__(self, index: int) -> PartitionState: ...
    @overload
    def __getitem__(self, index: slice) -> "StateColumns": ...
    def __getitem__(self, index: int | slice) -> "PartitionState | StateColumns":
        if isinstance(index, slice):
            return self.take(index)
        return PartitionState(*map(self._at, repeat(index), PartitionState.__struct_fields__))

    def __iter__(self) -> Iterator[PartitionState]:
        for facts in zip(*map(self._listed, PartitionState.__struct_fields__), strict=True):
            yield PartitionState(*facts)

    def _at(self, index: int, name: str) -> Any:
        value = getattr(self, name)[index]
        return told_in(value) if value.ndim else value.item()

    def _listed(self, name: str) -> list[Any]:
        column: Column = getattr(self, name)
        return _told_rows(column) if column.ndim > 1 else column.tolist()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence):
            return NotImplemented
        return tuple(self) == tuple(cast(Sequence[object], other))

    __hash__ = None  # pyright: ignore[reportAssignmentType]  # columns have no hash

    def take(self, rows: Column | slice) -> "StateColumns":
        """These rows, in their order."""
        return StateColumns(**{name: rows_at(getattr(self, name), rows) for name in _FACTS})


@dataclass(frozen=True, eq=False)
class AssignmentColumns(Mapping[int, tuple[int, ...]]):
    """Replicas by partition, as columns: partitions ascending, each with a replica at least."""

    partitions: Ints  # [N]
    replicas: Ints  # [N, RF], padded with -1

    @cached_property
    def _brokers(self) -> dict[int, tuple[int, ...]]:
        return dict(zip(self.partitions.tolist(), rows_of(self.replicas), strict=True))

    def __len__(self) -> int:
        return len(self.partitions)

    def __iter__(self) -> Iterator[int]:
        return iter(self._brokers)

    def __getitem__(self, partition: int) -> tuple[int, ...]:
        return self._brokers[partition]

    def keys(self) -> KeysView[int]:
        return self._brokers.keys()

    def values(self) -> ValuesView[tuple[int, ...]]:
        return self._brokers.values()

    def items(self) -> ItemsView[int, tuple[int, ...]]:
        return self._brokers.items()


def columns_of(states: Sequence[PartitionState]) -> StateColumns:
    """States as columns; columns are returned as they are."""
    if isinstance(states, StateColumns):
        return states
    numbers: dict[str, Column] = {
        name: np.array([getattr(state, name) for state in states], kind) for name, kind in _KINDS.items()
    }
    brokers: dict[str, Column] = {name: told([getattr(state, name) for state in states]) for name in BROKERS_COLUMNS}
    return StateColumns(**numbers, **brokers)


def states_of(topic: TopicImage) -> StateColumns:
    """The states that were written."""
    columns = {name: getattr(topic, name) for name in (*STATE_COLUMNS, *BROKERS_COLUMNS)}
    return kept(StateColumns(partition=topic.partitions, **columns), topic.has_state)


def kept(states: StateColumns, flags: Flags) -> StateColumns:
    """Those that are flagged."""
    return states if flags.all() else states.take(np.flatnonzero(flags))


def states_gone(partitions: Sequence[int]) -> StateColumns:
    """Partitions whose state znodes are gone."""
    return columns_of(
        tuple(
            PartitionState(p, NO_LEADER, -1, (), controller_epoch=-1, version=NO_STATE, zxid=-1, time_ms=0)
            for p in partitions
        )
    )


def latest_states(parts: Sequence[StateColumns]) -> StateColumns:
    """What was said last of each partition, partitions ascending."""
    whole = _joined(parts)
    if (whole.partition[1:] > whole.partition[:-1]).all():
        return whole
    order = np.argsort(whole.partition, kind="stable")
    sorted_ = whole.partition[order]
    is_last = np.append(sorted_[1:] != sorted_[:-1], np.True_)[: len(order)]
    return whole.take(order if is_last.all() else order[is_last])


def _joined(parts: Sequence[StateColumns]) -> StateColumns:
    if len(parts) == 1:
        return parts[0]
    if not parts:
        return columns_of(())
    columns: dict[str, Column] = {}
    for name in _FACTS:
        some: list[Column] = [getattr(part, name) for part in parts]
        width = max(column.shape[-1] for column in some)
        columns[name] = np.concatenate([widened(column, width) if column.ndim > 1 else column for column in some])
    return StateColumns(**columns)


def _told_rows(rows: Ints) -> list[tuple[int, ...] | None]:
    return [None if row and row[0] == UNTOLD else row for row in rows_of(rows)]


_FACTS = ("partition", *STATE_COLUMNS, *BROKERS_COLUMNS)

_KINDS = {
    "partition": np.int32,
    "leader": np.int32,
    "leader_epoch": np.int32,
    "controller_epoch": np.int32,
    "version": np.int32,
    "recovering": np.bool_,
    "zxid": np.int64,
    "time_ms": np.int64,
}
