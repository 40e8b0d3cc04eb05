"""What a member says to its group's coordinator. Nothing is sent here."""

import struct
from collections.abc import Iterable, Mapping
from datetime import timedelta
from itertools import groupby

from model.cluster.ids import TopicPartition
from model.hosts.wire.api_keys import (
    FIND_COORDINATOR,
    HEARTBEAT,
    JOIN_GROUP,
    LEAVE_GROUP,
    OFFSET_COMMIT,
    OFFSET_FETCH,
    SYNC_GROUP,
)
from model.hosts.wire.connection import Connection
from model.hosts.wire.messages import Entity, shaped, shapes
from model.hosts.wire.names import error_name

SESSION_TIMEOUT_MS = 10_000
REBALANCE_TIMEOUT_MS = 20_000
NEWEST_FIND_COORDINATOR, NEWEST_JOIN, NEWEST_COMMIT, NEWEST_OFFSET_FETCH, NEWEST_LEAVE = 3, 7, 8, 7, 3
PROTOCOL = "consumer"


def find_coordinator(connection: Connection, group: str) -> Entity:
    """Who coordinates the group."""
    module = shapes(FIND_COORDINATOR, connection.newest(FIND_COORDINATOR, NEWEST_FIND_COORDINATOR), "request")
    return shaped(module.FindCoordinatorRequest, key=group, key_type=0)


def join_group(connection: Connection, group: str, member: str, assignor: str, topics: Iterable[str]) -> Entity:
    """`member` is empty for one that has no id yet."""
    module = shapes(JOIN_GROUP, connection.newest(JOIN_GROUP, NEWEST_JOIN), "request")
    return shaped(
        module.JoinGroupRequest,
        group_id=group,
        session_timeout=timedelta(milliseconds=SESSION_TIMEOUT_MS),
        rebalance_timeout=timedelta(milliseconds=REBALANCE_TIMEOUT_MS),
        member_id=member,
        group_instance_id=None,
        protocol_type=PROTOCOL,
        protocols=(module.JoinGroupRequestProtocol(name=assignor, metadata=subscription(topics)),),
    )


def sync_group(
    connection: Connection, group: str, generation: int, member: str, assignor: str, assignments: Mapping[str, bytes]
) -> Entity:
    """The leader brings the assignments; the others bring none."""
    module = shapes(SYNC_GROUP, connection.newest(SYNC_GROUP), "request")
    return shaped(
        module.SyncGroupRequest,
        group_id=group,
        generation_id=generation,
        member_id=member,
        group_instance_id=None,
        protocol_type=PROTOCOL,
        protocol_name=assignor,
        assignments=tuple(
            module.SyncGroupRequestAssignment(member_id=name, assignment=data) for name, data in assignments.items()
        ),
    )


def heartbeat(connection: Connection, group: str, generation: int, member: str) -> Entity:
    """Still there."""
    module = shapes(HEARTBEAT, connection.newest(HEARTBEAT), "request")
    return shaped(
        module.HeartbeatRequest, group_id=group, generation_id=generation, member_id=member, group_instance_id=None
    )


def leave_group(connection: Connection, group: str, member: str) -> Entity:
    """Goodbye."""
    version = connection.newest(LEAVE_GROUP, NEWEST_LEAVE)
    module = shapes(LEAVE_GROUP, version, "request")
    if version < 3:
        return shaped(module.LeaveGroupRequest, group_id=group, member_id=member)
    members = (module.MemberIdentity(member_id=member, group_instance_id=None),)
    return shaped(module.LeaveGroupRequest, group_id=group, members=members)


def commit_offsets(
    connection: Connection, group: str, generation: int, member: str, offsets: Mapping[TopicPartition, int]
) -> Entity:
    """Everything before these offsets is done with."""
    module = shapes(OFFSET_COMMIT, connection.newest(OFFSET_COMMIT, NEWEST_COMMIT), "request")
    topics = tuple(
        module.OffsetCommitRequestTopic(
            name=topic,
            partitions=tuple(
                shaped(
                    module.OffsetCommitRequestPartition,
                    partition_index=each.partition,
                    committed_offset=offsets[each],
                    committed_leader_epoch=-1,
                    committed_metadata="",
                )
                for each in those
            ),
        )
        for topic, those in groupby(sorted(offsets), key=lambda each: each.topic)
    )
    return shaped(
        module.OffsetCommitRequest,
        group_id=group,
        generation_id_or_member_epoch=generation,
        generation_id=generation,
        member_id=member,
        group_instance_id=None,
        retention_time=timedelta(milliseconds=-1),
        topics=topics,
    )


def fetch_offsets(connection: Connection, group: str, partitions: Iterable[TopicPartition]) -> Entity:
    """Where the group stands in these partitions."""
    module = shapes(OFFSET_FETCH, connection.newest(OFFSET_FETCH, NEWEST_OFFSET_FETCH), "request")
    topics = tuple(
        module.OffsetFetchRequestTopic(name=topic, partition_indexes=tuple(each.partition for each in those))
        for topic, those in groupby(sorted(partitions), key=lambda each: each.topic)
    )
    return shaped(module.OffsetFetchRequest, group_id=group, topics=topics, require_stable=False)


def fetched_offsets(response: Entity) -> dict[TopicPartition, int]:
    """Committed offsets, -1 where there is none; partitions with an error are left out."""
    return {
        TopicPartition(str(topic.name), int(each.partition_index)): int(each.committed_offset)
        for topic in response.topics
        for each in topic.partitions
        if error_name(each.error_code) == "NONE"
    }


def subscription(topics: Iterable[str]) -> bytes:
    """A `ConsumerProtocolSubscription` v0 (ConsumerProtocol, 3.9): topics, and no user data."""
    names = sorted(topics)
    return struct.pack(">hi", 0, len(names)) + b"".join(map(_text, names)) + struct.pack(">i", -1)


def assignment(partitions: Iterable[TopicPartition]) -> bytes:
    """A `ConsumerProtocolAssignment` v0."""
    grouped = [
        (topic, [each.partition for each in those])
        for topic, those in groupby(sorted(partitions), key=lambda each: each.topic)
    ]
    body = b"".join(
        _text(topic) + struct.pack(f">i{len(numbers)}i", len(numbers), *numbers) for topic, numbers in grouped
    )
    return struct.pack(">hi", 0, len(grouped)) + body + struct.pack(">i", -1)


def _text(text: str) -> bytes:
    data = text.encode()
    return struct.pack(">h", len(data)) + data
