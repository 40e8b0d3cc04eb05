"""The four questions that an observer may ask of a controller, as requests; its answers as values.

Nothing else can be written down here, so nothing else can be asked on these connections, beside what each begins
with: ApiVersions and the login. What a real controller is asked in each release: Fetch v13 (3.3), v15 (3.5), v16 (3.7),
v17 with endpoints (3.9), v18 with the high watermark (4.1); FetchSnapshot v0, v1 (3.9); DescribeQuorum v0 to v2 (3.9);
DescribeCluster v1 (3.7).
"""

import datetime
import uuid
from collections.abc import Callable, Mapping
from typing import Any

from model.hosts.kafka_descriptions import (
    METADATA_TOPIC,
    describe_controllers,
    describe_quorum,
    described_controllers,
    described_quorum,
    voters_listening,
)
from model.hosts.wire.connection import Connection
from model.hosts.wire.messages import Entity, shaped
from model.hosts.wire.names import ApiKey, MalformedError, WireError, error_name
from model.observer.messages import (
    Address,
    Answer,
    ControllersDescribed,
    DescribeControllers,
    DescribeQuorum,
    FetchLog,
    FetchSnapshot,
    KnownLeader,
    LogFetched,
    LogPosition,
    Question,
    QuorumDescribed,
    SnapshotFetched,
)

METADATA_TOPIC_ID = uuid.UUID(int=1)
"""`Uuid.METADATA_TOPIC_ID`."""
MAX_WAIT_MS = 500
MOST_BYTES = 1 << 20
"""Of one answer; or a whole batch, where that is larger."""
OBSERVER = -1
"""The replica id of whoever is no replica: it is not told of, and no voter waits for it."""
_FIRST_FETCH = 13
"""The first with topic ids; controllers refuse v12 for this topic."""
_NEWEST_FETCH, _NEWEST_SNAPSHOT = 18, 1
_VOTE = 52


def is_controller(connection: Connection) -> bool:
    """Whether a controller of a quorum listens there: brokers' listeners take no votes."""
    theirs = connection.versions.get(ApiKey.FETCH)
    return _VOTE in connection.versions and theirs is not None and theirs[1] >= _FIRST_FETCH


def request_of(question: Question, connection: Connection, replica: int = OBSERVER) -> Entity:
    """In the newest version that both sides know. Raises UnsupportedVersionError."""
    return _REQUESTS[type(question)](question, connection, replica)


def answer_of(question: Question, response: Entity) -> Answer:
    """What came back. Raises MalformedError where it answers something else."""
    return _ANSWERS[type(question)](response)


def _fetch_log(question: FetchLog, connection: Connection, replica: int) -> Entity:
    module = connection.request_shapes(ApiKey.FETCH, _NEWEST_FETCH)
    partition = shaped(
        module.FetchPartition,
        partition=0,
        current_leader_epoch=question.epoch,
        fetch_offset=question.end.offset,
        last_fetched_epoch=question.end.epoch,
        partition_max_bytes=MOST_BYTES,
        high_watermark=question.high_watermark,
    )
    return shaped(
        module.FetchRequest,
        cluster_id=question.cluster_id,
        **fetched_as(module, replica),
        max_wait=datetime.timedelta(milliseconds=MAX_WAIT_MS),
        min_bytes=0,
        max_bytes=MOST_BYTES,
        topics=(shaped(module.FetchTopic, topic_id=METADATA_TOPIC_ID, partitions=(partition,)),),
        forgotten_topics_data=(),
    )


def fetched_as(module: Any, replica: int) -> Mapping[str, object]:
    """The fields of a Fetch that say who asks; which there are depends on the version."""
    if hasattr(module, "ReplicaState"):
        return {"replica_state": module.ReplicaState(replica_id=replica, replica_epoch=-1)}
    return {"replica_id": replica}


def _fetch_snapshot(question: FetchSnapshot, connection: Connection, replica: int) -> Entity:
    module = connection.request_shapes(ApiKey.FETCH_SNAPSHOT, _NEWEST_SNAPSHOT)
    snapshot = module.SnapshotId(end_offset=question.snapshot.offset, epoch=question.snapshot.epoch)
    partition = shaped(
        module.PartitionSnapshot,
        partition=0,
        current_leader_epoch=question.epoch,
        snapshot_id=snapshot,
        position=question.position,
    )
    return shaped(
        module.FetchSnapshotRequest,
        cluster_id=question.cluster_id,
        replica_id=replica,
        max_bytes=MOST_BYTES,
        topics=(module.TopicSnapshot(name=METADATA_TOPIC, partitions=(partition,)),),
    )


def _describe_quorum(_: DescribeQuorum, connection: Connection, __: int) -> Entity:
    return describe_quorum(connection)


def _describe_controllers(_: DescribeControllers, connection: Connection, __: int) -> Entity:
    return describe_controllers(connection)


_REQUESTS: Mapping[type[Question], Callable[[Any, Connection, int], Entity]] = {
    FetchLog: _fetch_log,
    FetchSnapshot: _fetch_snapshot,
    DescribeQuorum: _describe_quorum,
    DescribeControllers: _describe_controllers,
}
"""All that can be asked."""


def _log_fetched(response: Entity) -> LogFetched:
    top_error = error_name(response.error_code)
    part = _only(response.responses, "topic_id", METADATA_TOPIC_ID) if top_error == "NONE" else None
    if part is None:
        return LogFetched(top_error)
    snapshot = LogPosition(int(part.snapshot_id.end_offset), int(part.snapshot_id.epoch))
    diverging = LogPosition(int(part.diverging_epoch.end_offset), int(part.diverging_epoch.epoch))
    return LogFetched(
        error=error_name(part.error_code),
        leader=KnownLeader(int(part.current_leader.leader_id), int(part.current_leader.leader_epoch)),
        endpoints=_endpoints(response),
        high_watermark=int(part.high_watermark),
        snapshot=snapshot if snapshot.offset >= 0 else None,
        diverging=diverging if diverging.epoch >= 0 else None,
        records=bytes(part.records or b""),
        log_start=int(part.log_start_offset),
    )


def _snapshot_fetched(response: Entity) -> SnapshotFetched:
    top_error = error_name(response.error_code)
    part = _only(response.topics, "name", METADATA_TOPIC) if top_error == "NONE" else None
    if part is None:
        return SnapshotFetched(top_error)
    return SnapshotFetched(
        error=error_name(part.error_code),
        leader=KnownLeader(int(part.current_leader.leader_id), int(part.current_leader.leader_epoch)),
        endpoints=_endpoints(response),
        snapshot=LogPosition(int(part.snapshot_id.end_offset), int(part.snapshot_id.epoch)),
        size=int(part.size),
        position=int(part.position),
        data=bytes(part.unaligned_records or b""),
    )


def _quorum_described(response: Entity) -> QuorumDescribed:
    try:
        return QuorumDescribed(described_quorum(response), _first(voters_listening(response)))
    except WireError:  # it does not lead, or must not say
        return QuorumDescribed()


def _controllers_described(response: Entity) -> ControllersDescribed:
    if error_name(response.error_code) != "NONE":
        return ControllersDescribed()
    return ControllersDescribed(str(response.cluster_id), _first(described_controllers(response)))


_ANSWERS: Mapping[type[Question], Callable[[Entity], Answer]] = {
    FetchLog: _log_fetched,
    FetchSnapshot: _snapshot_fetched,
    DescribeQuorum: _quorum_described,
    DescribeControllers: _controllers_described,
}


def _only(topics: Any, field: str, name: object) -> Any:
    """The only partition. Raises MalformedError."""
    parts = [each for topic in topics if getattr(topic, field) == name for each in topic.partitions]
    if len(parts) != 1 or len(topics) != 1:
        raise MalformedError(f"{len(topics)} topics where {METADATA_TOPIC} alone was asked for")
    return parts[0]


def _endpoints(response: Entity) -> dict[int, Address]:
    return {int(node.node_id): (str(node.host), int(node.port)) for node in getattr(response, "node_endpoints", ())}


def _first(listening: Mapping[int, frozenset[Address]]) -> dict[int, Address]:
    return {node: min(addresses) for node, addresses in listening.items() if addresses}
