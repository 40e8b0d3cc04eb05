"""Which partitions are unwell, as one flag per partition and question, what that depends on, and counts per broker.

It says nothing in words. Counts add up and subtract, so a changed topic costs its own partitions only.

Rules: Kafka's `TopicCommand` (under-replicated, under and at min ISR, offline; a reassignment's new replicas are not
yet missed, KIP-455), `kafka.controller.Election` 3.9 (who may lead), KIP-704 (recovering), KIP-36 (racks).
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from model.cluster.cluster_image import ClusterImage
from model.cluster.partition_columns import ALL, PartitionColumns, Rows, contained, stacked
from model.cluster.topic_image import NOBODY, Column, Flags, Ints, Longs, counted_ids

MIN_ISR = "min.insync.replicas"
_BROKER_IDS = "/brokers/ids"
_TOO_LONG = 12
"""Digits; Python refuses to read thousands of them, and a znode may hold a million."""


@dataclass(frozen=True)
class Surroundings:
    """Compared by value: while it is equal, a topic that did not change needs no new look."""

    live: frozenset[int]
    racks: tuple[tuple[int, str], ...]
    min_isr: int
    unreadable: frozenset[str]
    brokers_known: bool
    fenced: frozenset[int] = frozenset()
    """Of those that do not live, those that are registered and fenced."""

    def dead(self, broker: int) -> bool:
        """Whether a broker is known not to live."""
        return self.brokers_known and broker not in self.live

    def liveness(self, broker: int) -> str:
        return "fenced" if broker in self.fenced else "down" if self.dead(broker) else "up"


def surroundings(image: ClusterImage) -> Surroundings:
    """Of an image. A broker whose registration cannot be read lives all the same."""
    unreadable = {path.removeprefix(f"{_BROKER_IDS}/") for path in image.unreadable if path.startswith(_BROKER_IDS)}
    defaults = image.configs.get("brokers/<default>", {})
    return Surroundings(
        live=frozenset(image.brokers)
        | {int(name) for name in unreadable if name.isdecimal() and len(name) < _TOO_LONG},
        racks=tuple(sorted((broker.id, broker.rack) for broker in image.brokers.values() if broker.rack)),
        min_isr=at_least_one(defaults.get(MIN_ISR)),
        unreadable=frozenset(path for path in image.unreadable if path.startswith("/brokers/topics/")),
        brokers_known=_BROKER_IDS not in image.unreadable,
        fenced=frozenset(image.fenced),
    )


def at_least_one(setting: str | None, default: int = 1) -> int:
    """A positive int32 from a setting's text; `default` where it is unset or makes no sense."""
    text = (setting or "").strip()
    return min(max(1, int(text)), 2**31 - 1) if text.isdecimal() and len(text) < _TOO_LONG else default


K = TypeVar("K", np.bool_, np.int32)

_UNKNOWN_RACK = -2
_HUGE_ID = 1_000_000


@dataclass(frozen=True, eq=False)
class Health:
    """Flags over the partitions of some topics. Deleted topics are not looked at, an orphan is only ever an orphan."""

    columns: PartitionColumns
    around: Surroundings
    min_isr: Ints  # [N]
    expected: Ints  # [N] replicas that should be in sync: a reassignment's additions are not counted
    readable: Flags  # [N] whether the znodes that say so could be read

    @cached_property
    def orphaned(self) -> Flags:
        return (self.columns.replica_count == 0) & self.readable

    @cached_property
    def stateless(self) -> Flags:
        return self._assigned & ~self.columns.has_state & self.readable

    @cached_property
    def offline(self) -> Flags:
        return self._stated & ~self.leader_lives

    @cached_property
    def leader_not_in_isr(self) -> Flags:
        return self._led & ~self.columns.leader_in_isr

    @cached_property
    def leader_not_replica(self) -> Flags:
        return self._led & ~(self.columns.replicas == self.columns.leader[:, None]).any(axis=1)

    @cached_property
    def isr_not_replica(self) -> Flags:
        return self._stated & self.strangers.any(axis=1)

    @cached_property
    def strangers(self) -> Flags:
        """bool[N, W]: members of the ISR that are no replicas."""
        return (self.columns.isr != NOBODY) & ~contained(self.columns.isr, self.columns.replicas)

    @cached_property
    def isr_empty(self) -> Flags:
        """bool[N]: whether nobody is in the ISR, as where KRaft keeps eligible leader replicas."""
        return self._stated & (self.columns.isr_count == 0)

    @cached_property
    def eligible(self) -> Flags:
        """bool[N, RF]: whether the replica there may lead without loss: in the ISR, or in the ELR where that is empty.

        `org.apache.kafka.controller.PartitionChangeBuilder`, 4.0.
        """
        return self.columns.in_isr | (contained(self.columns.replicas, self.columns.elr) & self.isr_empty[:, None])

    @cached_property
    def recovering(self) -> Flags:
        return self._stated & self.columns.recovering

    @cached_property
    def under_replicated(self) -> Flags:
        return self._stated & (self.columns.in_isr.sum(axis=1) < self.expected)

    @cached_property
    def under_min_isr(self) -> Flags:
        return self._online & (self.columns.isr_count < self.min_isr)

    @cached_property
    def at_min_isr(self) -> Flags:
        return self._online & (self.columns.isr_count == self.min_isr) & (self.columns.isr_count < self.expected)

    @cached_property
    def no_spare_replica(self) -> Flags:
        return self._assigned & (self.min_isr == self.expected) & (self.expected > 1)

    @cached_property
    def single_replica(self) -> Flags:
        return self._assigned & (self.columns.replica_count == 1)

    @cached_property
    def single_rack(self) -> Flags:
        return self._rack_known & (self._rack_count == 1)

    @cached_property
    def rack_skewed(self) -> Flags:
        several = len({rack for _, rack in self.around.racks})
        return self._rack_known & (self._rack_count > 1) & (self._rack_count < np.minimum(self.expected, several))

    @cached_property
    def off_preferred(self) -> Flags:
        """bool[N]: another replica leads although the preferred one lives and is in the ISR."""
        preferred = self.columns.replicas[:, 0]
        return self._online & (self.columns.leader != preferred) & self.columns.in_isr[:, 0] & self.replica_lives[:, 0]

    @cached_property
    def leader_lives(self) -> Flags:
        return (self.columns.leader >= 0) & self._live(self.columns.leader)

    @cached_property
    def replica_lives(self) -> Flags:
        """bool[N, RF]: whether the broker there lives."""
        return (self.columns.replicas != NOBODY) & self._live(self.columns.replicas)

    def _live(self, brokers: Ints) -> Flags:
        if not self.around.brokers_known:
            return np.ones(brokers.shape, np.bool_)
        live = np.array(sorted(self.around.live), np.int64)
        return _by_broker(brokers, live, np.ones(len(live), np.bool_), np.False_)

    @cached_property
    def _assigned(self) -> Flags:
        return self.columns.replica_count > 0

    @cached_property
    def _stated(self) -> Flags:
        return self._assigned & self.columns.has_state

    @cached_property
    def _led(self) -> Flags:
        return self._stated & (self.columns.leader >= 0)

    @cached_property
    def _online(self) -> Flags:
        return self._stated & self.leader_lives

    @cached_property
    def _racks(self) -> Ints:
        """int32[N, RF]: rack of each replica as a number; padding takes the first replica's."""
        names = sorted({rack for _, rack in self.around.racks})
        ids = np.array([broker for broker, _ in self.around.racks], np.int64)
        codes = np.array([names.index(rack) for _, rack in self.around.racks], np.int32)
        replicas = self.columns.replicas
        racks = _by_broker(replicas, ids, codes, np.int32(_UNKNOWN_RACK))
        return np.where(replicas == NOBODY, racks[:, :1], racks)

    @cached_property
    def _rack_known(self) -> Flags:
        if len({rack for _, rack in self.around.racks}) < 2:
            return np.zeros(len(self.columns), np.bool_)
        return self._assigned & (self.columns.replica_count > 1) & (self._racks != _UNKNOWN_RACK).all(axis=1)

    @cached_property
    def _rack_count(self) -> Ints:
        if not self._rack_known.any():
            return np.zeros(len(self.columns), np.int32)
        changes = np.diff(np.sort(self._racks, axis=1), axis=1) != 0
        return changes.sum(axis=1, dtype=np.int32) + 1


def _by_broker(brokers: Ints, ids: Longs, values: NDArray[K], other: K) -> NDArray[K]:
    """The value of each broker where `ids`, ascending, has it; `other` elsewhere."""
    if not len(ids):
        return np.full(brokers.shape, other)
    highest = int(max(brokers.max(initial=0), ids[-1]))
    if highest > _HUGE_ID or ids[0] < 0:
        place = np.minimum(np.searchsorted(ids, brokers), len(ids) - 1)
        return np.where(ids[place] == brokers, values[place], other)
    table = np.full(highest + 2, other)  # the last one is nobody's
    table[ids] = values
    return table[np.maximum(brokers, NOBODY)]


def health(
    image: ClusterImage, names: Iterable[str], around: Surroundings, rows: Mapping[str, Rows] | None = None
) -> Health:
    """Of these topics of an image, without those that are being deleted; of those in `rows`, only these rows."""
    topics = [image.topics[name] for name in names if name in image.topics and name not in image.admin.delete_topics]
    columns = stacked(topics, None if rows is None else [rows.get(topic.name, ALL) for topic in topics])
    return health_of(image, columns, around)


def health_of(image: ClusterImage, columns: PartitionColumns, around: Surroundings) -> Health:
    """Of these partitions of an image."""
    topics = columns.topics
    lengths = np.bincount(columns.topic, minlength=len(topics))
    min_isr = [at_least_one(image.topic_config(topic.name).get(MIN_ISR), around.min_isr) for topic in topics]
    return Health(
        columns=columns,
        around=around,
        min_isr=np.repeat(np.array(min_isr, np.int32), lengths),
        expected=columns.replica_count - _added(columns),
        readable=_readable(columns, around),
    )


def _added(columns: PartitionColumns) -> Ints:
    added = np.zeros(len(columns), np.int32)
    for place, topic in enumerate(columns.topics):
        if topic.adding:
            for row in np.flatnonzero(columns.topic == place).tolist():
                brokers = topic.adding.get(int(columns.partitions[row]), ())
                added[row] = np.isin(columns.replicas[row], brokers).sum()
    return added


def _readable(columns: PartitionColumns, around: Surroundings) -> Flags:
    readable = np.ones(len(columns), np.bool_)
    touched = {path.split("/")[3] for path in around.unreadable}
    for place, topic in enumerate(columns.topics):
        if topic.name in touched:
            root = f"/brokers/topics/{topic.name}"
            for row in np.flatnonzero(columns.topic == place).tolist():
                path = f"{root}/partitions/{columns.partitions[row]}/state"
                readable[row] = around.unreadable.isdisjoint((root, path))
    return readable


def _none() -> Counter[int]:
    return Counter()


@dataclass(frozen=True)
class BrokerTally:
    """Broker id → partitions, of topics that are not being deleted."""

    replicas: Counter[int] = field(default_factory=_none)  # has a replica
    leaders: Counter[int] = field(default_factory=_none)  # leads
    missing: Counter[int] = field(default_factory=_none)  # has a replica that is not in the ISR
    preferred: Counter[int] = field(default_factory=_none)  # is the preferred leader
    off_preferred: Counter[int] = field(default_factory=_none)  # could lead as the preferred leader, another leads

    def moved(self, was: "BrokerTally", now: "BrokerTally") -> "BrokerTally":
        """The counts after some partitions that counted as `was` count as `now`."""
        parts = ((getattr(tally, column.name) for tally in (self, was, now)) for column in fields(self))
        return BrokerTally(*(_moved(*part) for part in parts))


def tally(health: Health) -> BrokerTally:
    """Counts the partitions Health looks at."""
    columns = health.columns
    preferred = columns.replicas[:, 0]
    return BrokerTally(
        replicas=_count(columns.replicas),
        leaders=_count(columns.leader),
        missing=_count(columns.replicas[columns.has_state[:, None] & ~columns.in_isr]),
        preferred=_count(preferred),
        off_preferred=_count(preferred[health.off_preferred]),
    )


def _moved(every: Counter[int], was: Counter[int], now: Counter[int]) -> Counter[int]:
    if was == now:
        return every
    after = every.copy()
    after.update(now)
    after.subtract(was)
    for broker in was:
        if not after[broker]:
            del after[broker]
    return after


def _count(brokers: Column) -> Counter[int]:
    ids, counts = counted_ids(brokers)
    return Counter(dict(zip(ids.tolist(), counts.tolist(), strict=True)))
