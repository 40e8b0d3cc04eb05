"""Ids for topics that have none."""

from __future__ import annotations

from base64 import urlsafe_b64decode
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from model.controller.steps.topics import new_topic_id
from model.zookeeper.operations import Create
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
