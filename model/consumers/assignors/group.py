"""A consumer group as integer arrays, and who owned what before: all that an assignor decides on.

Topics are numbered in the order of their names, members in the order of their ids, and the partitions of all topics
one topic after the other: partition p of topic t is number `first[t] + p`. Names stay outside, in `named_group`.
Partitions that are claimed and do not exist come behind all others, and only where Kafka's own answer is asked for.

Source: `AbstractStickyAssignor` (3.9): `allSubscriptionsEqual`, `prepopulateCurrentAssignments` and
`getUnassignedPartitions`. Two members that claim a partition in one generation both lose it; otherwise the newer
generation has it. Kafka reads the generation of the first claim from another field than that of the next, so it
misjudges members that speak an old version of the protocol; `as_kafka` is wrong in the same way.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from model.consumers.assignors.java_hashing import Hashes

Ints = npt.NDArray[np.integer[Any]]
Flags = npt.NDArray[np.bool_]

NOBODY = -1
NO_GENERATION = -1


class AssignorError(Exception):
    """An assignor has no answer for this group; the message says why, in one line."""


class Claims(NamedTuple):
    """What members say they own, one member after the other, each in the order it told."""

    partitions: Ints  # [K]
    starts: Ints  # [C + 1]: member c's are partitions[starts[c]:starts[c + 1]]
    generations: Ints  # [C]: of the claim, NO_GENERATION where the member named none
    subscription_generations: Ints  # [C]: as the subscription's own field has it, from version 2 on

    @property
    def counts(self) -> Ints:
        """[C]: how many partitions each member claims."""
        return np.diff(self.starts)

    @property
    def members(self) -> Ints:
        """int32[K]: who makes each claim."""
        return np.repeat(np.arange(len(self.starts) - 1, dtype=np.int32), self.counts)


class MissingPartitions(NamedTuple):
    """Partitions that members claim and that do not exist: their topics, and the numbers claimed."""

    topics: Ints  # [M]
    numbers: Ints  # [M]


class Racks(NamedTuple):
    """Where members and replicas are. Racks are numbered; partitions with replicas on the same racks share a row."""

    of_member: Ints  # [C], NOBODY for a member that names none
    row_of_partition: Ints  # [P + M], -1 for a partition that is missing
    rows: Flags  # [sets of racks, racks]

    @property
    def matches(self) -> Flags:
        """bool[sets of racks + 1, C]: whether a replica is on the member's rack, or the member names no rack.

        The last row is that of a partition without replicas.
        """
        rows = np.zeros((len(self.rows) + 1, max(self.rows.shape[1], 1)), dtype=np.bool_)
        rows[:-1, : self.rows.shape[1]] = self.rows
        return rows[:, np.maximum(self.of_member, 0)] | (self.of_member < 0)


class SubscriberSets(NamedTuple):
    """Topics by who subscribes to them: topics with the same subscribers share a set."""

    of_topic: Ints  # [T] index into members
    members: Sequence[Ints]  # each ascending

    def at(self, number: int) -> Ints:
        return self.members[number]


@dataclass(frozen=True, eq=False)
class GroupToAssign:
    """One group, before it is assigned.

    `alike` is Kafka's verdict that all subscriptions are equal, by which the sticky assignors choose their algorithm.
    """

    partition_counts: Ints  # [T]
    subscriptions: Sequence[Ints]  # the different lists of topics, each ascending; a topic named twice is there twice
    subscription_of: Ints  # [C] index into subscriptions
    alike: bool
    claims: Claims
    ring: Ints  # [C] members as range and round-robin line them up: static ones first, by instance id
    walk: Ints  # [C] members as Java's HashMap of them is walked
    topic_hashes: Hashes  # [T]
    topic_walk: Ints  # [T] topics as a HashSet of their ids is walked; for the assignors of the group coordinator
    racks: Racks | None = None
    prefer_racks: bool = False  # let racks count where Kafka would see no use in them
    missing: MissingPartitions = field(
        default_factory=lambda: MissingPartitions(np.zeros(0, dtype=np.intp), np.zeros(0, dtype=np.int64))
    )

    @property
    def members(self) -> int:
        return len(self.subscription_of)

    @property
    def topics(self) -> int:
        return len(self.partition_counts)

    @cached_property
    def first(self) -> Ints:
        """int64[T + 1]: number of each topic's partition 0, and how many partitions there are in all."""
        return np.concatenate(([0], np.cumsum(self.partition_counts, dtype=np.int64)))

    @property
    def partitions(self) -> int:
        return int(self.first[-1])

    @property
    def numbered(self) -> int:
        """How many partitions have a number: those there are, and those that are missing."""
        return self.partitions + len(self.missing.topics)

    @cached_property
    def topic_of(self) -> Ints:
        """int32[P + M]: each partition's topic."""
        topics = np.repeat(np.arange(self.topics, dtype=np.int32), self.partition_counts)
        return np.concatenate((topics, self.missing.topics)) if len(self.missing.topics) else topics

    @cached_property
    def subscribed(self) -> Flags:
        """bool[subscriptions, T]: whether a list names the topic."""
        table = np.zeros((len(self.subscriptions), self.topics), dtype=np.bool_)
        for row, topics in zip(table, self.subscriptions, strict=True):
            row[topics] = True
        return table

    @cached_property
    def subscriber_sets(self) -> SubscriberSets:
        """Topics with the same subscribers, together."""
        rows: dict[bytes, int] = {}
        columns = np.ascontiguousarray(self.subscribed.T)
        of_topic = np.fromiter(
            (rows.setdefault(column.tobytes(), len(rows)) for column in columns), dtype=np.intp, count=self.topics
        )
        sets = [np.frombuffer(row, dtype=np.bool_)[self.subscription_of] for row in rows]
        return SubscriberSets(of_topic, [np.flatnonzero(members) for members in sets])

    @cached_property
    def subscriber_counts(self) -> Ints:
        """int64[T]: subscribers of each topic; who names it twice counts twice, as in Kafka."""
        users = np.bincount(self.subscription_of, minlength=len(self.subscriptions))
        counts = np.zeros(self.topics, dtype=np.int64)
        for topics, count in zip(self.subscriptions, users.tolist(), strict=True):
            np.add.at(counts, topics, count)
        return counts

    @cached_property
    def most(self) -> Ints:
        """int64[C]: partitions of all topics a member subscribes to; a topic named twice counts twice."""
        sums = [int(self.partition_counts[topics].sum()) for topics in self.subscriptions]
        return np.array(sums, dtype=np.int64)[self.subscription_of]

    def subscribes(self, members: Ints, topics: Ints) -> Flags:
        """bool[N]: whether each member subscribes to the topic beside it."""
        return self.subscribed[self.subscription_of[members], topics]

    def located(self, partitions: Ints) -> tuple[Ints, Ints]:
        """Topics, and the numbers within them, of these partitions."""
        topics = np.searchsorted(self.first, partitions, side="right") - 1
        numbers = partitions - self.first[topics]
        if len(self.missing.topics):
            beyond = partitions >= self.partitions
            topics[beyond] = self.missing.topics[numbers[beyond]]
            numbers[beyond] = self.missing.numbers[numbers[beyond]]
        return topics, numbers


def counts_of(owner: Ints, members: int) -> Ints:
    """int64[C]: how many partitions each member owns."""
    if owner.size and int(owner.min()) < 0:
        owner = owner[owner >= 0]
    return np.bincount(owner, minlength=members)


def spans(starts: Ints, counts: Ints) -> Ints:
    """int64[sum of counts]: the numbers from each start on, as many as its count says."""
    before = np.cumsum(counts) - counts
    return np.repeat(starts - before, counts) + np.arange(int(counts.sum()), dtype=np.int64)


class Ownership(NamedTuple):
    """Who owns each partition, and which partitions several members claimed in one generation."""

    owner: Ints  # int32[P], not to be written to
    contested: Ints  # ascending; whoever has such a partition still, has it from a newer generation
    agreed: bool  # no partition was claimed twice, so that the claims are the ownership


def ownership(group: GroupToAssign, *, as_kafka: bool = False) -> Ownership:
    """Settles the group's claims."""
    claims = group.claims
    none = np.zeros(0, dtype=np.intp)
    if not len(claims.partitions):
        return Ownership(np.broadcast_to(np.int32(NOBODY), group.numbered), none, agreed=True)
    owner = np.full(group.numbered, NOBODY, dtype=np.int32)
    owner[claims.partitions] = claims.members
    if np.count_nonzero(owner >= 0) == len(claims.partitions):
        return Ownership(owner, none, agreed=True)
    contested = _settle(claims, group.walk, owner, as_kafka)
    return Ownership(owner, contested, agreed=False)


def _settle(claims: Claims, walk: Ints, owner: Ints, as_kafka: bool) -> Ints:
    """Walks the claims on partitions that are claimed more than once, writes their owners, returns the contested."""
    earlier_generations = claims.subscription_generations if as_kafka else claims.generations
    twice = np.bincount(claims.partitions, minlength=len(owner)) > 1
    owner[twice] = NOBODY
    last: dict[int, int] = {}
    contested: set[int] = set()
    for member in walk.tolist():
        mine = claims.partitions[claims.starts[member] : claims.starts[member + 1]]
        generation = claims.generations[member]
        for partition in mine[twice[mine]].tolist():
            other = last.get(partition)
            if other is None or generation > earlier_generations[other]:
                owner[partition] = last[partition] = member
            elif generation == earlier_generations[other]:
                owner[partition], last[partition] = NOBODY, member
                contested.add(partition)
    return np.array(sorted(contested), dtype=np.intp)


def previous_owners(group: GroupToAssign, *, subscribed: bool = True) -> Ints | None:
    """int32[P]: who claims a partition from a generation older than the newest, of several the newest; None: nobody.

    `subscribed`: who does not subscribe to the topic any more does not count.
    """
    claims = group.claims
    stale = _stale(group)
    if not stale:
        return None
    previous = np.full(group.numbered, NOBODY, dtype=np.int32)
    stale.reverse()  # of one generation the first has it, so it comes last
    for member in sorted(stale, key=lambda c: int(claims.generations[c])):
        partitions = claims.partitions[claims.starts[member] : claims.starts[member + 1]]
        if subscribed:
            partitions = partitions[group.subscribed[group.subscription_of[member]][group.topic_of[partitions]]]
        previous[partitions] = member
    return previous


def has_strays(group: GroupToAssign) -> bool:
    """Whether somebody of an old generation claims a partition of a topic it does not subscribe to any more."""
    previous = previous_owners(group, subscribed=False) if _stale(group) else None
    if previous is None:
        return False
    known = np.flatnonzero(previous != NOBODY)
    return not bool(group.subscribes(previous[known], group.topic_of[known]).all())


def _stale(group: GroupToAssign) -> list[int]:
    """Members that claim something from a generation older than the newest, in Java's order."""
    claims = group.claims
    newest, counts = int(claims.generations.max(initial=NO_GENERATION)), claims.counts
    return [c for c in group.walk.tolist() if claims.generations[c] < newest and counts[c]]


def check_kept(owner: Ints, group: GroupToAssign, topics: Ints) -> None:
    """Raises AssignorError where a member keeps a partition that does not exist and others are kept behind it.

    `topics` are in the order in which Kafka compares what is kept with what there is. From the first partition on that
    is missing all count as free: those behind it that somebody keeps go to another member as well, or to nobody.
    """
    missing = group.partitions + np.flatnonzero(owner[group.partitions :] != NOBODY)
    if not len(missing):
        return
    place = np.empty(group.topics, dtype=np.intp)
    place[topics] = np.arange(group.topics)
    of, numbers = group.located(missing)
    first = np.lexsort((numbers, place[of]))[0]
    kept, kept_numbers = group.located(np.flatnonzero(owner[: group.partitions] != NOBODY))
    behind = (place[kept] > place[of[first]]) | (place[kept] == place[of[first]]) & (kept_numbers > numbers[first])
    if behind.any():
        raise AssignorError(
            "a member keeps a partition that does not exist, after which Kafka 3.9.1 gives partitions to two members "
            "at once, or throws IllegalStateException"
        )
