"""Members of a group: JoinGroup, Heartbeat, LeaveGroup, sessions that time out, static members that come back.

Source: `kafka.coordinator.group.GroupCoordinator` (3.9): `handleJoinGroup`, `updateStaticMemberAndRebalance`,
`handleHeartbeat`, `handleLeaveGroup`, `onExpireHeartbeat`, `onExpirePendingSync`; KIP-394 (an id before the first
join), KIP-345 (static members).
"""

from msgspec.structs import replace

from model.consumers.group_coordinator.events_and_commands import (
    NO_MEMBER_ID,
    AnswerHeartbeat,
    AnswerJoin,
    AnswerLeave,
    AppendCompleted,
    AppendRecords,
    GroupDecision,
    HeartbeatReceived,
    JoinRequested,
    LeaveRequested,
    LeavingMember,
    MemberRequest,
    answer_joined,
    because,
    generation_error,
    has_room_for,
    member_error,
    refuse_waiting,
    superseded,
)
from model.consumers.group_coordinator.group import (
    COMPLETING,
    PREPARING,
    STABLE,
    Group,
    GroupSettings,
    Member,
    StaticMemberWrite,
)
from model.consumers.group_coordinator.rebalancing import complete_if_all_joined, prepare_rebalance
from model.consumers.group_coordinator.stored_groups import group_record, told_of_group_write


def take_heartbeat(group: Group, event: HeartbeatReceived) -> GroupDecision:
    """While the assignment is waited for, all is well: consumers begin with heartbeats when they have joined."""
    error = generation_error(group, event, event.generation)
    if error is not None:
        return GroupDecision(group, (AnswerHeartbeat(event.request, error),))
    renewed = group.with_member(group.members[event.member_id].renewed(event.at_ms))
    told = "REBALANCE_IN_PROGRESS" if group.state is PREPARING else "NONE"
    return GroupDecision(renewed, (AnswerHeartbeat(event.request, told),))


def replace_static_member(
    group: Group, event: JoinRequested, old: Member, member_id: str, settings: GroupSettings
) -> GroupDecision:
    """The old one is fenced. A stable group stays so, if its protocol would be chosen again."""
    new = replace(
        old,
        member_id=member_id,
        client_id=event.client_id,
        client_host=event.client_host,
        session_timeout_ms=event.session_timeout_ms,
        rebalance_timeout_ms=event.rebalance_timeout_ms,
        protocols=event.protocols,
        join=event.request,
        sync=None,
    ).renewed(event.at_ms)
    replaced = exchange(group, old, new)
    fenced = GroupDecision(replaced, refuse_waiting(old, "FENCED_INSTANCE_ID"))
    if replaced.state is STABLE and replaced.chosen_protocol == replaced.protocol:
        return fenced.then(lambda group: _store(group, event, old, new))
    if replaced.state is PREPARING:
        return fenced
    why = f"static member {old.owner} came back as {member_id}"
    return fenced.then(lambda group: prepare_rebalance(group, why, event.at_ms, settings))


def exchange(group: Group, old: Member, new: Member) -> Group:
    """One member in the place of another, leadership included."""
    members = {each.member_id: each for each in (new if each is old else each for each in group.members.values())}
    return replace(
        group,
        members=members,
        leader=new.member_id if group.leader == old.member_id else group.leader,
        pending_syncs=frozenset(new.member_id if each == old.member_id else each for each in group.pending_syncs),
    )


def static_member_written(group: Group, event: AppendCompleted, write: StaticMemberWrite) -> GroupDecision:
    """Its join is answered with the generation that there is; without a record the old id is put back."""
    member = group.members.get(write.member_id)
    is_waiting = member is not None and member.join == event.request
    if member is None or not is_waiting or group.state is not STABLE or group.generation != write.generation:
        return GroupDecision(group)  # it has been fenced in turn, or has joined the rebalance that began
    if event.error != "NONE":
        before = replace(write.before, join=None, sync=None).renewed(event.at_ms)
        restored = exchange(group, member, before)
        sentence = f"static member {member.owner} cannot come back: its new id cannot be written ({event.error})."
        return because(restored, sentence, _refused(group, event, write))
    answered = replace(member, join=None).renewed(event.at_ms)
    stable = group.with_member(answered)
    answer = answer_joined(
        stable, answered, event.request, skip_assignment=write.can_skip_assignment and group.leader == write.member_id
    )
    if not write.can_skip_assignment:
        # Told of its old leader, an old client does not take itself for the leader, and assigns nothing.
        answer = replace(answer, leader=write.leader_before or "", members=())
    return because(stable, f"static member {member.owner} is back, with what it had: no rebalance.", answer)


def _store(group: Group, event: JoinRequested, old: Member, new: Member) -> GroupDecision:
    leader_before = old.member_id if group.leader == new.member_id else group.leader
    write = StaticMemberWrite(group.generation, new.member_id, old, event.can_skip_assignment, leader_before)
    assignment = {each.member_id: each.assignment for each in group.members.values()}
    record = group_record(group, assignment)
    storing = replace(group, writes={**group.writes, event.request: write})
    return GroupDecision(storing, (AppendRecords((record,), event.request),))


def _refused(group: Group, event: AppendCompleted, write: StaticMemberWrite) -> AnswerJoin:
    return AnswerJoin(
        event.request,
        told_of_group_write(event.error),
        generation=group.generation,
        protocol_type=group.protocol_type,
        protocol=group.protocol,
        leader=write.leader_before or "",
    )


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
