"""LeaderAndIsr, UpdateMetadata and StopReplica over the wire, as our controller writes them and Java's reads them."""

from __future__ import annotations

from typing import Any

import pytest
from kio.schema.errors import ErrorCode

from model.broker.metadata import BrokerNode, Endpoint
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
from model.hosts.wire.messages import Entity, shaped, shapes
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


async def ask(cluster: Cluster, key: int, version: int, name: str, **values: object) -> Entity:
    shape = getattr(shapes(key, version, "request"), name)
    async with connected(cluster, 1) as connection:
        return await connection.ask(shaped(shape, controller_id=9, controller_epoch=1, broker_epoch=-1, **values))


OLD_STATE = {
    "topic_name": "orders",
    "partition_index": 0,
    "controller_epoch": 1,
    "leader": 1,
    "leader_epoch": 4,
    "isr": (1,),
    "partition_epoch": 7,
    "zk_version": 7,
    "replicas": (1, 2),
    "is_new": True,
    "offline_replicas": (2,),
}


@pytest.mark.parametrize("version", range(5))
async def test_metadata_as_controllers_from_before_2_2_tell_it(cluster: Cluster, version: int) -> None:
    await cluster.start(1)
    module = shapes(6, version, "request")
    place = {"v0_host": "one", "v0_port": 9092}
    if version > 0:
        endpoint = {"host": "one", "port": 9092, "listener": "PLAINTEXT", "security_protocol": 0}
        place = {"endpoints": (shaped(module.UpdateMetadataEndpoint, **endpoint),), "rack": "r1"}
    response = await ask(
        cluster,
        6,
        version,
        "UpdateMetadataRequest",
        ungrouped_partition_states=(shaped(module.UpdateMetadataPartitionState, **OLD_STATE),),
        live_brokers=(shaped(module.UpdateMetadataBroker, id_=1, **place),),
    )
    assert response.error_code is ErrorCode.none
    image = cluster.nodes[1].replicas.metadata.image
    assert image.brokers[1] == BrokerNode(1, (Endpoint("PLAINTEXT", "one", 9092),), "r1" if version >= 2 else None)
    known = image.partition(ORDERS)
    assert known is not None
    assert (known.state.leader, known.offline_replicas) == (1, (2,) if version >= 4 else ())


@pytest.mark.parametrize(("version", "stop_version"), [(0, 0), (1, 1), (1, 2)])
async def test_a_leader_as_controllers_from_before_2_2_make_and_unmake_it(
    cluster: Cluster, version: int, stop_version: int
) -> None:
    await cluster.start(1)
    module = shapes(4, version, "request")
    state = shaped(module.LeaderAndIsrPartitionState, **OLD_STATE)
    values: dict[str, Any] = {"ungrouped_partition_states": (state,), "live_leaders": ()}
    response = await ask(cluster, 4, version, "LeaderAndIsrRequest", **values)
    (told,) = response.partition_errors
    assert (told.topic_name, told.partition_index, told.error_code) == ("orders", 0, ErrorCode.none)
    partition = cluster.nodes[1].partition(ORDERS)
    assert (partition.leads, partition.state.leader_epoch) == (True, 4)

    module = shapes(5, stop_version, "request")
    if stop_version == 0:
        values = {"ungrouped_partitions": (module.StopReplicaPartitionV0(topic_name="orders", partition_index=0),)}
    else:
        values = {"topics": (module.StopReplicaTopicV1(name="orders", partition_indexes=(0,)),)}
    stopped = await ask(cluster, 5, stop_version, "StopReplicaRequest", delete_partitions=True, **values)
    (told,) = stopped.partition_errors
    assert (told.topic_name, told.error_code) == ("orders", ErrorCode.none)
    assert ORDERS not in cluster.nodes[1].replicas.partitions
    assert not (cluster.nodes[1].folder / "orders-0").exists()
