"""Answers that several parts give, and who is left waiting by what."""

from collections.abc import Iterator

from model.consumers.group_coordinator.commands import AnswerCommit, AnswerJoin, AnswerSync, GroupCommand, JoinedMember
from model.consumers.group_coordinator.group import Group
from model.consumers.group_coordinator.member import Member
from model.consumers.group_coordinator.writes import OffsetsWrite


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
