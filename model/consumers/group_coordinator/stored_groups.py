"""Groups as records of `__consumer_offsets`: written, refused, and loaded from a partition's start to its end.

Source: `kafka.coordinator.group.GroupMetadataManager` (3.9): `storeGroup`, `groupMetadataValue`,
`doLoadGroupsAndOffsets`. Offsets that a transaction has written count when its marker says that it was committed; those
of a transaction that is still open are left out.
"""

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from msgspec.structs import replace

from model.cluster.ids import TopicPartition
from model.consumers.group_coordinator.group import (
    CONSUMER_PROTOCOL_TYPE,
    EMPTY,
    STABLE,
    CommittedOffset,
    Group,
    Member,
    SupportedProtocol,
)
from model.consumers.group_coordinator.stored_formats import (
    GroupRecord,
    OffsetRecord,
    OffsetsTopicRecord,
    StoredGroup,
    StoredMember,
    UnreadableError,
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
    except UnreadableError:
        return None
