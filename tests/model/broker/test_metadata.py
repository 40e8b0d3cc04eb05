"""What a broker learns from UpdateMetadata and answers to Metadata (Kafka's MetadataCacheTest)."""

from __future__ import annotations

from model.broker.controller_requests import BrokerEpochs
from model.broker.metadata import (
    BrokerNode,
    Endpoint,
    MetadataImage,
    PartitionMetadata,
    forgotten,
    learn,
    serve_update_metadata,
)
from model.cluster.ids import TopicPartition
from model.controller.events_and_commands import BrokerAnswer, PartitionToKnow, UpdateMetadataRequest
from model.controller.leader_and_isr import LeaderAndIsr

STANDING = BrokerEpochs(broker=1, broker_epoch=40, controller_epoch=7)
NODES = {
    1: BrokerNode(1, (Endpoint("PLAINTEXT", "one", 9092), Endpoint("OUTSIDE", "one.example", 19092)), "r1"),
    2: BrokerNode(2, (Endpoint("PLAINTEXT", "two", 9092),), "r2"),
}


def known(topic: str, partition: int, leader: int, *offline: int) -> PartitionToKnow:
    state = LeaderAndIsr(leader, 3, (1, 2))
    return PartitionToKnow(TopicPartition(topic, partition), state, 7, (1, 2, 3), offline)


def told(
    *partitions: PartitionToKnow, live: tuple[int, ...] = (1, 2), controller_epoch: int = 7
) -> UpdateMetadataRequest:
    return UpdateMetadataRequest(2, controller_epoch, partitions, live, (("orders", "id-1"), ("old", None)))


def learnt(
    *partitions: PartitionToKnow, image: MetadataImage | None = None, live: tuple[int, ...] = (1, 2)
) -> MetadataImage:
    return learn(told(*partitions, live=live), NODES, image or MetadataImage())


def test_partitions_add_up_and_live_brokers_are_replaced() -> None:
    first = learnt(known("orders", 0, 1), known("old", 0, 2))
    second = learnt(known("orders", 1, 2), image=first, live=(2, 3))
    assert second.live_brokers == {2, 3}
    assert second.brokers[3] == BrokerNode(3)
    assert set(second.topics["orders"]) == {0, 1}
    assert second.topics["old"] is first.topics["old"]
    assert second.controller == 2
    assert second.topic_ids == {"orders": "id-1"}


def test_a_topic_that_is_being_deleted_is_forgotten() -> None:
    first = learnt(known("orders", 0, 1), known("orders", 1, 1))
    one_left = learnt(known("orders", 0, -2), image=first)
    assert forgotten(told(known("orders", 0, -2), known("orders", 1, 1))) == (TopicPartition("orders", 0),)
    assert set(one_left.topics["orders"]) == {1}
    gone = learnt(known("orders", 1, -2), image=one_left)
    assert gone.describe_topic("orders", None) is None
    assert gone.topic_ids == {}


def test_without_partitions_only_the_brokers_change() -> None:
    first = learnt(known("orders", 0, 1))
    assert learnt(image=first, live=(1,)).topics is first.topics


def test_a_stale_controller_is_refused() -> None:
    served = serve_update_metadata(told(known("orders", 0, 2), controller_epoch=6), 40, STANDING)
    assert served.answer == BrokerAnswer("STALE_CONTROLLER_EPOCH")
    assert served.epochs is STANDING
    newer = serve_update_metadata(told(controller_epoch=8), 40, STANDING)
    assert (newer.answer, newer.epochs.controller_epoch) == (BrokerAnswer(), 8)


def test_a_partition_as_clients_are_told() -> None:
    image = learnt(known("orders", 0, 1, 2))
    assert image.describe_topic("orders", "PLAINTEXT") == (
        PartitionMetadata(TopicPartition("orders", 0), "NONE", 1, 3, (1, 2, 3), (1, 2), (2,)),
    )
    assert image.describe_topic("payments", "PLAINTEXT") is None
    assert image.partition(TopicPartition("orders", 0)) == known("orders", 0, 1, 2)
    assert image.partition(TopicPartition("payments", 0)) is None


def test_a_leader_that_cannot_be_reached_is_none() -> None:
    image = learnt(known("orders", 0, 3), known("orders", 1, 2), known("orders", 2, -1))
    described = image.describe_topic("orders", "OUTSIDE")
    assert described is not None
    assert [(each.error, each.leader) for each in described] == [
        ("LEADER_NOT_AVAILABLE", -1),
        ("LISTENER_NOT_FOUND", -1),
        ("LEADER_NOT_AVAILABLE", -1),
    ]


def test_a_rack_and_an_address_are_kept() -> None:
    node = learnt().brokers[1]
    assert node.rack == "r1"
    assert node.endpoint("OUTSIDE") == Endpoint("OUTSIDE", "one.example", 19092)
    assert node.endpoint("SSL") is None


def test_version_0_leaves_out_replicas_that_are_down() -> None:
    image = learnt(known("orders", 0, 1), known("orders", 1, 3))
    led, leaderless = (image.only_reachable(each, "PLAINTEXT") for each in image.describe_topic("orders", None) or ())
    assert (led.error, led.leader, led.replicas, led.isr) == ("REPLICA_NOT_AVAILABLE", 1, (1, 2), (1, 2))
    assert (leaderless.error, leaderless.leader, leaderless.replicas) == ("LEADER_NOT_AVAILABLE", -1, (1, 2))
    (outside, _) = (image.only_reachable(each, "OUTSIDE") for each in image.describe_topic("orders", None) or ())
    assert (outside.replicas, outside.isr) == ((1,), (1,))
