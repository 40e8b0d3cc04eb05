"""What voters of a quorum answer each other, as Kafka's responses, and back; in any version, as the requests are.

Errors are told of the partition, but for those of a whole request. Nothing is sent here.
"""

import datetime
from collections.abc import Callable, Mapping
from typing import Any, Final

from model.hosts.kafka_descriptions import METADATA_TOPIC
from model.hosts.observing.controller_wire import METADATA_TOPIC_ID
from model.hosts.quorum.raft_requests import API_KEYS, LISTENER, only_partition
from model.hosts.wire.messages import Entity, shaped, shapes
from model.hosts.wire.names import ApiKey, MalformedError, error_code, error_name, topic_uuid
from model.observer.messages import NOBODY, UNKNOWN, LogPosition
from model.raft.messages import (
    AddVoter,
    AnswerHeader,
    BeginQuorumEpoch,
    ChangeAnswer,
    EpochAnswer,
    FetchAnswer,
    Reply,
    Request,
    SnapshotAnswer,
    UpdateVoter,
    VoteAnswer,
)
from model.raft.node import Leader, RaftNode
from model.raft.raft_log import ReplicaKey

_AS_BEFORE: Final = {(52, 2): 1}
"""An API and a version whose response has the form of an older one's."""
_OF_THE_REQUEST: Final = frozenset({"INCONSISTENT_CLUSTER_ID"})
"""Errors that are told of a whole request, without a partition."""


def reply_body(request: Request, reply: Reply, version: int, records: bytes = b"") -> Entity:
    """The response to a request in this version; `records` are the bytes that a Fetch is answered with."""
    api_key = API_KEYS[type(request)]
    module = shapes(api_key, _AS_BEFORE.get((api_key, version), version), "response")
    match reply:
        case FetchAnswer():
            return _fetch_response(module, reply, records)
        case SnapshotAnswer():
            return _snapshot_response(module, reply)
        case ChangeAnswer():
            return _change_response(module, request, reply)
        case VoteAnswer(known, granted):
            return _epoch_response(module, "VoteResponse", known, vote_granted=granted)
        case _:
            name = "BeginQuorumEpochResponse" if isinstance(request, BeginQuorumEpoch) else "EndQuorumEpochResponse"
            return _epoch_response(module, name, reply.known)


def _top(error: str) -> str:
    return error if error in _OF_THE_REQUEST else "NONE"


def _nodes(module: Any, known: AnswerHeader) -> tuple[Entity, ...]:
    """Where the leader listens, in versions that have room for it."""
    if known.leader == NOBODY or known.address is None or not hasattr(module, "NodeEndpoint"):
        return ()
    host, port = known.address
    return (shaped(module.NodeEndpoint, node_id=known.leader, host=host, port=port),)


def _epoch_response(module: Any, name: str, known: AnswerHeader, **more: object) -> Entity:
    partition = shaped(
        module.PartitionData,
        partition_index=0,
        error_code=error_code(known.error),
        leader_id=known.leader,
        leader_epoch=known.epoch,
        **more,
    )
    topics = (module.TopicData(topic_name=METADATA_TOPIC, partitions=(partition,)),)
    top = _top(known.error)
    return shaped(
        getattr(module, name),
        error_code=error_code(top),
        topics=topics if top == "NONE" else (),
        node_endpoints=_nodes(module, known),
    )


def _fetch_response(module: Any, reply: FetchAnswer, records: bytes) -> Entity:
    known = reply.known
    values: dict[str, object] = {}
    if reply.diverging is not None:
        values["diverging_epoch"] = module.EpochEndOffset(
            epoch=reply.diverging.epoch, end_offset=reply.diverging.offset
        )
    if reply.snapshot is not None:
        values["snapshot_id"] = module.SnapshotId(end_offset=reply.snapshot.offset, epoch=reply.snapshot.epoch)
    partition = shaped(
        module.PartitionData,
        partition_index=0,
        error_code=error_code(known.error),
        high_watermark=reply.high_watermark,
        log_start_offset=reply.log_start,
        current_leader=module.LeaderIdAndEpoch(leader_id=known.leader, leader_epoch=known.epoch),
        aborted_transactions=(),
        records=records,
        **values,
    )
    top = _top(known.error)
    responses = (shaped(module.FetchableTopicResponse, topic_id=METADATA_TOPIC_ID, partitions=(partition,)),)
    return shaped(
        module.FetchResponse,
        throttle_time=datetime.timedelta(),
        error_code=error_code(top),
        responses=responses if top == "NONE" else (),
        node_endpoints=_nodes(module, known),
    )


def _snapshot_response(module: Any, reply: SnapshotAnswer) -> Entity:
    known = reply.known
    partition = shaped(
        module.PartitionSnapshot,
        index=0,
        error_code=error_code(known.error),
        snapshot_id=module.SnapshotId(end_offset=reply.snapshot.offset, epoch=reply.snapshot.epoch),
        current_leader=module.LeaderIdAndEpoch(leader_id=known.leader, leader_epoch=known.epoch),
        size=reply.size,
        position=reply.position,
        unaligned_records=reply.data,
    )
    top = _top(known.error)
    return shaped(
        module.FetchSnapshotResponse,
        throttle_time=datetime.timedelta(),
        error_code=error_code(top),
        topics=(module.TopicSnapshot(name=METADATA_TOPIC, partitions=(partition,)),) if top == "NONE" else (),
        node_endpoints=_nodes(module, known),
    )


def _change_response(module: Any, request: Request, reply: ChangeAnswer) -> Entity:
    known, error = reply.known, error_code(reply.known.error)
    if isinstance(request, UpdateVoter):
        host, port = known.address or ("", -1)
        leader = module.CurrentLeader(leader_id=known.leader, leader_epoch=known.epoch, host=host, port=port)
        return module.UpdateRaftVoterResponse(
            throttle_time=datetime.timedelta(), error_code=error, current_leader=leader
        )
    shape = module.AddRaftVoterResponse if isinstance(request, AddVoter) else module.RemoveRaftVoterResponse
    why = None if reply.known.error == "NONE" else reply.why
    return shape(throttle_time=datetime.timedelta(), error_code=error, error_message=why)


def reply_value(body: Any) -> tuple[Reply, bytes]:
    """A response that was received, and the records in it. Raises MalformedError where it tells of nothing."""
    error = error_name(body.error_code)
    api_key = int(body.__api_key__)
    if api_key in {80, 81}:
        return ChangeAnswer(AnswerHeader(error), body.error_message or ""), b""
    if api_key == 82:
        leader = body.current_leader
        address = (leader.host, int(leader.port)) if leader.host else None
        return ChangeAnswer(AnswerHeader(error, int(leader.leader_epoch), int(leader.leader_id), address)), b""
    if error != "NONE":
        return _REFUSED[api_key](AnswerHeader(error, UNKNOWN)), b""
    if api_key == 1:
        return _read_fetch_answer(body)
    told = only_partition(body)
    if api_key == 59:
        return _read_snapshot_answer(body, told), b""
    known = _known(body, told.error_code, told.leader_id, told.leader_epoch)
    return (VoteAnswer(known, told.vote_granted) if api_key == 52 else EpochAnswer(known)), b""


_REFUSED: Mapping[int, Callable[[AnswerHeader], Reply]] = {
    1: FetchAnswer,
    52: VoteAnswer,
    53: EpochAnswer,
    54: EpochAnswer,
    59: SnapshotAnswer,
}


def _known(body: Any, code: Any, leader: int, epoch: int) -> AnswerHeader:
    nodes = {int(each.node_id): each for each in getattr(body, "node_endpoints", ())}
    node = nodes.get(int(leader))
    address = (node.host, int(node.port)) if node is not None else None
    return AnswerHeader(error_name(code), int(epoch), int(leader), address)


def _read_fetch_answer(body: Any) -> tuple[FetchAnswer, bytes]:
    if len(body.responses) != 1 or len(body.responses[0].partitions) != 1:
        raise MalformedError("an answer about other partitions than the metadata log's")
    told = body.responses[0].partitions[0]
    leader = told.current_leader
    diverging, snapshot = told.diverging_epoch, told.snapshot_id
    reply = FetchAnswer(
        _known(body, told.error_code, leader.leader_id, leader.leader_epoch),
        int(told.high_watermark),
        LogPosition(int(diverging.end_offset), int(diverging.epoch)) if diverging.epoch >= 0 else None,
        LogPosition(int(snapshot.end_offset), int(snapshot.epoch)) if snapshot.epoch >= 0 else None,
        log_start=int(told.log_start_offset),
    )
    return reply, bytes(told.records or b"")


def _read_snapshot_answer(body: Any, told: Any) -> SnapshotAnswer:
    leader = told.current_leader
    return SnapshotAnswer(
        _known(body, told.error_code, leader.leader_id, leader.leader_epoch),
        LogPosition(int(told.snapshot_id.end_offset), int(told.snapshot_id.epoch)),
        int(told.size),
        int(told.position),
        bytes(told.unaligned_records or b""),
    )


OBSERVED_MS = 300_000
"""An observer that has not fetched for so long is not told of any more."""


def quorum_described(node: RaftNode, version: int, now_ms: int, wall_ms: int) -> Entity:
    """The quorum, as only its leader tells of it (DescribeQuorum). `wall_ms` is what calendars say at `now_ms`."""
    module = shapes(ApiKey.DESCRIBE_QUORUM, version, "response")
    role = node.role
    if not isinstance(role, Leader):
        partition = _described_partition(module, node, "NOT_LEADER_OR_FOLLOWER", UNKNOWN, ((), ()))
        return _quorum_response(module, node, partition)

    def told(key: ReplicaKey) -> Entity:
        progress, is_me = role.replicas.get(key.id), key.id == node.key.id
        times = [None, None] if progress is None else [progress.fetched_ms, progress.caught_up_ms]
        fetched, caught_up = (UNKNOWN if time is None else wall_ms - now_ms + time for time in times)
        return shaped(
            module.ReplicaState,
            replica_id=key.id,
            replica_directory_id=None if key.directory is None else topic_uuid(key.directory),
            log_end_offset=node.log.end if is_me else UNKNOWN if progress is None else progress.end,
            last_fetch_timestamp=wall_ms if is_me else fetched,
            last_caught_up_timestamp=wall_ms if is_me else caught_up,
        )

    voters = node.log.voters
    observers = tuple(
        told(progress.key)
        for progress in role.replicas.values()
        if not voters.has(progress.key) and now_ms - progress.fetched_ms < OBSERVED_MS
    )
    replicas = (tuple(told(voter.key) for voter in voters.voters), observers)
    return _quorum_response(module, node, _described_partition(module, node, "NONE", role.high_watermark, replicas))


def _described_partition(
    module: Any, node: RaftNode, error: str, mark: int, replicas: tuple[tuple[Entity, ...], tuple[Entity, ...]]
) -> Entity:
    return shaped(
        module.PartitionData,
        partition_index=0,
        error_code=error_code(error),
        error_message=None,
        leader_id=node.persisted.leader,
        leader_epoch=node.epoch,
        high_watermark=mark,
        current_voters=replicas[0],
        observers=replicas[1],
    )


def _quorum_response(module: Any, node: RaftNode, partition: Entity) -> Entity:
    nodes = tuple(
        module.Node(node_id=voter.key.id, listeners=(module.Listener(name=LISTENER, host=host, port=port),))
        for voter in (node.log.voters.voters if hasattr(module, "Node") else ())
        for host, port in ([voter.address] if voter.address else [])
    )
    return shaped(
        module.DescribeQuorumResponse,
        error_code=error_code("NONE"),
        error_message=None,
        topics=(module.TopicData(topic_name=METADATA_TOPIC, partitions=(partition,)),),
        nodes=nodes,
    )
