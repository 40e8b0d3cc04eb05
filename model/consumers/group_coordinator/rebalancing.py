"""A rebalance: joins are collected, all are answered, and the leader's assignment is handed out once it is in the log.

Source: `kafka.coordinator.group.GroupCoordinator` (3.9): `prepareRebalance`, `onCompleteJoin`, `DelayedJoin`,
`doSyncGroup`, `setAndPropagateAssignment`.
"""

from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from model.cluster.ids import TopicPartition
from model.cluster.texts import counted
from model.consumers.group_coordinator.events_and_commands import (
    AnswerSync,
    AppendCompleted,
    AppendRecords,
    GroupCommand,
    GroupDecision,
    SyncRequested,
    answer_joined,
    answer_synced,
    because,
    generation_error,
    superseded,
)
from model.consumers.group_coordinator.group import (
    COMPLETING,
    EMPTY,
    PREPARING,
    STABLE,
    AssignmentWrite,
    Group,
    GroupSettings,
    GroupState,
    OngoingRebalance,
    PastRebalance,
    remember,
)
from model.consumers.group_coordinator.stored_formats import UnreadableRecordError, owners_of, subscribed_topics
from model.consumers.group_coordinator.stored_groups import group_record, told_of_group_write


def prepare_rebalance(group: Group, why: str, at_ms: int, settings: GroupSettings) -> GroupDecision:
    """Collect joins from now on. An empty group waits a while for others; any other ends it when all have joined."""
    timeout_ms = group.rebalance_timeout_ms
    delay_ms = settings.group_initial_rebalance_delay_ms
    if group.state is EMPTY:
        rebalance = OngoingRebalance(at_ms, why, at_ms + delay_ms, delay_ms, max(timeout_ms - delay_ms, 0))
    else:
        rebalance = OngoingRebalance(at_ms, why, at_ms + timeout_ms)
    interrupted = refuse_syncs(group, "REBALANCE_IN_PROGRESS", at_ms)
    preparing = replace(
        interrupted.group,
        state=PREPARING,
        state_since_ms=at_ms,
        rebalance=rebalance,
        pending_syncs=frozenset[str](),
        sync_deadline_ms=None,
        past=_overtaken(group, at_ms),
    )
    said = because(preparing, f"{why}: rebalancing after generation {group.generation}.", *interrupted.commands)
    return said.then(lambda group: complete_if_all_joined(group, at_ms))


def refuse_syncs(group: Group, error: str, at_ms: int) -> GroupDecision:
    """While the assignment is waited for: nobody has one, and who waits for it is told so."""
    if group.state is not COMPLETING:
        return GroupDecision(group)
    waiting = [member for member in group.members.values() if member.sync is not None]
    commands = tuple(AnswerSync(member.sync, error) for member in waiting if member.sync is not None)
    members = {
        name: replace(member if member.sync is None else member.renewed(at_ms), sync=None, assignment=b"")
        for name, member in group.members.items()
    }
    return GroupDecision(replace(group, members=members), commands)


def complete_if_all_joined(group: Group, at_ms: int) -> GroupDecision:
    """End the collecting of joins if nobody is missing; the first delay of an empty group is sat out."""
    rebalance = group.rebalance
    if group.state is PREPARING and rebalance is not None and rebalance.remaining_ms is None and group.has_all_joined:
        return _complete(group, at_ms)
    return GroupDecision(group)


def join_time_up(group: Group, at_ms: int, settings: GroupSettings) -> GroupDecision:
    """End the collecting of joins, unless newcomers make the first delay longer."""
    rebalance = group.rebalance
    assert rebalance is not None
    if rebalance.has_newcomers and rebalance.remaining_ms:
        delay_ms = min(settings.group_initial_rebalance_delay_ms, rebalance.remaining_ms)
        longer = replace(
            rebalance,
            deadline_ms=at_ms + delay_ms,
            delay_ms=delay_ms,
            remaining_ms=max(rebalance.remaining_ms - rebalance.delay_ms, 0),
            has_newcomers=False,
        )
        return GroupDecision(replace(group, rebalance=longer))
    return _complete(group, at_ms)


def _complete(group: Group, at_ms: int) -> GroupDecision:
    rebalance = group.rebalance
    assert rebalance is not None
    missing = [each for each in group.members.values() if each.join is None and not each.is_static]
    reasons = tuple(
        f"Group {group.group_id}: member {each.member_id} is dropped: it has not joined in time." for each in missing
    )
    for each in missing:
        group = group.without_member(each.member_id)
    joined = [member.member_id for member in group.members.values() if member.join is not None]
    if group.members and not joined:
        again = replace(rebalance, deadline_ms=at_ms + max(group.rebalance_timeout_ms, 1), remaining_ms=None)
        said = because(replace(group, rebalance=again), "no member has joined: it goes on waiting.")
        return replace(said, reasons=reasons + said.reasons)
    if group.leader is not None and group.leader not in joined:
        group = replace(group, leader=joined[0])
    decision = _next_generation(group, at_ms) if group.members else _become_empty(group, rebalance, at_ms)
    return replace(decision, reasons=reasons + decision.reasons)


def _become_empty(group: Group, rebalance: OngoingRebalance, at_ms: int) -> GroupDecision:
    generation = group.generation + 1
    over = PastRebalance(rebalance.began_ms, rebalance.why, at_ms - rebalance.began_ms, generation, (), None)
    empty = replace(
        _in_state(group, EMPTY, at_ms),
        generation=generation,
        protocol=None,
        leader=None,
        rebalance=None,
        subscribed_topics=frozenset() if group.is_consumer_group else None,
        owners={},
        past=remember(group.past, over),
    )
    record = group_record(empty, {})
    return because(empty, f"generation {generation} has no members.", AppendRecords((record,)))


def _next_generation(group: Group, at_ms: int) -> GroupDecision:
    chosen = replace(
        _in_state(group, COMPLETING, at_ms), generation=group.generation + 1, protocol=group.chosen_protocol
    )
    answered = {
        name: replace(member.renewed(at_ms), is_new=False, join=None) for name, member in chosen.members.items()
    }
    completing = replace(
        chosen,
        members=answered,
        pending_syncs=frozenset(answered),
        sync_deadline_ms=at_ms + max(group.rebalance_timeout_ms, 1),
        subscribed_topics=_subscribed(chosen),
    )
    said = (
        f"generation {completing.generation} has {counted(len(answered), 'member')}, protocol {completing.protocol}: "
        f"{completing.leader} is to assign."
    )
    return because(completing, said, *_answers(group, completing))


def _answers(waiting: Group, group: Group) -> Iterator[GroupCommand]:
    for member in waiting.members.values():
        if member.join is not None:
            yield answer_joined(group, member, member.join)


def _in_state(group: Group, state: GroupState, at_ms: int) -> Group:
    return replace(group, state=state, state_since_ms=at_ms)


def _subscribed(group: Group) -> frozenset[str] | None:
    if not group.is_consumer_group:
        return None
    try:
        told = [subscribed_topics(member.metadata(group.protocol)) for member in group.members.values()]
    except UnreadableRecordError:
        return None
    return frozenset[str]().union(*told)


def _overtaken(group: Group, at_ms: int) -> tuple[PastRebalance, ...]:
    rebalance = group.rebalance
    if group.state is not COMPLETING or rebalance is None:
        return group.past
    over = PastRebalance(
        rebalance.began_ms,
        rebalance.why,
        at_ms - rebalance.began_ms,
        group.generation,
        tuple(member.owner for member in group.members.values()),
        group.protocol,
        completed=False,
    )
    return remember(group.past, over)


def sync(group: Group, event: SyncRequested, settings: GroupSettings) -> GroupDecision:
    """Answered when the group is stable, or when it cannot become so."""
    error = generation_error(group, event, event.generation) or _protocol_error(group, event)
    if error is None and group.state is PREPARING:
        error = "REBALANCE_IN_PROGRESS"
    if error is not None:
        return GroupDecision(group, (AnswerSync(event.request, error),))
    member = group.members[event.member_id]
    seen = _seen(group, event.member_id)
    if seen.state is STABLE:
        answer = answer_synced(group, member, event.request)
        return GroupDecision(seen.with_member(member.renewed(event.at_ms)), (answer,))
    waiting = seen.with_member(replace(member, sync=event.request))
    decision = GroupDecision(waiting, superseded(sync=member.sync))
    return decision.then(lambda group: _store(group, event)) if group.leader == event.member_id else decision


def assignment_written(
    group: Group, event: AppendCompleted, write: AssignmentWrite, settings: GroupSettings
) -> GroupDecision:
    """The group is stable, unless another rebalance has begun meanwhile: then the assignment is worth nothing."""
    if group.state is not COMPLETING or group.generation != write.generation:
        return GroupDecision(group)
    if event.error != "NONE":
        why = f"the assignment cannot be written ({event.error})"
        refused = refuse_syncs(group, told_of_group_write(event.error), event.at_ms)
        return refused.then(lambda group: prepare_rebalance(group, why, event.at_ms, settings))
    assigned = {
        name: replace(member, assignment=write.assignment.get(name, b"")) for name, member in group.members.items()
    }
    answers = tuple(answer_synced(group, each, each.sync) for each in assigned.values() if each.sync is not None)
    members = {
        name: member if member.sync is None else replace(member.renewed(event.at_ms), sync=None)
        for name, member in assigned.items()
    }
    stable = replace(group, members=members, state=STABLE, state_since_ms=event.at_ms)
    return GroupDecision(stable, answers).then(lambda group: _record_history(group, event.at_ms))


def _store(group: Group, event: SyncRequested) -> GroupDecision:
    assignment = {name: event.assignment.get(name, b"") for name in group.members}
    write = AssignmentWrite(group.generation, assignment)
    storing = replace(group, writes={**group.writes, event.request: write})
    append = AppendRecords((group_record(group, assignment),), event.request)
    left_out = [name for name in assignment if name not in event.assignment]
    if left_out:
        return because(storing, f"the leader left out {', '.join(left_out)}: they get nothing.", append)
    return GroupDecision(storing, (append,))


def _seen(group: Group, member_id: str) -> Group:
    pending = group.pending_syncs - {member_id}
    return replace(group, pending_syncs=pending, sync_deadline_ms=group.sync_deadline_ms if pending else None)


def _protocol_error(group: Group, event: SyncRequested) -> str | None:
    is_other_type = event.protocol_type is not None and event.protocol_type != group.protocol_type
    is_other_protocol = event.protocol is not None and event.protocol != group.protocol
    return "INCONSISTENT_GROUP_PROTOCOL" if is_other_type or is_other_protocol else None


def _record_history(group: Group, at_ms: int) -> GroupDecision:
    owners = owners_of(group.members.values() if group.is_consumer_group else ())
    moved = _moved(group.owners, owners)
    rebalance = group.rebalance
    assert rebalance is not None
    past = PastRebalance(
        rebalance.began_ms,
        rebalance.why,
        at_ms - rebalance.began_ms,
        group.generation,
        tuple(member.owner for member in group.members.values()),
        group.protocol,
        moved,
    )
    # Cooperative members give partitions up in one rebalance and get them in the next: who had them is not forgotten.
    known = {**group.owners, **owners}
    over = replace(group, rebalance=None, owners=known, past=remember(group.past, past))
    said = (
        f"generation {group.generation} is stable after {past.took_ms} ms: {counted(len(group.members), 'member')} "
        f"with {counted(len(owners), 'partition')}, {moved} moved."
    )
    return because(over, said)


def _moved(before: Mapping[TopicPartition, str], after: Mapping[TopicPartition, str]) -> int:
    return sum(1 for partition, owner in after.items() if before.get(partition, owner) != owner)
