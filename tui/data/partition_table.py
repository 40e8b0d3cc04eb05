"""All partitions of a cluster as one table: their state, their names, and the fields they are searched and sorted by.

Made once for an image and kept; what depends on the time of day is left to the moment of asking. Draws nothing.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import msgspec
import numpy as np

from model.cluster.cluster_image import AdminImage, ClusterImage
from model.cluster.findings.health import Health, health
from model.cluster.findings.surroundings import surroundings
from model.cluster.ids import NO_LEADER, TopicPartition
from model.cluster.partition_columns import PartitionColumns
from model.cluster.topic_image import Flags, Ints, TopicImage, unpadded
from tui.data.fields import BrokerSets, Coded, Field, Numbers, Texts


class State(NamedTuple):
    """How a partition fares, in a word; `flags` says of which partitions it is true."""

    label: str
    style: str
    flags: Callable[["PartitionTable"], Flags]

    @property
    def mark(self) -> str:
        """The severity's sign, if there is one."""
        return self.label[0] if " " in self.label else ""


STATES = (
    State("- deleting", "removed", lambda t: t.deleting),
    State("X OFFLINE", "error", lambda t: t.health.offline),
    State("X stray leader", "error", lambda t: t.health.leader_not_replica | t.health.leader_not_in_isr),
    State("X min isr", "error", lambda t: t.health.under_min_isr),
    State("! unread", "warn", lambda t: t.unreadable),
    State("! unclean", "warn", lambda t: t.health.recovering),
    State("!~ under", "warn", lambda t: t.health.under_replicated & t.health.off_preferred),
    State("! under", "warn", lambda t: t.health.under_replicated),
    State("! no state", "warn", lambda t: t.health.stateless),
    State("! orphan", "warn", lambda t: t.health.orphaned),
    State("! stray isr", "warn", lambda t: t.health.isr_not_replica),
    State("+ moving", "adding", lambda t: t.moving),
    State("~ prefer", "changed", lambda t: t.health.off_preferred),
    State("ok", "ok", lambda t: np.ones(len(t), np.bool_)),
)
"""The first that is true is a partition's state. Past the deleted ones, worst first: so they sort."""


_HUGE_ID = 1_000_000


@dataclass(frozen=True, eq=False)
class PartitionTable:
    """Partitions by topic name, then by number. `starts` is topic → its first row."""

    image: ClusterImage
    health: Health
    starts: Mapping[str, int]
    names: Texts

    def __len__(self) -> int:
        return len(self.columns)

    @property
    def columns(self) -> PartitionColumns:
        """The facts, a column each."""
        return self.health.columns

    def place(self, key: str) -> int:
        """The row of `orders-3`, -1 if there is none."""
        topic, _, number = key.rpartition("-")
        if topic not in self.starts or not (number.isascii() and number.isdecimal()) or len(number) > 10:
            return -1
        row = self.image.topics[topic].row_of.get(int(number), -1)
        return self.starts[topic] + row if row >= 0 else -1

    def topic_partition(self, row: int) -> TopicPartition:
        """What the row is about."""
        return TopicPartition(self.columns.topics[self.columns.topic[row]].name, int(self.columns.partitions[row]))

    @cached_property
    def brokers(self) -> tuple[int, ...]:
        """Every broker that is registered or named as a replica, a leader or in an ISR."""
        columns = (self.columns.replicas, self.columns.isr, self.columns.leader)
        return tuple(sorted(self.image.brokers.keys() | {id for column in columns for id in _ids_in(column)}))

    def is_dead(self, broker: int) -> bool:
        """Whether a broker is known not to live."""
        return self.health.around.dead(broker)

    @cached_property
    def states(self) -> Ints:
        """int32[N]: index into STATES."""
        codes = np.zeros(len(self), np.int32)
        for code in range(len(STATES) - 1, -1, -1):
            codes[STATES[code].flags(self)] = code
        return codes

    @property
    def unreadable(self) -> Flags:
        """bool[N]: whether a znode that says something about the partition could not be used."""
        return ~self.health.readable

    @cached_property
    def deleting(self) -> Flags:
        """bool[N]: whether the topic's deletion was asked for."""
        flags = np.zeros(len(self), np.bool_)
        for topic in self.image.admin.delete_topics & self.starts.keys():
            flags[self.starts[topic] : self.starts[topic] + len(self.image.topics[topic])] = True
        return flags

    @cached_property
    def moving(self) -> Flags:
        """bool[N]: whether the partition is being reassigned, or that was asked for."""
        flags = np.zeros(len(self), np.bool_)
        for topic in self.columns.topics:
            for number in {*topic.adding, *topic.removing} & topic.row_of.keys():
                flags[self.starts[topic.name] + topic.row_of[number]] = True
        flags[[row for asked in self.image.admin.reassignments if (row := self.place(str(asked))) >= 0]] = True
        return flags

    @cached_property
    def widest_name(self) -> int:
        """Characters of the longest name."""
        last = ((topic.name, int(topic.partitions[-1])) for topic in self.columns.topics if len(topic))
        return max((len(name) + 1 + len(str(number)) for name, number in last), default=0)

    @cached_property
    def _timeless_fields(self) -> Mapping[str, Field]:
        columns = self.columns
        return {
            "topic": Coded(columns.topic, Texts(lambda: [topic.name for topic in columns.topics])),
            "partition": Numbers(columns.partitions),
            "leader": Numbers(columns.leader, _broker_or_none),
            "broker": BrokerSets(columns.replicas),
            "isr": BrokerSets(columns.isr),
            "state": Coded(self.states, Texts(lambda: [state.label for state in STATES])),
            "epoch": Numbers(columns.leader_epoch, lambda epoch: f"e{epoch}"),
            "name": self.names,
        }

    def fields(self, now_ms: int) -> Mapping[str, Field]:
        """By name; ages are as of `now_ms`."""
        age = np.where(self.columns.time_ms > 0, np.maximum(now_ms - self.columns.time_ms, 0), -1)
        return {**self._timeless_fields, "age": Numbers(age, is_duration=True)}


def _ids_in(column: Ints) -> list[int]:
    """The broker ids that occur; several times quicker than sorting them all, unless they are huge."""
    ids = column[column >= 0]
    if ids.max(initial=0) > _HUGE_ID:
        return np.unique(ids).tolist()
    seen = np.zeros(int(ids.max(initial=0)) + 1, np.bool_)
    seen[ids] = True
    return np.flatnonzero(seen).tolist()


def _broker_or_none(broker: int) -> str:
    return "none" if broker == NO_LEADER else str(broker)


def partition_names(topics: Sequence[TopicImage]) -> Texts:
    """`orders-3` for each partition. They outlast a table: most changes leave the set of partitions alone."""
    return Texts(lambda: [f"{topic.name}-{number}" for topic in topics for number in topic.partitions.tolist()])


def partition_table(image: ClusterImage, texts: Texts | None = None) -> PartitionTable:
    """Of all topics of an image, those being deleted included; `texts` are the names, if they were made before."""
    names = sorted(image.topics)
    wanted = msgspec.structs.replace(image, admin=AdminImage())  # health leaves out topics that are being deleted
    starts = np.cumsum([0, *(len(image.topics[name]) for name in names)])
    return PartitionTable(
        image=image,
        health=health(wanted, names, surroundings(image)),
        starts=dict(zip(names, starts.tolist(), strict=False)),
        names=texts or partition_names([image.topics[name] for name in names]),
    )


def replicas_of(table: PartitionTable, row: int) -> tuple[int, ...]:
    """Replicas of one row, preferred first."""
    return unpadded(table.columns.replicas[row])


def isr_of(table: PartitionTable, row: int) -> tuple[int, ...]:
    """The ISR of one row, in the znode's order."""
    return unpadded(table.columns.isr[row])
