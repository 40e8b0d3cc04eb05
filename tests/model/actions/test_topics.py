"""New topics and partitions: what is written is what Kafka 3.9.1 wrote, byte for byte, and refused as Kafka does."""

from __future__ import annotations

import json
from math import lcm

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.actions.partitions import grow_topic, moved_share
from model.actions.proposal import ActionRefused, ApiCall, Basis, FoundZnode, ZnodeWrite
from model.actions.topics import NewTopic, create_topic, new_topic_paths
from model.cluster.records import ClusterIdentified, ConfigChanged, GenerationRecognised, TopicAssigned
from model.controller.generations import generation_of
from tests.model.cluster.build import brokers, claims, image, topic

ID = "gcf0J66hS7OMD5Anom956Q"
MODERN = (GenerationRecognised(generation="3.x"), ClusterIdentified(cluster_id="c"))
BEFORE = (
    '{"partitions":{"0":[3,0],"1":[2,0,3]},"topic_id":"gcf0J66hS7OMD5Anom956Q","adding_replicas":{},'
    '"removing_replicas":{},"version":3}'
)
"""What golden-trace-1 (3.9.1) shows of topic t1 before its line 303."""


def modern(*more: object) -> Basis:
    racks = ("r0", "r1", "r2", "r0")
    return Basis(image(*brokers(0, 1, 2, 3, racks=racks), *MODERN, *more), found={})  # pyright: ignore[reportArgumentType]


def first(_below: int) -> int:
    return 0


def test_a_topic_is_created_as_3_9_1_did() -> None:
    wanted = NewTopic(name="t1", assignment={0: (1, 2, 3), 1: (2, 3, 1)}, topic_id=ID)
    assert create_topic(modern(), wanted, first).steps == (
        ZnodeWrite("create", "/config/topics/t1", after=b'{"version":1,"config":{}}'),
        ZnodeWrite(
            "create",
            "/brokers/topics/t1",
            after=b'{"partitions":{"0":[1,2,3],"1":[2,3,1]},"topic_id":"gcf0J66hS7OMD5Anom956Q","adding_replicas":{},'
            b'"removing_replicas":{},"version":3}',
        ),
    )


@pytest.mark.parametrize(
    ("release", "payload"),
    [
        ("0.8.2", {"version": 1, "partitions": {"0": [1]}}),
        ("1.1", {"version": 1, "partitions": {"0": [1]}}),
        ("2.6", {"version": 2, "partitions": {"0": [1]}, "adding_replicas": {}, "removing_replicas": {}}),
    ],
)
def test_each_generation_has_its_own_form(release: str, payload: object) -> None:
    basis = Basis(image(*brokers(1, 2)), generation_of(release), {})
    _, written = create_topic(basis, NewTopic(name="t", assignment={0: (1,)}, topic_id=ID), first).steps
    assert isinstance(written, ZnodeWrite)
    assert json.loads(written.after or b"") == payload


def test_settings_that_an_older_topic_left_are_written_over_at_their_version() -> None:
    basis = Basis(image(*brokers(1)), found={"/config/topics/t": FoundZnode(b'{"version":1,"config":{"a":"b"}}', 4)})
    settings, _ = create_topic(
        basis, NewTopic(name="t", assignment={0: (1,)}, configs={"retention.ms": "5"}), first
    ).steps
    assert settings == ZnodeWrite(
        "set",
        "/config/topics/t",
        before=b'{"version":1,"config":{"a":"b"}}',
        after=b'{"version":1,"config":{"retention.ms":"5"}}',
        version=4,
    )


def test_replicas_are_placed_over_racks() -> None:
    """The alternated list is 0, 1, 2, 3: no two neighbours share a rack."""
    wanted = NewTopic(name="t", partitions=3, replication_factor=2)
    assert create_topic(modern(), wanted, first).changes == (
        "t-0: none → replicas 0,1",
        "t-1: none → replicas 1,2",
        "t-2: none → replicas 2,3",
    )


@pytest.mark.parametrize(
    ("wanted", "reason"),
    [
        (NewTopic(name="a_b", assignment={0: (1,)}), "collides with existing topics: a.b (INVALID_TOPIC_EXCEPTION)"),
        (NewTopic(name="a.b", assignment={0: (1,)}), "already exists (TOPIC_ALREADY_EXISTS)"),
        (NewTopic(name="t", partitions=1, replication_factor=9), "larger than available brokers: 4"),
        (NewTopic(name="t", partitions=0, replication_factor=1), "Number of partitions must be larger than 0"),
        (NewTopic(name="t", assignment={0: (1,), 1: (1, 2)}), "same number of replicas"),
        (NewTopic(name="t", assignment={0: (1, 1)}), "Duplicate replica assignment found: 0 -> 1,1"),
        (NewTopic(name="t", partitions=1), "ZooKeeper does not know the brokers' defaults"),
    ],
)
def test_what_kafka_refuses_is_refused(wanted: NewTopic, reason: str) -> None:
    with pytest.raises(ActionRefused) as refused:
        create_topic(modern(*topic("a.b", [1])), wanted, first)
    assert reason in str(refused.value)


def test_a_topic_that_came_meanwhile_is_refused_too() -> None:
    path = new_topic_paths("t")[0]
    with pytest.raises(ActionRefused, match="already exists"):
        create_topic(
            Basis(image(*brokers(1)), found={path: FoundZnode(b"", 0)}), NewTopic(name="t", assignment={0: (1,)}), first
        )


def test_racks_of_only_some_brokers_are_refused_as_the_tool_does() -> None:
    basis = Basis(image(*brokers(1), *brokers(2, racks=["r"])), found={})
    with pytest.raises(ActionRefused, match="--disable-rack-aware"):
        create_topic(basis, NewTopic(name="t", partitions=1, replication_factor=1), first)


def test_warnings_name_what_will_hurt() -> None:
    wanted = NewTopic(name="a.b", assignment={0: (9,)}, configs={"min.insync.replicas": "2"})
    said = " | ".join(create_topic(modern(), wanted, first).warnings)
    for part in ("same sign", "one replica", "no write with acks=all", "broker 9 (down)"):
        assert part in said


def test_brokers_place_what_nobody_counted_through_the_admin_api() -> None:
    (call,) = create_topic(Basis(image(*brokers(1))), NewTopic(name="t", configs={"a": "b"}), first).steps
    assert call == ApiCall(
        "CreateTopics",
        {"topics": {"t": {"configs": {"a": "b"}, "num_partitions": -1, "replication_factor": -1}}},
        {"partitions t": None},
    )


def grown(text: str = BEFORE, version: int = 7) -> Basis:
    known = TopicAssigned(topic="t1", topic_id=ID, replicas={0: (3, 0), 1: (2, 0, 3)})
    basis = modern(
        known,
        *claims("g", "g_h-1-a-0", 0, name="t1"),
        ConfigChanged(entity="topics/t1", config={"cleanup.policy": "compact"}),
    )
    return Basis(basis.image, basis.rules, {"/brokers/topics/t1": FoundZnode(text.encode(), version)})


def test_partitions_are_added_as_3_9_1_did() -> None:
    (write,) = grow_topic(grown(), "t1", 4).steps
    assert write == ZnodeWrite(
        "set",
        "/brokers/topics/t1",
        before=BEFORE.encode(),
        after=BEFORE.replace("[2,0,3]}", '[2,0,3],"2":[1,2],"3":[2,3]}').encode(),
        version=7,
    )


def test_added_partitions_are_warned_of() -> None:
    said = " | ".join(grow_topic(grown(), "t1", 4).warnings)
    for part in ("50% of all keys", "compacted", "groups that read it will rebalance: g", "cannot be taken away"):
        assert part in said


@pytest.mark.parametrize(
    ("count", "reason"),
    [(2, "Topic already has 2 partitions"), (1, "higher than the requested 1")],
)
def test_fewer_partitions_are_refused(count: int, reason: str) -> None:
    with pytest.raises(ActionRefused, match=reason):
        grow_topic(grown(), "t1", count)


def test_a_topic_that_grew_meanwhile_is_refused() -> None:
    with pytest.raises(ActionRefused, match="by now"):
        grow_topic(grown(BEFORE.replace('{"0":[3,0],', '{"5":[1],"0":[3,0],')), "t1", 4)


def test_the_offsets_topic_does_not_grow() -> None:
    with pytest.raises(ActionRefused, match="cannot be changed"):
        grow_topic(modern(*topic("__consumer_offsets", [1])), "__consumer_offsets", 4)


@given(st.integers(1, 30), st.integers(1, 30))
def test_the_share_of_moved_keys_is_that_of_all_hashes(before: int, after: int) -> None:
    hashes = range(lcm(before, after))
    moved = sum(each % before != each % after for each in hashes)
    assert moved_share(before, after) == pytest.approx(moved / len(hashes))
