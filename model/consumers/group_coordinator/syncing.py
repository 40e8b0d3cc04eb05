"""SyncGroup: the leader brings the assignment, and everybody gets a part of it once it is in the log.

Source: `kafka.coordinator.group.GroupCoordinator.doSyncGroup`, `setAndPropagateAssignment` (3.9).
"""

from collections.abc import Mapping

from msgspec.structs import replace

from model.cluster.ids import TopicPartition
from model.cluster.words import counted
from model.consumers.group_coordinator.answering import answer_synced, superseded
from model.consumers.group_coordinator.checks import generation_error
from model.consumers.group_coordinator.commands import AnswerSync, AppendRecords
from model.consumers.group_coordinator.consumer_protocol import owners_of
from model.consumers.group_coordinator.decision import GroupDecision, because
from model.consumers.group_coordinator.events import AppendCompleted, SyncRequested
from model.consumers.group_coordinator.group import COMPLETING, PREPARING, STABLE, Group
from model.consumers.group_coordinator.history import PastRebalance, remember
from model.consumers.group_coordinator.rebalancing import prepare_rebalance, refuse_syncs
from model.consumers.group_coordinator.settings import GroupSettings
from model.consumers.group_coordinator.storing import group_record, told_of_group_write
from model.consumers.group_coordinator.writes import AssignmentWrite


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
