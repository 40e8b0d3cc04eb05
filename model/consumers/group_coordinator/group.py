"""A consumer group as a value: settings, state, members, generation, offsets, rebalances, and writes on their way.

Source: `kafka.coordinator.group.GroupMetadata`, `MemberMetadata` (3.9). What events do to a group is decided elsewhere;
nothing is decided from past rebalances, which are kept for operators.
"""

from collections import Counter
from collections.abc import Collection, Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import NamedTuple

import msgspec

from model.cluster.ids import TopicPartition

_WEEK_MS = 7 * 24 * 60 * 60 * 1000


class GroupSettings(msgspec.Struct, frozen=True, kw_only=True):
    """By the names of their keys in server.properties; `offsets_retention_ms` is `offsets.retention.minutes`."""

    group_min_session_timeout_ms: int = 6_000
    group_max_session_timeout_ms: int = 1_800_000
    group_initial_rebalance_delay_ms: int = 3_000
    group_max_size: int = 2**31 - 1
    offset_metadata_max_bytes: int = 4_096
    offsets_retention_ms: int = _WEEK_MS


class CommittedOffset(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """`kafka.common.OffsetAndMetadata` (3.9). `expire_ms`: only commits of old clients name a time of their own."""

    offset: int
    metadata: str = ""
    leader_epoch: int | None = None
    commit_ms: int
    expire_ms: int | None = None
    logged_at: int = -1
    """The offset in `__consumer_offsets` of the batch that it came with; -1 while it is not there."""


class SupportedProtocol(NamedTuple):
    """An assignor by name, and what the member tells the leader for it (its subscription, for consumers)."""

    name: str
    metadata: bytes


class Member(msgspec.Struct, frozen=True, kw_only=True):
    """`kafka.coordinator.group.MemberMetadata` (3.9). Protocols in the member's order of preference.

    `join` and `sync` are the numbers of its requests that wait for an answer. `deadline_ms`: when its session ends.
    """

    member_id: str
    instance_id: str | None = None
    client_id: str = ""
    client_host: str = ""
    session_timeout_ms: int
    rebalance_timeout_ms: int
    protocols: tuple[SupportedProtocol, ...]
    assignment: bytes = b""
    deadline_ms: int = 0
    is_new: bool = False
    """It has not been part of a generation yet."""
    join: int | None = None
    sync: int | None = None

    @property
    def is_static(self) -> bool:
        """Whether it is known by a `group.instance.id` (KIP-345)."""
        return self.instance_id is not None

    @property
    def owner(self) -> str:
        """A name that outlives a restart of a static member."""
        return self.instance_id or self.member_id

    @property
    def expires_at_ms(self) -> int | None:
        """When it counts as gone. Who waits for an answer cannot send heartbeats; new ones time out all the same."""
        is_waiting = self.join is not None or self.sync is not None
        return None if is_waiting and not self.is_new else self.deadline_ms

    def renewed(self, at_ms: int) -> "Member":
        """With a session that begins anew."""
        return msgspec.structs.replace(self, deadline_ms=at_ms + self.session_timeout_ms)

    def metadata(self, protocol: str | None) -> bytes:
        """What it tells the leader for a protocol; nothing for one that it does not support."""
        return next((each.metadata for each in self.protocols if each.name == protocol), b"")

    def vote(self, candidates: Collection[str]) -> str:
        """The candidate it likes best. Raises StopIteration where it supports none."""
        return next(each.name for each in self.protocols if each.name in candidates)


REBALANCES_KEPT = 50


class OngoingRebalance(msgspec.Struct, frozen=True):
    """One that is going on. `deadline_ms`: when joins are collected no longer.

    `remaining_ms` is what the first delay of an empty group may still grow by; None for every other rebalance, which
    ends as soon as all have joined.
    """

    began_ms: int
    why: str
    deadline_ms: int
    delay_ms: int = 0
    remaining_ms: int | None = None
    has_newcomers: bool = False
    """Somebody joined while the first delay of a new group ran."""


class PastRebalance(msgspec.Struct, frozen=True):
    """A rebalance that is over; `took_ms` from its cause to the answers that carry the assignment.

    `members` by instance id, where they have one. `moved_partitions` had another owner before; it is 0 where the
    assignment is not a consumer's. Not `completed`: the next rebalance began before there was an assignment.
    """

    began_ms: int
    why: str
    took_ms: int
    generation: int
    members: tuple[str, ...]
    protocol: str | None
    moved_partitions: int = 0
    completed: bool = True


def remember(past: tuple[PastRebalance, ...], rebalance: PastRebalance) -> tuple[PastRebalance, ...]:
    """With one more, oldest first; the oldest are forgotten."""
    return (*past, rebalance)[-REBALANCES_KEPT:]


class AssignmentWrite(msgspec.Struct, frozen=True):
    """A generation's assignment: it is handed out once it is replicated."""

    generation: int
    assignment: Mapping[str, bytes]


class StaticMemberWrite(msgspec.Struct, frozen=True):
    """A static member that came back with another id; `before` is put back if that cannot be written."""

    generation: int
    member_id: str
    before: Member
    can_skip_assignment: bool
    leader_before: str | None


class OffsetsWrite(msgspec.Struct, frozen=True):
    """Commits; `refused` are those of the same request whose metadata is too long."""

    offsets: Mapping[TopicPartition, CommittedOffset]
    refused: tuple[TopicPartition, ...]


Write = AssignmentWrite | StaticMemberWrite | OffsetsWrite


CONSUMER_PROTOCOL_TYPE = "consumer"


class GroupState(StrEnum):
    """Kafka's names."""

    EMPTY = "Empty"
    PREPARING_REBALANCE = "PreparingRebalance"
    COMPLETING_REBALANCE = "CompletingRebalance"
    STABLE = "Stable"
    DEAD = "Dead"


class Group(msgspec.Struct, frozen=True):
    """Members are kept in the order in which they came. A DEAD group is to be forgotten by whoever keeps groups."""

    group_id: str
    state: GroupState = GroupState.EMPTY
    state_since_ms: int | None = None
    generation: int = 0
    protocol_type: str | None = None
    protocol: str | None = None
    leader: str | None = None
    members: Mapping[str, Member] = MappingProxyType({})
    pending_members: Mapping[str, int] = MappingProxyType({})
    """Ids that were given out and not used yet (KIP-394), with the time when they expire (ms)."""
    pending_syncs: frozenset[str] = frozenset()
    sync_deadline_ms: int | None = None
    """When members of this generation that have not asked for their assignment are dropped."""
    rebalance: OngoingRebalance | None = None
    subscribed_topics: frozenset[str] | None = None
    """None: not known, as the members do not speak the consumer protocol."""
    offsets: Mapping[TopicPartition, CommittedOffset] = MappingProxyType({})
    pending_offsets: Mapping[TopicPartition, int] = MappingProxyType({})
    """Partitions with a commit that is not in the log yet: the number of the last request for it."""
    writes: Mapping[int, Write] = MappingProxyType({})
    """What waits for the log, by the number of the request that caused it."""
    owners: Mapping[TopicPartition, str] = MappingProxyType({})
    """Who owns what, or was the last to do so, while members speak the consumer protocol."""
    past: tuple[PastRebalance, ...] = ()

    @property
    def is_consumer_group(self) -> bool:
        """Whether its members are consumers (and not, say, workers of Kafka Connect)."""
        return self.protocol_type == CONSUMER_PROTOCOL_TYPE

    @property
    def rebalance_timeout_ms(self) -> int:
        return max((member.rebalance_timeout_ms for member in self.members.values()), default=0)

    @property
    def has_all_joined(self) -> bool:
        """Whether every member has asked to join, and nobody holds an id without having used it."""
        return not self.pending_members and all(member.join is not None for member in self.members.values())

    @property
    def has_offsets(self) -> bool:
        """Whether there are offsets, be it on the way to the log."""
        return bool(self.offsets or self.pending_offsets)

    @property
    def candidate_protocols(self) -> frozenset[str]:
        every = [[each.name for each in member.protocols] for member in self.members.values()]
        return frozenset(every[0]).intersection(*every[1:]) if every else frozenset()

    @property
    def chosen_protocol(self) -> str | None:
        """The candidate with most votes; among equals the one voted for first. None without members."""
        candidates = self.candidate_protocols
        votes = Counter(member.vote(candidates) for member in self.members.values())
        return max(votes, key=votes.__getitem__, default=None)

    def supports(self, protocol_type: str, protocols: Collection[str]) -> bool:
        """Whether somebody with these protocols can be a member. An empty group takes any."""
        if self.state is GroupState.EMPTY:
            return bool(protocol_type) and bool(protocols)
        if self.protocol_type != protocol_type:
            return False
        return bool(protocols) and (not self.members or not self.candidate_protocols.isdisjoint(protocols))

    def static_member(self, instance_id: str | None) -> Member | None:
        """The member with this `group.instance.id`."""
        if instance_id is None:
            return None
        return next((each for each in self.members.values() if each.instance_id == instance_id), None)

    def with_member(self, member: Member) -> "Group":
        return msgspec.structs.replace(self, members={**self.members, member.member_id: member})

    def without_member(self, member_id: str) -> "Group":
        """Without a member, or an id that waits to be used. Another leads then, the one who came first."""
        members = {name: member for name, member in self.members.items() if name != member_id}
        return msgspec.structs.replace(
            self,
            members=members,
            leader=next(iter(members), None) if self.leader == member_id else self.leader,
            pending_members={name: until for name, until in self.pending_members.items() if name != member_id},
            pending_syncs=self.pending_syncs - {member_id},
        )

    def next_deadline_ms(self) -> int | None:
        """When time alone changes something: then `TimePassed` is due. None: not before something happens."""
        deadlines = [member.expires_at_ms for member in self.members.values()]
        deadlines += self.pending_members.values()
        deadlines.append(self.rebalance.deadline_ms if self.rebalance and self.state is PREPARING else None)
        deadlines.append(self.sync_deadline_ms)
        return min((each for each in deadlines if each is not None), default=None)


EMPTY, STABLE, DEAD = GroupState.EMPTY, GroupState.STABLE, GroupState.DEAD
PREPARING, COMPLETING = GroupState.PREPARING_REBALANCE, GroupState.COMPLETING_REBALANCE
