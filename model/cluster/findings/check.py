"""A finding, and what a check is: the kinds that it may tell of, and a function of the case that it looks at.

A case is the cluster as a whole, the flagged partitions of a topic, or a consumer group. It runs nothing; `find` lists
all checks.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Literal, NamedTuple

import msgspec
import numpy as np

from model.cluster.cluster_image import ClusterImage
from model.cluster.findings.health import BrokerTally, Health, Surroundings
from model.cluster.ids import TopicPartition
from model.cluster.image_parts import GroupImage, Member
from model.cluster.texts import brokers, counted, ranges
from model.cluster.topic_image import NOBODY, UNTOLD, Column, Flags, Ints, TopicImage

Severity = Literal["error", "warn", "info"]

SEVERITIES: tuple[Severity, ...] = ("error", "warn", "info")
"""Worst first."""


class FindingKind(NamedTuple):
    """What a finding is of, as `no-controller`, how serious that is, and the word that a list has for it."""

    name: str
    severity: Severity
    word: str
    """Eleven letters at most, in capitals where it is serious."""


class Finding(msgspec.Struct, frozen=True, gc=False):
    """What is wrong with `subject` (`orders`, `broker 3`, `group billing`, a znode path), why it matters, what to do.

    `partitions` are the partition ids of a finding about a topic; `since_ms` is when it began, 0 where unknown.
    """

    severity: Severity
    kind: str
    subject: str
    what: str
    why: str
    action: str
    partitions: tuple[int, ...] = ()
    since_ms: int = 0


def finding(
    kind: FindingKind,
    subject: str,
    what: str,
    why: str,
    action: str,
    *,
    partitions: tuple[int, ...] = (),
    since_ms: int = 0,
) -> Finding:
    """A finding of this kind."""
    return Finding(kind.severity, kind.name, subject, what, why, action, partitions, since_ms)


class ClusterCase(NamedTuple):
    """A whole cluster. `moving`: topics that are being reassigned, as they say themselves; `nameless`: without id."""

    image: ClusterImage
    around: Surroundings
    tally: BrokerTally
    moving: frozenset[str]
    nameless: frozenset[str]


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
        liveness = self.health.around.liveness
        groups: dict[str, list[int]] = {}
        for broker in ids:
            groups.setdefault(liveness(broker), []).append(broker)
        parts = [f"{brokers(groups[state])} ({state})" for state in _STANDINGS if state in groups]
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


class ClusterCheck(NamedTuple):
    """Looks at the cluster as a whole, whatever changed: it goes through no partitions."""

    kinds: tuple[FindingKind, ...]
    look: Callable[[ClusterCase], Iterator[Finding]]


class GroupCheck(NamedTuple):
    """Looks at a consumer group that changed; where it `needs_owners`, only if its coordinator tells who owns what."""

    kinds: tuple[FindingKind, ...]
    look: Callable[[GroupCase], Iterator[Finding]]
    needs_owners: bool


class FindingSentences(NamedTuple):
    """The three sentences of a finding."""

    what: str
    why: str
    action: str


class TopicCheck(NamedTuple):
    """Looks at the partitions that changed: which have it, and how that is told of each topic."""

    kind: FindingKind
    flags: Callable[[Health], Flags]
    tell: Callable[[TopicCase], FindingSentences]

    @property
    def kinds(self) -> tuple[FindingKind, ...]:
        return (self.kind,)


def cluster_check(*kinds: FindingKind) -> Callable[[Callable[[ClusterCase], Iterator[Finding]]], ClusterCheck]:
    """Makes a check of a function that looks at the cluster."""
    return lambda look: ClusterCheck(kinds, look)


def group_check(
    *kinds: FindingKind, needs_owners: bool = True
) -> Callable[[Callable[[GroupCase], Iterator[Finding]]], GroupCheck]:
    """Makes a check of a function that looks at a consumer group."""
    return lambda look: GroupCheck(kinds, look, needs_owners)


def topic_check(
    kind: FindingKind, flags: Callable[[Health], Flags]
) -> Callable[[Callable[[TopicCase], FindingSentences]], TopicCheck]:
    """Makes a check of a function that puts flagged partitions of a topic into words."""
    return lambda tell: TopicCheck(kind, flags, tell)
