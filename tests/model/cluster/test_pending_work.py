"""What was asked of the controller, and what each piece of it waits for."""

from __future__ import annotations

import pytest

from model.cluster.cluster_image import EMPTY
from model.cluster.findings.pending_work import NO_PARTITION, NO_TOPIC, PendingWork, pending_work
from model.cluster.ids import TopicPartition
from model.cluster.records import (
    ClusterRecord,
    PreferredElectionRequested,
    ReassignmentsRequested,
    TopicAssigned,
    TopicDeletionRequested,
)
from tests.model.drills.clusters import T0, cluster, topic


def work(*records: ClusterRecord) -> list[tuple[str, str, tuple[int, ...], str, bool]]:
    """Of a cluster in which 1, 2 and 3 live."""
    return [(w.kind, w.subject, w.target, w.waits_for, w.blocked) for w in pending_work(cluster([1, 2, 3], *records))]


def moving(isr: tuple[int, ...], adding: tuple[int, ...], removing: tuple[int, ...] = ()) -> list[ClusterRecord]:
    """Partition 0 of t on its old replicas 1 and 2, and what is added."""
    _, state, _ = topic((1, 2, *adding), isr, isr[0])
    assigned = TopicAssigned(topic="t", replicas={0: (*adding, 1, 2)}, adding={0: adding}, removing={0: removing})
    return [assigned, state]


def test_nothing_is_pending_where_nothing_was_asked_for() -> None:
    assert pending_work(EMPTY) == ()
    assert work(*topic((1, 2), (1, 2), 1)) == []


@pytest.mark.parametrize(
    ("records", "target", "waits_for", "blocked"),
    [
        (moving((1, 2), (3,)), (3, 1, 2), "broker 3 to be in the ISR", False),
        (moving((1, 2), (3,), (2,)), (3, 1), "broker 3 to be in the ISR", False),
        (moving((1, 2, 3), (3,), (2,)), (3, 1), "the controller to take out the old replicas", False),
        (moving((1, 2), (9,), (2,)), (9, 1), "broker 9 (down) to be in the ISR", True),
        ([*topic((1, 2, 3), (1, 2), 1), ReassignmentsRequested(targets={T0: (1, 3)})], (1, 3),
         "broker 3 to be in the ISR", False),
        ([*topic((1, 2), (1, 2, 3), 1), ReassignmentsRequested(targets={T0: (1, 3)})], (1, 3),
         "the controller to add the new replicas", False),
        ([ReassignmentsRequested(targets={T0: (1, 3)})], (1, 3), NO_TOPIC, True),
        ([*topic((1,), (1,), 1), ReassignmentsRequested(targets={TopicPartition("t", 7): (1,)})], (1,),
         NO_PARTITION, True),
    ],
)  # fmt: skip
def test_a_reassignment_waits_for_its_new_replicas(
    records: list[ClusterRecord], target: tuple[int, ...], waits_for: str, blocked: bool
) -> None:
    ((kind, _, *rest),) = work(*records)
    assert (kind, *rest) == ("reassign", target, waits_for, blocked)


def test_a_reassignment_that_is_asked_for_and_begun_is_one_piece_of_work() -> None:
    asked = ReassignmentsRequested(targets={T0: (3, 1)})
    assert [one[:3] for one in work(*moving((1, 2), (3,), (2,)), asked)] == [("reassign", "t-0", (3, 1))]


@pytest.mark.parametrize(
    ("replicas", "isr", "leader", "waits_for", "blocked"),
    [
        ((2, 1), (1, 2), 1, "the controller to elect it", False),
        ((1, 2), (1, 2), 1, "nothing: it leads already", False),
        ((9, 1), (1,), 1, "broker 9 is down: it cannot be elected", True),
        ((2, 1), (1,), 1, "broker 2 is not in the ISR: it cannot be elected", True),
    ],
)
def test_an_election_waits_for_the_preferred_replica(
    replicas: tuple[int, ...], isr: tuple[int, ...], leader: int, waits_for: str, blocked: bool
) -> None:
    asked = PreferredElectionRequested(partitions=(T0,))
    assert work(*topic(replicas, isr, leader), asked) == [("elect", "t-0", (replicas[0],), waits_for, blocked)]


def test_an_election_of_what_is_not_there_is_told_as_such() -> None:
    asked = PreferredElectionRequested(partitions=(T0, TopicPartition("u", 3)))
    found = [one[3] for one in work(*topic((1,), (1,), 1, name="u"), asked)]
    assert found == [NO_TOPIC, NO_PARTITION]


@pytest.mark.parametrize(
    ("records", "waits_for", "blocked"),
    [
        (topic((1, 2), (1, 2), 1), "brokers 1, 2 to delete their replicas", False),
        (topic((1, 9), (1,), 1), "broker 9 (down) to come back", True),
        ([], "the controller to drop the mark: there is no such topic", False),
    ],
)
def test_a_deletion_waits_for_whoever_holds_replicas(
    records: list[ClusterRecord], waits_for: str, blocked: bool
) -> None:
    assert work(*records, TopicDeletionRequested(topic="t")) == [("delete", "t", (), waits_for, blocked)]


def test_work_on_a_topic_that_is_being_deleted_is_stuck_on_both_sides() -> None:
    asked = PreferredElectionRequested(partitions=(T0,))
    found = work(*moving((1, 2), (3,)), asked, TopicDeletionRequested(topic="t"))
    assert [(kind, waits_for, blocked) for kind, _, _, waits_for, blocked in found] == [
        ("reassign", "the topic is being deleted: cancel the reassignment", True),
        ("elect", "the topic is being deleted: nobody is elected", True),
        ("delete", "its reassignment to end", True),
    ]
    assert PendingWork("delete", "t", None, (), "", blocked=False).subject == "t"
