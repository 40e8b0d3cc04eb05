"""All partitions of a cluster as one table: their state, their names, and the fields they are searched and sorted by.

Made once for an image and kept; what depends on the time of day is left to the moment of asking. Draws nothing.
"""

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple

import msgspec
import numpy as np

from model.cluster.cluster_image import AdminImage, ClusterImage, differing_keys, directory_ids
from model.cluster.findings.health import Health, Surroundings, health_of, surroundings
from model.cluster.ids import NO_LEADER, TopicPartition
from model.cluster.partition_columns import PartitionColumns, restacked, stacked
from model.cluster.topic_image import NOBODY, Flags, Ints, TopicImage, told_in, unpadded
from tui.engine.filters import BrokerSets, Coded, ListField, Numbers, Texts


class PartitionCondition(NamedTuple):
    """How a partition fares, in a word; `flags` says of which partitions it is true."""

    label: str
    style: str
    flags: Callable[["PartitionTable"], Flags]

    @property
    def mark(self) -> str:
        """The severity's sign, if there is one."""
        return self.label[0] if " " in self.label else ""


STATES = (
    PartitionCondition("- deleting", "removed", lambda t: t.deleting),
    PartitionCondition("X OFFLINE", "error", lambda t: t.health.offline),
    PartitionCondition("X stray leader", "error", lambda t: t.health.leader_not_replica | t.health.leader_not_in_isr),
    PartitionCondition("X min isr", "error", lambda t: t.health.under_min_isr),
    PartitionCondition("! unread", "warn", lambda t: t.unreadable),
    PartitionCondition("! unclean", "warn", lambda t: t.health.recovering),
    PartitionCondition("!~ under", "warn", lambda t: t.health.under_replicated & t.health.off_preferred),
    PartitionCondition("! under", "warn", lambda t: t.health.under_replicated),
    PartitionCondition("! no state", "warn", lambda t: t.health.stateless),
    PartitionCondition("! orphan", "warn", lambda t: t.health.orphaned),
    PartitionCondition("! stray isr", "warn", lambda t: t.health.isr_not_replica),
    PartitionCondition("+ moving", "adding", lambda t: t.moving),
    PartitionCondition("~ prefer", "changed", lambda t: t.health.off_preferred),
    PartitionCondition("ok", "ok", lambda t: np.ones(len(t), np.bool_)),
)
"""The first that is true is a partition's state. Past the deleted ones, worst first: so they sort."""


@dataclass(frozen=True, eq=False)
class Outline:
    """Which partitions there are, whatever their states: tables share it for as long as it is the same."""

    topics: tuple[TopicImage, ...]
    """By name; what is asked of them here stays the same while only states change."""

    @cached_property
    def ends(self) -> list[int]:
        """Behind the last row of each topic."""
        return list(accumulate(map(len, self.topics)))

    @cached_property
    def starts(self) -> Mapping[str, int]:
        """Topic → its first row."""
        return {topic.name: end - len(topic) for topic, end in zip(self.topics, self.ends, strict=True)}

    @cached_property
    def places(self) -> Mapping[str, int]:
        """Topic → which of the topics it is."""
        return {topic.name: place for place, topic in enumerate(self.topics)}

    @cached_property
    def widest_name(self) -> int:
        """Characters of the longest name."""
        last = ((topic.name, int(topic.partitions[-1])) for topic in self.topics if len(topic))
        return max((len(name) + 1 + len(str(number)) for name, number in last), default=0)

    @cached_property
    def names(self) -> Texts:
        """`orders-3` for each partition."""
        topics = self.topics
        return Texts(lambda: [f"{topic.name}-{number}" for topic in topics for number in topic.partitions.tolist()])


@dataclass(frozen=True, eq=False)
class PartitionTable:
    """Partitions by topic name, then by number. What is asked of all of them is made when it is asked for first."""

    image: ClusterImage
    around: Surroundings
    topics: tuple[TopicImage, ...]
    outline: Outline
    alone: dict[str, "PartitionTable"] = field(default_factory=dict[str, "PartitionTable"])
    """Tables of single topics that were looked at."""
    stacked_before: PartitionColumns | None = None
    """The facts of the table before, where it had the same partitions."""

    def __len__(self) -> int:
        return self.outline.ends[-1] if self.topics else 0

    @property
    def starts(self) -> Mapping[str, int]:
        """Topic → its first row."""
        return self.outline.starts

    @property
    def widest_name(self) -> int:
        """Characters of the longest name."""
        return self.outline.widest_name

    @cached_property
    def health(self) -> Health:
        """Which partitions are unwell, those of topics that are being deleted as well."""
        wanted = msgspec.structs.replace(self.image, admin=AdminImage())
        before = self.stacked_before
        columns = stacked(self.topics) if before is None else restacked(before, self.topics)
        return health_of(wanted, columns, self.around)

    @property
    def columns(self) -> PartitionColumns:
        """The facts, a column each."""
        return self.health.columns

    def near(self, row: int) -> tuple["PartitionTable", int]:
        """The row's topic as a table of its own, and the row in there: a few rows must not cost as much as all do."""
        if "states" in vars(self):
            return self, row
        place = bisect_right(self.outline.ends, row)
        topic = self.topics[place]
        if topic.name not in self.alone:
            image = msgspec.structs.replace(self.image, topics={topic.name: topic})  # it may outlast the whole
            self.alone[topic.name] = PartitionTable(image, self.around, (topic,), Outline((topic,)))
        return self.alone[topic.name], row - (self.outline.ends[place] - len(topic))

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
        registered = self.image.brokers.keys() | self.image.fenced.keys()
        return tuple(sorted(registered.union(*(topic.brokers for topic in self.topics))))

    def is_dead(self, broker: int) -> bool:
        """Whether a broker is known not to live."""
        return self.around.dead(broker)

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
        for topic in self.topics:
            for number in {*topic.adding, *topic.removing}:
                if number in topic.row_of:
                    flags[self.starts[topic.name] + topic.row_of[number]] = True
        flags[[row for asked in self.image.admin.reassignments if (row := self.place(str(asked))) >= 0]] = True
        return flags

    @cached_property
    def isr_width(self) -> int:
        """Members of the largest ISR."""
        return max((topic.isr.shape[1] for topic in self.topics), default=1)

    @cached_property
    def replicas_width(self) -> int:
        """Replicas of the partition that has most."""
        return max((topic.replicas.shape[1] for topic in self.topics), default=1)

    @cached_property
    def has_elr(self) -> bool:
        """Whether some partition has eligible leader replicas."""
        return any(bool((topic.elr > NOBODY).any()) for topic in self.topics)

    @cached_property
    def _timeless_fields(self) -> Mapping[str, ListField]:
        columns = self.columns
        return {
            "topic": Coded(columns.topic, Texts(lambda: [topic.name for topic in self.topics])),
            "partition": Numbers(columns.partitions),
            "leader": Numbers(columns.leader, _broker_or_none),
            "broker": BrokerSets(columns.replicas),
            "isr": BrokerSets(columns.isr),
            "elr": BrokerSets(np.maximum(columns.elr, NOBODY)),
            "state": Coded(self.states, Texts(lambda: [state.label for state in STATES])),
            "epoch": Numbers(columns.leader_epoch, lambda epoch: f"e{epoch}"),
            "name": self.outline.names,
        }

    def fields(self, now_ms: int) -> Mapping[str, ListField]:
        """By name; ages are as of `now_ms`."""
        age = np.where(self.columns.time_ms > 0, np.maximum(now_ms - self.columns.time_ms, 0), -1)
        return {**self._timeless_fields, "age": Numbers(age, is_duration=True)}


def _broker_or_none(broker: int) -> str:
    return "none" if broker == NO_LEADER else str(broker)


def partition_table(image: ClusterImage, before: PartitionTable | None = None) -> PartitionTable:
    """Of all topics of an image, those being deleted included; what is so in the table before is not made again."""
    around = surroundings(image)
    topics = None if before is None else _restated(before, image)
    if before is None or topics is None:
        topics = tuple(image.topics[name] for name in sorted(image.topics))
        return PartitionTable(image, around, topics, Outline(topics))
    stacked_before = before.columns if "health" in vars(before) else before.stacked_before
    table = PartitionTable(image, around, topics, before.outline, stacked_before=stacked_before)
    if _registered(image) == _registered(before.image) and _have_same_brokers(before.topics, topics):
        vars(table).update({name: value for name, value in vars(before).items() if name in _OF_BROKERS})
    if (around, image.configs, image.admin) == (before.around, before.image.configs, before.image.admin):
        known = {name: one for name, one in before.alone.items() if image.topics[name] is one.topics[0]}
        table.alone.update(known if len(known) < MOST_ALONE else {})
    return table


def _registered(image: ClusterImage) -> tuple[frozenset[int], frozenset[int]]:
    return frozenset(image.brokers), frozenset(image.fenced)


_OF_BROKERS = ("brokers", "isr_width", "replicas_width")
"""What a table works out of its topics, and what follows from the brokers that they name and the widths of theirs."""

MOST_ALONE = 64
"""Tables of single topics that outlast a change."""


def _restated(before: PartitionTable, image: ClusterImage) -> tuple[TopicImage, ...] | None:
    """The topics, where they have the same partitions as those of the table before."""
    topics, places = list(before.topics), before.outline.places
    for name in differing_keys(before.image.topics, image.topics):
        topic = image.topics.get(name)
        if topic is None or name not in places or topic.partitions is not topics[places[name]].partitions:
            return None
        topics[places[name]] = topic
    return tuple(topics)


def _have_same_brokers(some: Sequence[TopicImage], others: Sequence[TopicImage]) -> bool:
    pairs = ((one, other) for one, other in zip(some, others, strict=True) if one is not other)
    return all(
        (one.brokers, one.isr.shape, one.replicas.shape) == (other.brokers, other.isr.shape, other.replicas.shape)
        for one, other in pairs
    )


def replicas_of(table: PartitionTable, row: int) -> tuple[int, ...]:
    """Replicas of one row, preferred first."""
    return unpadded(table.columns.replicas[row])


def isr_of(table: PartitionTable, row: int) -> tuple[int, ...]:
    """The ISR of one row, in the znode's order."""
    return unpadded(table.columns.isr[row])


def elr_of(table: PartitionTable, row: int) -> tuple[int, ...] | None:
    """The eligible leader replicas of one row; None where nobody told them."""
    return told_in(table.columns.elr[row])


def folders_text(table: PartitionTable, row: int) -> str:
    """Where each replica is on its broker's disks, by what the metadata log and the brokers tell."""
    topic, number = table.topic_partition(row)
    image, name = table.image, TopicPartition(topic, number)
    found = image.topics[topic]
    place = found.row_of[number]
    ids = directory_ids(image, found, place)
    if ids is None:
        return ""
    paths = {
        broker: next((folder.path for folder in folders if name in folder.sizes), "")
        for broker, folders in image.log_dirs.items()
    }
    pairs = zip(unpadded(found.replicas[place]), ids, strict=False)
    return ", ".join(f"b{broker} " + " ".join(filter(None, (paths.get(broker), id))) for broker, id in pairs)
