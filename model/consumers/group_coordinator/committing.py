"""OffsetCommit: checked, written to the log, and known when it is replicated.

Source: `kafka.coordinator.group.GroupCoordinator.doCommitOffsets`, `GroupMetadataManager.storeOffsets` (3.9).
"""

from msgspec.structs import replace

from model.consumers.group_coordinator.answering import answer_commit
from model.consumers.group_coordinator.checks import commit_error
from model.consumers.group_coordinator.commands import AnswerCommit, AppendRecords
from model.consumers.group_coordinator.decision import GroupDecision
from model.consumers.group_coordinator.events import AppendCompleted, CommitRequested
from model.consumers.group_coordinator.group import COMPLETING, Group
from model.consumers.group_coordinator.records import OffsetRecord
from model.consumers.group_coordinator.settings import GroupSettings
from model.consumers.group_coordinator.storing import told_of_commit
from model.consumers.group_coordinator.writes import OffsetsWrite


def commit(group: Group, event: CommitRequested, settings: GroupSettings) -> GroupDecision:
    """Answered when it is in the log. While joins are collected the old generation may still commit."""
    error = commit_error(group, event)
    if error is None and group.state is COMPLETING:
        error = "REBALANCE_IN_PROGRESS"
    if error is not None:
        return GroupDecision(group, (refuse_commit(event, error),))
    longest = settings.offset_metadata_max_bytes
    fitting = {each: offset for each, offset in event.offsets.items() if len(offset.metadata) <= longest}
    write = OffsetsWrite(fitting, tuple(each for each in event.offsets if each not in fitting))
    member = group.members.get(event.member_id)
    alive = group if member is None else group.with_member(member.renewed(event.at_ms))
    if not fitting:
        return GroupDecision(alive, (answer_commit(event.request, write, "NONE"),))
    storing = replace(
        alive,
        writes={**alive.writes, event.request: write},
        pending_offsets={**alive.pending_offsets, **dict.fromkeys(fitting, event.request)},
    )
    records = tuple(OffsetRecord(group.group_id, partition, offset) for partition, offset in fitting.items())
    return GroupDecision(storing, (AppendRecords(records, event.request),))


def refuse_commit(event: CommitRequested, error: str) -> AnswerCommit:
    """One error for all partitions."""
    return AnswerCommit(event.request, partitions=tuple((partition, error) for partition in event.offsets))


def offsets_written(group: Group, event: AppendCompleted, write: OffsetsWrite) -> GroupDecision:
    """Known from now on, but for what is newer or was deleted meanwhile."""
    offsets = dict(group.offsets)
    pending = dict(group.pending_offsets)
    for partition, offset in write.offsets.items():
        known = offsets.get(partition)
        is_newer = known is None or known.logged_at < event.base_offset
        if event.error == "NONE" and partition in pending and is_newer:
            offsets[partition] = replace(offset, logged_at=event.base_offset)
        if pending.get(partition) == event.request:
            del pending[partition]
    answer = answer_commit(event.request, write, told_of_commit(event.error))
    return GroupDecision(replace(group, offsets=offsets, pending_offsets=pending), (answer,))
