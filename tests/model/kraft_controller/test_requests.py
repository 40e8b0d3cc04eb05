"""What leaders, brokers and operators are answered: worked cases D to F, run with the real classes of 4.0 to 4.4."""

from __future__ import annotations

from typing import Any

import pytest
from kio.schema.errors import ErrorCode

from model.cluster.ids import TopicPartition
from model.kraft_controller.cluster import BrokerChanged, BrokerRegistered, ConfigWritten, KraftCluster
from model.kraft_controller.decide import BrokerCaughtUp, BrokerSilent, DirectoriesFailed, ShutdownWanted, decide
from model.kraft_controller.partition_change import LOST, UNASSIGNED, Election, Levels, Registration
from model.kraft_controller.requests import (
    MOST_ELECTIONS,
    AlterPartition,
    AssignReplicasToDirs,
    ElectLeaders,
    LeaderProposal,
    alter_partition,
    assign_replicas_to_dirs,
    balance,
    elect_leaders,
    elect_uncleanly,
    unregister,
)
from tests.model.kraft_controller.clusters import RELEASES_OF_4, active, after, made, part, told

P0 = TopicPartition("foo", 0)
UNCLEAN_ON = {"topics/foo": {"unclean.leader.election.enable": "true"}}
E = ErrorCode
of_each_release = pytest.mark.parametrize("levels", [Levels(each, 23) for each in RELEASES_OF_4], ids=str)


def asked(
    cluster: KraftCluster, *isr: int, sender: int = 1, epoch: int = 0, version: int = 0, **others: Any
) -> tuple[str, list[object]]:
    """A proposal for p0, its epochs above or below the present ones."""
    state = cluster.partition(P0)
    proposal = LeaderProposal(P0, isr, state.leader_epoch + epoch, state.partition_epoch + version, **others)
    answer = alter_partition(cluster, AlterPartition(sender, 100 * sender, (proposal,)))
    return answer.errors[0].name, told(answer.records)


def cluster_e(levels: Levels, **fields: Any) -> KraftCluster:
    return made(levels, {"foo": [part(1, 2, 3, leader_epoch=5, partition_epoch=5, **fields)]}, active(1, 2, 3, 4))


# E. AlterPartition


@of_each_release
def test_e1_to_e9_why_a_proposal_is_refused(levels: Levels) -> None:
    found = cluster_e(levels)
    for name, error in ((TopicPartition("bar", 0), E.unknown_topic_id),
                        (TopicPartition("foo", 7), E.unknown_topic_or_partition)):  # fmt: skip
        request = AlterPartition(1, 100, (LeaderProposal(name, (1,), 0, 0),))
        assert alter_partition(found, request).errors == (error,)
    for epoch, version in ((1, 0), (0, 1), (1, -1), (-1, 1)):
        assert asked(found, 1, 2, epoch=epoch, version=version) == ("not_controller", [])
    assert asked(found, 1, 2, epoch=-1) == ("fenced_leader_epoch", [])
    assert asked(found, 1, 2, sender=2) == asked(found, 1, 2, sender=2, version=-1) == ("invalid_request", [])
    assert asked(found, 1, 2, version=-1) == ("invalid_update_version", [])
    for isr in ((1, 4), (1, 1), (2, 3), (), (1, -1)):
        assert asked(found, *isr) == ("invalid_request", [])
    assert asked(found, 1, 2, recovering=True) == asked(found, 1, recovering=True) == ("invalid_request", [])
    down = after(found, BrokerSilent(3))
    assert asked(down, 1, 2, 3) == ("ineligible_replica", [])
    assert asked(found, 1, 2, epochs={2: 199}) == ("ineligible_replica", [])
    leaving = made(levels, {"foo": [part(1, 2)], "other": [part(1)]}, active(1, 2))
    leaving = leaving.after([BrokerChanged(1, in_controlled_shutdown=True)])
    assert asked(leaving, 1) == ("ineligible_replica", [])
    assert alter_partition(found, AlterPartition(1, 99, ())).error is E.stale_broker_epoch


@of_each_release
def test_e7_isrs_are_lists(levels: Levels) -> None:
    found = cluster_e(levels)
    assert asked(found, 1, 2, epochs={2: 200, 1: -1}) == ("none", [(0, {"I": [1, 2]})])
    small = cluster_e(levels, I=[1, 2])
    assert asked(small, 3, 1, 2) == ("none", [(0, {"I": [3, 1, 2]})])
    assert asked(small, 1, 2) == ("none", [])
    recovering = cluster_e(levels, I=[1], RS=True)
    assert asked(recovering, 1, recovering=True) == ("none", [])
    assert asked(recovering, 1) == ("none", [(0, {"RS": False})])


@of_each_release
def test_e10_and_e11_the_leader_is_told_that_it_leads_no_more(levels: Levels) -> None:
    moving = made(levels, {"foo": [part(2, 3, 4, 1, rm=[1], ad=[4], I=[1, 2, 3], l=1)]}, active(1, 2, 3, 4))
    done = {"R": [2, 3, 4], "rm": [], "ad": []}
    assert asked(moving, 1, 2, 3, 4) == ("new_leader_elected", [(0, {"l": 2, "I": [2, 3, 4], **done})])
    single = made(levels, {"foo": [part(4, 1, rm=[1], ad=[4], I=[1], l=1)]}, active(1, 4))
    moved = {"l": 4, "I": [4], "R": [4], "rm": [], "ad": []}
    assert asked(single, 1, 4) == ("new_leader_elected", [(0, moved)])


@of_each_release
def test_e12_an_isr_that_is_large_enough_ends_the_elr(levels: Levels) -> None:
    for least, fields in (("2", {"I": [1, 3], "E": []}), ("3", {"I": [1, 3]})):
        configs = {"topics/foo": {"min.insync.replicas": least}}
        partition = part(1, 2, 3, I=[1], E=[2])
        found = made(levels._replace(elr=True), {"foo": [partition]}, active(1, 2, 3), configs)
        assert asked(found, 1, 3) == ("none", [(0, fields)])


# F. ElectLeaders and periodic elections


def state_f(levels: Levels, **fields: Any) -> KraftCluster:
    partitions = [part(1, 2, 3, **fields), part(2, 3, 1, **fields), part(3, 1, 2, **fields)]
    return made(levels, {"foo": partitions}, active(1, 2, 3))


def elected(cluster: KraftCluster, election: Election, *names: TopicPartition) -> tuple[list[str], list[object]]:
    answer = elect_leaders(cluster, ElectLeaders(election, names or None))
    return [error.name for _, error in answer.errors], told(answer.records)


@of_each_release
def test_f1_to_f5_elections_that_are_asked_for(levels: Levels) -> None:
    found = state_f(levels)
    preferred, unclean = Election.PREFERRED, Election.UNCLEAN
    assert elect_leaders(found, ElectLeaders(Election.ONLINE)).error is E.invalid_request
    for name in (TopicPartition("bar", 0), TopicPartition("foo", 9)):
        assert elected(found, preferred, name) == (["unknown_topic_or_partition"], [])
    assert elected(found, preferred, P0) == elected(found, unclean, P0) == (["election_not_needed"], [])
    assert elected(found, preferred) == ([], [])
    away = made(levels, {"foo": [part(1, 2, 3, I=[2, 3], l=2)]}, active(2, 3))
    assert elected(away, preferred, P0) == (["preferred_leader_not_available"], [])
    assert elected(away.after(active(1)), preferred, P0) == (["preferred_leader_not_available"], [])
    back = made(levels, {"foo": [part(1, 2, 3, I=[2, 3, 1], l=2)]}, active(1, 2, 3))
    assert elected(back, preferred, P0) == (["none"], [(0, {"l": 1})])
    twice = elect_leaders(back, ElectLeaders(preferred, (P0, P0)))
    assert ([error.name for _, error in twice.errors], told(twice.records)) == (["none"] * 2, [(0, {"l": 1})] * 2)
    now = back.after(twice.records).partition(P0)
    assert (now.leader_epoch, now.partition_epoch) == (2, 2)


@of_each_release
def test_f6_and_f7_unclean_elections_need_no_leave(levels: Levels) -> None:
    lost = {"I": [3], "l": -1}
    all_down = made(levels, {"foo": [part(*each, **lost) for each in ((1, 2, 3), (2, 3, 1), (3, 1, 2))]}, [])
    assert elected(all_down, Election.UNCLEAN, P0) == (["eligible_leaders_not_available"], [])
    one = all_down.after(active(1))
    assert elected(one, Election.PREFERRED, P0) == (["preferred_leader_not_available"], [])
    led = {"l": 1, "I": [1], "RS": True}
    assert elected(one, Election.UNCLEAN) == (["none"] * 3, [(number, led) for number in range(3)])


@of_each_release
def test_f8_to_f10_periodic_elections(levels: Levels) -> None:
    out = made(levels, {"foo": [part(1, 2, 3, I=[2, 3], l=2)]}, active(1, 2, 3))
    assert balance(out).records == ()
    back = made(levels, {"foo": [part(1, 2, 3, I=[2, 3, 1], l=2)]}, active(1, 2, 3))
    assert told(balance(back).records) == [(0, {"l": 1})]
    assert balance(back.after(balance(back).records)).records == ()
    many = made(levels, {"foo": [part(1, 2, l=2)] * 1200}, active(1, 2))
    first = balance(many)
    assert (len(first.records), first.goes_on) == (MOST_ELECTIONS, True)
    second = balance(many.after(first.records))
    assert (len(second.records), second.goes_on) == (200, False)
    lost = made(levels, {"foo": [part(1, 2, 3, I=[3], l=-1)]}, active(1))
    assert elect_uncleanly(lost).records == ()
    allowing = lost.after([ConfigWritten("topics/foo", "unclean.leader.election.enable", "true")])
    assert told(elect_uncleanly(allowing).records) == [(0, {"l": 1, "I": [1], "RS": True})]


@of_each_release
def test_f11_the_first_that_returns_wins(levels: Levels) -> None:
    found = made(levels, {"foo": [part(1, 2, 3)]}, active(1, 2, 3), UNCLEAN_ON)
    down = after(found, BrokerSilent(2), BrokerSilent(3))
    assert told(decide(down, BrokerSilent(1)).records) == [(0, {"l": -1}), BrokerChanged(1, fenced=True)]
    down = after(down, BrokerSilent(1))
    led = (0, {"l": 3, "I": [3], "RS": True})
    assert told(decide(down, BrokerCaughtUp(3)).records) == [BrokerChanged(3, fenced=False), led]
    up = after(down, BrokerCaughtUp(3))
    assert told(decide(up, BrokerCaughtUp(1)).records) == [BrokerChanged(1, fenced=False)]


# D. Directories


def state_d(levels: Levels) -> KraftCluster:
    """As C22 says it too: the parts of two brokers that have two directories each."""
    brokers = [
        BrokerRegistered(broker, 100 * broker, fenced=False, directories=(f"d{broker}.0", f"d{broker}.1"))
        for broker in (1, 2)
    ]
    unknown = [UNASSIGNED, UNASSIGNED]
    partitions: list[Registration] = [part(1, 2, D=unknown), part(2, 1, D=unknown), part(1, 2, D=unknown)]
    return made(levels, {"foo": partitions}, brokers)


def placed(cluster: KraftCluster, *where: tuple[int, str]) -> tuple[list[str], list[object]]:
    named = tuple((TopicPartition("foo", number), directory) for number, directory in where)
    answer = assign_replicas_to_dirs(cluster, AssignReplicasToDirs(1, 100, named))
    return [error.name for error in answer.errors], told(answer.records)


ASSIGNED = ((0, "d1.0"), (1, "d1.0"), (2, "d1.1"))


def assigned(levels: Levels) -> KraftCluster:
    found = state_d(levels)
    names = tuple((TopicPartition("foo", number), directory) for number, directory in ASSIGNED)
    return found.after(assign_replicas_to_dirs(found, AssignReplicasToDirs(1, 100, names)).records)


@of_each_release
def test_d2_brokers_say_where_replicas_are(levels: Levels) -> None:
    first = [(0, {"D": ["d1.0", UNASSIGNED]}), (1, {"D": [UNASSIGNED, "d1.0"]}), (2, {"D": ["d1.1", UNASSIGNED]})]
    assert placed(state_d(levels), *ASSIGNED) == (["none"] * 3, first)
    assert placed(assigned(levels), *ASSIGNED) == (["none"] * 3, [])
    request = AssignReplicasToDirs(1, 99, ())
    assert assign_replicas_to_dirs(state_d(levels), request).error is E.stale_broker_epoch
    old = state_d(levels._replace(metadata_version=16))
    assert assign_replicas_to_dirs(old, request).error is E.unsupported_version


@of_each_release
def test_d3_leaders_leave_a_directory_that_fails(levels: Levels) -> None:
    failed = DirectoriesFailed(1, ("d1.0",))
    found = assigned(levels)
    assert told(decide(found, failed).records) == [
        (0, {"l": 2, "I": [2]}), (1, {"I": [2]}), BrokerChanged(1, directories=("d1.1",)),
    ]  # fmt: skip
    assert decide(after(found, failed), failed).records == ()
    assert decide(found, DirectoriesFailed(1, ("elsewhere",))).records == ()


@of_each_release
def test_d4_and_d5_a_replica_that_is_where_nothing_works(levels: Levels) -> None:
    found = after(assigned(levels), DirectoriesFailed(1, ("d1.0",)))
    unknown = ((8, "d1.0"),)
    assert placed(found, *unknown) == (["unknown_topic_or_partition"], [])
    gone = AssignReplicasToDirs(1, 100, ((TopicPartition("bar", 0), LOST),))
    assert assign_replicas_to_dirs(found, gone).errors == (E.unknown_topic_id,)
    moved = [(2, {"D": ["d1.0", UNASSIGNED]}), (2, {"l": 2, "I": [2]})]
    assert placed(found, (2, "d1.0")) == (["none"], moved)
    name = TopicPartition("foo", 2)
    answer = assign_replicas_to_dirs(found, AssignReplicasToDirs(1, 100, ((name, "d1.0"),)))
    after_it = found.after(answer.records)
    state = after_it.partition(name)
    assert (state.leader, state.partition_epoch) == (2, 3)
    wanted = LeaderProposal(name, (2, 1), state.leader_epoch, state.partition_epoch)
    grown = alter_partition(after_it, AlterPartition(2, 200, (wanted,)))
    assert (grown.errors, told(grown.records)) == ((E.none,), [(2, {"I": [2, 1]})])
    assert elected(after_it.after(grown.records), Election.PREFERRED, name)[0] == ["preferred_leader_not_available"]
    assert not after(after_it, ShutdownWanted(1)).brokers[1].is_active


@of_each_release
def test_replicas_of_others_are_not_placed(levels: Levels) -> None:
    brokers = [BrokerRegistered(broker, 100 * broker, fenced=False, directories=("d",)) for broker in (1, 2)]
    found = made(levels, {"foo": [part(2, D=["d"])]}, brokers)
    assert placed(found, (0, "d")) == (["not_leader_or_follower"], [])


@of_each_release
def test_c21_and_c22_unregistered_once(levels: Levels) -> None:
    found = cluster_e(levels)
    answer = unregister(found, 1)
    assert (answer.error, told(answer.records)[0]) == (E.none, (0, {"l": 2, "I": [2, 3]}))
    assert unregister(found.after(answer.records), 1).error is E.broker_id_not_registered
