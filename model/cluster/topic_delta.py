"""What changed of one topic: assignment, states written, states gone. Touches no other topic."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from model.cluster.ids import NO_STATE
from model.cluster.partition_columns import (
    AssignmentColumns,
    StateColumns,
    columns_of,
    kept,
    latest_states,
    states_gone,
    states_of,
)
from model.cluster.records import PartitionState, TopicAssigned
from model.cluster.topic_image import (
    BROKERS_COLUMNS,
    NOBODY,
    STATE_COLUMNS,
    Column,
    Ints,
    Longs,
    TopicImage,
    blank_topic,
    padded,
    widened,
)


class TopicDelta:
    """Collects what happened to one topic on top of `base` (None: not known before)."""

    def __init__(self, name: str, base: TopicImage | None) -> None:
        self._name = name
        self._base = base
        self._assigned: TopicAssigned | None = None
        self._unassigned = False
        self._states: list[StateColumns] = []

    def assign(self, record: TopicAssigned) -> None:
        """The assignment znode was written. One that places no replica says no more than none at all."""
        replicas = record.replicas
        placed = len(replicas) > 0 if isinstance(replicas, AssignmentColumns) else any(replicas.values())
        self._assigned, self._unassigned = (record, False) if placed else (None, True)

    def unassign(self) -> None:
        """The assignment znode is gone."""
        self._assigned, self._unassigned = None, True

    def write(self, states: Sequence[PartitionState]) -> None:
        self._states.append(columns_of(states))

    def remove(self, partitions: Sequence[int]) -> None:
        """State znodes are gone."""
        self._states.append(states_gone(partitions))

    def apply(self) -> TopicImage | None:
        """The topic afterwards; the very same object where nothing differs, None where nothing is left of it."""
        if (new := self._as_columns()) is not None:
            return new
        base, written = self._base, latest_states(self._states)
        if base is not None and self._assigned is None and not self._unassigned:
            rows = _places(base.partitions, written.partition)
            if rows is not None and (written.version != NO_STATE).all():
                return _with_states(base, rows, written)
        after = self._with_other_rows(written)
        return base if after == base else after

    def _as_columns(self) -> TopicImage | None:
        """A topic that was not known before and was told as columns of the same partitions; None for all others."""
        record, states = self._assigned, self._states
        if self._base is not None or record is None or len(states) != 1:
            return None
        placed, columns = record.replicas, vars(states[0])
        if not isinstance(placed, AssignmentColumns) or placed.partitions is not columns["partition"]:
            return None
        if NO_STATE in columns["version"]:
            return None
        stated: dict[str, Column] = {name: columns[name] for name in _STATED}
        said: dict[str, Any] = {name: getattr(record, name) for name in _BESIDE}
        return TopicImage(self._name, placed.partitions, placed.replicas, **stated, **said)

    def _with_other_rows(self, written: StateColumns) -> TopicImage | None:
        """Partitions may come and go."""
        base, record = self._base, self._assigned
        states = written if base is None else latest_states([states_of(base), written])
        states = kept(states, states.version != NO_STATE)
        placed, replicas = self._placed()
        rows = placed if np.array_equal(placed, states.partition) else _union(placed, states.partition)
        if not len(rows):
            return None
        spread = _spread(replicas, _places(rows, placed), len(rows))
        known = None if self._unassigned else record or base
        said: dict[str, Any] = {} if known is None else {name: getattr(known, name) for name in _BESIDE}
        if len(states) == len(rows):
            columns = {name: getattr(states, name) for name in _STATED}
            return TopicImage(self._name, rows, spread, **columns, **said)
        blank = blank_topic(self._name, rows, spread)
        return replace(_with_states(blank, _places(rows, states.partition), states), **said)

    def _placed(self) -> tuple[Ints, Ints]:
        """Partitions with replicas, ascending, and these replicas."""
        if self._assigned is not None:
            placed = self._assigned.replicas
            if isinstance(placed, AssignmentColumns):
                return placed.partitions, placed.replicas
            partitions, replicas = np.fromiter(placed, np.int32, len(placed)), padded(list(placed.values()))
            order = np.argsort(partitions)
            order = order[replicas[order, 0] != NOBODY]
            return partitions[order], replicas[order]
        if self._unassigned or self._base is None:
            return np.empty(0, np.int32), padded([])
        has_some = ~self._base.orphaned
        return self._base.partitions[has_some], self._base.replicas[has_some]


_BESIDE = ("topic_id", "adding", "removing")
"""What an assignment says, beside the replicas."""
_STATED = (*STATE_COLUMNS, *BROKERS_COLUMNS)
"""What a state says."""


def _places(partitions: Ints, some: Ints) -> Longs | None:
    """Where in `partitions`, ascending, each of `some` is; None where one is not."""
    if len(partitions) == len(some) and np.array_equal(partitions, some):
        return np.arange(len(some))
    rows = np.searchsorted(partitions, some)
    known = rows < len(partitions)
    return rows if known.all() and (partitions[rows] == some).all() else None


def _union(some: Ints, others: Ints) -> Ints:
    both = np.sort(np.concatenate((some, others)))
    return both[np.append(both[1:] != both[:-1], np.True_)[: len(both)]]


def _spread(replicas: Ints, rows: Longs | None, count: int) -> Ints:
    if len(replicas) == count:
        return replicas
    whole = np.full((count, replicas.shape[1]), NOBODY, np.int32)
    whole[rows] = replicas
    return whole


def _with_states(topic: TopicImage, rows: Longs | None, states: StateColumns) -> TopicImage:
    """These rows in these states; the topic's own columns where they have them already, itself where all do."""
    if rows is None or not len(rows):
        return topic
    written: dict[str, Column] = {}
    had, says = vars(topic), vars(states)
    for name in _STATED:
        column, values = had[name], says[name]
        if column.ndim > 1 and column.shape[1] != values.shape[1]:
            column, values = _alike(column, values)
        if not _are_equal(column.take(rows, 0), values):
            written[name] = _carried(column, rows, values)
    return topic.with_states(rows, **written) if written else topic


def _are_equal(some: Column, others: Column) -> bool:
    """Columns of the same shape; of few rows in a third of the time that an elementwise comparison takes."""
    if some.dtype == others.dtype:
        return some.tobytes() == others.tobytes()
    return bool((some == others).all())


def _alike(some: Column, others: Column) -> tuple[Column, Column]:
    """Both, rows of brokers as wide as the wider."""
    width = max(some.shape[1], others.shape[1])
    return widened(some, width), widened(others, width)


def _carried(column: Column, rows: Longs, values: Column) -> Column:
    if len(values) == len(column):  # all of them, in the same order
        return values
    after = column.copy()
    after[rows] = values
    return after
