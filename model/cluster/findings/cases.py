"""What the checks look at: the cluster as a whole, the flagged partitions of a topic, or a consumer group."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from model.cluster.cluster_image import ClusterImage
from model.cluster.findings.health import Health
from model.cluster.findings.surroundings import Surroundings
from model.cluster.findings.tally import Tally
from model.cluster.group_image import GroupImage, Member
from model.cluster.ids import TopicPartition
from model.cluster.topic_image import NOBODY, UNTOLD, Column, Ints, TopicImage
from model.cluster.words import brokers, counted, ranges


class ClusterCase(NamedTuple):
    """A whole cluster. `moving`: the topics that are being reassigned, as they say themselves."""

    image: ClusterImage
    around: Surroundings
    tally: Tally
    moving: frozenset[str]


class TopicCase(NamedTuple):
    """The flagged rows of one topic."""

    health: Health
    topic: TopicImage
    rows: Ints

    @property
    def partitions(self) -> tuple[int, ...]:
        return tuple(self.health.columns.partitions[self.rows].tolist())

    @property
    def of(self) -> str:
        """`3 of 12 partitions`."""
        return f"{len(self.rows):,} of {counted(len(self.topic), 'partition')}"

    @property
    def which(self) -> str:
        return ranges(self.partitions)

    @property
    def min_isr(self) -> int:
        return int(self.health.min_isr[self.rows[0]])

    @property
    def last_in_sync(self) -> set[int]:
        """Members of the ISR."""
        return _ids(self.health.columns.isr[self.rows])

    @property
    def elr(self) -> set[int]:
        """Eligible leader replicas of those whose ISR is empty."""
        return _ids(self.health.columns.elr[self.rows][self.health.isr_empty[self.rows]])

    @property
    def last_known(self) -> set[int]:
        """The last known leaders of those that nobody may lead without loss."""
        nobody = self.health.isr_empty[self.rows] & ~self.health.eligible[self.rows].any(axis=1)
        return _ids(self.health.columns.last_known_elr[self.rows][nobody])

    @property
    def strangers(self) -> set[int]:
        """Members of the ISR that are no replicas."""
        return _ids(self.health.columns.isr[self.rows][self.health.strangers[self.rows]])

    @property
    def leaders(self) -> set[int]:
        return _ids(self.health.columns.leader[self.rows])

    def holders(
        self, *, in_isr: bool | None = None, live: bool | None = None, eligible: bool | None = None
    ) -> set[int]:
        """Brokers with a replica of these partitions that are in the ISR, or live, or may lead, or none of that."""
        holds = np.ones((len(self.rows), self.health.columns.replicas.shape[1]), np.bool_)
        if in_isr is not None:
            holds &= self.health.columns.in_isr[self.rows] == in_isr
        if eligible is not None:
            holds &= self.health.eligible[self.rows] == eligible
        if live is not None:
            holds &= self.health.replica_lives[self.rows] == live
        return _ids(self.health.columns.replicas[self.rows][holds])

    @property
    def out_of_isr(self) -> set[int]:
        return self.holders(in_isr=False)

    def blame(self, ids: set[int]) -> str:
        """`broker 5 (down) and brokers 1, 2 (up)`."""
        standing = self.health.around.standing
        groups = ((state, {broker for broker in ids if standing(broker) == state}) for state in _STANDINGS)
        parts = [f"{brokers(some)} ({state})" for state, some in groups if some]
        return " and ".join(parts) or "no broker"


_STANDINGS = ("down", "fenced", "up")


def _ids(column: Column) -> set[int]:
    return set(column.ravel().tolist()) - {NOBODY, UNTOLD}


class GroupCase(NamedTuple):
    """A group and what it depends on. `topics` leaves out those being deleted."""

    key: str
    group: GroupImage
    topics: Mapping[str, TopicImage]
    log_end_offsets: Mapping[TopicPartition, int]

    @property
    def subject(self) -> str:
        return f"group {self.key}"

    def subscribed(self) -> set[str]:
        """Topics its members read and the cluster has."""
        used = {used.topic for used in (*self.group.owners, *self.group.offsets)}
        names = {name for member in self.group.members.values() for name in _named(member, used)}
        return {name for name in names if name in self.topics}

    def exists(self, partition: TopicPartition) -> bool:
        topic = self.topics.get(partition.topic)
        return topic is not None and partition.partition in topic.row_of


def topics_of(group: GroupImage) -> frozenset[str]:
    """Every topic name that what is found about the group depends on."""
    used = {used.topic for used in (*group.owners, *group.offsets)}
    return frozenset(used.union(*(_named(member, used) for member in group.members.values())))


def _named(member: Member, used: set[str]) -> set[str]:
    if member.pattern == "static":
        return set(member.subscription)
    if member.pattern == "black_list":
        return used
    plain = {name for pattern in member.subscription for name in pattern.replace(",", "|").split("|")}
    return used | plain
