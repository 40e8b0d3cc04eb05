"""What each kind of znode says of a cluster when it is there, when it is gone, and when it cannot be used."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from model.cluster import records as r
from model.cluster.ids import TopicPartition
from model.sources.zookeeper.translate import is_read, translate
from model.zookeeper import Forbidden, Missing, Refused
from tests.model.sources.zookeeper.znode_values import znode

NOW_MS = 9_000
WHEN: dict[str, Any] = {"zxid": 7, "time_ms": 2_000}
"""What every record of a znode carries: its last transaction, and the server's time of it."""

ORDERS_3 = TopicPartition("orders", 3)
STATE = '{"controller_epoch":4,"leader":2,"version":1,"leader_epoch":5,"isr":[2,1]}'
WRITTEN = r.PartitionState(
    partition=3, leader=2, leader_epoch=5, isr=(2, 1), controller_epoch=4, version=0, zxid=7, time_ms=2_000
)

THERE: dict[str, tuple[str, str, Sequence[r.ClusterRecord]]] = {
    "broker": (
        "/brokers/ids/1",
        '{"version":4,"host":"h","port":9092,"endpoints":["PLAINTEXT://h:9092"],"rack":"r1","timestamp":"77"}',
        [
            r.BrokerRegistered(
                broker=1,
                endpoints=("PLAINTEXT://h:9092",),
                rack="r1",
                registered_ms=77,
                registration_version=4,
                **WHEN,
            ),
            r.GenerationRecognised(generation="0.9-1.x"),
        ],
    ),
    "broker of 0.8": (
        "/brokers/ids/1",
        '{"version":1,"host":"h","port":9092}',
        [
            r.BrokerRegistered(broker=1, endpoints=("PLAINTEXT://h:9092",), registered_ms=1_000, **WHEN),
            r.GenerationRecognised(generation="0.8"),
        ],
    ),
    "topic": (
        "/brokers/topics/orders",
        '{"version":3,"topic_id":"x","partitions":{"0":[1,2],"1":[2]},"adding_replicas":{"0":[2],"1":[]},'
        '"removing_replicas":{"0":[1]}}',
        [
            r.TopicAssigned(
                topic="orders",
                replicas={0: (1, 2), 1: (2,)},
                topic_id="x",
                adding={0: (2,)},
                removing={0: (1,)},
                **WHEN,
            ),
            r.GenerationRecognised(generation="2.x"),
        ],
    ),
    "state": (
        "/brokers/topics/orders/partitions/3/state",
        STATE,
        [r.PartitionStatesWritten(topic="orders", states=(WRITTEN,), **WHEN)],
    ),
    "controller": (
        "/controller",
        '{"version":1,"brokerid":2,"timestamp":"66"}',
        [r.ControllerElected(broker=2, since_ms=66, **WHEN)],
    ),
    "controller that is none": ("/controller", '{"version":1,"brokerid":-1}', [r.ControllerLost(**WHEN)]),
    "controller epoch": ("/controller_epoch", "12", [r.ControllerEpochChanged(epoch=12, **WHEN)]),
    "topic to delete": ("/admin/delete_topics/orders", "", [r.TopicDeletionRequested(topic="orders", **WHEN)]),
    "reassignment": (
        "/admin/reassign_partitions",
        '{"version":1,"partitions":[{"topic":"orders","partition":3,"replicas":[2,3]}]}',
        [r.ReassignmentsRequested(targets={ORDERS_3: (2, 3)}, **WHEN)],
    ),
    "preferred election": (
        "/admin/preferred_replica_election",
        '{"version":1,"partitions":[{"topic":"orders","partition":3}]}',
        [r.PreferredElectionRequested(partitions=(ORDERS_3,), **WHEN)],
    ),
    "topic config": (
        "/config/topics/orders",
        '{"version":1,"config":{"min.insync.replicas":"2"}}',
        [r.ConfigChanged(entity="topics/orders", config={"min.insync.replicas": "2"}, **WHEN)],
    ),
    "user and client config": (
        "/config/users/u/clients/c",
        '{"version":1,"config":{"request_percentage":"5"}}',
        [r.ConfigChanged(entity="users/u/clients/c", config={"request_percentage": "5"}, **WHEN)],
    ),
    "cluster id": ("/cluster/id", '{"version":"1","id":"abc"}', [r.ClusterIdentified(cluster_id="abc", **WHEN)]),
    "features": (
        "/feature",
        '{"features":{},"version":2,"status":1}',
        [r.GenerationRecognised(generation="3.x")],
    ),
    "group": ("/consumers/g", "", [r.GroupSeen(group="g", **WHEN)]),
    "member": (
        "/consumers/g/ids/c1",
        '{"version":1,"subscription":{"orders":2},"pattern":"white_list","timestamp":"55"}',
        [
            r.MemberJoined(
                group="g", member="c1", subscription={"orders": 2}, pattern="white_list", joined_ms=55, **WHEN
            )
        ],
    ),
    "owner": (
        "/consumers/g/owners/orders/3",
        "c1-0",
        [r.PartitionClaimed(group="g", partition=ORDERS_3, owner="c1-0", **WHEN)],
    ),
    "offset": (
        "/consumers/g/offsets/orders/3",
        "42",
        [r.OffsetCommitted(group="g", partition=ORDERS_3, offset=42, **WHEN)],
    ),
    "isr change": ("/isr_change_notification/isr_change_0000000001", '{"version":1,"partitions":[]}', []),
    "acls": ("/kafka-acl/Topic/orders", '{"version":1,"acls":[]}', []),
    "foreign": ("/hbase/master", "\0\1", []),
}

GONE: dict[str, r.ClusterRecord | None] = {
    "/brokers/ids/1": r.BrokerLost(broker=1, time_ms=NOW_MS),
    "/brokers/topics/orders": r.TopicRemoved(topic="orders", time_ms=NOW_MS),
    "/brokers/topics/orders/partitions/3/state": r.PartitionStatesRemoved(
        topic="orders", partitions=(3,), time_ms=NOW_MS
    ),
    "/controller": r.ControllerLost(time_ms=NOW_MS),
    "/controller_epoch": None,
    "/cluster/id": None,
    "/admin/delete_topics/orders": r.TopicDeletionCleared(topic="orders", time_ms=NOW_MS),
    "/admin/reassign_partitions": r.ReassignmentsRequested(targets={}, time_ms=NOW_MS),
    "/admin/preferred_replica_election": r.PreferredElectionRequested(partitions=(), time_ms=NOW_MS),
    "/config/topics/orders": r.ConfigRemoved(entity="topics/orders", time_ms=NOW_MS),
    "/config/clients/c": r.ConfigRemoved(entity="clients/c", time_ms=NOW_MS),
    "/config/users/u/clients/c": r.ConfigRemoved(entity="users/u/clients/c", time_ms=NOW_MS),
    "/config/brokers/<default>": r.ConfigRemoved(entity="brokers/<default>", time_ms=NOW_MS),
    "/config/ips/10.0.0.1": r.ConfigRemoved(entity="ips/10.0.0.1", time_ms=NOW_MS),
    "/consumers/g": r.GroupRemoved(group="g", time_ms=NOW_MS),
    "/consumers/g/ids/c1": r.MemberLeft(group="g", member="c1", time_ms=NOW_MS),
    "/consumers/g/owners/orders/3": r.PartitionReleased(group="g", partition=ORDERS_3, time_ms=NOW_MS),
    "/consumers/g/offsets/orders/3": r.OffsetRemoved(group="g", partition=ORDERS_3, time_ms=NOW_MS),
    "/hbase/master": None,
}


@pytest.mark.parametrize(("path", "data", "says"), THERE.values(), ids=THERE)
def test_a_znode_that_is_there(path: str, data: str, says: Sequence[r.ClusterRecord]) -> None:
    assert list(translate([znode(path, data.encode())], NOW_MS)) == [r.ZnodeReadable(path=path), *says]


@pytest.mark.parametrize(("path", "says"), GONE.items(), ids=GONE)
def test_a_znode_that_is_gone(path: str, says: r.ClusterRecord | None) -> None:
    said = [r.ZnodeReadable(path=path), *([says] if says else [])]
    assert list(translate([Missing(path)], NOW_MS)) == said


def test_a_broker_of_kafka_2_2_has_an_epoch() -> None:
    """Registered by create and set in one transaction (KIP-380): its data version is 1, its epoch the czxid."""
    data = b'{"version":4,"host":"h","port":9092,"endpoints":["PLAINTEXT://h:9092"]}'
    _, registered, generation = translate([znode("/brokers/ids/1", data, version=1, czxid=99)], NOW_MS)
    assert isinstance(registered, r.BrokerRegistered)
    assert registered.epoch == 99
    assert generation == r.GenerationRecognised(generation="2.x")


def test_a_partition_recovering_from_an_unclean_election() -> None:
    data = STATE.replace("}", ',"leader_recovery_state":1}').encode()
    (*_, written) = translate([znode("/brokers/topics/orders/partitions/3/state", data, version=8)], NOW_MS)
    assert isinstance(written, r.PartitionStatesWritten)
    assert (written.states[0].recovering, written.states[0].version) == (True, 8)


def test_states_of_a_topic_make_one_record_dated_by_the_newest() -> None:
    states = [
        znode(f"/brokers/topics/{topic}/partitions/{partition}/state", STATE.encode(), mzxid=zxid)
        for topic, partition, zxid in (("a", 0, 30), ("b", 0, 20), ("a", 1, 10))
    ]
    written = [record for record in translate(states, NOW_MS) if isinstance(record, r.PartitionStatesWritten)]
    assert [(one.topic, [state.partition for state in one.states], one.zxid) for one in written] == [
        ("a", [0, 1], 30),
        ("b", [0], 20),
    ]


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (znode("/brokers/ids/1", b'{"version":1,'), "the JSON stops too early"),
        (znode("/brokers/ids/1"), "is empty"),
        (znode("/consumers/g/offsets/orders/3", b"many"), "is not a whole number"),
    ],
)
def test_a_payload_that_cannot_be_used_is_told_as_such_and_nothing_else(answer: object, reason: str) -> None:
    path = answer.path  # type: ignore[attr-defined]
    assert list(translate([answer], NOW_MS)) == [r.ZnodeUnreadable(path=path, reason=reason, **WHEN)]  # type: ignore[list-item]


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (Forbidden("/controller"), "no permission to read it"),
        (Refused("/controller", -8), "the server answers error -8"),
    ],
)
def test_what_the_server_withholds_is_told_with_the_reason(answer: Forbidden | Refused, reason: str) -> None:
    assert list(translate([answer], NOW_MS)) == [r.ZnodeUnreadable(path="/controller", reason=reason, time_ms=NOW_MS)]


def test_an_emptied_config_is_a_config_no_more() -> None:
    assert list(translate([znode("/config/topics/orders")], NOW_MS)) == [
        r.ZnodeReadable(path="/config/topics/orders"),
        r.ConfigRemoved(entity="topics/orders", time_ms=NOW_MS),
    ]


def test_no_secret_gets_into_a_record() -> None:
    configs = [
        znode("/config/users/alice", b'{"version":1,"config":{"SCRAM-SHA-256":"salt=abc,stored_key=hush"}}'),
        znode("/config/brokers/1", b'{"version":1,"config":{"ssl.keystore.password":"hush"}}'),
    ]
    said = repr(list(translate(configs, NOW_MS)))
    assert "hush" not in said
    assert "ssl.keystore.password" in said


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/brokers/ids/1", True),
        ("/consumers/g", True),
        ("/admin/delete_topics/orders", True),
        ("/isr_change_notification/isr_change_0000000001", True),
        ("/brokers/ids", False),
        ("/brokers/topics/orders/partitions/3", False),
        ("/config/changes/config_change_0000000001", False),
        ("/hbase/master", False),
        ("/", False),
    ],
)
def test_what_is_worth_reading(path: str, expected: bool) -> None:
    assert is_read(path) is expected
