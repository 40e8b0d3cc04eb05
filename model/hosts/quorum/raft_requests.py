"""What voters of a quorum ask each other, as Kafka's requests, and back.

In any version: Vote (v1 with directories, 3.9; v2 with pre-votes, 4.0), BeginQuorumEpoch, EndQuorumEpoch, Fetch (v13 to
v18), FetchSnapshot, AddRaftVoter, RemoveRaftVoter, UpdateRaftVoter. What an older version has no field for is lost, as
it is between Kafka's own. Nothing is sent here.
"""

import datetime
import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from model.hosts.kafka_descriptions import METADATA_TOPIC
from model.hosts.observing.controller_wire import METADATA_TOPIC_ID, fetched_as
from model.hosts.wire.messages import Entity, shaped, shapes
from model.hosts.wire.names import MalformedError, topic_id_text, topic_uuid
from model.observer.messages import Address, LogPosition
from model.raft.messages import (
    AddVoter,
    BeginQuorumEpoch,
    EndQuorumEpoch,
    Fetch,
    FetchSnapshot,
    RemoveVoter,
    Request,
    UpdateVoter,
    Vote,
)
from model.raft.raft_log import ReplicaKey, Voter

LISTENER: Final = "CONTROLLER"
"""What a controller's listener is called, where a name is told."""
MOST_BYTES: Final = 1 << 20
"""Of one answer; or a whole batch, where that is larger (4.3; 8 MiB before)."""
_NEVER: Final = 2**63 - 1
"""A high watermark that nobody reaches: its moving is no reason to answer."""
API_KEYS: Final[Mapping[type[Request], int]] = {
    Fetch: 1,
    Vote: 52,
    BeginQuorumEpoch: 53,
    EndQuorumEpoch: 54,
    FetchSnapshot: 59,
    AddVoter: 80,
    RemoveVoter: 81,
    UpdateVoter: 82,
}


def request_body(request: Request, version: int) -> Entity:
    """A request in this version of its API."""
    module = shapes(API_KEYS[type(request)], version, "request")
    return _REQUESTS[type(request)](module, request)


def _directory(text: str | None) -> uuid.UUID | None:
    return None if text is None else topic_uuid(text)


def _vote(module: Any, request: Vote) -> Entity:
    partition = shaped(
        module.PartitionData,
        partition_index=0,
        candidate_epoch=request.epoch,
        candidate_id=request.candidate.id,
        candidate_directory_id=_directory(request.candidate.directory),
        voter_directory_id=_directory(request.voter.directory),
        last_offset_epoch=request.last.epoch,
        last_offset=request.last.offset,
        pre_vote=request.pre_vote,
    )
    topics = (module.TopicData(topic_name=METADATA_TOPIC, partitions=(partition,)),)
    return shaped(module.VoteRequest, cluster_id=request.cluster_id, voter_id=request.voter.id, topics=topics)


def _begin(module: Any, request: BeginQuorumEpoch) -> Entity:
    partition = shaped(
        module.PartitionData,
        partition_index=0,
        voter_directory_id=_directory(request.voter.directory),
        leader_id=request.leader,
        leader_epoch=request.epoch,
    )
    return shaped(
        module.BeginQuorumEpochRequest,
        cluster_id=request.cluster_id,
        voter_id=request.voter.id,
        topics=(module.TopicData(topic_name=METADATA_TOPIC, partitions=(partition,)),),
        leader_endpoints=_endpoints(getattr(module, "LeaderEndpoint", None), request.address),
    )


def _endpoints(shape: Any, address: Address | None) -> tuple[Entity, ...]:
    """One, by the name of the controllers' listener; none where it is not known, or the version has no room for it."""
    if shape is None or address is None:
        return ()
    return (shape(name=LISTENER, host=address[0], port=address[1]),)


def _end(module: Any, request: EndQuorumEpoch) -> Entity:
    values: dict[str, object] = {
        "partition_index": 0,
        "leader_id": request.leader,
        "leader_epoch": request.epoch,
        "preferred_successors": tuple(key.id for key in request.successors),
    }
    if hasattr(module, "ReplicaInfo"):
        values["preferred_candidates"] = tuple(
            module.ReplicaInfo(candidate_id=key.id, candidate_directory_id=_directory(key.directory))
            for key in request.successors
        )
    topics = (module.TopicData(topic_name=METADATA_TOPIC, partitions=(shaped(module.PartitionData, **values),)),)
    return shaped(module.EndQuorumEpochRequest, cluster_id=request.cluster_id, topics=topics, leader_endpoints=())


def _fetch(module: Any, request: Fetch) -> Entity:
    partition = shaped(
        module.FetchPartition,
        partition=0,
        current_leader_epoch=request.epoch,
        fetch_offset=request.end.offset,
        last_fetched_epoch=request.end.epoch,
        partition_max_bytes=0,
        replica_directory_id=_directory(request.replica.directory),
        high_watermark=request.high_watermark,
    )
    return shaped(
        module.FetchRequest,
        cluster_id=request.cluster_id,
        **fetched_as(module, request.replica.id),
        max_wait=datetime.timedelta(milliseconds=request.max_wait_ms),
        min_bytes=0,
        max_bytes=MOST_BYTES,
        topics=(shaped(module.FetchTopic, topic_id=METADATA_TOPIC_ID, partitions=(partition,)),),
        forgotten_topics_data=(),
    )


def _fetch_snapshot(module: Any, request: FetchSnapshot) -> Entity:
    partition = shaped(
        module.PartitionSnapshot,
        partition=0,
        current_leader_epoch=request.epoch,
        snapshot_id=module.SnapshotId(end_offset=request.snapshot.offset, epoch=request.snapshot.epoch),
        position=request.position,
        replica_directory_id=_directory(request.replica.directory),
    )
    return shaped(
        module.FetchSnapshotRequest,
        cluster_id=request.cluster_id,
        replica_id=request.replica.id,
        max_bytes=MOST_BYTES,
        topics=(module.TopicSnapshot(name=METADATA_TOPIC, partitions=(partition,)),),
    )


def _add(module: Any, request: AddVoter) -> Entity:
    key = request.voter.key
    return shaped(
        module.AddRaftVoterRequest,
        cluster_id=request.cluster_id,
        timeout=datetime.timedelta(seconds=2),
        voter_id=key.id,
        voter_directory_id=_directory(key.directory),
        listeners=_endpoints(module.Listener, request.voter.address),
        ack_when_committed=request.when_committed,
    )


def _remove(module: Any, request: RemoveVoter) -> Entity:
    return module.RemoveRaftVoterRequest(
        cluster_id=request.cluster_id,
        voter_id=request.voter.id,
        voter_directory_id=_directory(request.voter.directory),
    )


def _update(module: Any, request: UpdateVoter) -> Entity:
    least, most = request.voter.versions
    return module.UpdateRaftVoterRequest(
        cluster_id=request.cluster_id,
        current_leader_epoch=request.epoch,
        voter_id=request.voter.key.id,
        voter_directory_id=_directory(request.voter.key.directory),
        listeners=_endpoints(module.Listener, request.voter.address),
        k_raft_version_feature=module.KRaftVersionFeature(min_supported_version=least, max_supported_version=most),
    )


_REQUESTS: Mapping[type[Request], Callable[[Any, Any], Entity]] = {
    Vote: _vote,
    BeginQuorumEpoch: _begin,
    EndQuorumEpoch: _end,
    Fetch: _fetch,
    FetchSnapshot: _fetch_snapshot,
    AddVoter: _add,
    RemoveVoter: _remove,
    UpdateVoter: _update,
}


def request_value(body: Entity) -> Request:
    """A request that was received. Raises MalformedError where it is not about the metadata log alone."""
    read = _READ.get(int(body.__api_key__))
    if read is None:
        raise MalformedError(f"{type(body).__name__} is nothing that voters say to each other")
    return read(body)


def only_partition(body: Any) -> Any:
    """The one partition."""
    if len(body.topics) != 1 or len(body.topics[0].partitions) != 1:
        raise MalformedError(f"a {type(body).__name__} of other partitions than the metadata log's")
    topic = body.topics[0]
    named = getattr(topic, "topic_name", None) or getattr(topic, "name", None)
    if (getattr(topic, "topic_id", None) or named) not in {METADATA_TOPIC, METADATA_TOPIC_ID}:
        raise MalformedError(f"a {type(body).__name__} of {named or topic.topic_id}")
    return topic.partitions[0]


def _key(id_: int, directory: uuid.UUID | None) -> ReplicaKey:
    return ReplicaKey(int(id_), topic_id_text(directory))


def _read_vote(body: Any) -> Vote:
    asked = only_partition(body)
    return Vote(
        body.cluster_id,
        _key(getattr(body, "voter_id", -1), getattr(asked, "voter_directory_id", None)),
        _key(asked.candidate_id, getattr(asked, "candidate_directory_id", None)),
        int(asked.candidate_epoch),
        LogPosition(int(asked.last_offset), int(asked.last_offset_epoch)),
        pre_vote=getattr(asked, "pre_vote", False),
    )


def _read_begin(body: Any) -> BeginQuorumEpoch:
    asked = only_partition(body)
    voter = _key(getattr(body, "voter_id", -1), getattr(asked, "voter_directory_id", None))
    address = _address(getattr(body, "leader_endpoints", ()))
    return BeginQuorumEpoch(body.cluster_id, voter, int(asked.leader_id), int(asked.leader_epoch), address)


def _address(endpoints: Sequence[Any]) -> Address | None:
    return (endpoints[0].host, int(endpoints[0].port)) if endpoints else None


def _read_end(body: Any) -> EndQuorumEpoch:
    asked = only_partition(body)
    if hasattr(asked, "preferred_candidates"):
        keys = [_key(each.candidate_id, each.candidate_directory_id) for each in asked.preferred_candidates]
    else:
        keys = [_key(each, None) for each in asked.preferred_successors]
    return EndQuorumEpoch(body.cluster_id, int(asked.leader_id), int(asked.leader_epoch), tuple(keys))


def _read_fetch(body: Any) -> Fetch:
    asked = only_partition(body)
    id_ = body.replica_state.replica_id if hasattr(body, "replica_state") else body.replica_id
    return Fetch(
        body.cluster_id,
        _key(id_, getattr(asked, "replica_directory_id", None)),
        int(asked.current_leader_epoch),
        LogPosition(int(asked.fetch_offset), int(asked.last_fetched_epoch)),
        int(getattr(asked, "high_watermark", _NEVER)),
        round(body.max_wait.total_seconds() * 1_000),
    )


def _read_fetch_snapshot(body: Any) -> FetchSnapshot:
    asked = only_partition(body)
    return FetchSnapshot(
        body.cluster_id,
        _key(body.replica_id, getattr(asked, "replica_directory_id", None)),
        int(asked.current_leader_epoch),
        LogPosition(int(asked.snapshot_id.end_offset), int(asked.snapshot_id.epoch)),
        int(asked.position),
    )


def _read_add(body: Any) -> AddVoter:
    voter = Voter(_key(body.voter_id, body.voter_directory_id), _address(body.listeners))
    return AddVoter(body.cluster_id, voter, getattr(body, "ack_when_committed", True))


def _read_remove(body: Any) -> RemoveVoter:
    return RemoveVoter(body.cluster_id, _key(body.voter_id, body.voter_directory_id))


def _read_update(body: Any) -> UpdateVoter:
    feature = body.k_raft_version_feature
    versions = int(feature.min_supported_version), int(feature.max_supported_version)
    voter = Voter(_key(body.voter_id, body.voter_directory_id), _address(body.listeners), versions)
    return UpdateVoter(body.cluster_id, int(body.current_leader_epoch), voter)


_READ: Mapping[int, Callable[[Any], Request]] = {
    1: _read_fetch,
    52: _read_vote,
    53: _read_begin,
    54: _read_end,
    59: _read_fetch_snapshot,
    80: _read_add,
    81: _read_remove,
    82: _read_update,
}
