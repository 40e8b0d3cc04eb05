"""Who may ask what of a group. Kafka's errors by name; None means nothing is wrong."""

from model.consumers.group_coordinator.events import CommitRequested, JoinRequested, MemberRequest
from model.consumers.group_coordinator.group import EMPTY, PREPARING, Group
from model.consumers.group_coordinator.settings import GroupSettings


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
