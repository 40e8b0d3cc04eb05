"""When much happens at once the feed counts, but never hides an unclean election."""

import pytest

from model.cluster.change import SEVERITY, Change, ImageStep, folded
from model.cluster.changes import changes_between
from model.cluster.cluster_image import ClusterImage
from model.cluster.ids import TopicPartition
from model.cluster.records import (
    BrokerLost,
    ClusterRecord,
    ConfigChanged,
    OffsetCommitted,
    PartitionStatesRemoved,
    TopicAssigned,
    TopicRemoved,
)
from tests.model.cluster.build import brokers, claims, consumer, image, state, topic, written

BEFORE = image(
    *brokers(1, 2, 3),
    *topic("orders", (1, 2, 3), partitions=40),
    *topic("payments", (3, 2, 1), partitions=20),
    consumer("billing", "c1"),
)


def step(*records: ClusterRecord, before: ClusterImage = BEFORE) -> list[Change]:
    return list(changes_between(before, image(*records, base=before)))


def texts(*records: ClusterRecord, before: ClusterImage = BEFORE) -> list[str]:
    return [one.text for one in step(*records, before=before)]


def test_leaders_are_counted_by_the_broker_they_left() -> None:
    lost = [BrokerLost(broker=1), written("orders", *(state(p, 2, (2, 3), epoch=1) for p in range(40)))]

    assert texts(*lost) == [
        "b1 gone: its registration was removed",
        "40 leaders moved off b1, all clean, because b1 was lost",
        "b1 left the ISR of 40 partitions, because b1 was lost",
    ]


def test_a_line_tells_how_many_it_stands_for() -> None:
    lost = [BrokerLost(broker=1), written("orders", *(state(p, 2, (2, 3), epoch=1) for p in range(40)))]

    assert [(one.kind, one.count) for one in step(*lost)] == [
        ("broker-lost", 1),
        ("leader-moved", 40),
        ("isr-shrunk", 40),
    ]


def test_unclean_elections_are_named_one_by_one_among_many() -> None:
    before = image(written("orders", *(state(p, 1, (1,)) for p in range(10))), base=BEFORE)
    unclean = [state(p, 2, (2,), epoch=1) for p in range(10)]
    clean = [state(p, 2, (1, 2, 3), epoch=1) for p in range(10, 40)]

    changes = step(written("orders", *unclean, *clean), before=before)

    assert [one.subject for one in changes if one.kind == "unclean-election"] == [f"orders-{p}" for p in range(10)]
    assert "30 leaders moved off b1, clean, 10 more were not" in [one.text for one in changes]


def test_partitions_that_went_offline_and_came_back() -> None:
    offline = written("orders", *(state(p, -1, (1, 2, 3), epoch=1) for p in range(40)))
    online = written("orders", *(state(p, 3, (1, 2, 3), epoch=2) for p in range(40)))

    assert texts(offline) == ["40 partitions led by b1 went offline"]
    assert texts(online, before=image(offline, base=BEFORE)) == ["40 partitions back online, led by b3, all clean"]


def test_isr_members_are_counted_by_broker() -> None:
    shrunk = written("orders", *(state(p, 1, (1, 2 + p % 2)) for p in range(40)))

    assert texts(shrunk) == ["b2 left the ISR of 20 partitions", "b3 left the ISR of 20 partitions"]
    assert texts(*topic("orders", (1, 2, 3), partitions=40), before=image(shrunk, base=BEFORE)) == [
        "b2 joined the ISR of 20 partitions",
        "b3 joined the ISR of 20 partitions",
    ]


def test_offsets_are_counted_by_group_and_topic() -> None:
    def commits(offset: int) -> list[ClusterRecord]:
        return [
            OffsetCommitted(group="billing", partition=TopicPartition(name, p), offset=offset)
            for name in ("orders", "payments")
            for p in range(10)
        ]

    assert texts(*commits(500), before=image(*commits(100), base=BEFORE)) == [
        "10 offsets of orders committed, +4,000 records",
        "10 offsets of payments committed, +4,000 records",
    ]


def test_many_of_one_kind_become_one_line() -> None:
    created = [TopicAssigned(topic=f"t{n:02}", replicas={0: (1,)}) for n in range(12)]
    removed = [TopicRemoved(topic=f"t{n:02}") for n in range(12)]
    settings = ConfigChanged(entity="topics/orders", config={f"k{n}": "1" for n in range(9)})

    assert texts(*created) == ["12 topics created: t00, t01, t02, t03, t04, t05, t06, t07 +4 more"]
    assert texts(*removed, before=image(*created, base=BEFORE))[0].startswith("12 topics removed: t00")
    (one,) = step(settings)
    assert (one.subject, one.text) == ("topics/orders", "9 settings changed: topics/orders")


def test_owners_are_counted() -> None:
    (change,) = step(*claims("billing", "c1-0", *range(40)))

    assert (change.subject, change.text) == ("group billing", "40 partitions claimed: group billing")


def test_partitions_added_and_removed_in_one_step_are_matched_by_id() -> None:
    fewer = [
        TopicAssigned(topic="orders", replicas=dict.fromkeys(range(30, 45), (1, 2, 3))),
        PartitionStatesRemoved(topic="orders", partitions=tuple(range(30))),
        written("orders", state(35, 2, (1, 2, 3), epoch=1)),
    ]

    assert texts(*fewer) == [
        "5 partitions added: 40-44",
        "30 partitions no longer assigned: 0-29",
        "leader 1 -> 2, epoch 0 -> 1, clean",
    ]


FOLDED = {
    "broker-registered", "broker-changed", "topic-created", "topic-removed", "partitions-added", "partition-started",
    "partition-state-gone", "replicas-changed", "reassignment-begun", "reassignment-finished", "deletion-requested",
    "deletion-cleared", "config-changed", "group-appeared", "group-gone", "member-joined", "member-left",
    "partition-claimed", "partition-released", "partition-handed-over", "offset-committed", "group-coordinator-moved",
    "znode-unreadable", "znode-readable",
}  # fmt: skip


@pytest.mark.parametrize("kind", SEVERITY)
def test_more_than_eight_become_one_line_where_no_single_one_is_serious(kind: str) -> None:
    between = ImageStep(BEFORE, BEFORE)
    nine = [between.change(kind, f"subject {n}", "text", count=2) for n in range(9)]
    assert folded(between, nine[:8]) == tuple(nine[:8])
    found = folded(between, nine)
    if kind in FOLDED:
        assert [(one.kind, one.subject, one.count) for one in found] == [(kind, "cluster", 18)]
        assert found[0].text.startswith("9 ") and found[0].text.endswith("subject 7 +1 more")
    else:
        assert found == tuple(nine)


def test_partitions_that_recovered_are_counted_by_their_leader() -> None:
    unclean = written("orders", *(state(p, 1 + p % 2, (1 + p % 2,), recovering=True) for p in range(40)))
    over = written("orders", *(state(p, 1 + p % 2, (1 + p % 2,)) for p in range(40)))
    told = [one for one in step(over, before=image(unclean, base=BEFORE)) if one.kind == "partition-recovered"]
    assert [(one.subject, one.text, one.count) for one in told] == [
        ("broker 1", "20 partitions led by b1 recovered from unclean elections", 20),
        ("broker 2", "20 partitions led by b2 recovered from unclean elections", 20),
    ]
