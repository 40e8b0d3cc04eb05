"""Findings about partitions: one broken cluster each, made by records."""

import pytest

from model.cluster.findings import SEVERITY, Finding, find
from model.cluster.records import (
    BrokerFenced,
    BrokerLost,
    ClusterRecord,
    ConfigChanged,
    GenerationRecognised,
    PartitionState,
    PartitionStatesRemoved,
    TopicAssigned,
    TopicDeletionRequested,
    TopicRemoved,
    ZnodeUnreadable,
)
from tests.model.cluster.build import brokers, image, state, topic, written

THREE = [*brokers(1, 2, 3), *topic("orders", (1, 2, 3), partitions=4)]
FAR = 2**31 - 1
"""The highest id that a broker may have."""


def found(*records: ClusterRecord) -> dict[str, Finding]:
    """Kind → finding about `orders`."""
    return {one.kind: one for one in find(image(*records)).found if one.subject == "orders"}


def min_isr(value: str, entity: str = "topics/orders") -> ClusterRecord:
    return ConfigChanged(entity=entity, config={"min.insync.replicas": value})


def test_a_healthy_cluster_has_no_findings() -> None:
    assert find(image(*THREE, min_isr("2"))).found == ()


def test_a_time_that_is_not_known_is_not_the_first() -> None:
    lost = [BrokerLost(broker=3), written("orders", state(1, -1, (3,), time_ms=0), state(2, -1, (3,), time_ms=400))]
    assert found(*THREE, *lost)["offline"].since_ms == 400


def test_no_leader_is_offline_and_names_who_must_come_back() -> None:
    lost = [BrokerLost(broker=3), written("orders", state(1, -1, (3,), time_ms=500), state(2, -1, (3,), time_ms=400))]

    offline = found(*THREE, *lost)["offline"]

    assert offline.severity == "error"
    assert offline.partitions == (1, 2)
    assert offline.since_ms == 400
    assert offline.what == "2 of 4 partitions offline (no live leader): 1-2; last in sync: broker 3 (down)"
    assert offline.action == "Bring broker 3 back. An unclean election on brokers 1, 2 would lose records."


def test_unclean_election_cannot_help_a_single_replica() -> None:
    alone = [*brokers(1), *topic("orders", (3,)), written("orders", state(0, -1, (3,)))]

    assert "cannot help: no other replica lives" in found(*alone)["offline"].action


def eligible(elr: tuple[int, ...] | None, last: tuple[int, ...] | None, *live: int) -> Finding:
    """Of a leaderless partition on brokers 3, 4 whose ISR is empty."""
    lone = PartitionState(0, -1, 5, (), elr=elr, last_known_elr=last)
    return found(*brokers(*live), TopicAssigned(topic="orders", replicas={0: (3, 4)}), written("orders", lone))[
        "offline"
    ]


def test_who_is_in_the_elr_is_to_come_back_and_nothing_is_lost() -> None:
    offline = eligible((4,), (4,), 1)
    assert offline.what == "1 of 1 partition offline (no live leader): 0; in the ELR: broker 4 (down)"
    assert offline.why.endswith("Kafka elects only a live member of the ISR, or of the ELR where the ISR is empty.")
    assert offline.action == (
        "Bring broker 4 back: it is in the ELR, nothing is lost. Unclean election cannot help: no other replica lives."
    )
    assert eligible((4,), (4,), 1, 3).action == (
        "Bring broker 4 back: it is in the ELR, nothing is lost. An unclean election on broker 3 would lose records."
    )
    assert eligible((3, 4), (4,), 1, 4).action == (
        "Broker 4 can lead; if none does soon, see what the controller does."
    )


def test_where_the_elr_is_empty_the_last_known_leader_is_to_come_back() -> None:
    offline = eligible((), (4,), 1)
    assert offline.what.endswith("led last: broker 4 (down)")
    assert offline.action.startswith(
        "Bring broker 4 back: it is the last known leader, and elected when nobody else is."
    )
    assert eligible(None, None, 1).action.startswith("Bring no broker back.")


def test_a_fenced_broker_is_called_fenced() -> None:
    kraft = [GenerationRecognised(generation="kraft"), BrokerFenced(broker=3)]
    offline = found(*THREE, *kraft, written("orders", state(1, -1, (3,))))["offline"]
    assert offline.what.endswith("last in sync: broker 3 (fenced)")


def test_a_leader_that_died_unnoticed_is_offline() -> None:
    offline = found(*THREE, BrokerLost(broker=1))["offline"]

    assert "the leader was broker 1 (down)" in offline.what
    assert offline.action.startswith("Brokers 2, 3 can lead")


def test_who_lives_is_known_of_any_id() -> None:
    led_from_afar = [*brokers(1, FAR), *topic("orders", (FAR, 1))]

    assert "offline" not in found(*led_from_afar)
    assert found(*led_from_afar, BrokerLost(broker=FAR))["offline"].partitions == (0,)


def test_missing_replicas_are_under_replicated() -> None:
    under = found(*THREE, BrokerLost(broker=3), written("orders", state(0, 1, (1,)), state(3, 1, (1, 2))))
    told = under["under-replicated"]

    assert told.partitions == (0, 3)
    assert told.what.endswith("under-replicated: 0,3; out of sync: broker 3 (down) and broker 2 (up)")
    assert told.action == "Bring broker 3 back, or move its replicas."
    assert under["at-min-isr"].partitions == (0,)


def test_one_broker_falls_behind_and_several_fall_behind() -> None:
    def action(*isr: int) -> str:
        return found(*THREE, written("orders", state(0, 1, isr)))["under-replicated"].action

    assert action(1, 2).startswith("On broker 3, see why it falls behind (")
    assert action(1).startswith("On brokers 2, 3, see why they fall behind (")
    lost = found(*THREE, BrokerLost(broker=2), BrokerLost(broker=3), written("orders", state(0, 1, (1,))))
    assert lost["under-replicated"].action == "Bring brokers 2, 3 back, or move their replicas."


def test_what_is_offline_is_not_under_replicated_as_well() -> None:
    both = found(*THREE, BrokerLost(broker=3), written("orders", state(0, 3, (3,)), state(3, 1, (1, 2))))

    assert (both["offline"].partitions, both["under-replicated"].partitions) == ((0,), (3,))


@pytest.mark.parametrize("entity", ["topics/orders", "brokers/<default>"])
def test_below_min_isr_wherever_it_is_set(entity: str) -> None:
    kinds = found(*THREE, min_isr("2", entity), written("orders", state(0, 1, (1,)), state(1, 1, (1, 2))))

    assert kinds["under-min-isr"].severity == "error"
    assert kinds["under-min-isr"].partitions == (0,)
    assert kinds["at-min-isr"].partitions == (1,)


def test_a_topics_own_min_isr_wins() -> None:
    kinds = found(*THREE, min_isr("3", "brokers/<default>"), min_isr("1"), written("orders", state(0, 1, (1, 2))))

    assert "under-min-isr" not in kinds
    assert "at-min-isr" not in kinds


@pytest.mark.parametrize("nonsense", ["", "two", "-1", "9" * 5000, "²"])
def test_a_min_isr_that_makes_no_sense_counts_as_one(nonsense: str) -> None:
    assert "under-min-isr" not in found(*THREE, min_isr(nonsense), written("orders", state(0, 1, (1,))))


def test_more_min_isr_than_replicas_says_so() -> None:
    assert "fewer replicas than that" in found(*THREE, min_isr("4"))["under-min-isr"].action


def test_min_isr_as_high_as_the_replicas_leaves_none_to_spare() -> None:
    assert found(*THREE, min_isr("3"))["no-spare-replica"].partitions == (0, 1, 2, 3)


@pytest.mark.parametrize(
    ("kind", "broken"),
    [
        ("leader-not-in-isr", state(1, 2, (1, 3))),
        ("isr-not-replica", state(1, 1, (1, 2, 3, 7))),
        ("leader-not-replica", state(1, 7, (7,))),
        ("unclean-leader", state(1, 2, (2,), recovering=True)),
    ],
)
def test_contradictions_in_a_state(kind: str, broken) -> None:
    told = found(*THREE, written("orders", broken))[kind]

    assert told.partitions == (1,)
    assert told.severity == SEVERITY[kind]


def test_no_state_yet() -> None:
    told = found(*THREE, PartitionStatesRemoved(topic="orders", partitions=(2,)))

    assert told["no-state"].partitions == (2,)
    assert "offline" not in told


def test_orphaned_state_znodes() -> None:
    kinds = found(*THREE, TopicRemoved(topic="orders"))

    assert kinds.keys() == {"orphaned"}
    assert kinds["orphaned"].partitions == (0, 1, 2, 3)


def test_a_topic_that_is_being_deleted_is_not_unwell() -> None:
    kinds = found(*THREE, written("orders", state(0, -1, (3,))), TopicDeletionRequested(topic="orders"))

    assert kinds.keys() == {"deletion-pending"}


def test_a_state_that_cannot_be_read_is_not_called_missing() -> None:
    path = "/brokers/topics/orders/partitions/2/state"
    gone = PartitionStatesRemoved(topic="orders", partitions=(2, 3))

    assert found(*THREE, gone, ZnodeUnreadable(path=path, reason="not JSON"))["no-state"].partitions == (3,)


def test_an_assignment_that_cannot_be_read_leaves_no_orphans() -> None:
    unreadable = ZnodeUnreadable(path="/brokers/topics/orders", reason="no permission")

    assert found(*THREE, TopicRemoved(topic="orders"), unreadable) == {}


def test_new_replicas_of_a_reassignment_are_not_missed_yet() -> None:
    moving = TopicAssigned(topic="orders", replicas={0: (4, 1, 2, 3)}, adding={0: (4,)}, removing={0: (1,)})

    assert "under-replicated" not in found(*brokers(1, 2, 3, 4), moving, written("orders", state(0, 1, (1, 2, 3))))


def test_a_single_replica_is_good_to_know() -> None:
    assert found(*brokers(1), *topic("orders", (1,)))["single-replica"].severity == "info"


@pytest.mark.parametrize("last", [4, FAR])
def test_replicas_in_one_rack_and_on_too_few(last: int) -> None:
    racks = brokers(1, 2, 3, last, racks=("a", "a", "b", "c"))
    placed = TopicAssigned(topic="orders", replicas={0: (1, 2), 1: (1, 3), 2: (1, 2, 3), 3: (1, 3, last), 4: (1, 9)})

    kinds = found(*racks, placed)

    assert kinds["single-rack"].partitions == (0,)
    assert kinds["rack-skew"].partitions == (2,)


def test_one_rack_for_all_is_no_skew() -> None:
    assert not found(*brokers(1, 2, racks=("a", "a")), *topic("orders", (1, 2)))


def test_many_partitions_are_named_as_eight_ranges_and_a_count() -> None:
    wide = [*brokers(1, 2), *topic("orders", (1, 2), partitions=40)]
    every_other = written("orders", *(state(partition, 1, (1,)) for partition in range(0, 40, 2)))

    assert ": 0,2,4,6,8,10,12,14 +12 more;" in found(*wide, every_other)["under-replicated"].what
