"""What time alone does to a group: sessions end, ids expire, joins and syncs are not waited for any longer.

Source: `DelayedHeartbeat`, `DelayedJoin`, `DelayedSync` of `kafka.coordinator.group` (3.9).
"""

from msgspec.structs import replace

from model.consumers.group_coordinator.decision import GroupDecision
from model.consumers.group_coordinator.events import GroupLoaded, TimePassed
from model.consumers.group_coordinator.group import PREPARING, Group
from model.consumers.group_coordinator.leaving import remove_member, remove_pending_member, sync_time_up
from model.consumers.group_coordinator.rebalancing import join_time_up, prepare_rebalance
from model.consumers.group_coordinator.settings import GroupSettings


def pass_time(group: Group, event: TimePassed, settings: GroupSettings) -> GroupDecision:
    """Everything that is due by now, one after the other."""
    decision = GroupDecision(group)
    while (due_ms := decision.group.next_deadline_ms()) is not None and due_ms <= event.at_ms:
        decision = decision.then(lambda group: _first_due(group, event.at_ms, settings))
    return decision


def group_loaded(group: Group, event: GroupLoaded, settings: GroupSettings) -> GroupDecision:
    """Members have a whole session to find this broker; too many of them have to join anew."""
    members = {name: member.renewed(event.at_ms) for name, member in group.members.items()}
    loaded = replace(group, members=members)
    if len(members) <= settings.group_max_size:
        return GroupDecision(loaded)
    why = f"{len(members)} members were loaded, where {settings.group_max_size} are allowed"
    return prepare_rebalance(loaded, why, event.at_ms, settings)


def _first_due(group: Group, at_ms: int, settings: GroupSettings) -> GroupDecision:
    for member_id, until_ms in group.pending_members.items():
        if until_ms <= at_ms:
            return remove_pending_member(group, member_id, at_ms)
    for member in group.members.values():
        if (expires_ms := member.expires_at_ms) is not None and expires_ms <= at_ms:
            return remove_member(group, member, "session timed out", at_ms, settings)
    if group.state is PREPARING and group.rebalance is not None and group.rebalance.deadline_ms <= at_ms:
        return join_time_up(group, at_ms, settings)
    return sync_time_up(group, at_ms, settings)
