"""What brokers tell and ZooKeeper does not bear out."""

from __future__ import annotations

from model.cluster import records as r
from model.cluster.cluster_delta import ClusterDelta
from model.cluster.cluster_image import EMPTY, ClusterImage, Provenance
from model.cluster.findings.find import find
from model.cluster.ids import TopicPartition
from model.hosts.kafka_client import Metadata, PartitionPlace
from model.sources.kafka.views import Rounds, differences
from tests.model.cluster.build import brokers

ORDERS = TopicPartition("orders", 0)
SAME = PartitionPlace(1, (1, 2), (2, 1), 5)


def zookeeper(leader: int = 1, zxid: int = 40) -> ClusterImage:
    records = (
        *brokers(1, 2),
        r.ControllerElected(broker=2),
        r.TopicAssigned(topic="orders", replicas={0: (1, 2)}),
        r.PartitionStatesWritten(topic="orders", states=(r.PartitionState(0, leader, 5, (1, 2), zxid=zxid),)),
    )
    return ClusterDelta(EMPTY).replay_all(records).apply(Provenance(complete=True))


def told(place: PartitionPlace = SAME, controller: int = 2) -> Metadata:
    return Metadata({1: ("h", 1), 2: ("h", 2)}, controller=controller, partitions={ORDERS: place})


def test_the_same_in_other_words_is_no_difference() -> None:
    assert differences(zookeeper(), told()) == {}
    assert differences(zookeeper(), told(PartitionPlace(1, (1, 2), (1, 2), -1))) == {}  # before 2.1 no epoch is told


def test_everything_that_may_differ() -> None:
    other = Metadata({1: ("h", 1), 3: ("h", 3)}, controller=1, partitions={TopicPartition("pay", 0): SAME})
    assert {subject: one.said for subject, one in differences(zookeeper(), other).items()} == {
        "broker 2": "is registered in ZooKeeper, and not known to it",
        "broker 3": "lives for it, and is not registered in ZooKeeper",
        "controller": "is broker 1 for it, broker 2 in ZooKeeper",
        "orders": "is in ZooKeeper, and not known to it",
        "pay": "is known to it, and not in ZooKeeper",
    }
    (one,) = differences(zookeeper(), told(PartitionPlace(2, (1, 2), (2,), 4))).values()
    assert one.said == "leader 2 e4 ISR [2] for it, leader 1 e5 ISR [1, 2] in ZooKeeper"


def test_in_a_migration_brokers_cannot_name_the_controller() -> None:
    image = zookeeper()
    migrating = ClusterDelta(image).replay_all([r.ControllerElected(broker=3000)]).apply(image.provenance)
    assert differences(migrating, told(controller=1)) == {}


def test_a_difference_counts_when_one_broker_says_it_twice_of_the_same_znode() -> None:
    rounds, stale = Rounds(), told(PartitionPlace(2, (1, 2), (1, 2), 5))
    assert rounds.see(1, differences(zookeeper(), stale)) == {}
    assert rounds.see(2, differences(zookeeper(), stale)) == {}  # said by another one
    assert rounds.see(1, differences(zookeeper(zxid=41), stale)) == {}  # written meanwhile: it may just not know yet
    assert list(rounds.see(1, differences(zookeeper(zxid=41), stale))) == ["orders-0 at broker 1"]
    assert list(rounds.see(2, differences(zookeeper(), stale))) == ["orders-0 at broker 1", "orders-0 at broker 2"]
    assert list(rounds.see(1, {})) == ["orders-0 at broker 2"]


def test_brokers_are_asked_in_turn_and_those_that_are_gone_are_forgotten() -> None:
    rounds, found = Rounds(), differences(zookeeper(), told(controller=1))
    assert rounds.next([3, 1, 2]) == [1, 2, 3]
    rounds.see(2, found)
    assert rounds.next([1, 2, 3]) == [3, 1, 2]
    assert rounds.see(2, found) == {"controller at broker 2": "is broker 1 for it, broker 2 in ZooKeeper"}
    rounds.next([1, 3])
    assert rounds.see(1, {}) == {}


def test_differences_are_findings() -> None:
    image = zookeeper()
    delta = ClusterDelta(image).replay_all([r.ViewsDiffered(differences={"orders-0 at broker 1": "leader 2"})])
    (found,) = (one for one in find(delta.apply(image.provenance)).found if one.kind == "views-differ")
    assert (found.severity, found.subject, found.what) == ("warn", "orders-0 at broker 1", "leader 2")
