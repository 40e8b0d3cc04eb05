"""`coordinate(group, event, settings)`: a consumer group from its first member to its end; and what is told of it.

A table says who decides about which event. Dead and unknown groups have rows of their own: what is asked of them is
refused. The keeper of groups forgets a group that is DEAD after a decision. DescribeGroups, ListGroups and OffsetFetch
change nothing.

Source: `kafka.coordinator.group.GroupCoordinator` (3.9, the coordinator of ZooKeeper mode), `DelayedHeartbeat`,
`DelayedJoin`, `DelayedSync`, `GroupMetadata.summary` and `overview`, `GroupMetadataManager.getOffsets`.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from types import MappingProxyType
from typing import Any

import msgspec
from msgspec.structs import replace

from model.cluster.ids import TopicPartition
from model.consumers.group_coordinator.events_and_commands import (
    AnswerGroupDeletion,
    AnswerHeartbeat,
    AnswerJoin,
    AnswerLeave,
    AnswerMember,
    AnswerOffsetDeletion,
    AnswerSync,
    AppendCompleted,
    CommitRequested,
    CoordinatorResigned,
    GroupDecision,
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
from model.consumers.group_coordinator.group import (
    DEAD,
    PREPARING,
    STABLE,
    AssignmentWrite,
    Group,
    GroupSettings,
    Member,
    OffsetsWrite,
    StaticMemberWrite,
)
from model.consumers.group_coordinator.membership import (
    join,
    leave,
    remove_member,
    remove_pending_member,
    static_member_written,
    sync_time_up,
    take_heartbeat,
)
from model.consumers.group_coordinator.rebalancing import assignment_written, join_time_up, prepare_rebalance, sync
from model.consumers.group_coordinator.stored_groups import (
    check_offsets,
    commit,
    delete_group,
    delete_offsets,
    forget_partitions,
    offsets_written,
    refuse_commit,
    resign,
)


def append_completed(group: Group, event: AppendCompleted, settings: GroupSettings) -> GroupDecision:
    """Whoever waits for this write is answered; nobody does where the group is another one by now."""
    write = group.writes.get(event.request)
    rest = {request: each for request, each in group.writes.items() if request != event.request}
    left = replace(group, writes=rest) if write is not None else group
    match write:
        case AssignmentWrite():
            return assignment_written(left, event, write, settings)
        case StaticMemberWrite():
            return static_member_written(left, event, write)
        case OffsetsWrite():
            return offsets_written(left, event, write)
        case None:
            return GroupDecision(left)


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


def refuse(event: GroupRequest, error: str) -> AnswerMember:
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


_REFUSALS: Mapping[type[GroupEvent], Callable[[int, str], AnswerMember]] = MappingProxyType(
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


NO_OFFSET = -1


class DescribedGroup(msgspec.Struct, frozen=True):
    """A group; what members subscribed to and got is told of stable groups only."""

    group_id: str
    state: str = DEAD
    protocol_type: str = ""
    protocol: str = ""
    members: tuple[Member, ...] = ()


class FetchedOffset(msgspec.Struct, frozen=True):
    """What OffsetFetch says of one partition; offset -1: nothing was committed."""

    partition: TopicPartition
    offset: int = NO_OFFSET
    leader_epoch: int | None = None
    metadata: str = ""
    error: str = "NONE"


def describe(group_id: str, group: Group | None) -> DescribedGroup:
    """A group as operators see it; one that is not known is dead."""
    if group is None or group.state is DEAD:
        return DescribedGroup(group_id)
    if group.state is STABLE:
        members, protocol = tuple(group.members.values()), group.protocol or ""
    else:
        members, protocol = tuple(replace(each, assignment=b"") for each in group.members.values()), ""
    return DescribedGroup(group_id, group.state, group.protocol_type or "", protocol, members)


def is_in_states(group: Group, states: Collection[str]) -> bool:
    """Whether ListGroups is to tell it: states by any case, none of them stands for all (KIP-518)."""
    return not states or group.state.lower() in {each.lower() for each in states}


def fetch_offsets(
    group: Group | None, partitions: Collection[TopicPartition] | None, *, require_stable: bool
) -> Iterator[FetchedOffset]:
    """Of these partitions, or of all that have an offset. `require_stable`: not while a newer one is on its way."""
    read = group or Group("", DEAD)
    for partition in read.offsets if partitions is None else partitions:
        offset = read.offsets.get(partition)
        if require_stable and partition in read.pending_offsets:
            yield FetchedOffset(partition, error="UNSTABLE_OFFSET_COMMIT")
        elif offset is None:
            yield FetchedOffset(partition)
        else:
            yield FetchedOffset(partition, offset.offset, offset.leader_epoch, offset.metadata)
