"""Virtual clusters to begin with, and a look at their journals."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeVar

from model.controller.generations import Settings
from model.hosts.memory_zookeeper.tree import read
from model.hosts.virtual.assumptions import Assumptions, Network, perfect
from model.hosts.virtual.journal import Record
from model.hosts.virtual.virtual_cluster import VirtualCluster
from model.znodes.cluster import BrokerRegistration
from model.znodes.topics import LeaderIsrAndControllerEpoch, TopicAssignment, decode_partition_state
from model.zookeeper.operations import Create, GetData

R = TypeVar("R", bound=Record)
A_WHILE_MS = 60_000


def registration(broker: int) -> bytes:
    return BrokerRegistration(host=f"broker-{broker}", port=9092, version=5, timestamp="0").to_bytes()


def boot(cluster: VirtualCluster, *brokers: int) -> None:
    """One after the other, so that the first becomes the controller."""
    for broker in brokers:
        settings = Settings(broker_id=broker, auto_leader_rebalance_enable=False)
        cluster.boot(broker, registration(broker), settings)
        assert cluster.run_until_quiet(A_WHILE_MS)


def cluster_of(*brokers: int, network: Network = perfect, **assumed: Any) -> VirtualCluster:
    cluster = VirtualCluster(Assumptions(**assumed), network=network)
    boot(cluster, *brokers)
    return cluster


def create_topic(cluster: VirtualCluster, topic: str, *replicas: tuple[int, ...]) -> None:
    cluster.write(Create(f"/config/topics/{topic}", b'{"version":1,"config":{}}'))
    payload = TopicAssignment(partitions=dict(enumerate(replicas)), topic_id=topic.ljust(22, "A"), version=3)
    cluster.write(Create(f"/brokers/topics/{topic}", payload.to_bytes()))
    assert cluster.run_until_quiet(A_WHILE_MS)


def state(cluster: VirtualCluster, topic: str, partition: int = 0) -> LeaderIsrAndControllerEpoch:
    found = read(cluster.zookeeper.tree, GetData(f"/brokers/topics/{topic}/partitions/{partition}/state"))
    assert found.ok
    return decode_partition_state(found.data)


def records(cluster: VirtualCluster, kind: type[R], since: int = 0) -> Iterator[R]:
    """The records of one kind from a place in the journal on."""
    return (record for record in cluster.journal[since:] if isinstance(record, kind))
