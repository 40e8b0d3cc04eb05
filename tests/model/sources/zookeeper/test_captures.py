"""Trees that real clusters wrote give the image that an operator of these clusters would draw."""

from __future__ import annotations

from model.cluster.cluster_delta import ClusterDelta
from model.cluster.cluster_image import EMPTY, AdminImage, BrokerImage, ClusterImage, ControllerImage, Provenance
from model.cluster.ids import TopicPartition
from model.cluster.image_parts import Member
from model.sources.zookeeper.translate import translate
from model.sources.zookeeper.watching import SINGLES, walk
from model.zookeeper import Znode
from tests.model.sources.zookeeper.znode_values import Tree, captured


def loaded(tree: Tree) -> ClusterImage:
    """What a full load says."""
    found = walk(tree.children)
    delta = ClusterDelta(EMPTY).replay_all(translate(tree.read([*SINGLES, *found.paths]), 1))
    return delta.apply(Provenance("test", 1, 1, complete=True))


def test_three_brokers_of_3_9_1() -> None:
    tree = captured("kafka-3.9.1.json")
    image = loaded(tree)
    assert image.cluster_id == "fHdbX6H7T8eJpY7O8HlBTQ"
    assert image.generation == "3.x"
    assert image.controller == ControllerImage(broker=2, epoch=1, since_ms=1795243235516)
    assert [(broker.id, broker.rack, broker.endpoints) for broker in image.brokers.values()] == [
        (1, "r1", ("PLAINTEXT://127.0.0.1:22092",)),
        (2, "r2", ("PLAINTEXT://127.0.0.1:22093",)),
        (3, "r3", ("PLAINTEXT://127.0.0.1:22094",)),
    ]
    registrations = tree.read([f"/brokers/ids/{broker}" for broker in image.brokers])
    czxids = [each.stat.czxid for each in registrations if isinstance(each, Znode)]
    assert [broker.epoch for broker in image.brokers.values()] == czxids
    assert list(image.topics["orders"].rows()) == [
        (0, (3, 1, 2), 3, (3, 1, 2)),
        (1, (1, 2, 3), 1, (1, 2, 3)),
        (2, (2, 3, 1), 2, (2, 3, 1)),
        (3, (3, 2, 1), 3, (3, 2, 1)),
        (4, (1, 3, 2), 1, (1, 3, 2)),
        (5, (2, 1, 3), 2, (2, 1, 3)),
    ]
    assert list(image.topics["pay.ments"].rows()) == [(0, (2, 3), 2, (2, 3)), (1, (3, 1), 3, (3, 1))]
    assert image.topics["orders"].topic_id == "C_DJ1xNbQwKcARmeVgx0SQ"
    assert image.configs == {"topics/orders": {}, "topics/pay.ments": {"min.insync.replicas": "2"}}
    assert (image.groups, image.admin, image.unreadable) == ({}, AdminImage(), {})


def test_a_broker_of_1_1_1_with_three_old_consumers() -> None:
    image = loaded(captured("kafka-1.1.1-with-old-consumers.json"))
    assert image.cluster_id == "Qi0hOKn3T6yMQOSNN_1M5w"
    assert image.generation == "0.9-1.x"
    assert image.controller == ControllerImage(broker=1, epoch=1, since_ms=1795243676441)
    assert image.brokers == {
        1: BrokerImage(1, ("PLAINTEXT://127.0.0.1:23511",), None, None, 1795243676377),
    }
    assert list(image.topics["t4"].rows()) == [(partition, (1,), 1, (1,)) for partition in range(4)]
    group = image.groups["g1"]
    one, two, three = (
        "g1_vm-1795244234648-d0956747",
        "g1_vm-1795244235231-60e3cf7e",
        "g1_vm-1795244237252-4fd23788",
    )
    assert group.members == {
        one: Member({"t4": 1}, "white_list", 1795244234794),
        two: Member({"t4": 1}, "white_list", 1795244235530),
        three: Member({"t4": 1}, "white_list", 1795244237438),
    }
    owners = {partition.partition: owner for partition, owner in group.owners.items()}
    assert owners == {0: f"{one}-0", 1: f"{one}-0", 2: f"{two}-0", 3: f"{three}-0"}
    assert group.offsets == {TopicPartition("t4", partition): 0 for partition in (0, 1, 3)}
    assert image.configs == {"topics/t4": {}}
    assert (image.admin, image.unreadable) == (AdminImage(), {})
