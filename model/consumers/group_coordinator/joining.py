"""JoinGroup: who becomes a member, and whether that begins a rebalance.

Source: `kafka.coordinator.group.GroupCoordinator.handleJoinGroup` (3.9); KIP-394 (an id before the first join).
"""

from msgspec.structs import replace

from model.consumers.group_coordinator.answering import answer_joined, superseded
from model.consumers.group_coordinator.checks import has_room_for, member_error
from model.consumers.group_coordinator.commands import AnswerJoin
from model.consumers.group_coordinator.decision import GroupDecision, because
from model.consumers.group_coordinator.events import NO_MEMBER_ID, JoinRequested
from model.consumers.group_coordinator.group import COMPLETING, PREPARING, Group
from model.consumers.group_coordinator.leaving import dismiss
from model.consumers.group_coordinator.member import Member
from model.consumers.group_coordinator.rebalancing import complete_if_all_joined, prepare_rebalance
from model.consumers.group_coordinator.settings import GroupSettings
from model.consumers.group_coordinator.static_members import replace_static_member

NEW_MEMBER_JOIN_TIMEOUT_MS = 5 * 60 * 1000
"""A newcomer has no id to send heartbeats with while it waits; a broken one is not waited for without end."""


def join(group: Group, event: JoinRequested, settings: GroupSettings) -> GroupDecision:
    """Answered now where nothing has to be waited for, else when the rebalance has collected all members."""
    if not settings.group_min_session_timeout_ms <= event.session_timeout_ms <= settings.group_max_session_timeout_ms:
        return _refuse(group, event, "INVALID_SESSION_TIMEOUT", event.member_id)
    return _join(group, event, settings).then(lambda group: complete_if_all_joined(group, event.at_ms))


def _join(group: Group, event: JoinRequested, settings: GroupSettings) -> GroupDecision:
    if not has_room_for(group, event, settings):
        return dismiss(group, event.member_id).then(
            lambda group: because(
                group,
                f"a member of {event.client_id} is refused: there are {settings.group_max_size}.",
                AnswerJoin(event.request, "GROUP_MAX_SIZE_REACHED"),
            )
        )
    if not group.supports(event.protocol_type, [each.name for each in event.protocols]):
        return _refuse(group, event, "INCONSISTENT_GROUP_PROTOCOL", event.member_id)
    if event.member_id == NO_MEMBER_ID:
        return _join_anew(group, event, settings)
    if event.member_id in group.pending_members and event.instance_id is None:
        return _add_member(group, event, event.member_id, settings)
    error = member_error(group, event)
    if error is not None:
        return _refuse(group, event, error, event.member_id)
    return _join_again(group, event, group.members[event.member_id], settings)


def _join_anew(group: Group, event: JoinRequested, settings: GroupSettings) -> GroupDecision:
    member_id = f"{event.instance_id or event.client_id}-{event.new_id}"
    known = group.static_member(event.instance_id)
    if known is not None:
        return replace_static_member(group, event, known, member_id, settings)
    if event.instance_id is not None or not event.needs_known_id:
        return _add_member(group, event, member_id, settings)
    pending = {**group.pending_members, member_id: event.at_ms + event.session_timeout_ms}
    answer = AnswerJoin(event.request, "MEMBER_ID_REQUIRED", member_id=member_id)
    return GroupDecision(replace(group, pending_members=pending), (answer,))


def _add_member(group: Group, event: JoinRequested, member_id: str, settings: GroupSettings) -> GroupDecision:
    member = Member(
        member_id=member_id,
        instance_id=event.instance_id,
        client_id=event.client_id,
        client_host=event.client_host,
        session_timeout_ms=event.session_timeout_ms,
        rebalance_timeout_ms=event.rebalance_timeout_ms,
        protocols=event.protocols,
        deadline_ms=event.at_ms + NEW_MEMBER_JOIN_TIMEOUT_MS,
        is_new=True,
        join=event.request,
    )
    rebalance = group.rebalance
    if rebalance is not None and group.state is PREPARING and group.generation == 0:
        rebalance = replace(rebalance, has_newcomers=True)
    grown = replace(
        group,
        protocol_type=group.protocol_type if group.members else event.protocol_type,
        leader=group.leader or member_id,
        pending_members={name: until for name, until in group.pending_members.items() if name != member_id},
        rebalance=rebalance,
    ).with_member(member)
    return _rebalance(grown, event, f"member {member.owner} joined", settings)


def _join_again(group: Group, event: JoinRequested, member: Member, settings: GroupSettings) -> GroupDecision:
    has_changed = event.protocols != member.protocols
    leads = group.leader == member.member_id
    if group.state is not PREPARING and not has_changed and (group.state is COMPLETING or not leads):
        # It may have missed its answer. A leader that comes again in STABLE saw that topics have changed.
        return GroupDecision(group, (answer_joined(group, member, event.request),))
    updated = replace(
        member,
        protocols=event.protocols,
        session_timeout_ms=event.session_timeout_ms,
        rebalance_timeout_ms=event.rebalance_timeout_ms,
        join=event.request,
    )
    why = f"member {member.owner} told other metadata" if has_changed else f"the leader {member.owner} joined again"
    decision = GroupDecision(group.with_member(updated), superseded(member.join))
    return decision.then(lambda group: _rebalance(group, event, why, settings))


def _rebalance(group: Group, event: JoinRequested, why: str, settings: GroupSettings) -> GroupDecision:
    if group.state is PREPARING:
        return GroupDecision(group)
    said = f"{why} ({event.why})" if event.why else why
    return prepare_rebalance(group, said, event.at_ms, settings)


def _refuse(group: Group, event: JoinRequested, error: str, member_id: str) -> GroupDecision:
    return GroupDecision(group, (AnswerJoin(event.request, error, member_id=member_id),))
