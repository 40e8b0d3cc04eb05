"""Some days of a cluster in its event feed, and what is newly wrong with it, in all fields, kept to be compared."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from model.cluster.changes import changes_between
from model.cluster.cluster_image import EMPTY
from model.cluster.findings import find
from model.cluster.ids import KafkaGeneration, TopicPartition
from model.cluster.image_parts import LogDir, Member, Rebalance
from model.cluster.records import (
    BrokerFenced,
    BrokerLost,
    BrokerRegistered,
    ClusterIdentified,
    ClusterRecord,
    ConfigChanged,
    ConfigRemoved,
    ControllerElected,
    ControllerEpochChanged,
    ControllerLost,
    GenerationRecognised,
    GroupDescribed,
    GroupDied,
    GroupOffsetsFetched,
    GroupRebalancesSeen,
    GroupRemoved,
    LogDirsDescribed,
    LogEndsRead,
    MemberLeft,
    OffsetCommitted,
    PartitionReleased,
    PartitionStatesRemoved,
    PreferredElectionRequested,
    ReassignmentsRequested,
    TopicAssigned,
    TopicDeletionCleared,
    TopicDeletionRequested,
    TopicRemoved,
    ZnodeReadable,
    ZnodeUnreadable,
)
from tests.kept_text import assert_kept
from tests.model.cluster.build import NOW_MS, brokers, claims, consumer, image, state, topic, written

MANY = 10
"""More than are told one by one."""
NAMES = [f"t{number}" for number in range(MANY)]
ORDERS = [TopicPartition("orders", number) for number in range(MANY)]
MEMBERS = {"c1": Member({"orders": 1}, "static", 0), "c2": Member({"orders": 1}, "static", 0)}

DIARY: dict[str, list[ClusterRecord]] = {
    "a cluster": [
        *brokers(1, 2, 3, racks=("a", "b", "c")),
        *topic("orders", (1, 2, 3), partitions=MANY),
        *topic("lone", (2,)),
        ClusterIdentified(cluster_id="one"),
        consumer("billing", "c1", 2),
        *claims("billing", "c1-0", *range(MANY - 1)),
    ],
    "brokers come, go and change": [
        BrokerRegistered(broker=4, endpoints=("PLAINTEXT://h4:9092",), rack="a", registered_ms=7),
        BrokerRegistered(broker=1, rack="a", epoch=9),
        BrokerRegistered(broker=2, rack="z", endpoints=("PLAINTEXT://h2:9092",)),
    ],
    "one dies": [
        BrokerLost(broker=2),
        written("lone", state(0, -1, (2,), epoch=1, time_ms=NOW_MS - 5)),
        written("orders", *(state(number, 1, (1, 3), epoch=1) for number in range(2))),
    ],
    "the controller dies": [
        BrokerLost(broker=1),
        ControllerElected(broker=3, since_ms=NOW_MS - 3),
        ControllerEpochChanged(epoch=2),
        written("orders", *(state(number, 3, (3,), epoch=2) for number in range(MANY))),
    ],
    "no controller": [ControllerLost(), ControllerEpochChanged(epoch=3)],
    "all are back": [
        *brokers(1, 2, 3, racks=("a", "b", "c")),
        written("lone", state(0, 2, (2,), epoch=2)),
        written("orders", *(state(number, 3, (3, 1, 2), epoch=2) for number in range(MANY))),
    ],
    "leaders go back": [written("orders", *(state(number, 1, (3, 1, 2), epoch=3) for number in range(MANY)))],
    "unclean": [
        written("lone", state(0, 1, (1,), epoch=3, recovering=True)),
        written("orders", state(0, 2, (2,), epoch=4, recovering=True)),
    ],
    "recovered": [written("lone", state(0, 1, (1,), epoch=3)), written("orders", state(0, 2, (2,), epoch=4))],
    "all goes down": [written("orders", *(state(number, -1, (3,), epoch=5) for number in range(MANY)))],
    "and up again": [written("orders", *(state(number, 3, (3,), epoch=6) for number in range(MANY)))],
    "topics": [record for name in NAMES for record in topic(name, (1, 2), partitions=2)],
    "more partitions, other replicas": [
        TopicAssigned(topic="lone", replicas={0: (2, 3), 1: (3, 1)}),
        TopicAssigned(topic="t0", replicas={0: (3, 1), 1: (1, 2)}, adding={0: (3,)}, removing={0: (2,)}),
        TopicAssigned(topic="t1", replicas={1: (1, 2)}),
    ],
    "a reassignment is over": [TopicAssigned(topic="t0", replicas={0: (3, 1), 1: (1, 2)}, topic_id="x")],
    "made anew": [TopicAssigned(topic="t0", replicas={0: (3, 1), 1: (1, 2)}, topic_id="y")],
    "many are to be deleted": [TopicDeletionRequested(topic=name) for name in NAMES],
    "and are": [
        record
        for name in NAMES
        for record in (
            PartitionStatesRemoved(topic=name, partitions=(0, 1)),
            TopicRemoved(topic=name),
            TopicDeletionCleared(topic=name),
        )
    ],
    "requests": [
        PreferredElectionRequested(partitions=tuple(ORDERS)),
        ReassignmentsRequested(targets=dict.fromkeys(ORDERS[:2], (2, 3))),
        TopicDeletionRequested(topic="lone"),
        TopicDeletionRequested(topic="never"),
    ],
    "done": [
        PreferredElectionRequested(partitions=()),
        ReassignmentsRequested(targets={ORDERS[1]: (2, 1)}),
        TopicDeletionCleared(topic="never"),
    ],
    "settings": [
        ConfigChanged(entity="topics/orders", config={"retention.ms": "1", "min.insync.replicas": "2"}),
        ConfigChanged(entity="users/alice", config={"SCRAM-SHA-256": "salt=abc"}),
    ],
    "other settings": [
        ConfigChanged(entity="topics/orders", config={"retention.ms": "2"}),
        ConfigRemoved(entity="users/alice"),
    ],
    "consumers": [
        consumer("billing", "c2", 3),
        *claims("billing", "c2-0", 0, 1),
        OffsetCommitted(group="billing", partition=ORDERS[0], offset=5),
        PartitionReleased(group="billing", partition=ORDERS[2]),
    ],
    "commits": [OffsetCommitted(group="billing", partition=name, offset=9) for name in ORDERS],
    "a group of a coordinator": [
        GroupDescribed(group="apps", state="Stable", coordinator=1, generation=4, members=MEMBERS, owners={}),
        GroupOffsetsFetched(group="apps", offsets=dict.fromkeys(ORDERS, 50)),
        LogEndsRead(ends=dict.fromkeys(ORDERS, 60)),
    ],
    "it is rebalanced, and its offsets go back": [
        GroupDescribed(group="apps", state="Stable", coordinator=3, generation=6, members=MEMBERS, owners={}),
        GroupOffsetsFetched(group="apps", offsets=dict.fromkeys(ORDERS, 40)),
        GroupRebalancesSeen(
            group="apps",
            kind="classic",
            rebalances=(Rebalance(at_ms=NOW_MS - 9, took_ms=1_400, generation=6, why=("c2 left",)),),
        ),
    ],
    "groups go": [GroupDied(group="apps"), MemberLeft(group="billing", member="c1"), GroupRemoved(group="billing")],
    "what cannot be read": [ZnodeUnreadable(path=f"/brokers/topics/{name}", reason="not JSON") for name in NAMES],
    "and can be again": [ZnodeReadable(path=f"/brokers/topics/{name}") for name in NAMES],
    "log dirs": [LogDirsDescribed(broker=1, folders=(LogDir("/logs", error="KAFKA_STORAGE_ERROR"),))],
    "a broker is fenced": [BrokerFenced(broker=2, rack="b")],
    "and serves again": [BrokerRegistered(broker=2, rack="b")],
}


def pages(generation: KafkaGeneration) -> Iterator[str]:
    before = EMPTY
    told: list[ClusterRecord] = [GenerationRecognised(generation=generation)]
    for number, (title, records) in enumerate(DIARY.items()):
        after = image(*told, *records, base=before, zxid=number, time_ms=NOW_MS + 1000 * number)
        told = []
        yield f"# {title}"
        for one in changes_between(before, after):
            yield f"{one.severity} {one.kind} {one.subject}: {one.text} [{one.path}, {one.time_ms}, {one.zxid}]"
        known = set(find(before).found)
        for found in (one for one in find(after).found if one not in known):
            where = f"{found.partitions} since {found.since_ms}"
            yield f"    {found.severity} {found.kind} {found.subject}: {found.what}. {found.why} {found.action} {where}"
        before = after


@pytest.mark.parametrize("generation", ["3.x", "kraft"])
def test_a_diary(generation: KafkaGeneration) -> None:
    assert_kept(Path(__file__).parent / f"diary-{generation}.txt", pages(generation))
