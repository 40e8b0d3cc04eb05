"""One group among the arrays as the assignors take it: as it is, or after consumers died or joined. Assigns nothing.

A member that joins subscribes as most members did before, and stands behind all others in the order of names.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple, cast

import numpy as np

from model.analyses.analysis import Arrays
from model.analyses.previews.result import newcomers
from model.consumers.assignors.assignment import Strategy
from model.consumers.assignors.group import NO_GENERATION, Claims, Flags, GroupToAssign, Ints, Ownership, ownership
from model.consumers.assignors.java_hashing import Hashes, copied_table, string_hashes, walk
from model.consumers.assignors.named_group import NamedGroup


class StagedGroup:
    """A view of what is staged of one group; see `staging` on how it stands there."""

    def __init__(self, arrays: Arrays, number: int) -> None:
        self._arrays = cast(Mapping[str, Ints], arrays)
        self.number = number
        self.topics: Ints = self._part("group_topics", "group_topic_starts")  # as numbered over all groups
        self.lag: Ints = self._part("lag", "partition_starts")  # [P] records
        self.counts: Ints = self._arrays["topic_partitions"][self.topics].astype(np.int64)  # [T] partitions
        self.topic_hashes: Hashes = self._arrays["topic_hashes"][self.topics].astype(np.uint32, copy=False)
        self.subscription_of: Ints = self._part("member_subscription", "member_starts")
        self.consumer_of: Ints = self._part("member_consumer", "member_starts")
        self.hashes: Hashes = self._part("member_hashes", "member_starts").astype(np.uint32, copy=False)
        self.ring: Ints = self._part("member_ring", "member_starts")
        self.claim_counts: Ints = self._part("claim_counts", "member_starts")
        self.claims: Ints = self._part("claims", "claim_starts")

    def _part(self, name: str, starts: str) -> Ints:
        begin, end = self._arrays[starts][self.number : self.number + 2].tolist()
        return self._arrays[name][begin:end]

    @property
    def members(self) -> int:
        return len(self.consumer_of)

    @property
    def consumers(self) -> int:
        return int(self._arrays["consumers"][self.number])

    @property
    def is_zookeeper(self) -> bool:
        """Whether its members register in ZooKeeper."""
        return bool(self._arrays["zookeeper"][self.number])

    def subscriptions(self) -> list[Ints]:
        """The different lists of topics, by number within the group."""
        begin, end = self._arrays["subscription_starts"][self.number : self.number + 2].tolist()
        bounds = self._arrays["subscription_topic_starts"][begin : end + 1].tolist()
        topics = self._arrays["subscription_topics"]
        return [topics[start:stop] for start, stop in pairwise(bounds)]

    def id_hashes(self, topics: Ints) -> Hashes:
        """uint32[N]: hashes of the ids of topics, which are numbered as over all groups."""
        return self._arrays["topic_id_hashes"][topics].astype(np.uint32, copy=False)

    def topic_names(self, topics: Ints) -> list[str]:
        """Their names: round-robin of ZooKeeper consumers goes by the hashes of these."""
        starts, written = self._arrays["topic_name_starts"], self._arrays["topic_name_bytes"]
        return [
            written[starts[topic] : starts[topic + 1]].tobytes().decode("utf-8", "surrogatepass")
            for topic in topics.tolist()
        ]


STAYS = -1


class GroupChange(NamedTuple):
    """What happens to a group: a consumer dies, STAYS if none does; and so many members join."""

    leaves: int = STAYS
    joins: int = 0


NOTHING = GroupChange()


class _Members(NamedTuple):
    """Who is there. `kept` are the numbers, before the change, of those who were; others come behind."""

    kept: Ints
    subscription_of: Ints
    hashes: Hashes
    ring: Ints


@dataclass(frozen=True, eq=False)
class ChangedGroup:
    """A group after a change. Topics that nobody subscribes to any more are gone from it."""

    staged: StagedGroup
    group: GroupToAssign  # for the assignors that run in consumers
    kept: Ints  # [C - joined] the members' numbers before the change
    topics: Ints  # [T] as numbered over all groups
    lag: Ints  # [P] records
    handed_on: int
    """Partitions that the consumer had which died."""

    @cached_property
    def before(self) -> Ownership:
        return ownership(self.group)

    @cached_property
    def there(self) -> "ChangedGroup":
        """Without topics that have no partitions, of which only round-robin of ZooKeeper consumers takes notice."""
        counts = self.group.partition_counts
        return self if counts.all() else _with_topics(self, counts > 0)

    @cached_property
    def coordinated(self) -> GroupToAssign:
        """For the assignors of the group coordinator (KIP-848), which know topics by their ids."""
        hashes = self.staged.id_hashes(self.topics)
        alike = len({row.tobytes() for row in self.group.subscriptions}) <= 1
        topic_walk = _topic_walk(self.group, hashes, alike=alike)
        return replace(self.group, topic_hashes=hashes, topic_walk=topic_walk, alike=alike)

    def named(self, strategy: Strategy, members: Sequence[str] | None = None) -> NamedGroup:
        """For a strategy to decide on; topics have names where members have, or where the strategy goes by them."""
        whole = self if strategy.threads else self.there
        topics = self.staged.topic_names(whole.topics) if strategy.threads or members is not None else ()
        members = members or ()
        if strategy.threads:
            return NamedGroup(topics, members, replace(self.group, ring=np.arange(self.group.members)))
        return NamedGroup(topics, members, whole.coordinated if strategy.kind == "coordinator" else whole.group)


def changed(staged: StagedGroup, change: GroupChange = NOTHING) -> ChangedGroup:
    """The group after a change."""
    members = _members(staged, change)
    subscriptions, subscription_of = staged.subscriptions(), members.subscription_of
    if len(subscriptions) > 1 and len(subscription_of):
        used, subscription_of = np.unique(subscription_of, return_inverse=True)
        subscriptions = [subscriptions[int(row)] for row in used]
    claims = _claims(staged, members, change.joins)
    group = GroupToAssign(
        partition_counts=staged.counts,
        subscriptions=subscriptions,
        subscription_of=subscription_of.astype(np.intp),
        alike=len(subscriptions) <= 1,
        claims=claims,
        ring=members.ring,
        walk=walk(members.hashes),
        topic_hashes=staged.topic_hashes,
        topic_walk=np.zeros(0, dtype=np.intp),
    )
    handed_on = len(staged.claims) - len(claims.partitions)
    whole = ChangedGroup(staged, group, members.kept, staged.topics, staged.lag, handed_on)
    read: Flags = np.logical_or.reduce(group.subscribed, axis=0)
    return whole if read.all() or not group.members else _with_topics(whole, read)


def _members(staged: StagedGroup, change: GroupChange) -> _Members:
    subscription_of, hashes, ring = staged.subscription_of, staged.hashes, staged.ring
    kept = np.arange(staged.members)
    if change.leaves != STAYS:
        stays = staged.consumer_of != change.leaves
        kept = np.flatnonzero(stays)
        subscription_of, hashes = subscription_of[kept], hashes[kept]
        ring = np.searchsorted(kept, ring[stays[ring]])
    if change.joins:
        subscription_of = np.append(subscription_of, np.full(change.joins, _usual(staged)))
        hashes = np.concatenate((hashes, string_hashes(newcomers(change.joins))))
        ring = np.append(ring, np.arange(len(kept), len(kept) + change.joins))
    return _Members(kept, subscription_of, hashes, ring)


def _usual(staged: StagedGroup) -> int:
    """What most members subscribe to, of those that read anything; of equals the first member's."""
    rows = staged.subscriptions()
    users = np.bincount(staged.subscription_of, minlength=len(rows))
    return int((users * [bool(staged.counts[row].any()) for row in rows]).argmax())


def _claims(staged: StagedGroup, members: _Members, joins: int) -> Claims:
    claims, counts = staged.claims, staged.claim_counts
    if len(members.kept) < staged.members:
        stays = np.zeros(staged.members, dtype=np.bool_)
        stays[members.kept] = True
        claims, counts = claims[np.repeat(stays, counts)], counts[members.kept]
    counts = np.append(counts, np.zeros(joins, dtype=np.int64))
    generations = np.zeros(len(counts), dtype=np.int64)
    generations[len(members.kept) :] = NO_GENERATION
    return Claims(claims, np.concatenate(([0], np.cumsum(counts))), generations, generations)


def _with_topics(whole: ChangedGroup, stays: Flags) -> ChangedGroup:
    """The same with these topics alone; bool[T]."""
    group, claims = whole.group, whole.group.claims
    partitions = np.repeat(stays, group.partition_counts)
    topic_at, partition_at = np.cumsum(stays) - 1, np.cumsum(partitions) - 1
    kept = partitions[claims.partitions]
    counts = np.bincount(claims.members[kept], minlength=group.members)
    starts = np.concatenate(([0], np.cumsum(counts)))
    reduced = replace(
        group,
        partition_counts=group.partition_counts[stays],
        subscriptions=[topic_at[row[stays[row]]] for row in group.subscriptions],
        claims=claims._replace(partitions=partition_at[claims.partitions[kept]], starts=starts),
        topic_hashes=group.topic_hashes[stays],
    )
    return replace(whole, group=reduced, topics=whole.topics[stays], lag=whole.lag[partitions])


def _topic_walk(group: GroupToAssign, hashes: Hashes, *, alike: bool) -> Ints:
    """Topics as a HashSet of their ids is walked; see `model.consumers.assignors.case`."""
    if not group.members:
        return np.zeros(0, dtype=np.intp)
    lists = [row[walk(hashes[row])] for row in group.subscriptions]
    if alike:
        return lists[0][walk(hashes[lists[0]], copied_table(len(lists[0])))]
    order: list[int] = group.subscription_of[group.walk].tolist()
    topics: list[int] = np.concatenate([lists[row] for row in dict.fromkeys(order)]).tolist()
    met = np.array(list(dict.fromkeys(topics)), dtype=np.intp)
    return met[walk(hashes[met])]
