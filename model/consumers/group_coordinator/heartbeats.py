"""Heartbeats: a member lives, and learns whether it has to join again.

Source: `kafka.coordinator.group.GroupCoordinator.handleHeartbeat` (3.9).
"""

from model.consumers.group_coordinator.checks import generation_error
from model.consumers.group_coordinator.commands import AnswerHeartbeat
from model.consumers.group_coordinator.decision import GroupDecision
from model.consumers.group_coordinator.events import HeartbeatReceived
from model.consumers.group_coordinator.group import PREPARING, Group


def take_heartbeat(group: Group, event: HeartbeatReceived) -> GroupDecision:
    """While the assignment is waited for, all is well: consumers begin with heartbeats when they have joined."""
    error = generation_error(group, event, event.generation)
    if error is not None:
        return GroupDecision(group, (AnswerHeartbeat(event.request, error),))
    renewed = group.with_member(group.members[event.member_id].renewed(event.at_ms))
    told = "REBALANCE_IN_PROGRESS" if group.state is PREPARING else "NONE"
    return GroupDecision(renewed, (AnswerHeartbeat(event.request, told),))
