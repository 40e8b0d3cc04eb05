"""What can happen to a consumer group, what its coordinator wants done, and a decision, which holds the latter.

Events are facts; requests carry numbers, so that answers find their way back. A host carries out commands, all of them,
in order, and decides nothing. Times are ms since the epoch. A member id of "" is none
(`JoinGroupRequest.UNKNOWN_MEMBER_ID`). Errors are Kafka's names; NONE is none.
"""

from collections.abc import Callable, Mapping

import msgspec

from model.cluster.ids import TopicPartition
from model.consumers.group_coordinator.group import CommittedOffset, Group, SupportedProtocol
from model.consumers.group_coordinator.offsets_topic import OffsetsTopicRecord

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


NO_GENERATION = -1


class GroupCommand(msgspec.Struct, frozen=True):
    """Something to do for a group."""


class Answer(GroupCommand, frozen=True):
    """Answers one request, by its number. Each is answered once."""

    request: int
    error: str = "NONE"


class JoinedMember(msgspec.Struct, frozen=True):
    """A member as its leader is told of it."""

    member_id: str
    instance_id: str | None
    metadata: bytes


class AnswerJoin(Answer, frozen=True, kw_only=True):
    """JoinGroup. Only the leader learns of the members."""

    member_id: str = ""
    generation: int = NO_GENERATION
    protocol_type: str | None = None
    protocol: str | None = None
    leader: str = ""
    skip_assignment: bool = False
    members: tuple[JoinedMember, ...] = ()


class AnswerSync(Answer, frozen=True, kw_only=True):
    """SyncGroup."""

    protocol_type: str | None = None
    protocol: str | None = None
    assignment: bytes = b""


class AnswerHeartbeat(Answer, frozen=True):
    """Heartbeat."""


class AnswerLeave(Answer, frozen=True, kw_only=True):
    """LeaveGroup: what became of each member."""

    members: tuple[tuple[LeavingMember, str], ...] = ()


class AnswerCommit(Answer, frozen=True, kw_only=True):
    """OffsetCommit: the error of each partition. `error` is not used."""

    partitions: tuple[tuple[TopicPartition, str], ...] = ()


class AnswerOffsetDeletion(Answer, frozen=True, kw_only=True):
    """OffsetDelete; no partitions where the group has an error."""

    partitions: tuple[tuple[TopicPartition, str], ...] = ()


class AnswerGroupDeletion(Answer, frozen=True):
    """DeleteGroups, of one group."""


class AppendRecords(GroupCommand, frozen=True):
    """Append to the group's partition of `__consumer_offsets`, all in one batch, and wait for the ISR (acks=all).

    Tell `AppendCompleted` with the request's number; where it is None nobody waits, and acks=0 does.
    """

    records: tuple[OffsetsTopicRecord, ...]
    request: int | None = None


class GroupDecision(msgspec.Struct, frozen=True):
    """The group from now on, what to do, and a sentence for each thing that an operator may ask about."""

    group: Group
    commands: tuple[GroupCommand, ...] = ()
    reasons: tuple[str, ...] = ()

    def then(self, step: "Callable[[Group], GroupDecision]") -> "GroupDecision":
        """This, and what the step decides about the group as it is afterwards."""
        later = step(self.group)
        return GroupDecision(later.group, self.commands + later.commands, self.reasons + later.reasons)


def because(group: Group, sentence: str, *commands: GroupCommand) -> GroupDecision:
    """A decision with a sentence, which begins with the group's name."""
    return GroupDecision(group, commands, (f"Group {group.group_id}: {sentence}",))
