"""What records make of a cluster: a partition through a real log, transactions, what does not fit, snapshots."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from model.cluster.cluster_delta import ClusterDelta
from model.cluster.cluster_image import EMPTY, ClusterImage, Provenance
from model.cluster.snapshot_image import document_of, image_of
from model.cluster.topic_image import unpadded
from model.hosts.observing.replaying import control_number
from model.metadata_log.replay import Replay
from model.metadata_log.topics import RecordPlace
from model.sources.metadata_log.snapshots import Snapshot, checked, read_parts
from tests.model.metadata_log.kept import DATA, LOG, QUORUM, RELEASES, checkpoint, records
from tests.model.metadata_log.writing import topic_id, written

T = topic_id(7)


class Cluster:
    """A replay, and the image that its facts make."""

    def __init__(self) -> None:
        self.replay = Replay()
        self.image: ClusterImage = EMPTY
        self._offset = -1

    def take(self, *values: bytes, epoch: int = 1) -> ClusterImage:
        """Records of one batch."""
        for value in values:
            self._offset += 1
            self.replay.take(value, RecordPlace(self._offset, epoch, 1_000 * self._offset))
        return self.publish(RecordPlace(self._offset, epoch, 1_000 * self._offset))

    def publish(self, at: RecordPlace) -> ClusterImage:
        delta = ClusterDelta(self.image).replay_all(self.replay.facts(at))
        self.image = delta.apply(Provenance("log", at.offset, at.time_ms, complete=True))
        return self.image

    def partition(self, topic: str, number: int) -> tuple[int, int, int, tuple[int, ...], tuple[int, ...]]:
        """Leader, leader epoch, partition epoch, ISR and ELR."""
        found = self.image.topics[topic]
        row = found.row_of[number]
        isr, elr = (tuple(sorted(unpadded(rows[row]))) for rows in (found.isr, found.elr))
        return int(found.leader[row]), int(found.leader_epoch[row]), int(found.version[row]), isr, elr


def of_log(path: Path, until: int) -> Cluster:
    """A real log until an offset, that one included."""
    cluster = Cluster()
    for batch, record in records(path):
        if record.offset > until:
            break
        at = RecordPlace(record.offset, batch.partition_leader_epoch, batch.max_timestamp)
        if batch.is_control:
            cluster.replay.take_control(control_number(record.key), record.value, at)
        else:
            cluster.replay.take(record.value, at)
        cluster.publish(at)
    return cluster


def of_snapshot(path: Path) -> Cluster:
    cluster = Cluster()
    end, epoch = (int(number) for number in path.stem.split("-"))
    snapshot = checked(Snapshot(end, epoch, path))
    assert [*read_parts(snapshot, cluster.replay)][-1] == snapshot.size
    cluster.publish(snapshot.at)
    return cluster


@pytest.mark.parametrize(
    ("offset", "expected"),
    [
        (36, (3, 0, 0, (3, 4, 5), ())),
        (60, (3, 0, 4, (3, 5), ())),
        (68, (3, 0, 5, (3,), (5,))),
        (76, (3, 0, 6, (3,), ())),
        (86, (3, 0, 7, (3, 5), ())),
        (96, (3, 0, 8, (3, 4, 5), ())),
        (104, (3, 0, 9, (3, 4), ())),
        (117, (3, 0, 10, (3, 4, 5), ())),
        (122, (3, 1, 12, (1, 3, 4), ())),
        (133, (4, 2, 14, (1, 4), ())),
        (146, (4, 2, 15, (1, 3, 4), ())),
    ],
)
def test_one_partition_through_a_real_log(offset: int, expected: object) -> None:
    assert of_log(QUORUM / LOG, offset).partition("elr", 0) == expected


def test_a_real_quorum_at_its_end() -> None:
    cluster = of_log(QUORUM / LOG, 1_000)
    image = cluster.image
    assert not cluster.replay.troubles
    assert (image.controller.broker, image.controller.epoch) == (1, 3)
    assert image.quorum is not None
    assert [voter.id for voter in image.quorum.voters] == [1, 2, 3]
    assert sorted(image.brokers) == [1, 2, 3, 4, 5]
    assert image.brokers[4].epoch == 89
    assert image.metadata is not None
    assert image.metadata.features["metadata.version"] == 33
    assert [controller.id for controller in image.metadata.controllers] == [1, 2, 3]
    assert "gone" not in image.topics
    assert "topics/gone" not in image.configs
    single = image.topics["single"]
    assert (single.zxid.tolist(), single.controller_epoch.tolist()) == ([93, 113], [1, 1])
    assert image_of(document_of(image)) == image


def essence(image: ClusterImage) -> object:
    """Without what a snapshot does not keep: by which records, when and by whom it was written."""
    document = msgspec.to_builtins(document_of(image))
    for topic in document["topics"].values():
        for partition in topic["partitions"].values():
            for name in ("zxid", "time_ms", "controller_epoch"):
                partition.pop(name, None)
    for broker in [*document["brokers"], *document.get("fenced_brokers", [])]:
        broker.pop("registered_ms", None)
    parts = "brokers", "fenced_brokers", "topics", "configs", "metadata"
    return {name: document.get(name) for name in parts}


PAIRS = [
    *((DATA / release / LOG, checkpoint(DATA / release)) for release in RELEASES),
    *((QUORUM / LOG, path) for path in sorted(QUORUM.glob("*.checkpoint"))),
]


@pytest.mark.parametrize(("log", "snapshot"), PAIRS, ids=lambda path: f"{path.parent.name}-{path.stem[10:]}")
def test_a_snapshot_says_what_the_log_until_there_says(log: Path, snapshot: Path) -> None:
    end = int(snapshot.name[:20])
    replayed, loaded = of_log(log, end - 1), of_snapshot(snapshot)
    assert essence(loaded.image) == essence(replayed.image)
    assert replayed.image.topics
    assert (replayed.replay.troubles, loaded.replay.troubles) == ({}, {})


def test_no_secret_comes_into_the_image() -> None:
    for release in RELEASES:
        document = json.dumps(msgspec.to_builtins(document_of(of_log(DATA / release / LOG, 1_000).image)))
        assert "example" not in document.replace("example-group", "")
        assert "listener.name.internal.ssl.key.password" in document


def test_users_quotas_rules_and_producer_ids_of_a_real_log() -> None:
    image = of_log(DATA / "4.1.0" / LOG, 1_000).image
    assert image.configs["users/alice"] == {"SCRAM-SHA-256": "[hidden]", "request_percentage": "0.00012"}
    assert image.configs["clients/<default>"] == {"consumer_byte_rate": "123456789012345"}
    assert image.metadata is not None
    (rule,) = image.metadata.acls
    assert (rule.resource_type, rule.pattern, rule.operation, rule.permission) == ("GROUP", "PREFIXED", "ALL", "DENY")


BEGIN, END, ABORT = written("BeginTransaction"), written("EndTransaction"), written("AbortTransaction")
TOPIC = written("Topic", name="orders", topicId=T)
PARTITION = written("Partition", partitionId=0, topicId=T, replicas=[1, 2], isr=[1, 2], leader=1, directories=[T, T])
CONFIG = written("Config", resourceType=4, resourceName="", name="log.cleaner.threads", value="2")


def test_a_transaction_is_published_when_it_ends() -> None:
    cluster = Cluster()
    assert not cluster.take(BEGIN, TOPIC, PARTITION).topics
    assert cluster.replay.is_in_transaction
    assert cluster.take(CONFIG).configs == {}
    assert [*cluster.take(END).topics] == ["orders"]
    assert cluster.image.configs == {"brokers/<default>": {"log.cleaner.threads": "2"}}
    assert cluster.image.topics["orders"].zxid.tolist() == [2]


def test_a_transaction_that_is_aborted_never_was() -> None:
    cluster = Cluster()
    cluster.take(CONFIG, BEGIN, TOPIC)
    assert cluster.image.configs  # what stands before it is published
    assert not cluster.take(PARTITION, ABORT).topics
    assert cluster.image.provenance.zxid == 4
    assert not cluster.replay.troubles


def test_bounds_of_transactions_that_do_not_fit_are_counted() -> None:
    cluster = Cluster()
    cluster.take(END, BEGIN, TOPIC, BEGIN, CONFIG, END)
    assert cluster.replay.troubles.total() == 2
    assert not cluster.image.topics
    assert cluster.image.configs


@pytest.mark.parametrize(
    ("value", "trouble"),
    [
        (written("PartitionChange", partitionId=3, topicId=T, leader=1), "orders-3 is not there, and is changed"),
        (written("PartitionChange", partitionId=0, topicId=topic_id(8)), "partition 0 of topic"),
        (written("RemoveTopic", topicId=topic_id(8)), "is not there, and is removed"),
        (
            written("Partition", partitionId=1, topicId=T, replicas=[1, 2], directories=[T]),
            "orders-1 has 1 directories for 2 replicas",
        ),
        (written("UnregisterBroker", brokerId=9), "broker 9 is not registered"),
        (written("BrokerRegistrationChange", brokerId=1, brokerEpoch=4, fenced=1), "at epoch 4, it registered with 5"),
        (written("RemoveAccessControlEntry", id=T), "access control entry"),
        (written("RemoveDelegationToken", tokenId="t"), "delegation token t"),
        (written("ClearElr", topicName="other"), "topic other is not there"),
        (written("Config", resourceType=99, resourceName="x", name="y"), "resource of type 99"),
        (written("ClientQuota", entity=[{"entityType": "planet", "entityName": "x"}], key="k"), "quota of planet"),
        (b"\x01\x8f\x4e\x00", "Unknown metadata id 9999"),
        (b"\x01\x14\x00\x01\x05\x00", "unknown tags in NoOpRecord"),
        (b"", "a number runs past the end"),
    ],
)
def test_what_does_not_fit_is_counted_and_changes_nothing(value: bytes, trouble: str) -> None:
    cluster = Cluster()
    before = cluster.take(TOPIC, PARTITION, written("RegisterBroker", brokerId=1, brokerEpoch=5))
    after = cluster.take(value)
    (said,) = cluster.replay.troubles
    assert trouble in said
    assert cluster.replay.first_trouble == 3
    assert msgspec.structs.replace(after, provenance=before.provenance) == before


def test_a_change_that_names_the_same_leader_raises_its_epoch_and_one_that_names_none_does_not() -> None:
    cluster = Cluster()
    cluster.take(TOPIC, PARTITION)
    cluster.take(written("PartitionChange", partitionId=0, topicId=T, leader=1))
    assert cluster.partition("orders", 0)[:3] == (1, 1, 1)
    cluster.take(written("PartitionChange", partitionId=0, topicId=T, isr=[1]))
    assert cluster.partition("orders", 0)[:4] == (1, 1, 2, (1,))


def test_a_reassignment_is_told_until_it_is_over() -> None:
    cluster = Cluster()
    cluster.take(TOPIC, PARTITION)
    moving: dict[str, Any] = {"replicas": [1, 2, 3], "removingReplicas": [1], "addingReplicas": [3]}
    cluster.take(written("PartitionChange", partitionId=0, topicId=T, **moving))
    orders = cluster.image.topics["orders"]
    assert (dict(orders.adding), dict(orders.removing)) == ({0: (3,)}, {0: (1,)})
    done: dict[str, Any] = {
        "replicas": [2, 3],
        "removingReplicas": [],
        "addingReplicas": [],
        "isr": [2, 3],
        "leader": 2,
    }
    cluster.take(written("PartitionChange", partitionId=0, topicId=T, **done))
    orders = cluster.image.topics["orders"]
    assert (dict(orders.adding), dict(orders.removing), unpadded(orders.replicas[0])) == ({}, {}, (2, 3))


def test_eligible_leader_replicas_are_cleared_where_there_are_any() -> None:
    cluster, other = Cluster(), topic_id(8)
    cluster.take(written("FeatureLevel", name="metadata.version", featureLevel=25))
    cluster.take(TOPIC, PARTITION, written("Topic", name="other", topicId=other))
    cluster.take(written("Partition", partitionId=0, topicId=other, replicas=[1], isr=[1], leader=1, directories=[T]))
    cluster.take(written("PartitionChange", partitionId=0, topicId=T, isr=[1], eligibleLeaderReplicas=[2]))
    assert cluster.partition("orders", 0)[2:] == (1, (1,), (2,))
    cluster.take(written("ClearElr", topicName=""))
    assert cluster.partition("orders", 0)[2:] == (2, (1,), ())
    assert cluster.partition("other", 0)[2] == 0


def test_a_topic_that_is_made_again_has_nothing_of_the_one_before() -> None:
    cluster, again = Cluster(), topic_id(8)
    config = written("Config", resourceType=2, resourceName="orders", name="retention.ms", value="1")
    two = written("Partition", partitionId=1, topicId=T, replicas=[1], isr=[1], leader=1)
    cluster.take(TOPIC, PARTITION, two, config)
    cluster.take(written("RemoveTopic", topicId=T))
    assert (cluster.image.topics, cluster.image.configs) == ({}, {})
    cluster.take(TOPIC, PARTITION, two, config)
    cluster.take(
        written("RemoveTopic", topicId=T),
        written("Topic", name="orders", topicId=again),
        written("Partition", partitionId=0, topicId=again, replicas=[3], isr=[3], leader=3),
    )
    orders = cluster.image.topics["orders"]
    assert (orders.topic_id, [*orders.rows()]) == (again, [(0, (3,), 3, (3,))])
    assert cluster.image.configs == {}


def test_a_broker_is_fenced_shuts_down_and_registers_again() -> None:
    cluster = Cluster()
    endpoints = [{"name": "PLAINTEXT", "host": "a", "port": 9092, "securityProtocol": 0}]
    register = written("RegisterBroker", brokerId=1, brokerEpoch=0, endPoints=endpoints, rack="r", fenced=True)
    assert [*cluster.take(register).fenced] == [1]
    change = {"brokerId": 1, "brokerEpoch": 0}
    broker = cluster.take(written("BrokerRegistrationChange", **change, fenced=-1)).brokers[1]
    assert (broker.endpoints, broker.rack, broker.epoch, broker.in_controlled_shutdown) == (
        ("PLAINTEXT://a:9092",), "r", 0, False,
    )  # fmt: skip
    assert (
        cluster.take(written("BrokerRegistrationChange", **change, inControlledShutdown=1))
        .brokers[1]
        .in_controlled_shutdown
    )
    assert [*cluster.take(written("BrokerRegistrationChange", **change, fenced=1)).fenced] == [1]
    assert [*cluster.take(written("UnfenceBroker", id=1, epoch=0)).brokers] == [1]
    assert [*cluster.take(written("FenceBroker", id=1, epoch=0)).fenced] == [1]
    gone = cluster.take(written("UnregisterBroker", **change))
    assert (gone.brokers, gone.fenced) == ({}, {})


def test_log_directories_that_are_cordoned_are_known_until_they_are_not_any_more() -> None:
    cluster, a, b = Cluster(), topic_id(8), topic_id(9)

    def changed(cordoned: list[str]) -> bytes:
        return written("BrokerRegistrationChange", brokerId=1, brokerEpoch=5, cordonedLogDirs=cordoned)

    def known() -> object:
        assert cluster.image.metadata is not None
        kept = image_of(document_of(cluster.image)).metadata
        assert kept == cluster.image.metadata
        return cluster.image.metadata.cordoned

    cluster.take(written("RegisterBroker", brokerId=1, brokerEpoch=5, logDirs=[a, b], cordonedLogDirs=[b]))
    assert known() == {1: (b,)}
    cluster.take(changed([a, b]))
    assert known() == {1: (a, b)}
    cluster.take(written("BrokerRegistrationChange", brokerId=1, brokerEpoch=5, fenced=-1))
    assert known() == {1: (a, b)}
    cluster.take(changed([]))
    assert known() == {}
