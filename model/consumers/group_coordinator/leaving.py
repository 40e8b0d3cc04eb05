"""Members that leave, by themselves or because an operator says so, and members that are silent for too long.

Source: `kafka.coordinator.group.GroupCoordinator.handleLeaveGroup`, `onExpireHeartbeat`, `onExpirePendingSync` (3.9).
"""

from msgspec.structs import replace

from model.consumers.group_coordinator.answering import refuse_waiting
from model.consumers.group_coordinator.checks import member_error
from model.consumers.group_coordinator.commands import AnswerLeave
from model.consumers.group_coordinator.decision import GroupDecision, because
from model.consumers.group_coordinator.events import NO_MEMBER_ID, LeaveRequested, LeavingMember, MemberRequest
from model.consumers.group_coordinator.group import COMPLETING, STABLE, Group
from model.consumers.group_coordinator.member import Member
from model.consumers.group_coordinator.rebalancing import complete_if_all_joined, prepare_rebalance
from model.consumers.group_coordinator.settings import GroupSettings


def leave(group: Group, event: LeaveRequested, settings: GroupSettings) -> GroupDecision:
    """One after the other; who is no member does not keep the others from leaving."""
    decision = GroupDecision(group)
    errors: list[tuple[LeavingMember, str]] = []
    for each in event.members:
        who, error = _who_leaves(decision.group, event, each)
        if error is None:
            why = each.why or "it says so"
            decision = decision.then(lambda group, who=who, why=why: _let_go(group, who, why, event.at_ms, settings))
        errors.append((each, error or "NONE"))
    answer = AnswerLeave(event.request, members=tuple(errors))
    return replace(decision, commands=(*decision.commands, answer))


def remove_member(group: Group, member: Member, why: str, at_ms: int, settings: GroupSettings) -> GroupDecision:
    """Without it the others share anew; if all others have joined already, they go on at once."""
    gone = dismiss(group, member.member_id)
    cause = f"member {member.owner} left ({why})"
    if group.state in (STABLE, COMPLETING):
        return gone.then(lambda group: prepare_rebalance(group, cause, at_ms, settings))
    said = gone.then(lambda group: because(group, f"{cause} while joins are collected."))
    return said.then(lambda group: complete_if_all_joined(group, at_ms))


def remove_pending_member(group: Group, member_id: str, at_ms: int) -> GroupDecision:
    """An id that was given out is not waited for any more."""
    return GroupDecision(group.without_member(member_id)).then(lambda group: complete_if_all_joined(group, at_ms))


def sync_time_up(group: Group, at_ms: int, settings: GroupSettings) -> GroupDecision:
    """Members that have joined but do not ask for their assignment are dropped."""
    late = sorted(group.pending_syncs)
    decision = GroupDecision(group)
    for member_id in late:
        decision = decision.then(lambda group, who=member_id: dismiss(group, who))
    why = f"{', '.join(late)} did not ask for an assignment"
    return decision.then(lambda group: prepare_rebalance(group, why, at_ms, settings))


def dismiss(group: Group, member_id: str) -> GroupDecision:
    """Strike a member off; what it waits for is answered. Kafka forgets a SyncGroup that waits; here it is answered."""
    member = group.members.get(member_id)
    told = () if member is None else refuse_waiting(replace(member, member_id=NO_MEMBER_ID), "UNKNOWN_MEMBER_ID")
    return GroupDecision(group.without_member(member_id), told)


def _who_leaves(group: Group, event: LeaveRequested, leaving: LeavingMember) -> tuple[str, str | None]:
    if leaving.member_id == NO_MEMBER_ID:
        known = group.static_member(leaving.instance_id)
        return (NO_MEMBER_ID, "UNKNOWN_MEMBER_ID") if known is None else (known.member_id, None)
    if leaving.member_id in group.pending_members:
        return leaving.member_id, None
    asked = MemberRequest(
        group_id=group.group_id,
        at_ms=event.at_ms,
        request=event.request,
        member_id=leaving.member_id,
        instance_id=leaving.instance_id,
    )
    return leaving.member_id, member_error(group, asked)


def _let_go(group: Group, member_id: str, why: str, at_ms: int, settings: GroupSettings) -> GroupDecision:
    member = group.members.get(member_id)
    if member is None:
        return remove_pending_member(group, member_id, at_ms)
    return remove_member(group, member, why, at_ms, settings)
