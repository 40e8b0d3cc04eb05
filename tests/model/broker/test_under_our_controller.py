"""What our controllers send in random histories of a virtual cluster, carried out by a second host.

The brokers of the virtual cluster have no logs, those here do. Both hosts carry out the same decisions, so answers,
roles and metadata are the same. Broker epochs are left out: the journal does not have those of requests.
"""

from __future__ import annotations

import random

import pytest

from model.broker.controller_requests import BrokerEpochs
from model.broker.partition import Partition
from model.cluster.ids import TopicPartition
from model.controller.events_and_commands import (
    BrokerRequest,
    LeaderAndIsrRequest,
    ReassignmentsRequested,
    StopReplicaRequest,
    UpdateMetadataRequest,
)
from model.hosts.virtual.journal import BrokerBooted, RequestServed
from model.zookeeper import Create
from tests.harness.virtual_cluster import VirtualCluster
from tests.model.broker.served_broker import ServedBroker, errors
from tests.model.controller.trace_scenarios import create_topic

BROKERS = (0, 1, 2, 3)


def random_history(seed: int) -> VirtualCluster:
    """Brokers that die, leave, lose their sessions and come back; topics that are made, moved and deleted."""
    dice = random.Random(seed)
    cluster = VirtualCluster()
    for broker in BROKERS:
        cluster.start(broker)
    create_topic(cluster, "t0", (0, 1, 2))
    cluster.write(Create("/admin/delete_topics/t0"))
    for step in range(1, 25):
        running = sorted(cluster.nodes)
        missing = sorted(set(BROKERS) - set(running))
        act = dice.choice(("create", "move", "delete", "away", "away", "back", "back"))
        if act == "create":
            create_topic(cluster, f"t{step}", *(tuple(dice.sample(BROKERS, 3)) for _ in range(3)))
        elif act == "move":
            target = ((TopicPartition(f"t{dice.randrange(25)}", 0), tuple(dice.sample(running, min(2, len(running))))),)
            cluster.ask(ReassignmentsRequested, targets=target)
        elif act == "delete":
            cluster.write(Create(f"/admin/delete_topics/t{dice.randrange(25)}"))
        elif act == "back" and missing:
            cluster.start(dice.choice(missing))
        elif act == "away" and len(running) > 1:
            dice.choice((cluster.kill, cluster.stop, cluster.expire))(dice.choice(running))
    return cluster


def role(partition: Partition) -> tuple[object, ...]:
    """What a controller's request made of it; the ISR may have changed since."""
    state = partition.state
    epochs = (state.leader_epoch, partition.controller_epoch)
    return state.leader, epochs, partition.assignment, partition.topic_id, partition.leads


@pytest.mark.parametrize("seed", range(8))
def test_a_host_with_logs_comes_to_the_same(seed: int) -> None:
    cluster = random_history(seed)
    brokers: dict[int, ServedBroker] = {}
    kinds: dict[type[BrokerRequest], int] = {}
    for record in cluster.world.journal:
        if isinstance(record, BrokerBooted):
            brokers[record.broker] = ServedBroker(BrokerEpochs(record.broker))
        elif isinstance(record, RequestServed) and record.answer.error != "STALE_BROKER_EPOCH":
            answer = brokers[record.receiver].serve(record.request)
            assert errors(answer) == errors(record.answer), (record.receiver, record.request)
            kinds[type(record.request)] = kinds.get(type(record.request), 0) + 1
    assert kinds.keys() == {LeaderAndIsrRequest, StopReplicaRequest, UpdateMetadataRequest}
    for broker in cluster.world.brokers:
        virtual, served = cluster.world.process(broker).broker, brokers[broker]
        roles = {name: role(partition) for name, partition in virtual.held.items()}
        assert roles == {name: role(partition) for name, partition in served.held.items()}
        known = [entry for partitions in served.image.topics.values() for entry in partitions.values()]
        assert virtual.metadata == {entry.partition: entry for entry in known}
