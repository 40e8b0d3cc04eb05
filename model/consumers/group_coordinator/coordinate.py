"""`coordinate(group, event, settings)`: a consumer group from its first member to its end.

A table says who decides about which event. Dead and unknown groups have rows of their own: what is asked of them is
refused. Who keeps groups forgets a group that is DEAD after a decision.

Source: `kafka.coordinator.group.GroupCoordinator` (3.9, the coordinator of ZooKeeper mode).
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from msgspec.structs import replace

from model.consumers.group_coordinator.commands import (
    Answer,
    AnswerGroupDeletion,
    AnswerHeartbeat,
    AnswerJoin,
    AnswerLeave,
    AnswerOffsetDeletion,
    AnswerSync,
)
from model.consumers.group_coordinator.committing import commit, refuse_commit
from model.consumers.group_coordinator.decision import GroupDecision
from model.consumers.group_coordinator.events import (
    AppendCompleted,
    CommitRequested,
    CoordinatorResigned,
    GroupDeletionRequested,
    GroupEvent,
    GroupLoaded,
    GroupRequest,
    HeartbeatReceived,
    JoinRequested,
    LeaveRequested,
    MemberRequest,
    OffsetDeletionRequested,
    OffsetsChecked,
    PartitionsDeleted,
    SyncRequested,
    TimePassed,
)
from model.consumers.group_coordinator.forgetting import (
    check_offsets,
    delete_group,
    delete_offsets,
    forget_partitions,
    resign,
)
from model.consumers.group_coordinator.group import DEAD, Group
from model.consumers.group_coordinator.heartbeats import take_heartbeat
from model.consumers.group_coordinator.joining import join
from model.consumers.group_coordinator.leaving import leave
from model.consumers.group_coordinator.logged import append_completed
from model.consumers.group_coordinator.passing_time import group_loaded, pass_time
from model.consumers.group_coordinator.settings import GroupSettings
from model.consumers.group_coordinator.syncing import sync

_Step = Callable[[Group, Any, GroupSettings], GroupDecision]


def coordinate(group: Group | None, event: GroupEvent, settings: GroupSettings) -> GroupDecision:
    """What follows. None stands for a group that is not known: it comes to be where members or offsets make one."""
    if group is None and not (isinstance(event, CommitRequested) and event.generation >= 0):
        fresh = Group(event.group_id)
        if isinstance(event, GroupDeletionRequested | OffsetDeletionRequested):
            return _refuse_dead(replace(fresh, state=DEAD), event)
        decision = _TABLE[type(event)](fresh, event, settings)
        return replace(decision, group=replace(fresh, state=DEAD)) if decision.group == fresh else decision
    if group is None:
        assert isinstance(event, CommitRequested)
        return GroupDecision(Group(event.group_id, DEAD), (refuse_commit(event, "ILLEGAL_GENERATION"),))
    if group.state is DEAD:
        return _refuse_dead(group, event)
    return _TABLE[type(event)](group, event, settings)


def refuse(event: GroupRequest, error: str) -> Answer:
    """The answer to any request that is not looked at any further."""
    match event:
        case JoinRequested():
            return AnswerJoin(event.request, error, member_id=event.member_id)
        case CommitRequested():
            return refuse_commit(event, error)
        case _:
            return _REFUSALS[type(event)](event.request, error)


def _refuse_dead(group: Group, event: GroupEvent) -> GroupDecision:
    if not isinstance(event, GroupRequest):
        return GroupDecision(group)
    error = "COORDINATOR_NOT_AVAILABLE" if isinstance(event, MemberRequest | LeaveRequested) else "GROUP_ID_NOT_FOUND"
    return GroupDecision(group, (refuse(event, error),))


_REFUSALS: Mapping[type[GroupEvent], Callable[[int, str], Answer]] = MappingProxyType(
    {
        SyncRequested: AnswerSync,
        HeartbeatReceived: AnswerHeartbeat,
        LeaveRequested: AnswerLeave,
        OffsetDeletionRequested: AnswerOffsetDeletion,
        GroupDeletionRequested: AnswerGroupDeletion,
    }
)
_TABLE: Mapping[type[GroupEvent], _Step] = MappingProxyType(
    {
        JoinRequested: join,
        SyncRequested: sync,
        HeartbeatReceived: lambda group, event, _: take_heartbeat(group, event),
        LeaveRequested: leave,
        CommitRequested: commit,
        OffsetDeletionRequested: lambda group, event, _: delete_offsets(group, event),
        GroupDeletionRequested: lambda group, event, _: delete_group(group, event),
        AppendCompleted: append_completed,
        TimePassed: pass_time,
        OffsetsChecked: check_offsets,
        PartitionsDeleted: lambda group, event, _: forget_partitions(group, event),
        GroupLoaded: group_loaded,
        CoordinatorResigned: lambda group, event, _: resign(group, event),
    }
)
