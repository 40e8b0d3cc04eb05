"""What is kept of groups in `__consumer_offsets`: groups as records, written, refused, and loaded from a partition's
start to its end; and offsets, which are committed, deleted or expire. A group that has nothing left is forgotten.

A commit is checked, written to the log, and known when it is replicated. Offsets that a transaction has written count
when its marker says that it was committed; those of a transaction that is still open are left out.

Source: `kafka.coordinator.group` (3.9): `GroupMetadataManager.storeGroup`, `groupMetadataValue`,
`doLoadGroupsAndOffsets`, `storeOffsets`, `cleanupGroupMetadata`, `GroupCoordinator.doCommitOffsets`,
`handleDeleteGroups`, `handleDeleteOffsets` (KIP-496), `GroupMetadata.removeExpiredOffsets` (KIP-211).
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from types import MappingProxyType

from msgspec.structs import replace

from model.cluster.ids import TopicPartition
from model.cluster.texts import counted
from model.consumers.group_coordinator.events_and_commands import (
    AnswerCommit,
    AnswerGroupDeletion,
    AnswerOffsetDeletion,
    AppendCompleted,
    AppendRecords,
    CommitRequested,
    CoordinatorResigned,
    GroupCommand,
    GroupDecision,
    GroupDeletionRequested,
    OffsetDeletionRequested,
    OffsetsChecked,
    PartitionsDeleted,
    answer_commit,
    because,
    commit_error,
    refuse_everything,
)
from model.consumers.group_coordinator.group import (
    COMPLETING,
    CONSUMER_PROTOCOL_TYPE,
    DEAD,
    EMPTY,
    STABLE,
    CommittedOffset,
    Group,
    GroupSettings,
    Member,
    OffsetsWrite,
    SupportedProtocol,
)
from model.consumers.group_coordinator.stored_formats import (
    GroupRecord,
    OffsetRecord,
    OffsetsTopicRecord,
    StoredGroup,
    StoredMember,
    UnreadableRecordError,
    owners_of,
    subscribed_topics,
)

_GROUP_ERRORS: Mapping[str, str] = MappingProxyType(
    {
        "UNKNOWN_TOPIC_OR_PARTITION": "COORDINATOR_NOT_AVAILABLE",
        "NOT_ENOUGH_REPLICAS": "COORDINATOR_NOT_AVAILABLE",
        "NOT_ENOUGH_REPLICAS_AFTER_APPEND": "COORDINATOR_NOT_AVAILABLE",
        "NOT_LEADER_OR_FOLLOWER": "NOT_COORDINATOR",
        "KAFKA_STORAGE_ERROR": "NOT_COORDINATOR",
        "REQUEST_TIMED_OUT": "REBALANCE_IN_PROGRESS",
        "MESSAGE_TOO_LARGE": "UNKNOWN_SERVER_ERROR",
        "RECORD_LIST_TOO_LARGE": "UNKNOWN_SERVER_ERROR",
        "INVALID_FETCH_SIZE": "UNKNOWN_SERVER_ERROR",
    }
)
_COMMIT_ERRORS: Mapping[str, str] = MappingProxyType(
    {
        "UNKNOWN_TOPIC_OR_PARTITION": "COORDINATOR_NOT_AVAILABLE",
        "NOT_ENOUGH_REPLICAS": "COORDINATOR_NOT_AVAILABLE",
        "NOT_ENOUGH_REPLICAS_AFTER_APPEND": "COORDINATOR_NOT_AVAILABLE",
        "NOT_LEADER_OR_FOLLOWER": "NOT_COORDINATOR",
        "KAFKA_STORAGE_ERROR": "NOT_COORDINATOR",
        "MESSAGE_TOO_LARGE": "INVALID_COMMIT_OFFSET_SIZE",
        "RECORD_LIST_TOO_LARGE": "INVALID_COMMIT_OFFSET_SIZE",
        "INVALID_FETCH_SIZE": "INVALID_COMMIT_OFFSET_SIZE",
    }
)


def group_record(group: Group, assignment: Mapping[str, bytes]) -> GroupRecord:
    """The group with an assignment by member id (`GroupMetadataManager.groupMetadataValue`, 3.9)."""
    members = tuple(
        StoredMember(
            member_id=each.member_id,
            instance_id=each.instance_id,
            client_id=each.client_id,
            client_host=each.client_host,
            rebalance_timeout_ms=each.rebalance_timeout_ms,
            session_timeout_ms=each.session_timeout_ms,
            subscription=each.metadata(group.protocol),
            assignment=assignment.get(each.member_id, b""),
        )
        for each in group.members.values()
    )
    stored = StoredGroup(
        protocol_type=group.protocol_type or "",
        generation=group.generation,
        protocol=group.protocol,
        leader=group.leader,
        state_since_ms=group.state_since_ms,
        members=members,
    )
    return GroupRecord(group.group_id, stored)


def told_of_group_write(error: str) -> str:
    """What members are told of a group record that was not written (`GroupMetadataManager.storeGroup`, 3.9)."""
    return _GROUP_ERRORS.get(error, error)


def told_of_commit(error: str) -> str:
    """What they are told of commits that were not written (`maybeConvertOffsetCommitError`, 3.9)."""
    return _COMMIT_ERRORS.get(error, error)


_Offsets = dict[tuple[str, TopicPartition], CommittedOffset | None]


class LoadedRecords:
    """Takes records in the order of the log, and makes groups of the last of each key. A builder, not a value."""

    def __init__(self) -> None:
        self._groups: dict[str, StoredGroup] = {}
        self._offsets: _Offsets = {}
        self._open: dict[int, _Offsets] = {}

    def take(self, record: OffsetsTopicRecord, batch_offset: int, producer: int | None = None) -> None:
        match record:
            case GroupRecord(group_id, value):
                self._groups.pop(group_id, None)
                if value is not None:
                    self._groups[group_id] = value
            case OffsetRecord(group_id, partition, value):
                logged = None if value is None else replace(value, logged_at=batch_offset)
                offsets = self._offsets if producer is None else self._open.setdefault(producer, {})
                offsets[group_id, partition] = logged

    def end_transaction(self, producer: int, *, committed: bool) -> None:
        """A marker: what the transaction wrote counts, or never was. What is newer stays."""
        ended = self._open.pop(producer, {})
        for name, offset in ended.items() if committed else ():
            known = self._offsets.get(name)
            if known is None or offset is None or known.logged_at < offset.logged_at:
                self._offsets[name] = offset

    def groups(self, at_ms: int) -> tuple[Group, ...]:
        """All groups as they are after the last record. Who has offsets only is a group without members."""
        offsets: dict[str, dict[TopicPartition, CommittedOffset]] = {}
        for (group_id, partition), offset in self._offsets.items():
            if offset is not None:
                offsets.setdefault(group_id, {})[partition] = offset
        known = [_group(group_id, value, offsets.pop(group_id, {})) for group_id, value in self._groups.items()]
        return (*known, *(Group(name, state_since_ms=at_ms, offsets=each) for name, each in offsets.items()))


def _group(group_id: str, stored: StoredGroup, offsets: dict[TopicPartition, CommittedOffset]) -> Group:
    members = {each.member_id: _member(stored, each) for each in stored.members}
    is_consumer_group = stored.protocol_type == CONSUMER_PROTOCOL_TYPE
    leads = stored.leader if stored.leader in members else next(iter(members), None)
    return Group(
        group_id,
        STABLE if members else EMPTY,
        state_since_ms=stored.state_since_ms,
        generation=stored.generation,
        protocol_type=stored.protocol_type or None,
        protocol=stored.protocol,
        leader=leads,
        members=members,
        subscribed_topics=_subscribed(stored.members) if is_consumer_group else None,
        offsets=offsets,
        owners=owners_of(members.values() if is_consumer_group else ()),
    )


def _member(group: StoredGroup, member: StoredMember) -> Member:
    return Member(
        member_id=member.member_id,
        instance_id=member.instance_id,
        client_id=member.client_id,
        client_host=member.client_host,
        session_timeout_ms=member.session_timeout_ms,
        rebalance_timeout_ms=member.rebalance_timeout_ms,
        protocols=(SupportedProtocol(group.protocol or "", member.subscription),),
        assignment=member.assignment,
    )


def _subscribed(members: Iterable[StoredMember]) -> frozenset[str] | None:
    try:
        return frozenset[str]().union(*(subscribed_topics(each.subscription) for each in members))
    except UnreadableRecordError:
        return None


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


def delete_group(group: Group, event: GroupDeletionRequested) -> GroupDecision:
    """Only one without members goes. Commits that are on their way are refused: Kafka confirms and loses them."""
    if group.state is not EMPTY:
        return GroupDecision(group, (AnswerGroupDeletion(event.request, "NON_EMPTY_GROUP"),))
    refused = tuple(refuse_everything(group, "COORDINATOR_NOT_AVAILABLE"))
    going = {**group.offsets, **group.pending_offsets}
    decision = _forget(group, going, "an operator deletes it with {}", bury=True)
    return replace(decision, commands=(*refused, *decision.commands, AnswerGroupDeletion(event.request)))


def delete_offsets(group: Group, event: OffsetDeletionRequested) -> GroupDecision:
    """Of topics that no member consumes; groups of another kind than consumers have to be empty."""
    if group.state is not EMPTY and not group.is_consumer_group:
        return GroupDecision(group, (AnswerOffsetDeletion(event.request, "NON_EMPTY_GROUP"),))
    consumed = {each for each in event.partitions if group.state is not EMPTY and _is_subscribed(group, each)}
    errors = tuple((each, "GROUP_SUBSCRIBED_TO_TOPIC" if each in consumed else "NONE") for each in event.partitions)
    going = [each for each in event.partitions if each not in consumed]
    decision = _forget(group, going, "an operator deletes {}") if going else GroupDecision(group)
    answer = AnswerOffsetDeletion(event.request, partitions=errors)
    return replace(decision, commands=(*decision.commands, answer))


def forget_partitions(group: Group, event: PartitionsDeleted) -> GroupDecision:
    """Offsets in topics that are no more."""
    return _forget(group, event.partitions, "{} go with deleted topics")


def check_offsets(group: Group, event: OffsetsChecked, settings: GroupSettings) -> GroupDecision:
    """Offsets expire; a group without members and offsets is forgotten."""
    retention_ms = settings.offsets_retention_ms
    expired = [
        partition
        for partition, offset in _expirable(group)
        if partition not in group.pending_offsets and _is_expired(group, offset, event.at_ms, retention_ms)
    ]
    return _forget(group, expired, "expired: {}")


def resign(group: Group, event: CoordinatorResigned) -> GroupDecision:
    """Another broker coordinates the group; members look for it when they are told so."""
    told = tuple(refuse_everything(group, "NOT_COORDINATOR"))
    return GroupDecision(_dead(group), told)


def _forget(group: Group, partitions: Collection[TopicPartition], said: str, *, bury: bool = False) -> GroupDecision:
    going = frozenset(partitions)
    removed = [each for each in group.offsets if each in going]
    left = replace(
        group,
        offsets={each: offset for each, offset in group.offsets.items() if each not in going},
        pending_offsets={each: request for each, request in group.pending_offsets.items() if each not in going},
    )
    has_nothing = not (left.has_offsets or left.pending_members or left.writes)
    is_over = bury or (left.state is EMPTY and has_nothing)
    if not removed and not is_over:
        return GroupDecision(left if group.pending_offsets else group)
    tombstones: list[OffsetsTopicRecord] = [
        OffsetRecord(group.group_id, each, None) for each in (partitions if bury else removed)
    ]
    if is_over and group.generation > 0:
        tombstones.append(GroupRecord(group.group_id, None))  # generation 0 has never been written
    commands: tuple[GroupCommand, ...] = (AppendRecords(tuple(tombstones)),) if tombstones else ()
    end = "; nothing is left, the group is forgotten." if is_over else "."
    return because(_dead(left) if is_over else left, said.format(counted(len(removed), "offset")) + end, *commands)


def _dead(group: Group) -> Group:
    return Group(group.group_id, DEAD, generation=group.generation, past=group.past)


def _is_subscribed(group: Group, partition: TopicPartition) -> bool:
    return group.subscribed_topics is None or partition.topic in group.subscribed_topics


def _expirable(group: Group) -> Iterator[tuple[TopicPartition, CommittedOffset]]:
    """In empty groups and in those without members all can expire, in a stable one what no member consumes."""
    if group.protocol_type is None or group.state is EMPTY:
        yield from group.offsets.items()
    elif group.is_consumer_group and group.state is STABLE and group.subscribed_topics is not None:
        yield from ((each, offset) for each, offset in group.offsets.items() if not _is_subscribed(group, each))


def _is_expired(group: Group, offset: CommittedOffset, at_ms: int, retention_ms: int) -> bool:
    if offset.expire_ms is not None:
        return at_ms >= offset.expire_ms
    since_ms = offset.commit_ms
    if group.protocol_type is not None and group.state is EMPTY and group.state_since_ms is not None:
        since_ms = group.state_since_ms
    return at_ms - since_ms >= retention_ms
