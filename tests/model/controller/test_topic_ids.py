"""Ids for topics that have none."""

from __future__ import annotations

from base64 import urlsafe_b64decode
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from model.cluster.ids import TopicPartition
from model.controller.steps.topics import new_topic_id
from model.znodes.topics import TopicAssignment
from model.zookeeper import Create, SetData
from tests.harness.virtual_cluster import VirtualCluster
from tests.model.controller.golden_trace import by_path


@given(st.binary(max_size=80), st.integers(0, 2**41), st.text(min_size=1, max_size=20))
def test_an_id_is_a_random_uuid_in_base64url(seed: bytes, now_ms: int, topic: str) -> None:
    found = new_topic_id(seed, now_ms, topic)
    assert len(found) == 22
    assert not found.startswith("-")
    assert UUID(bytes=urlsafe_b64decode(found + "==")).version == 4
    assert found == new_topic_id(seed, now_ms, topic)


def test_seed_time_and_name_make_it() -> None:
    assert len({new_topic_id(seed, at, name) for seed in (b"a", b"b") for at in (1, 2) for name in "xy"}) == 8


def test_a_controller_that_takes_over_an_upgraded_cluster_names_its_topics() -> None:
    cluster = VirtualCluster(seed=b"dice")
    cluster.start(1)
    for broker in (1, 2):
        cluster.write(Create(f"/brokers/topics/t{broker}", b'{"version":1,"partitions":{"0":[%d]}}' % broker))
    cluster.start(2)
    ids = [by_path(cluster.log)[f"/brokers/topics/t{broker}"][-1].data["topic_id"] for broker in (1, 2)]
    mark = len(cluster.log)
    cluster.kill(1)
    topics = cluster.nodes[2].controller.context.topics.by_name
    assert [topics["t1"].topic_id, topics["t2"].topic_id] == ids
    assert not [path for path in by_path(cluster.since(mark)) if path in ("/brokers/topics/t1", "/brokers/topics/t2")]


ORDERS = "/brokers/topics/orders"


BEFORE = "orders".ljust(22, "A")


def with_a_topic_whose_id_an_old_tool_took() -> VirtualCluster:
    """Tools of before 2.8 write `/brokers/topics/T` without what they do not know of."""
    cluster = VirtualCluster(seed=b"dice")
    for broker in (1, 2, 3):
        cluster.start(broker)
    cluster.write(Create(ORDERS, TopicAssignment(partitions={0: (3, 2)}, topic_id=BEFORE, version=3).to_bytes()))
    cluster.write(SetData(ORDERS, TopicAssignment(partitions={0: (3, 2), 1: (2, 3)}).to_bytes()))
    return cluster


def test_with_the_id_that_an_old_tool_took_brokers_refuse_the_topic_from_the_next_controller_on() -> None:
    """As in 3.9 (KAFKA-14190, won't fix): the partition has a leader in ZooKeeper, and nobody leads it."""
    cluster = with_a_topic_whose_id_an_old_tool_took()
    cluster.kill(1)
    after = by_path(cluster.log)[ORDERS][-1].data["topic_id"]
    assert after not in (None, BEFORE)
    cluster.kill(3)
    name = TopicPartition("orders", 0)
    told = cluster.nodes[2].controller.context.topics.partition(name)
    assert told is not None
    assert told.leadership is not None
    assert (told.leadership.state.leader, told.leadership.state.leader_epoch) == (2, 1)
    held = cluster.nodes[2].broker.held[name]
    assert (held.leads, held.topic_id, held.state.leader_epoch) == (False, BEFORE, 0)


def test_a_controller_that_knows_the_id_writes_it_back_with_the_next_assignment() -> None:
    cluster = with_a_topic_whose_id_an_old_tool_took()
    move = b'{"version":1,"partitions":[{"topic":"orders","partition":1,"replicas":[3,2]}]}'
    cluster.write(Create("/admin/reassign_partitions", move))
    cluster.kill(1)
    assert by_path(cluster.log)[ORDERS][-1].data["topic_id"] == BEFORE
    cluster.kill(3)
    assert cluster.nodes[2].broker.held[TopicPartition("orders", 0)].leads


def test_an_id_that_is_written_back_before_the_controller_changes_stays() -> None:
    cluster = with_a_topic_whose_id_an_old_tool_took()
    assignment = TopicAssignment(partitions={0: (3, 2), 1: (2, 3)}, topic_id=BEFORE, version=3)
    cluster.write(SetData(ORDERS, assignment.to_bytes()))
    cluster.kill(1)
    cluster.kill(3)
    assert by_path(cluster.log)[ORDERS][-1].data["topic_id"] == BEFORE
    assert [cluster.nodes[2].broker.held[TopicPartition("orders", number)].leads for number in (0, 1)] == [True, True]
