"""A static member that comes back under a new id takes the place of the old one (KIP-345).

Source: `kafka.coordinator.group.GroupCoordinator.updateStaticMemberAndRebalance` (3.9).
"""

from msgspec.structs import replace

from model.consumers.group_coordinator.answering import answer_joined, refuse_waiting
from model.consumers.group_coordinator.commands import AnswerJoin, AppendRecords
from model.consumers.group_coordinator.decision import GroupDecision, because
from model.consumers.group_coordinator.events import AppendCompleted, JoinRequested
from model.consumers.group_coordinator.group import PREPARING, STABLE, Group
from model.consumers.group_coordinator.member import Member
from model.consumers.group_coordinator.rebalancing import prepare_rebalance
from model.consumers.group_coordinator.settings import GroupSettings
from model.consumers.group_coordinator.storing import group_record, told_of_group_write
from model.consumers.group_coordinator.writes import StaticMemberWrite


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
