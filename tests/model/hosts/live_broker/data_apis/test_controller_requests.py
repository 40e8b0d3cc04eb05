"""LeaderAndIsr, UpdateMetadata and StopReplica over the wire, as our controller writes them and Java's reads them."""

from __future__ import annotations

import pytest
from kio.schema.errors import ErrorCode

from model.cluster.ids import TopicPartition
from model.controller.events_and_commands import (
    EPOCH_DURING_DELETE,
    BrokerRequest,
    LeaderAndIsrRequest,
    PartitionToKnow,
    PartitionToServe,
    PartitionToStop,
    StopReplicaRequest,
    UpdateMetadataRequest,
)
from model.controller.leader_and_isr import LeaderAndIsr, ReplicaAssignment
from model.hosts.live_controller.broker_channels import OutgoingRequest, answer_of, entity_of
from model.hosts.wire.messages import Entity
from model.znodes.cluster import BrokerRegistration
from tests.harness.live_brokers import Cluster
from tests.model.hosts.live_broker.data_apis.asking import connected

ORDERS = TopicPartition("orders", 0)
TOPIC_ID = "AAAAAAAAAAAAAAAAAAAAAQ"
STATE = LeaderAndIsr(1, 4, (1,), partition_epoch=7)
BROKER = BrokerRegistration(
    listener_security_protocol_map={"PLAINTEXT": "PLAINTEXT"},
    endpoints=("PLAINTEXT://127.0.0.1:9092",),
    rack="r1",
    port=9092,
    host="127.0.0.1",
    version=5,
    timestamp="1",
)


async def send(cluster: Cluster, request: BrokerRequest, version: int, broker_epoch: int = 101) -> Entity:
    letter = OutgoingRequest(request, broker_epoch, {1: BROKER}, "PLAINTEXT")
    async with connected(cluster, 1) as connection:
        return await connection.ask(entity_of(letter, version))


def lead(controller_epoch: int = 1) -> LeaderAndIsrRequest:
    told = PartitionToServe(ORDERS, STATE, controller_epoch, ReplicaAssignment((1,)), is_new=True)
    return LeaderAndIsrRequest(9, controller_epoch, (told,), (1,), (("orders", TOPIC_ID),))


@pytest.mark.parametrize("version", range(2, 8))
async def test_a_leader_is_made_and_unmade(cluster: Cluster, version: int) -> None:
    await cluster.start(1)
    known = PartitionToKnow(ORDERS, STATE, 1, (1,), ())
    news = UpdateMetadataRequest(9, 1, (known,), (1,), (("orders", TOPIC_ID),))
    response = await send(cluster, news, max(5, version))
    assert response.error_code is ErrorCode.none
    replicas = cluster.nodes[1].replicas
    node = replicas.metadata.image.brokers[1]
    assert (node.rack, node.endpoints[0].port) == ("r1", 9092)

    response = await send(cluster, lead(), version)
    assert answer_of(lead(), response).error == "NONE"
    assert answer_of(lead(), response).partition_errors == ()
    assert replicas.partitions[ORDERS].state == STATE
    assert (cluster.nodes[1].folder / "orders-0" / "leader-epoch-checkpoint").read_text() == "0\n1\n4 0\n"

    stop = StopReplicaRequest(9, 1, (PartitionToStop(ORDERS, EPOCH_DURING_DELETE, delete=True),))
    response = await send(cluster, stop, 3 if version < 5 else 4)
    assert response.error_code is ErrorCode.none
    assert ORDERS not in replicas.partitions
    assert not (cluster.nodes[1].folder / "orders-0").exists()


@pytest.mark.parametrize("version", range(2, 8))
async def test_what_refuses_a_whole_request_is_told_for_each_partition(cluster: Cluster, version: int) -> None:
    """Java's controller looks at nothing else."""
    await cluster.start(1)
    await send(cluster, lead(controller_epoch=5), version)
    response = await send(cluster, lead(controller_epoch=4), version)
    assert response.error_code is ErrorCode.stale_controller_epoch
    told = response.partition_errors if version < 5 else response.topics[0].partition_errors
    assert [each.error_code for each in told] == [ErrorCode.stale_controller_epoch]
    stale = await send(cluster, lead(controller_epoch=5), version, broker_epoch=100)
    assert stale.error_code is ErrorCode.stale_broker_epoch
