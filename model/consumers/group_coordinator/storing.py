"""A group as the record that `__consumer_offsets` keeps of it, and the errors of writing there."""

from collections.abc import Mapping
from types import MappingProxyType

from model.consumers.group_coordinator.group import Group
from model.consumers.group_coordinator.records import GroupRecord, StoredGroup, StoredMember

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
