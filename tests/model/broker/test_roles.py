"""Becoming leader and follower (Kafka's PartitionTest: makeLeader, makeFollower)."""

from __future__ import annotations

import msgspec

from model.broker.commands import StartFetching, StartLeaderEpoch, StopFetching
from model.broker.isr import record_fetch
from model.broker.roles import become_follower, become_leader, start_fetching, take_on
from model.controller.leader_and_isr import LeaderAndIsr
from tests.model.broker.partitions import NAME, START_MS, at, follower_of, leader_of, log_to, order


def test_a_leader_notes_where_its_epoch_starts_before_it_writes() -> None:
    told = order(1, leader_epoch=4)
    log = log_to(10, (0, 0), (3, 6))
    decision = become_leader(take_on(NAME, 1, log), told, log, at())
    assert decision.commands == (StopFetching(NAME), StartLeaderEpoch(NAME, 4, 10))
    assert decision.partition.leading is not None
    assert decision.partition.leading.epoch_start_offset == 10
    assert decision.reasons == ("orders-0: broker 1 leads in epoch 4 from offset 10, ISR [1, 2, 3].",)


def test_in_sync_followers_of_a_new_leader_have_time_and_others_have_not() -> None:
    leading = leader_of(log_to(10), isr=(1, 2)).leading
    assert leading is not None
    assert {follower: progress.caught_up_ms for follower, progress in leading.followers.items()} == {2: START_MS, 3: 0}
    assert {progress.log_end for progress in leading.followers.values()} == {-1}


def test_a_leader_that_is_elected_again_keeps_what_it_knows_of_its_followers() -> None:
    log = log_to(10)
    partition = record_fetch(leader_of(log), 2, 8, log, at()).partition
    again = become_leader(partition, order(1, 1, partition_epoch=1), log_to(12), at(START_MS + 500)).partition
    assert again.leading is not None
    assert (again.leading.epoch_start_offset, again.leading.since_ms) == (12, START_MS + 500)
    assert again.leading.followers[2].log_end == 8
    assert again.leading.followers[2].caught_up_ms == START_MS + 500


def test_a_leader_counts_as_recovered() -> None:
    told = msgspec.structs.replace(order(1), state=LeaderAndIsr(1, 3, (1,), recovering=True))
    assert not become_leader(take_on(NAME, 1, log_to(0)), told, log_to(0), at()).partition.state.recovering


def test_an_older_partition_epoch_changes_nothing() -> None:
    leader = msgspec.structs.replace(leader_of(log_to(5)), state=LeaderAndIsr(1, 0, (1, 2), partition_epoch=7))
    assert become_leader(leader, order(1, 1, partition_epoch=6), log_to(5), at()).partition == leader
    follower = msgspec.structs.replace(follower_of(1, log_to(5)), state=leader.state)
    assert become_follower(follower, order(3, 1, partition_epoch=6), log_to(5)).partition == follower


def test_the_same_leader_epoch_updates_replicas_and_isr_and_no_more() -> None:
    leader = leader_of(log_to(5), isr=(1, 2, 3))
    told = order(1, 0, (1, 2), partition_epoch=1, replicas=(1, 2))
    decision = become_leader(leader, told, log_to(9), at())
    assert decision.commands == ()
    assert decision.partition.state.isr == (1, 2)
    assert decision.partition.leading is not None
    assert set(decision.partition.leading.followers) == {2}
    assert decision.partition.leading.epoch_start_offset == 5


def test_what_was_pending_is_forgotten() -> None:
    log = log_to(5)
    partition = record_fetch(leader_of(log, isr=(1, 2)), 3, 5, log, at()).partition
    assert partition.maximal_isr == (1, 2, 3)
    again = become_leader(partition, order(1, 1, (1, 2), partition_epoch=1), log, at()).partition
    assert again.maximal_isr == (1, 2)


def test_a_new_epoch_restarts_the_fetching_from_the_same_leader_too() -> None:
    log = log_to(5, (0, 0))
    follower = follower_of(1, log)
    same = become_follower(follower, order(1, 0, partition_epoch=1), log)
    assert same.commands == ()
    newer = start_fetching(become_follower(follower, order(1, 1, partition_epoch=1), log), log, at())
    assert [type(command) for command in newer.commands] == [StopFetching, StartFetching]


def test_a_leader_that_follows_forgets_its_followers() -> None:
    decision = become_follower(leader_of(log_to(5)), order(2, 1, partition_epoch=1), log_to(5))
    assert not decision.partition.leads
    assert decision.reasons == ("orders-0: broker 1 follows broker 2 in epoch 1.",)
