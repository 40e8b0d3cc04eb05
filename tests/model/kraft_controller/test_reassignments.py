"""Reassignments: worked cases G, run with the real classes of 4.0 to 4.4; R [1,2,3], all in sync, unless said."""

from __future__ import annotations

from typing import Any

import pytest
from kio.schema.errors import ErrorCode

from model.cluster.ids import TopicPartition
from model.kraft_controller.cluster import BrokerRegistered, KraftCluster
from model.kraft_controller.decide import BrokerSilent, decide
from model.kraft_controller.partition_change import HIGHEST_LEVELS, MIGRATING, UNASSIGNED, Levels
from model.kraft_controller.requests import (
    AlterPartition,
    AlterPartitionReassignments,
    LeaderProposal,
    Reassignment,
    alter_partition,
    alter_reassignments,
)
from tests.model.kraft_controller.clusters import RELEASES_OF_4, active, made, part, told

P0 = TopicPartition("foo", 0)
of_each_release = pytest.mark.parametrize("levels", [Levels(each, 23) for each in RELEASES_OF_4], ids=str)
UNCLEAN_ON = {"topics/foo": {"unclean.leader.election.enable": "true"}}


def state_g(levels: Levels, *replicas: int, unclean: bool = False, **fields: Any) -> KraftCluster:
    """Brokers 1 to 5 are active, 6 is fenced."""
    brokers = [*active(1, 2, 3, 4, 5), BrokerRegistered(6, 600)]
    partition = part(*(replicas or (1, 2, 3)), **fields)
    return made(levels, {"foo": [partition]}, brokers, UNCLEAN_ON if unclean else {})


def wanted(cluster: KraftCluster, replicas: list[int] | None, **how: Any) -> tuple[str, list[object]]:
    target = None if replicas is None else tuple(replicas)
    answer = alter_reassignments(cluster, AlterPartitionReassignments((Reassignment(P0, target),), **how))
    return answer.errors[0].name, [each[1] if isinstance(each, tuple) else each for each in told(answer.records)]


def then(cluster: KraftCluster, *targets: list[int] | None) -> KraftCluster:
    for replicas in targets:
        target = None if replicas is None else tuple(replicas)
        answer = alter_reassignments(cluster, AlterPartitionReassignments((Reassignment(P0, target),)))
        assert answer.errors == (ErrorCode.none,)
        cluster = cluster.after(answer.records)
    return cluster


def with_isr(cluster: KraftCluster, *isr: int) -> tuple[str, list[object]]:
    state = cluster.partition(P0)
    request = AlterPartition(
        state.leader, 100 * state.leader, (LeaderProposal(P0, isr, state.leader_epoch, state.partition_epoch),)
    )
    answer = alter_partition(cluster, request)
    return answer.errors[0].name, told(answer.records)


def grown(cluster: KraftCluster, *isr: int) -> KraftCluster:
    state = cluster.partition(P0)
    proposal = LeaderProposal(P0, isr, state.leader_epoch, state.partition_epoch)
    answer = alter_partition(cluster, AlterPartition(state.leader, 100 * state.leader, (proposal,)))
    assert answer.errors in ((ErrorCode.none,), (ErrorCode.new_leader_elected,))
    return cluster.after(answer.records)


@of_each_release
def test_g1_and_g2_what_is_refused(levels: Levels) -> None:
    found = state_g(levels)
    for name in (TopicPartition("bar", 0), TopicPartition("foo", 9)):
        answer = alter_reassignments(found, AlterPartitionReassignments((Reassignment(name, (1,)),)))
        assert answer.errors == (ErrorCode.unknown_topic_or_partition,)
    assert wanted(found, None) == ("no_reassignment_in_progress", [])
    for replicas in ([], [1, 1], [1, 9]):
        assert wanted(found, replicas) == ("invalid_replica_assignment", [])


@of_each_release
def test_g3_and_g4_what_is_done_at_once(levels: Levels) -> None:
    found = state_g(levels)
    assert wanted(found, [1, 2, 3]) == ("none", [])
    assert wanted(found, [3, 2, 1]) == ("none", [{"R": [3, 2, 1]}])
    assert wanted(found, [1, 2]) == ("none", [{"l": 1, "I": [1, 2], "R": [1, 2]}])
    assert wanted(found, [2, 3]) == ("none", [{"l": 2, "I": [2, 3], "R": [2, 3]}])
    assert wanted(state_g(levels, I=[1]), [1, 2]) == ("none", [{"rm": [3]}])


def test_g4_until_3_7_nobody_waits_for_those_who_stay() -> None:
    old = Levels((3, 7), 19)
    assert wanted(state_g(old, I=[1]), [1, 2]) == ("none", [{"l": 1, "R": [1, 2]}])


@of_each_release
def test_g5_the_number_of_replicas_may_be_held(levels: Levels) -> None:
    told_of = wanted(state_g(levels), [1, 2], may_change_count=False)
    at_once = ("none", [{"l": 1, "I": [1, 2], "R": [1, 2]}])
    assert told_of == (at_once if levels.release < (4, 1) else ("invalid_replication_factor", []))


@of_each_release
def test_g6_to_g9_one_target_after_the_other_and_taken_back(levels: Levels) -> None:
    found = state_g(levels)
    assert wanted(found, [6, 1, 2]) == ("none", [{"R": [6, 1, 2, 3], "rm": [3], "ad": [6]}])
    found = then(found, [6, 1, 2])
    assert wanted(found, [5, 1, 2]) == ("none", [{"R": [5, 1, 2, 3, 6], "rm": [3, 6], "ad": [5]}])
    found = then(found, [5, 1, 2])
    fourth = {"R": [1, 2, 4, 3, 5, 6], "rm": [3, 5, 6], "ad": [4]}
    assert wanted(found, [1, 2, 4], may_change_count=False) == ("none", [fourth])
    if levels.release >= (4, 1):
        assert wanted(found, [1, 2, 4, 5], may_change_count=False) == ("invalid_replication_factor", [])
    found = then(found, [1, 2, 4])
    assert wanted(found, None) == ("none", [{"l": 1, "R": [1, 2, 3, 5, 6], "rm": [], "ad": []}])


@pytest.mark.parametrize("release", [*HIGHEST_LEVELS])
def test_g10_a_way_back_that_never_ends(release: tuple[int, int]) -> None:
    found = then(state_g(Levels(release, HIGHEST_LEVELS[release]), 1, 4), [4, 5])
    assert found.partition(P0).replicas == (4, 5, 1)
    back = wanted(found, [1, 4])
    if (3, 8) <= release < (4, 3):
        assert back == ("none", [{"l": 1, "R": [1, 4], "rm": [], "ad": []}])
        return
    assert back == ("none", [{"R": [1, 4, 5], "rm": [5]}])
    stuck = then(found, [1, 4])
    assert stuck.partition(P0).adding == (5,)
    assert wanted(stuck, None) == ("none", [{"l": 1, "R": [1, 4], "rm": [], "ad": []}])


@of_each_release
def test_g11_all_replicas_elsewhere(levels: Levels) -> None:
    found = state_g(levels)
    assert wanted(found, [4, 5]) == ("none", [{"R": [4, 5, 1, 2, 3], "rm": [1, 2, 3], "ad": [4, 5]}])
    found = then(found, [4, 5])
    assert with_isr(found, 1, 4) == ("none", [(0, {"I": [1, 4]})])
    found = grown(found, 1, 4)
    assert len(decide(found, BrokerSilent(2)).records) == len(decide(found, BrokerSilent(3)).records) == 1
    done = {"l": 4, "I": [4, 5], "R": [4, 5], "rm": [], "ad": []}
    assert with_isr(found, 1, 4, 5) == ("new_leader_elected", [(0, done)])


@of_each_release
def test_g12_and_g13_taken_back_when_nobody_of_before_is_in_sync(levels: Levels) -> None:
    for unclean in (False, True):
        found = grown(then(state_g(levels, 1, 2, unclean=unclean), [3, 4, 5]), 1, 3)
        assert told(decide(found, BrokerSilent(1)).records)[0] == (0, {"l": 3, "I": [3]})
        found = found.after(decide(found, BrokerSilent(1)).records)
        if unclean:
            assert wanted(found, None) == ("none", [{"l": 2, "I": [2], "R": [1, 2], "rm": [], "ad": [], "RS": True}])
        else:
            assert wanted(found, None) == ("invalid_replica_assignment", [])


@of_each_release
def test_replicas_that_are_added_lie_in_the_only_directory(levels: Levels) -> None:
    """The only one of their brokers; UNASSIGNED of several; MIGRATING where a broker told of none."""
    brokers = [
        BrokerRegistered(broker, 100 * broker, fenced=False, directories=dirs)
        for broker, dirs in ((1, ("a",)), (2, ("b",)), (3, ("c", "d")), (4, ()))
    ]
    found = made(levels, {"foo": [part(1, D=["a"])]}, brokers)
    assert wanted(found, [1, 2, 3, 4])[1] == [
        {"R": [1, 2, 3, 4], "ad": [2, 3, 4], "D": ["a", "b", UNASSIGNED, MIGRATING]}
    ]
