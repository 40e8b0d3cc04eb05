"""A rebalance from its cause to the generation that comes of it: joins are collected, then all are answered.

Source: `kafka.coordinator.group.GroupCoordinator.prepareRebalance` and `onCompleteJoin`, `DelayedJoin` (3.9).
"""

from collections.abc import Iterator

from msgspec.structs import replace

from model.cluster.words import counted
from model.consumers.group_coordinator.answering import answer_joined
from model.consumers.group_coordinator.byte_reader import UnreadableError
from model.consumers.group_coordinator.commands import AnswerSync, AppendRecords, GroupCommand
from model.consumers.group_coordinator.consumer_protocol import subscribed_topics
from model.consumers.group_coordinator.decision import GroupDecision, because
from model.consumers.group_coordinator.group import COMPLETING, EMPTY, PREPARING, Group, GroupState
from model.consumers.group_coordinator.history import PastRebalance, Rebalance, remember
from model.consumers.group_coordinator.settings import GroupSettings
from model.consumers.group_coordinator.storing import group_record


def prepare_rebalance(group: Group, why: str, at_ms: int, settings: GroupSettings) -> GroupDecision:
    """Collect joins from now on. An empty group waits a while for others; any other ends it when all have joined."""
    timeout_ms = group.rebalance_timeout_ms
    delay_ms = settings.group_initial_rebalance_delay_ms
    if group.state is EMPTY:
        rebalance = Rebalance(at_ms, why, at_ms + delay_ms, delay_ms, max(timeout_ms - delay_ms, 0))
    else:
        rebalance = Rebalance(at_ms, why, at_ms + timeout_ms)
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


def _become_empty(group: Group, rebalance: Rebalance, at_ms: int) -> GroupDecision:
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
    except UnreadableError:
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
