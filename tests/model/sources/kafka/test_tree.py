"""What brokers told, browsed like znodes."""

from __future__ import annotations

import json
from functools import partial

import msgspec

from model.cluster.image_parts import LogDir, Quorum, QuorumReplica
from model.hosts.kafka_client import PartitionPlace
from model.sources.kafka.kafka_source import node_at
from model.sources.kafka.views import BrokerView, ClusterView, TopicView
from model.sources.metadata_tree import TreeReader
from model.sources.zookeeper.browser import ZnodeBrowser
from model.zookeeper import Missing, Znode

VIEW = ClusterView(
    cluster_id="c",
    generation="kraft",
    features={"metadata.version": 21},
    brokers={1: BrokerView("a", 9092, "r1"), 10: BrokerView("b", 9092)},
    topics={"orders": TopicView("id-1", {0: PartitionPlace(1, (1, 10), (1,), 5)})},
    configs={"topics/orders": {"a": "1"}, "server.properties/1": {"x": "y"}},
    quorum=Quorum(1, 7, 90, (QuorumReplica(1, 90, 0, 5),), (QuorumReplica(10, 88, 2, 4),)),
    log_dirs={1: (LogDir("/data", total_bytes=9),)},
)
LEAVES = {
    "/brokers/1/registration": {"id": 1, "host": "a", "port": 9092, "rack": "r1"},
    "/clusterId": "c",
    "/configs/topics/orders": {"a": "1"},
    "/features/metadata.version": 21,
    "/logDirs/1/0": {"path": "/data", "error": None, "replicas": 0, "bytes": 0, "total": 9, "usable": -1},
    "/metadataQuorum/leader": {"leaderId": 1, "leaderEpoch": 7},
    "/metadataQuorum/observers/10": {"logEndOffset": 88, "lag": 2, "caughtUpMs": 4},
    "/topicIds/id-1": "orders",
    "/topics/orders/id": "id-1",
    "/topics/orders/0/data": {
        "partitionId": 0, "replicas": [1, 10], "isr": [1], "addingReplicas": [], "removingReplicas": [],
        "offlineReplicas": [], "leader": 1, "leaderEpoch": 5,
    },
}  # fmt: skip


def walked(browser: ZnodeBrowser, path: str = "/") -> set[str]:
    """All places below."""
    below = {f"{path.rstrip('/')}/{name}" for name in browser.children(path, 0)}
    return below.union(*(walked(browser, each) for each in below))


def test_every_place_that_is_listed_is_there_and_no_other() -> None:
    reader = TreeReader(partial(node_at, VIEW))
    places = walked(ZnodeBrowser(reader))
    assert places >= LEAVES.keys()
    assert all(isinstance(answer, Znode) for answer in reader.read_many(sorted(places)))
    no_places = [f"{place}/x" for place in sorted(places)] + ["/x", "/topics/orders/1", "/brokers/2/registration"]
    assert all(isinstance(answer, Missing) for answer in reader.read_many(no_places))


def test_values_are_json() -> None:
    answers = TreeReader(partial(node_at, VIEW)).read_many(list(LEAVES))
    assert {each.path: json.loads(each.data) for each in answers if isinstance(each, Znode)} == LEAVES


def test_numbers_are_in_order_and_what_changes_gets_a_version() -> None:
    views = [VIEW]
    reader = TreeReader(lambda path: node_at(views[-1], path))
    browser = ZnodeBrowser(reader)
    assert browser.children("/brokers", 0) == ("1", "10")
    before = browser.znodes(["/metadataQuorum/leader"], 0)["/metadataQuorum/leader"]
    views.append(msgspec.structs.replace(VIEW, quorum=Quorum(10, 8)))
    after = browser.znodes(["/metadataQuorum/leader"], 60_000)["/metadataQuorum/leader"]
    assert isinstance(before, Znode)
    assert isinstance(after, Znode)
    assert (before.stat.version, after.stat.version) == (0, 1)
    assert browser.mark("/metadataQuorum/leader", 60_001) == "~"
    assert json.loads(after.data) == {"leaderId": 10, "leaderEpoch": 8}


def test_without_a_quorum_there_is_nothing_below_it() -> None:
    reader = TreeReader(partial(node_at, ClusterView()))
    assert reader.children("/metadataQuorum").names == ()  # pyright: ignore[reportAttributeAccessIssue]
    assert isinstance(reader.exists("/metadataQuorum/leader"), Missing)
