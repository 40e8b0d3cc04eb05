"""What can happen to a consumer group. Facts only: requests by number, so that answers find their way back.

Times are ms since the epoch. A member id of "" is none (`JoinGroupRequest.UNKNOWN_MEMBER_ID`).
"""

from collections.abc import Mapping

import msgspec

from model.cluster.ids import TopicPartition
from model.consumers.group_coordinator.committed_offset import CommittedOffset
from model.consumers.group_coordinator.member import SupportedProtocol

NO_MEMBER_ID = ""


class GroupEvent(msgspec.Struct, frozen=True, kw_only=True):
    """Something that happened to a group, at a time."""

    group_id: str
    at_ms: int


class GroupRequest(GroupEvent, frozen=True, kw_only=True):
    """Somebody asks for something; `request` is a number that no other request has."""

    request: int


class MemberRequest(GroupRequest, frozen=True, kw_only=True):
    """A member asks, or who takes itself for one."""

    member_id: str = NO_MEMBER_ID
    instance_id: str | None = None


class JoinRequested(MemberRequest, frozen=True, kw_only=True):
    """JoinGroup. `new_id`: random text, for the id of a new member.

    `needs_known_id`: v4 and later, where members join with an id that they were given before (KIP-394).
    `can_skip_assignment`: v9 and later.
    """

    client_id: str = ""
    client_host: str = ""
    session_timeout_ms: int
    rebalance_timeout_ms: int
    protocol_type: str
    protocols: tuple[SupportedProtocol, ...]
    new_id: str
    needs_known_id: bool = True
    can_skip_assignment: bool = True
    why: str | None = None


class SyncRequested(MemberRequest, frozen=True, kw_only=True):
    """SyncGroup. Protocol type and name are told from v5 on. The assignment, by member, is the leader's."""

    generation: int
    protocol_type: str | None = None
    protocol: str | None = None
    assignment: Mapping[str, bytes]


class HeartbeatReceived(MemberRequest, frozen=True, kw_only=True):
    """Heartbeat."""

    generation: int


class LeavingMember(msgspec.Struct, frozen=True):
    """Who is to leave: an id, or only an instance id, which is how operators remove static members."""

    member_id: str = NO_MEMBER_ID
    instance_id: str | None = None
    why: str | None = None


class LeaveRequested(GroupRequest, frozen=True, kw_only=True):
    """LeaveGroup; of several members from v3 on."""

    members: tuple[LeavingMember, ...]


class CommitRequested(MemberRequest, frozen=True, kw_only=True):
    """OffsetCommit, of partitions that exist. Generation -1: not by a member (`assign`, or an operator)."""

    generation: int = -1
    offsets: Mapping[TopicPartition, CommittedOffset]


class OffsetDeletionRequested(GroupRequest, frozen=True, kw_only=True):
    """OffsetDelete, of partitions that exist (KIP-496)."""

    partitions: tuple[TopicPartition, ...]


class GroupDeletionRequested(GroupRequest, frozen=True, kw_only=True):
    """DeleteGroups."""


class AppendCompleted(GroupEvent, frozen=True, kw_only=True):
    """What became of an `AppendRecords` with this request's number; `base_offset` is that of its batch."""

    request: int
    error: str = "NONE"
    base_offset: int = -1


class TimePassed(GroupEvent, frozen=True, kw_only=True):
    """It is later now; `Group.next_deadline_ms` tells when this matters."""


class OffsetsChecked(GroupEvent, frozen=True, kw_only=True):
    """Every `offsets.retention.check.interval.ms`: who has waited too long goes."""


class PartitionsDeleted(GroupEvent, frozen=True, kw_only=True):
    """Partitions of topics that are no more."""

    partitions: tuple[TopicPartition, ...]


class GroupLoaded(GroupEvent, frozen=True, kw_only=True):
    """The group was read from the log: this broker coordinates it from now on."""


class CoordinatorResigned(GroupEvent, frozen=True, kw_only=True):
    """This broker does not lead the group's partition of `__consumer_offsets` any more."""
