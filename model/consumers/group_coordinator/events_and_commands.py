"""What can happen to a consumer group, what its coordinator wants done, and a decision, which holds the latter.

Events are facts; requests carry numbers, so that answers find their way back. A host carries out commands, all of them,
in order, and decides nothing. Times are ms since the epoch. A member id of "" is none
(`JoinGroupRequest.UNKNOWN_MEMBER_ID`). Errors are Kafka's names; NONE is none. Here is also who may ask what of a
group, the answers that several parts give, and who waits.
"""

from collections.abc import Callable, Iterator, Mapping

import msgspec

from model.cluster.ids import TopicPartition
from model.consumers.group_coordinator.group import (
    EMPTY,
    PREPARING,
    CommittedOffset,
    Group,
    GroupSettings,
    Member,
    OffsetsWrite,
    SupportedProtocol,
)
from model.consumers.group_coordinator.stored_formats import OffsetsTopicRecord

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


class AnswerMember(GroupCommand, frozen=True):
    """Answers one request, by its number. Each is answered once."""

    request: int
    error: str = "NONE"


class JoinedMember(msgspec.Struct, frozen=True):
    """A member as its leader is told of it."""

    member_id: str
    instance_id: str | None
    metadata: bytes


class AnswerJoin(AnswerMember, frozen=True, kw_only=True):
    """JoinGroup. Only the leader learns of the members."""

    member_id: str = ""
    generation: int = NO_GENERATION
    protocol_type: str | None = None
    protocol: str | None = None
    leader: str = ""
    skip_assignment: bool = False
    members: tuple[JoinedMember, ...] = ()


class AnswerSync(AnswerMember, frozen=True, kw_only=True):
    """SyncGroup."""

    protocol_type: str | None = None
    protocol: str | None = None
    assignment: bytes = b""


class AnswerHeartbeat(AnswerMember, frozen=True):
    """Heartbeat."""


class AnswerLeave(AnswerMember, frozen=True, kw_only=True):
    """LeaveGroup: what became of each member."""

    members: tuple[tuple[LeavingMember, str], ...] = ()


class AnswerCommit(AnswerMember, frozen=True, kw_only=True):
    """OffsetCommit: the error of each partition. `error` is not used."""

    partitions: tuple[tuple[TopicPartition, str], ...] = ()


class AnswerOffsetDeletion(AnswerMember, frozen=True, kw_only=True):
    """OffsetDelete; no partitions where the group has an error."""

    partitions: tuple[tuple[TopicPartition, str], ...] = ()


class AnswerGroupDeletion(AnswerMember, frozen=True):
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


def member_error(group: Group, asked: MemberRequest) -> str | None:
    """Whether it is a member, and as a static one, not one that another has replaced (`validateCurrentMember`)."""
    if asked.instance_id is not None:
        known = group.static_member(asked.instance_id)
        if known is not None and known.member_id != asked.member_id:
            return "FENCED_INSTANCE_ID"
        if known is None:
            return "UNKNOWN_MEMBER_ID"
    return None if asked.member_id in group.members else "UNKNOWN_MEMBER_ID"


def generation_error(group: Group, asked: MemberRequest, generation: int) -> str | None:
    """Whether it is a member of this very generation."""
    error = member_error(group, asked)
    if error is None and generation != group.generation:
        return "ILLEGAL_GENERATION"
    return error


def commit_error(group: Group, asked: CommitRequested) -> str | None:
    """Members commit; to an empty group anybody does who names no generation (`validateOffsetCommit`)."""
    if asked.generation < 0 and group.state is EMPTY:
        return None
    if asked.generation >= 0 or asked.member_id or asked.instance_id is not None:
        return generation_error(group, asked, asked.generation)
    return "UNKNOWN_MEMBER_ID"


def has_room_for(group: Group, asked: JoinRequested, settings: GroupSettings) -> bool:
    """Whether the group is below group.max.size; while joins are collected, those who came first stay."""
    if group.state is EMPTY:
        return True
    member = group.members.get(asked.member_id)
    if group.state is PREPARING:
        waiting = sum(each.join is not None for each in group.members.values())
        return (member is not None and member.join is not None) or waiting < settings.group_max_size
    return member is not None or len(group.members) < settings.group_max_size


def answer_joined(group: Group, member: Member, request: int, *, skip_assignment: bool = False) -> AnswerJoin:
    """The generation that there is; the leader also learns of all members."""
    return AnswerJoin(
        request,
        member_id=member.member_id,
        generation=group.generation,
        protocol_type=group.protocol_type,
        protocol=group.protocol,
        leader=group.leader or "",
        skip_assignment=skip_assignment,
        members=joined_members(group) if group.leader == member.member_id else (),
    )


def joined_members(group: Group) -> tuple[JoinedMember, ...]:
    """All members as the leader is told of them."""
    return tuple(
        JoinedMember(each.member_id, each.instance_id, each.metadata(group.protocol)) for each in group.members.values()
    )


def answer_synced(group: Group, member: Member, request: int) -> AnswerSync:
    """The member's part of the assignment."""
    return AnswerSync(request, protocol_type=group.protocol_type, protocol=group.protocol, assignment=member.assignment)


def refuse_waiting(member: Member, error: str) -> tuple[GroupCommand, ...]:
    """An error to what the member waits for."""
    joins = () if member.join is None else (AnswerJoin(member.join, error, member_id=member.member_id),)
    syncs = () if member.sync is None else (AnswerSync(member.sync, error),)
    return (*joins, *syncs)


def superseded(join: int | None = None, sync: int | None = None) -> tuple[GroupCommand, ...]:
    """A member asked again before it was answered. Kafka forgets the first request; here its connection goes on."""
    joins = () if join is None else (AnswerJoin(join, "REBALANCE_IN_PROGRESS"),)
    syncs = () if sync is None else (AnswerSync(sync, "REBALANCE_IN_PROGRESS"),)
    return (*joins, *syncs)


def refuse_everything(group: Group, error: str) -> Iterator[GroupCommand]:
    """An error to all that wait for anything: the group is not here any more."""
    for member in group.members.values():
        yield from refuse_waiting(member, error)
    for request, write in group.writes.items():
        if isinstance(write, OffsetsWrite):
            yield answer_commit(request, write, error)


def answer_commit(request: int, write: OffsetsWrite, error: str) -> AnswerCommit:
    """The outcome for all partitions of a commit."""
    stored = tuple((partition, error) for partition in write.offsets)
    return AnswerCommit(
        request, partitions=stored + tuple((each, "OFFSET_METADATA_TOO_LARGE") for each in write.refused)
    )
