"""The states of many partitions as columns, for those who read a million of them. Reads like a tuple of PartitionState.

Holds facts as they were told: partitions in any order, and one of them perhaps twice (see `latest`).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import cast, overload

import numpy as np

from model.cluster.ids import NO_LEADER, NO_STATE
from model.cluster.records import PartitionState
from model.cluster.topic_image import (
    BROKERS_COLUMNS,
    STATE_COLUMNS,
    UNTOLD,
    Column,
    Flags,
    Ints,
    Longs,
    rows_of,
    told,
    widened,
)


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

    def __len__(self) -> int:
        return len(self.partition)

    @overload
    def __getitem__(self, index: int) -> PartitionState: ...
    @overload
    def __getitem__(self, index: slice) -> "StateColumns": ...
    def __getitem__(self, index: int | slice) -> "PartitionState | StateColumns":
        if isinstance(index, slice):
            return self.take(index)
        return next(iter(self.take(np.array([index]))))

    def __iter__(self) -> Iterator[PartitionState]:
        columns = (
            self.partition.tolist(),
            *(getattr(self, name).tolist() for name in STATE_COLUMNS),
            *(_told_rows(getattr(self, name)) for name in BROKERS_COLUMNS),
        )
        for facts in zip(*columns, strict=True):
            yield PartitionState(**dict(zip(_FACTS, facts, strict=True)))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence):
            return NotImplemented
        return tuple(self) == tuple(cast(Sequence[object], other))

    __hash__ = None  # pyright: ignore[reportAssignmentType]  # columns have no hash

    def take(self, rows: Column | slice) -> "StateColumns":
        """These rows, in their order."""
        return StateColumns(**{name: getattr(self, name)[rows] for name in _FACTS})


def columns_of(states: Sequence[PartitionState]) -> StateColumns:
    """States as columns; columns are returned as they are."""
    if isinstance(states, StateColumns):
        return states
    numbers: dict[str, Column] = {
        name: np.array([getattr(state, name) for state in states], kind) for name, kind in _KINDS.items()
    }
    brokers: dict[str, Column] = {name: told([getattr(state, name) for state in states]) for name in BROKERS_COLUMNS}
    return StateColumns(**numbers, **brokers)


def gone(partitions: Sequence[int]) -> StateColumns:
    """Partitions whose state znodes are gone."""
    return columns_of(
        tuple(
            PartitionState(p, NO_LEADER, -1, (), controller_epoch=-1, version=NO_STATE, zxid=-1, time_ms=0)
            for p in partitions
        )
    )


def latest(parts: Sequence[StateColumns]) -> StateColumns:
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
