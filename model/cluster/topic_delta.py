"""What changed of one topic: assignment, states written, states gone. Touches no other topic."""

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from model.cluster.ids import NO_LEADER, NO_STATE
from model.cluster.records import PartitionState, TopicAssigned
from model.cluster.topic_image import NOBODY, Column, TopicImage, blank_topic, padded, unpadded, widened

_STATE_COLUMNS = (
    "leader", "leader_epoch", "controller_epoch", "version", "recovering", "zxid", "time_ms",
)  # fmt: skip
_NO_STATE = PartitionState(
    partition=-1, leader=NO_LEADER, leader_epoch=-1, isr=(), controller_epoch=-1, version=NO_STATE
)


class TopicDelta:
    """Collects what happened to one topic on top of `base` (None: not known before)."""

    def __init__(self, name: str, base: TopicImage | None) -> None:
        self._name = name
        self._base = base or blank_topic(name, np.empty(0, np.int32), np.empty((0, 1), np.int32))
        self._assigned: TopicAssigned | None = None
        self._unassigned = False
        self._states: dict[int, PartitionState | None] = {}

    def assign(self, record: TopicAssigned) -> None:
        """The assignment znode was written. One that places no replica says no more than none at all."""
        placed = any(record.replicas.values())
        self._assigned, self._unassigned = (record, False) if placed else (None, True)

    def unassign(self) -> None:
        """The assignment znode is gone."""
        self._assigned, self._unassigned = None, True

    def write(self, state: PartitionState) -> None:
        """A state znode was written."""
        self._states[state.partition] = state

    def remove(self, partition: int) -> None:
        """A state znode is gone."""
        self._states[partition] = None

    def forget_unmentioned(self) -> None:
        """After a full listing: what it did not mention is gone."""
        if self._assigned is None:
            self._unassigned = True
        for partition in self._base.partitions[self._base.has_state].tolist():
            self._states.setdefault(partition, None)

    def apply(self) -> TopicImage | None:
        """The topic afterwards; the very same object where nothing differs, None where nothing is left of it."""
        after = self._with_states(self._base) if self._keeps_rows() else self._with_other_rows()
        return self._base if after == self._base else after

    def _keeps_rows(self) -> bool:
        """Whether partitions neither come nor go: then there is no need to look at each of them."""
        if self._assigned is not None or self._unassigned or not len(self._base):
            return False
        row_of = self._base.row_of
        return all(state is not None and partition in row_of for partition, state in self._states.items())

    def _with_other_rows(self) -> TopicImage | None:
        replicas = self._replicas()
        stated = self._base.partitions[self._base.has_state].tolist()
        kept = {p for p in stated if self._states.get(p, _NO_STATE) is not None}
        kept.update(p for p, state in self._states.items() if state is not None)
        rows = sorted(kept | replicas.keys())
        if not rows:
            return None
        return self._with_states(self._with_rows(rows, replicas))

    def _replicas(self) -> dict[int, tuple[int, ...]]:
        if self._assigned is not None:
            return {partition: brokers for partition, brokers in self._assigned.replicas.items() if brokers}
        if self._unassigned:
            return {}
        rows = zip(self._base.partitions.tolist(), self._base.replicas, strict=True)
        return {partition: brokers for partition, row in rows if (brokers := unpadded(row))}

    def _with_rows(self, rows: list[int], replicas: dict[int, tuple[int, ...]]) -> TopicImage:
        base, record = self._base, self._assigned
        if record is None and not self._unassigned and rows == base.partitions.tolist():
            return base
        partitions = np.array(rows, np.int32)
        after = blank_topic(self._name, partitions, padded([replicas.get(p, ()) for p in rows]))
        _, to, source = np.intersect1d(partitions, base.partitions, assume_unique=True, return_indices=True)
        isr = np.full((len(rows), base.isr.shape[1]), NOBODY, np.int32)
        isr[to] = base.isr[source]
        columns = {name: _carried(getattr(after, name), to, getattr(base, name)[source]) for name in _STATE_COLUMNS}
        known = record or base
        lost = self._unassigned
        return replace(
            after,
            **columns,
            isr=isr,
            topic_id=None if lost else known.topic_id,
            adding={} if lost else known.adding,
            removing={} if lost else known.removing,
        )

    def _with_states(self, topic: TopicImage) -> TopicImage:
        row_of = topic.row_of
        written = {row_of[p]: state or _NO_STATE for p, state in self._states.items() if p in row_of}
        if not written:
            return topic
        rows = np.fromiter(written, np.int64, len(written))
        states = list(written.values())
        values = {name: [getattr(state, name) for state in states] for name in _STATE_COLUMNS}
        columns = {name: _carried(getattr(topic, name), rows, column) for name, column in values.items()}
        isr_rows = padded([state.isr for state in states], topic.isr.shape[1])
        isr = _carried(widened(topic.isr, isr_rows.shape[1]), rows, isr_rows)
        return replace(topic, **columns, isr=isr)


def _carried(column: Column, rows: Column, values: ArrayLike) -> Column:
    after = column.copy()
    after[rows] = values
    return after
