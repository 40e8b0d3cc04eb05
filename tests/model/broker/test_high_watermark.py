"""How far records are committed, for a leader and for a follower (Kafka's PartitionTest)."""

from __future__ import annotations

import msgspec
import pytest

from model.broker.isr import record_append, record_fetch
from model.broker.partition import Conditions, Partition, follow_high_watermark
from tests.model.broker.partitions import START_MS, at, follower_of, leader_of, log_to


def fetched(partition: Partition, end: int, conditions: Conditions, **offsets: int) -> Partition:
    """After followers fetched, named as `broker_2=10`."""
    for follower, offset in offsets.items():
        number = int(follower.removeprefix("broker_"))
        partition = record_fetch(partition, number, offset, log_to(end), conditions).partition
    return partition


def test_it_is_the_least_log_end_of_the_isr() -> None:
    partition = leader_of(log_to(10))
    assert partition.high_watermark == 0
    assert fetched(partition, 10, at(), broker_2=8).high_watermark == 0
    assert fetched(partition, 10, at(), broker_2=8, broker_3=9).high_watermark == 8
    assert fetched(partition, 10, at(), broker_2=10, broker_3=10).high_watermark == 10


def test_a_leader_alone_in_the_isr_commits_what_it_appends() -> None:
    partition = leader_of(log_to(10), isr=(1,), high_watermark=4)
    assert partition.high_watermark == 10
    assert record_append(partition, log_to(12), at()).high_watermark == 12


def test_it_does_not_go_back_while_the_leader_leads() -> None:
    partition = fetched(leader_of(log_to(10)), 10, at(), broker_2=10, broker_3=10)
    assert fetched(partition, 10, at(), broker_2=3).high_watermark == 10


def test_a_follower_that_was_proposed_counts_before_the_answer() -> None:
    partition = fetched(leader_of(log_to(10), isr=(1, 2)), 10, at(), broker_2=10, broker_3=10)
    assert partition.state.isr == (1, 2)
    assert partition.maximal_isr == (1, 2, 3)
    assert fetched(partition, 12, at(), broker_2=12).high_watermark == 10


@pytest.mark.parametrize(("release", "high_watermark"), [("0.10.1", 12), ("0.10.2", 10)])
def test_since_0_10_2_it_waits_for_who_is_about_to_join(release: str, high_watermark: int) -> None:
    now = at(release=release)
    partition = fetched(leader_of(log_to(10), isr=(1, 2), conditions=now), 10, now, broker_2=10, broker_3=10)
    assert partition.leading is not None
    refused = partition.lead(pending=None)
    assert fetched(refused, 12, now, broker_2=12).high_watermark == high_watermark


def test_it_does_not_wait_for_who_has_lagged_for_too_long() -> None:
    partition = fetched(leader_of(log_to(10), isr=(1, 2)), 10, at(), broker_2=10, broker_3=10).lead(pending=None)
    late = at(START_MS + 30_001)
    assert fetched(partition, 12, late, broker_2=12).high_watermark == 12


def test_nor_for_a_broker_that_is_not_live_since_3_3() -> None:
    partition = fetched(leader_of(log_to(10), isr=(1, 2)), 10, at(), broker_2=10, broker_3=10).lead(pending=None)
    without_3 = msgspec.structs.replace(at(), live_brokers=frozenset({1, 2}))
    assert fetched(partition, 12, without_3, broker_2=12).high_watermark == 12


@pytest.mark.parametrize(("release", "high_watermark"), [("3.6", 10), ("3.7", 0)])
def test_since_3_7_it_stands_still_below_the_min_isr(release: str, high_watermark: int) -> None:
    now = at(release=release, min_insync_replicas=2)
    assert leader_of(log_to(10), isr=(1,), conditions=now).high_watermark == high_watermark


def test_the_min_isr_is_never_more_than_the_replicas_since_3_7() -> None:
    now = at(min_insync_replicas=5)
    assert now.min_isr(3) == 3
    assert at(release="3.6", min_insync_replicas=5).min_isr(3) == 5


@pytest.mark.parametrize(
    ("leaders", "end", "own"), [(5, 10, 5), (10, 5, 5), (0, 10, 2), (7, 7, 7)], ids=["leader", "end", "start", "equal"]
)
def test_a_follower_takes_its_leaders_as_far_as_its_log_goes(leaders: int, end: int, own: int) -> None:
    log = log_to(end, start=2)
    assert follow_high_watermark(follower_of(1, log), leaders, log).high_watermark == own


def test_a_followers_may_go_back() -> None:
    log = log_to(10)
    ahead = follow_high_watermark(follower_of(1, log), 9, log)
    assert follow_high_watermark(ahead, 6, log).high_watermark == 6


def test_a_new_leader_starts_from_what_it_knew() -> None:
    assert leader_of(log_to(10), high_watermark=7).high_watermark == 7
    assert leader_of(log_to(5), high_watermark=7).high_watermark == 5
