"""Topics and placement: worked cases H and K, run with the real classes of 3.9.1 to 4.4.

Brokers 1 to 3 are active, 4 (one directory) and 5 (two) are fenced, 9 is not known; topic foo.bar exists.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kio.schema.errors import ErrorCode

from model.cluster.ids import TopicPartition
from model.kraft_controller.cluster import (
    BrokerChanged,
    BrokerRegistered,
    ConfigWritten,
    ElrCleared,
    KraftCluster,
    PartitionCreated,
    TopicCreated,
    TopicRemoved,
)
from model.kraft_controller.decide import BrokerRegisters, BrokerSilent, decide
from model.kraft_controller.partition_change import UNASSIGNED, Levels
from model.kraft_controller.placement import PlacementError, StripedPlacer, Usable
from model.kraft_controller.requests import (
    AlterPartitionReassignments,
    ControllerResult,
    Reassignment,
    alter_reassignments,
)
from model.kraft_controller.topics import (
    MOST_PARTITIONS,
    MorePartitions,
    NewTopic,
    create_partitions,
    create_topics,
    delete_topics,
)
from tests.model.kraft_controller.clusters import RELEASES_OF_4, after, made, part

of_each_release = pytest.mark.parametrize("levels", [Levels(each, 23) for each in RELEASES_OF_4], ids=str)


def first(_: int) -> int:
    return 0


def state_h(levels: Levels) -> KraftCluster:
    brokers = [
        BrokerRegistered(broker, broker * 100, fenced=False, directories=(f"d{broker}",)) for broker in (1, 2, 3)
    ]
    fenced = [BrokerRegistered(4, 400, directories=("d4",)), BrokerRegistered(5, 500, directories=("d5", "d6"))]
    return made(levels, {"foo.bar": [part(1)]}, [*brokers, *fenced])


def assigned(*partitions: list[int]) -> tuple[tuple[int, tuple[int, ...]], ...]:
    return tuple((number, tuple(replicas)) for number, replicas in enumerate(partitions))


def errors(cluster: KraftCluster, *topics: NewTopic) -> list[str]:
    answer = create_topics(cluster, topics, first)
    assert (not answer.records) == all(error is not ErrorCode.none for error in answer.errors)
    return [error.name for error in answer.errors]


@of_each_release
def test_h1_and_h2_names(levels: Levels) -> None:
    found = state_h(levels)
    for name in ("a b", "foo_bar", "..", "x" * 250, ""):
        assert errors(found, NewTopic(name)) == ["invalid_topic_exception"]
    assert errors(found, NewTopic("foo.bar")) == ["topic_already_exists"]
    assert errors(found, NewTopic("q.w"), NewTopic("q_w")) == ["none", "none"]


@of_each_release
def test_h3_to_h7_what_is_refused(levels: Levels) -> None:
    found = state_h(levels)
    both = create_topics(
        found, (NewTopic("g1", assignments=assigned([2])), NewTopic("g2", assignments=assigned([9]))), first
    )
    assert both.errors == (ErrorCode.none, ErrorCode.invalid_replica_assignment)
    assert [type(each) for each in both.records] == [TopicCreated, PartitionCreated]
    for counts, error in (
        ((1, 0), "invalid_replication_factor"),
        ((0, -2), "invalid_replication_factor"),
        ((0, 1), "invalid_partitions"),
        ((1, 6), "invalid_replication_factor"),
    ):
        assert errors(found, NewTopic("t", *counts)) == [error]
    nobody = after(found, BrokerSilent(1), BrokerSilent(2), BrokerSilent(3))
    assert errors(nobody, NewTopic("t", 1, 1)) == ["invalid_replication_factor"]
    for counts in ((-1, 1), (1, -1)):
        assert errors(found, NewTopic("t", *counts, assignments=assigned([1]))) == ["invalid_request"]
    wrong = [assigned([]), assigned([1, 1]), assigned([1, 9]), assigned([1, 2], [1]), assigned([1], [4]),
             ((0, (1,)), (2, (1,))), ((0, (1,)), (0, (2,)))]  # fmt: skip
    for assignments in wrong:
        assert errors(found, NewTopic("t", assignments=assignments)) == ["invalid_replica_assignment"]
    assert errors(found, NewTopic("t", configs={"retention.ms": None})) == ["invalid_config"]


@of_each_release
def test_h5_h8_and_h9_who_leads_at_first(levels: Levels) -> None:
    found = state_h(levels)
    everybody = create_topics(found, (NewTopic("t", 1, 5),), first)
    (record,) = [each for each in everybody.records if isinstance(each, PartitionCreated)]
    created = record.registration
    assert (created.replicas, created.isr, created.leader) == ((1, 2, 3, 4, 5), (1, 2, 3), 1)
    assert created.directories == ("d1", "d2", "d3", "d4", UNASSIGNED)
    manual = create_topics(found, (NewTopic("t", assignments=((1, (1,)), (0, (4,)))),), first)
    assert manual.errors == (ErrorCode.invalid_replica_assignment,)
    manual = create_topics(found, (NewTopic("t", assignments=((1, (4, 2, 1)), (0, (1, 2, 3)))),), first)
    partitions = [each for each in manual.records if isinstance(each, PartitionCreated)]
    assert [each.partition.partition for each in partitions] == [0, 1]
    last = partitions[1].registration
    assert (last.replicas, last.isr, last.leader) == ((4, 2, 1), (2, 1), 2)
    old = create_topics(state_h(levels._replace(metadata_version=16)), (NewTopic("t", 1, 1),), first)
    assert [each.registration.directories for each in old.records if isinstance(each, PartitionCreated)] == [()]


@of_each_release
def test_h11_one_request_creates_no_more_than_ten_thousand(levels: Levels) -> None:
    most = create_topics(state_h(levels), (NewTopic("a", MOST_PARTITIONS), NewTopic("b", 1)), first)
    assert most == ControllerResult(error=ErrorCode.policy_violation)


@of_each_release
def test_h12_a_topic_with_a_min_isr_clears_the_elr_it_does_not_have(levels: Levels) -> None:
    found = state_h(levels._replace(elr=True))
    one = NewTopic("e", assignments=assigned([1, 2, 3]), configs={"min.insync.replicas": "3"})
    answer = create_topics(found, (one, NewTopic("f", assignments=assigned([1]))), first)
    assert [type(each) for each in answer.records] == [
        TopicCreated, ConfigWritten, ElrCleared, PartitionCreated, TopicCreated, PartitionCreated,
    ]  # fmt: skip
    made_of_it = found.after(answer.records)
    assert (made_of_it.min_isr("e"), made_of_it.partitions("f")) == (3, [TopicPartition("f", 0)])


@of_each_release
def test_h13_and_h14_more_partitions(levels: Levels) -> None:
    found = state_h(levels).after(create_topics(state_h(levels), (NewTopic("foo", 2, 2),), first).records)

    def more(topic: str, count: int, *lists: list[int], cluster: KraftCluster = found) -> tuple[str, list[Any]]:
        wanted = MorePartitions(topic, count, tuple(map(tuple, lists)) or None)
        answer = create_partitions(cluster, (wanted,), first)
        created = [each for each in answer.records if isinstance(each, PartitionCreated)]
        states = [(each.partition.partition, each.registration) for each in created]
        return answer.errors[0].name, [(number, each.replicas, each.isr, each.leader) for number, each in states]

    assert more("bar", 3) == ("unknown_topic_or_partition", [])
    assert more("foo", 2) == more("foo", 1) == ("invalid_partitions", [])
    assert more("foo", 4, [1, 2]) == more("foo", 3, [1]) == ("invalid_replica_assignment", [])
    assert more("foo", 3, [4, 1]) == ("none", [(2, (4, 1), (1,), 1)])
    assert more("foo", 4) == ("none", [(2, (1, 2), (1, 2), 1), (3, (2, 3), (2, 3), 2)])
    nobody = after(found, BrokerSilent(1), BrokerSilent(2), BrokerSilent(3))
    assert more("foo", 3, [1, 2], cluster=nobody) == ("invalid_replica_assignment", [])
    assert more("foo", 3, cluster=nobody) == ("invalid_replication_factor", [])


@of_each_release
def test_who_stops_gets_no_replica_and_who_has_stopped_is_as_good_as_any_that_is_fenced(levels: Levels) -> None:
    stopping = state_h(levels).after([BrokerChanged(3, in_controlled_shutdown=True)])
    wanted = NewTopic("new", 1, 5)
    assert create_topics(stopping, [wanted], first).errors == (ErrorCode.invalid_replication_factor,)
    stopped = stopping.after([BrokerChanged(3, fenced=True)])
    answer = create_topics(stopped, [wanted], first)
    (made_one,) = [each.registration for each in answer.records if isinstance(each, PartitionCreated)]
    assert (sorted(made_one.replicas), sorted(made_one.isr)) == ([1, 2, 3, 4, 5], [1, 2])


@of_each_release
def test_h15_topics_go_at_once(levels: Levels) -> None:
    found = state_h(levels)
    answer = delete_topics(found, ("bar", "foo.bar"))
    assert answer.errors == (ErrorCode.unknown_topic_id, ErrorCode.none)
    assert answer.records == (TopicRemoved("foo.bar"),)
    gone = found.after(answer.records)
    assert (gone.led_by(1), gone.with_in_isr(1), gone.partitions("foo.bar")) == ([], [], [])
    assert gone.find(TopicPartition("foo.bar", 0)) is None
    assert errors(gone, NewTopic("foo.bar")) == ["none"]


# K. StripedReplicaPlacer


def brokers_of(text: str) -> list[Usable]:
    """`1:a !2`: broker 1 in rack a, broker 2 in none, fenced."""
    found: list[Usable] = []
    for word in text.split():
        number, _, rack = word.removeprefix("!").partition(":")
        found.append(Usable(int(number), rack or None, word.startswith("!")))
    return found


PLACED: list[tuple[str, str, tuple[int, ...], int, str]] = [
    ("K1", "0 1 2", (), 3, "012 120 201 120 201 012"),
    ("K2", "0 1 2", (1,), 2, "12 20 01"),
    ("K2 b", "0 1 2", (2,), 1, "2 0 1"),
    ("K3", "1:a 2:a 3:b 4:b 5:c 6:c", (), 3, "135 462 513 246 351 624"),
    ("K4", "1:a 2:a 3:b 4:b 5:c 6:c", (0, 1, 0, 2), 3, "514 236 451"),
    ("K5", "1:a 2:b 3:b 4:b", (), 2, "12 31 14 21"),
    ("K5 b", "1:a 2:b 3:b 4:b", (), 3, "123 314 142 213"),
    ("K6", "1 2 !3", (), 2, "12 21"),
    ("K6 b", "1 2 !3 !4", (), 3, "123 214"),
    ("K7", "!1:a !2:a 3:b 4:b", (), 2, "31 42"),
    ("K7 b", "!1:a !2:a 3:b 4:b", (), 3, "312 423"),
    ("K8", "1 !2 !3", (), 2, "12 13 12 13"),
    ("K9", "1 2:a 3:a 4:b", (), 2, "12 34 41 12"),
]


@pytest.mark.parametrize(("name", "brokers", "draws", "count", "expected"), PLACED, ids=[each[0] for each in PLACED])
def test_striped(name: str, brokers: str, draws: tuple[int, ...], count: int, expected: str) -> None:
    """K1: the second half is what comes after a reshuffle with all draws 0."""
    drawn: Iterator[int] = iter(draws)
    placed = StripedPlacer(brokers_of(brokers), lambda _: next(drawn, 0)).place(len(expected.split()), count)
    assert " ".join("".join(map(str, each)) for each in placed) == expected, name


def test_k10_too_few_brokers() -> None:
    for brokers, count in (("1 2 3", 4), ("1 2 3", 0), ("!1", 1), ("", 1)):
        with pytest.raises(PlacementError):
            StripedPlacer(brokers_of(brokers), first).place(1, count)


USABLE = st.lists(
    st.builds(Usable, st.integers(0, 30), st.sampled_from([None, "a", "b", "c"]), st.booleans()),
    min_size=1, max_size=8, unique_by=lambda each: each.id,
)  # fmt: skip


@given(USABLE, st.data())
def test_whatever_is_drawn_replicas_are_different_and_an_unfenced_one_leads(
    brokers: list[Usable], data: st.DataObject
) -> None:
    unfenced = {each.id for each in brokers if not each.fenced}
    count = data.draw(st.integers(1, len(brokers)))
    if not unfenced:
        return
    placer = StripedPlacer(brokers, lambda bound: data.draw(st.integers(0, bound - 1)))
    for replicas in placer.place(12, count):
        assert len(set(replicas)) == count and replicas[0] in unfenced


# Cordoned log directories (KIP-1066)


def cordoned(release: tuple[int, int]) -> KraftCluster:
    """Broker 1 has nothing else, broker 2 another one, and broker 3 tells of none."""
    brokers = [
        BrokerRegistered(1, 100, fenced=False, directories=("a",), cordoned=("a",)),
        BrokerRegistered(2, 200, fenced=False, directories=("b", "c"), cordoned=("b",)),
        BrokerRegistered(3, 300, fenced=False),
    ]
    return made(Levels(release, 30), {"foo": [part(1, 2)]}, brokers)


@pytest.mark.parametrize("release", RELEASES_OF_4)
def test_placement_keeps_away_from_brokers_that_are_cordoned_and_from_4_4_on_nobody_may_name_them(
    release: tuple[int, int],
) -> None:
    found = cordoned(release)
    placed = create_topics(found, (NewTopic("t", 2, 2),), first)
    replicas = [each.registration.replicas for each in placed.records if isinstance(each, PartitionCreated)]
    assert replicas == ([(2, 3), (3, 2)] if release >= (4, 3) else [(1, 2), (2, 3)])
    every = ["none"] if release < (4, 3) else ["invalid_replication_factor"]
    assert errors(found, NewTopic("t", 1, 3)) == every
    named = "none" if release < (4, 4) else "invalid_replica_assignment"
    assert errors(found, NewTopic("t", assignments=assigned([3, 1]))) == [named]
    more = create_partitions(found, (MorePartitions("foo", 2, ((3, 1),)),), first)
    assert more.errors[0].name == named
    # A reassignment that leaves it where it is names it, too.
    for target, error in (((1, 3), named), ((3, 2), "none")):
        wanted = AlterPartitionReassignments((Reassignment(TopicPartition("foo", 0), target),))
        assert alter_reassignments(found, wanted).errors[0].name == error


def test_a_registration_tells_what_is_cordoned_and_a_change_of_it_too() -> None:
    found = cordoned((4, 4))
    anew = decide(found, BrokerRegisters(1, 9, clean=True, directories=("a", "z"), cordoned=("z",))).records[-1]
    assert anew == BrokerRegistered(1, 9, directories=("a", "z"), cordoned=("z",))
    again = decide(found, BrokerRegisters(1, 9, clean=True, again=True)).records[-1]
    assert isinstance(again, BrokerRegistered) and again.cordoned == ("a",)
    changed = found.after([BrokerChanged(1, cordoned=())])
    assert changed.brokers[1].takes_replicas and not found.brokers[1].takes_replicas
