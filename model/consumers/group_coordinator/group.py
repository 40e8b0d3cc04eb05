"""A consumer group as a value: its state, members, generation and offsets. What events do to it is decided elsewhere.

Source: `kafka.coordinator.group.GroupMetadata` (3.9).
"""

from collections import Counter
from collections.abc import Collection, Mapping
from enum import StrEnum
from types import MappingProxyType

import msgspec

from model.cluster.ids import TopicPartition
from model.consumers.group_coordinator.committed_offset import CommittedOffset
from model.consumers.group_coordinator.history import PastRebalance, Rebalance
from model.consumers.group_coordinator.member import Member
from model.consumers.group_coordinator.writes import Write

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
    rebalance: Rebalance | None = None
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
        """The largest of its members'."""
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
        """Those that all members support."""
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
        """With a member, new or changed."""
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
