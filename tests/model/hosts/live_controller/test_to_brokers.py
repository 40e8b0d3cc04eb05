"""What a controller sends, as brokers of each version get it; and what they answer, as the controller gets it."""

from __future__ import annotations

import uuid
from typing import Any

import pytest
from kio.schema.errors import ErrorCode

from model.cluster.ids import TopicPartition
from model.controller.events_and_commands import (
    BrokerAnswer,
    BrokerRequest,
    LeaderAndIsrRequest,
    PartitionToKnow,
    PartitionToServe,
    PartitionToStop,
    StopReplicaRequest,
    UpdateMetadataRequest,
)
from model.controller.leader_and_isr import LeaderAndIsr, ReplicaAssignment
from model.hosts.live_controller.broker_channels import (
    OutgoingRequest,
    answer_of,
    api_key,
    entity_of,
    in_parts,
)
from model.hosts.wire.messages import decode_request, encode_request, shaped, shapes, versions_known
from model.hosts.wire.names import topic_id_text, topic_uuid
from model.znodes.cluster import BrokerRegistration

TOPIC_ID = "gcf0J66hS7OMD5Anom956Q"
A, B = TopicPartition("a", 0), TopicPartition("b", 7)
STATE = LeaderAndIsr(1, 5, (1, 2), recovering=True, partition_epoch=9)
ASSIGNMENT = ReplicaAssignment((3, 1, 2), adding=(3,), removing=(2,))
REGISTRATIONS = {
    1: BrokerRegistration(
        listener_security_protocol_map={"CLIENT": "SSL", "INTERNAL": "PLAINTEXT"},
        endpoints=("CLIENT://one:1", "INTERNAL://one:2"),
        rack="r1",
        version=5,
    ),
    2: BrokerRegistration(host="two", port=3, version=1),
}
LEADER_AND_ISR = LeaderAndIsrRequest(
    controller=9,
    controller_epoch=4,
    partitions=(
        PartitionToServe(B, STATE, 3, ASSIGNMENT, is_new=True),
        PartitionToServe(A, LeaderAndIsr(2, 0, (2,)), 4, ReplicaAssignment((2,)), is_new=False),
    ),
    live_leaders=(1, 2),
    topic_ids=(("a", TOPIC_ID), ("b", None)),
)
UPDATE_METADATA = UpdateMetadataRequest(
    controller=9,
    controller_epoch=4,
    partitions=(PartitionToKnow(A, STATE, 3, (3, 1, 2), (3,)),),
    live_brokers=(1, 2, 3),
    topic_ids=(("a", TOPIC_ID),),
)
STOP_REPLICA = StopReplicaRequest(9, 4, (PartitionToStop(A, -2, delete=True), PartitionToStop(B, 5, delete=False)))
EVERY = [
    (request, version)
    for request in (LEADER_AND_ISR, UPDATE_METADATA, STOP_REPLICA)
    for version in range(versions_known(api_key(request))[1] + 1)
]


def all_sent(request: BrokerRequest, version: int) -> list[Any]:
    letter = OutgoingRequest(request, 77, REGISTRATIONS, "INTERNAL")
    entities = [entity_of(part, version) for part in in_parts(letter, version)]
    return [decode_request(b"".join(encode_request(entity, 1, "test"))) for entity in entities]


def sent(request: BrokerRequest, version: int) -> Any:
    (body,) = all_sent(request, version)
    return body


@pytest.mark.parametrize(("request_", "version"), EVERY)
def test_every_version_has_the_epochs(request_: BrokerRequest, version: int) -> None:
    has_broker_epoch = (
        version
        >= {"StopReplicaRequest": 1, "LeaderAndIsrRequest": 2, "UpdateMetadataRequest": 5}[type(request_).__name__]
    )
    for body in all_sent(request_, version):
        assert (body.__api_key__, body.__version__) == (api_key(request_), version)
        assert (body.controller_id, body.controller_epoch) == (9, 4)
        assert getattr(body, "broker_epoch", None) == (77 if has_broker_epoch else None)
        assert not getattr(body, "is_k_raft_controller", False)
        assert getattr(body, "type_", 0) == 0


def test_what_brokers_of_1_1_are_sent() -> None:
    body = sent(LEADER_AND_ISR, 1)
    told = [(each.topic_name, each.partition_index, each.is_new) for each in body.ungrouped_partition_states]
    assert told == [("b", 7, True), ("a", 0, False)]
    assert [(each.broker_id, each.host_name, each.port) for each in body.live_leaders] == [(1, "one", 2), (2, "two", 3)]
    body = sent(UPDATE_METADATA, 4)
    assert [(each.topic_name, each.offline_replicas) for each in body.ungrouped_partition_states] == [("a", (3,))]
    assert [[place.listener for place in each.endpoints] for each in body.live_brokers] == [
        ["CLIENT", "INTERNAL"],
        ["PLAINTEXT"],
    ]
    deleted, kept = all_sent(STOP_REPLICA, 0)
    assert [(each.topic_name, each.partition_index) for each in deleted.ungrouped_partitions] == [("a", 0)]
    assert [(each.topic_name, each.partition_index) for each in kept.ungrouped_partitions] == [("b", 7)]
    assert (deleted.delete_partitions, kept.delete_partitions) == (True, False)


def test_what_brokers_of_0_8_were_sent() -> None:
    (one, two) = sent(UPDATE_METADATA, 0).live_brokers
    assert (one.v0_host, one.v0_port, two.v0_host, two.v0_port) == ("one", 1, "two", 3)
    assert "is_new" not in dir(sent(LEADER_AND_ISR, 0).ungrouped_partition_states[0])


def test_leader_and_isr_of_3_9() -> None:
    body = sent(LEADER_AND_ISR, 7)
    first, second = body.topic_states
    assert (first.topic_name, first.topic_id, second.topic_name, second.topic_id) == (
        "a",
        topic_uuid(TOPIC_ID),
        "b",
        None,
    )
    [state] = second.partition_states
    assert (state.partition_index, state.controller_epoch, state.is_new) == (7, 3, True)
    assert (state.leader, state.leader_epoch, state.isr, state.partition_epoch) == (1, 5, (1, 2), 9)
    assert (state.replicas, state.adding_replicas, state.removing_replicas) == ((3, 1, 2), (3,), (2,))
    assert state.leader_recovery_state == 1
    places = [(leader.broker_id, leader.host_name, leader.port) for leader in body.live_leaders]
    assert places == [(1, "one", 2), (2, "two", 3)]


def test_update_metadata_of_3_9() -> None:
    """Broker 3 is live, but nobody knows where."""
    body = sent(UPDATE_METADATA, 8)
    [topic] = body.topic_states
    [state] = topic.partition_states
    assert (state.zk_version, state.replicas, state.offline_replicas) == (9, (3, 1, 2), (3,))
    one, two = body.live_brokers
    assert [(e.listener, e.host, e.port, e.security_protocol) for e in one.endpoints] == [
        ("CLIENT", "one", 1, 1),
        ("INTERNAL", "one", 2, 0),
    ]
    assert (one.id_, one.rack, two.id_, two.rack) == (1, "r1", 2, None)


def test_stop_replica_of_3_9() -> None:
    body = sent(STOP_REPLICA, 4)
    states = [(topic.topic_name, topic.partition_states[0]) for topic in body.topic_states]
    told = [(name, each.partition_index, each.leader_epoch, each.delete_partition) for name, each in states]
    assert told == [("a", 0, -2, True), ("b", 7, 5, False)]


@pytest.mark.parametrize("version", [4, 7])
def test_errors_of_partitions_come_back_by_name(version: int) -> None:
    module = shapes(4, version, "response")
    errors = [(A, ErrorCode.none), (TopicPartition("a", 1), ErrorCode.kafka_storage_error)]
    inner = tuple(
        shaped(
            module.LeaderAndIsrPartitionError, topic_name=name.topic, partition_index=name.partition, error_code=error
        )
        for name, error in errors
    )
    topics: tuple[Any, ...] = ()
    if version > 4:
        unknown = module.LeaderAndIsrTopicError(topic_id=uuid.uuid4(), partition_errors=inner)
        topics = (module.LeaderAndIsrTopicError(topic_id=topic_uuid(TOPIC_ID), partition_errors=inner), unknown)
    response = shaped(module.LeaderAndIsrResponse, error_code=ErrorCode.none, partition_errors=inner, topics=topics)
    answer = answer_of(LEADER_AND_ISR, response)
    assert answer == BrokerAnswer(partition_errors=((TopicPartition("a", 1), "KAFKA_STORAGE_ERROR"),))


def test_an_error_of_the_whole_request_comes_back() -> None:
    response = shaped(shapes(6, 8, "response").UpdateMetadataResponse, error_code=ErrorCode.stale_controller_epoch)
    assert answer_of(UPDATE_METADATA, response) == BrokerAnswer("STALE_CONTROLLER_EPOCH")


def test_topic_ids_are_the_same_in_text_and_bytes() -> None:
    assert topic_id_text(topic_uuid(TOPIC_ID)) == TOPIC_ID
    assert topic_id_text(topic_uuid(None)) is None
    assert topic_id_text(topic_uuid("no id")) is None
