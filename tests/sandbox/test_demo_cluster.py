"""The demo cluster: what it plays holds together, and it is on a real ZooKeeper as it was decided."""

import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeVar

import pytest

from model.sandbox.demo.demo import DemoCluster, DemoSandbox
from model.sandbox.demo.state import opening_state
from model.sandbox.demo.tree import next_change, opening_commands
from model.sandbox.processes import SandboxError
from model.sandbox.zookeeper_server import EmbeddedZooKeeper
from model.znodes.cluster import BrokerRegistration, ControllerEpoch, ControllerRegistration
from model.znodes.codec import decode
from model.znodes.consumers import PartitionOwner
from model.znodes.payload import Unreadable
from model.znodes.topics import LeaderIsrAndControllerEpoch, TopicAssignment
from tests.harness.small_demo import SMALL
from tests.harness.waiting import eventually
from tests.harness.zookeeper import kazoo

LIVE_BROKERS, DEAD_BROKER, RACKS = SMALL.live_brokers, SMALL.dead_broker, SMALL.racks
NOW_MS = 1_700_000_000_000


@dataclass(frozen=True)
class Found:
    """A znode as it was read back."""

    payload: object
    data: bytes
    owner: int
    version: int


Tree = dict[str, Found]
Kind = TypeVar("Kind")


def read_tree(source: str) -> Tree:
    with kazoo(source) as client:

        def walk(path: str) -> Iterator[tuple[str, Found]]:
            data, stat = client.get(path)
            yield path, Found(decode(path, data), data, stat.ephemeralOwner, stat.version)
            for name in client.get_children(path):
                yield from walk(f"{path.rstrip('/')}/{name}")

        return dict(walk("/"))


def of_kind(tree: Tree, kind: type[Kind]) -> dict[str, Kind]:
    return {path: found.payload for path, found in tree.items() if isinstance(found.payload, kind)}


@pytest.fixture
def cluster(zookeeper: str) -> Iterator[DemoCluster]:
    address, _, root = zookeeper.partition("/")
    with DemoCluster(SMALL, address, f"/{root}/kafka", clock_ms=lambda: NOW_MS) as cluster:
        yield cluster


@pytest.fixture
def source(zookeeper: str) -> str:
    return f"{zookeeper}/kafka"


def test_all_but_one_payload_can_be_read(cluster: DemoCluster, source: str):
    unreadable = of_kind(read_tree(source), Unreadable)
    assert list(unreadable) == ["/brokers/topics/inventory/partitions/5/state"]


def test_brokers(cluster: DemoCluster, source: str):
    tree = read_tree(source)
    brokers = {int(path.rpartition("/")[2]): found for path, found in tree.items() if path.startswith("/brokers/ids/")}
    assert sorted(brokers) == sorted(LIVE_BROKERS)
    assert {found.version for found in brokers.values()} == {1}
    assert len({found.owner for found in brokers.values()}) == len(LIVE_BROKERS)
    for broker, found in brokers.items():
        assert isinstance(found.payload, BrokerRegistration)
        assert broker in RACKS[found.payload.rack or ""]


def test_topics_and_partitions(cluster: DemoCluster, source: str):
    tree = read_tree(source)
    topics = of_kind(tree, TopicAssignment)
    states = of_kind(tree, LeaderIsrAndControllerEpoch)
    count = sum(len(topic.partitions) for topic in topics.values())
    assert 110 <= count <= 140
    assert len(states) == count - 1
    assert len({topic.topic_id for topic in topics.values()}) == len(topics)
    assert any(DEAD_BROKER in replicas for topic in topics.values() for replicas in topic.partitions.values())
    for path, state in states.items():
        topic, partition = path.split("/")[3], int(path.split("/")[5])
        replicas = topics[f"/brokers/topics/{topic}"].partitions[partition]
        assert set(state.isr) <= set(replicas)
        assert state.leader in (state.isr if state.leader != -1 else (-1,))
        assert state.leader != DEAD_BROKER


def test_what_is_wrong(cluster: DemoCluster, source: str):
    tree = read_tree(source)
    states = of_kind(tree, LeaderIsrAndControllerEpoch)
    offline = [path for path, state in states.items() if state.leader == -1]
    assert len(offline) == 1
    assert states[offline[0]].isr == (DEAD_BROKER,)
    assert len(states["/brokers/topics/payments/partitions/4/state"].isr) == 1
    assert b'"min.insync.replicas":"2"' in tree["/config/topics/payments"].data
    moving = {path: topic for path, topic in of_kind(tree, TopicAssignment).items() if topic.adding_replicas}
    assert list(moving) == ["/brokers/topics/clicks"]
    clicks = moving["/brokers/topics/clicks"]
    assert {*clicks.adding_replicas[3], *clicks.removing_replicas[3]} < set(clicks.partitions[3])
    assert len(clicks.partitions[3]) == 4
    assert "/admin/delete_topics/legacy-events" in tree
    assert "/isr_change_notification/isr_change_0000000000" in tree


def test_the_controller(cluster: DemoCluster, source: str):
    tree = read_tree(source)
    controller, epoch = tree["/controller"], tree["/controller_epoch"].payload
    assert controller.payload == ControllerRegistration(
        version=2, broker_id=4, timestamp=str(NOW_MS), kraft_controller_epoch=-1
    )
    assert controller.owner == tree["/brokers/ids/4"].owner
    assert epoch == ControllerEpoch(7)


def test_groups(cluster: DemoCluster, source: str):
    tree = read_tree(source)
    owners = {path: found for path, found in tree.items() if isinstance(found.payload, PartitionOwner)}
    assert "/consumers/billing/owners/payments/10" in owners
    assert "/consumers/billing/owners/payments/11" not in owners
    assert "/consumers/billing/offsets/payments/11" in tree
    assert len({found.data for path, found in owners.items() if "audit-archiver" in path}) == 3
    for path, found in owners.items():
        assert isinstance(found.payload, PartitionOwner)
        member = f"/consumers/{path.split('/')[2]}/ids/{found.payload.consumer_id}"
        assert tree[member].owner == found.owner != 0


def test_the_same_clock_gives_the_same_tree():
    state = opening_state(SMALL, NOW_MS)
    assert opening_commands(state, NOW_MS) == opening_commands(opening_state(SMALL, NOW_MS), NOW_MS)


def test_no_healthy_partition_breaks_for_good():
    state = opening_state(SMALL, NOW_MS)
    for number in range(40 * len(SMALL.steps)):
        state, commands = next_change(state, number, NOW_MS + number)
        assert commands
    healthy = [partition for partition in state.partitions.values() if not partition.is_incident]
    assert all(partition.is_in_sync and partition.leader == partition.replicas[0] for partition in healthy)
    assert max(partition.leader_epoch for partition in healthy) > 0
    assert state.controller_epoch == 7 + 40


def test_the_tree_follows_every_step(cluster: DemoCluster, source: str):
    expected = opening_state(SMALL, NOW_MS)
    for number in range(2 * len(SMALL.steps)):
        expected, _ = next_change(expected, number, NOW_MS)
        cluster.step(number)
    tree = read_tree(source)
    for (topic, number), partition in expected.partitions.items():
        state = tree[f"/brokers/topics/{topic}/partitions/{number}/state"].payload
        if not partition.unreadable:
            assert isinstance(state, LeaderIsrAndControllerEpoch)
            assert (state.leader, state.isr, state.leader_epoch) == (
                partition.leader,
                partition.isr,
                partition.leader_epoch,
            )
    assert tree["/controller_epoch"].payload == ControllerEpoch(expected.controller_epoch)
    for group in expected.groups:
        prefix = f"/consumers/{group.name}/owners/{group.topic}/"
        owners = {int(path.removeprefix(prefix)): found.data for path, found in tree.items() if path.startswith(prefix)}
        assert owners == {partition: thread.encode() for partition, (_, thread) in group.owners().items()}
        offsets = [tree[f"/consumers/{group.name}/offsets/{group.topic}/{n}"].data for n in range(len(group.offsets))]
        assert offsets == [str(offset).encode() for offset in group.offsets]


def test_a_lost_broker_leaves_no_ephemeral_znode(cluster: DemoCluster, source: str):
    cluster.lose_broker(4)
    tree = read_tree(source)
    assert "/brokers/ids/4" not in tree
    assert "/controller" not in tree
    assert "/brokers/ids/1" in tree


def test_close_takes_the_living_away(zookeeper: str, source: str):
    address, _, root = zookeeper.partition("/")
    cluster = DemoCluster(SMALL, address, f"/{root}/kafka").open()
    cluster.close()
    tree = read_tree(source)
    assert not [path for path, found in tree.items() if found.owner]
    assert "/brokers/topics/orders" in tree


def test_a_root_that_is_not_new(cluster: DemoCluster, zookeeper: str):
    address, _, root = zookeeper.partition("/")
    threads = threading.active_count()
    with pytest.raises(SandboxError, match=r"refused .*NodeExists"):
        DemoCluster(SMALL, address, f"/{root}/kafka").open()
    assert threading.active_count() == threads, "a session was left open"


def test_the_sandbox_is_alive_and_leaves_nothing(tmp_path):
    with DemoSandbox(SMALL, period_s=0.01, archives=tmp_path) as sandbox:
        assert sandbox.source.startswith("zk://127.0.0.1:")
        assert sandbox.source.endswith("/kafka")
        with kazoo(sandbox.source.removeprefix("zk://")) as client:
            epoch = client.get("/controller_epoch")[0]
            eventually(lambda: client.get("/controller_epoch")[0] != epoch)
    assert not list(tmp_path.glob("*.jsa"))


def test_a_sandbox_that_stands_still(tmp_path):
    with DemoSandbox(SMALL, period_s=None, archives=tmp_path) as sandbox:
        source = sandbox.source.removeprefix("zk://")
        assert read_tree(source) == read_tree(source)


def test_a_server_that_is_gone_is_one_line(own_zookeeper: EmbeddedZooKeeper):
    cluster = DemoCluster(SMALL, own_zookeeper.address).open()
    own_zookeeper.kill()
    with pytest.raises(SandboxError, match=r"^the sandbox's ZooKeeper did not take a write: [\w ]+$"):
        cluster.step(1)
    cluster.close()
