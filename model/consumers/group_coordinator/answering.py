"""Who may ask what of a group, the answers that several parts give, and who is left waiting. Errors: Kafka's names."""

from collections.abc import Iterator

from model.consumers.group_coordinator.events_and_commands import (
    AnswerCommit,
    AnswerJoin,
    AnswerSync,
    CommitRequested,
    GroupCommand,
    JoinedMember,
    JoinRequested,
    MemberRequest,
)
from model.consumers.group_coordinator.group import EMPTY, PREPARING, Group, GroupSettings, Member, OffsetsWrite


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
