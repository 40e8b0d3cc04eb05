"""When a leader asks for a follower to leave the ISR, by release (Kafka's IsrExpirationTest and PartitionTest)."""

from __future__ import annotations

import pytest

from model.broker.commands import ProposeIsr
from model.broker.isr import check_isr, record_fetch
from model.broker.partition import Conditions, Partition
from tests.model.broker.partitions import START_MS, at, leader_of, log_to

LAG_MS = 30_000


def fetch(partition: Partition, follower: int, offset: int, end: int, conditions: Conditions) -> Partition:
    return record_fetch(partition, follower, offset, log_to(end), conditions).partition


def leaving(partition: Partition, end: int, conditions: Conditions) -> tuple[int, ...]:
    """Followers that the leader asks to leave."""
    for command in check_isr(partition, log_to(end), conditions).commands:
        assert isinstance(command, ProposeIsr)
        return tuple(replica for replica in partition.state.isr if replica not in command.proposal.isr)
    return ()


def both_at(offset: int, end: int, conditions: Conditions) -> Partition:
    partition = leader_of(log_to(0), conditions=conditions)
    return fetch(fetch(partition, 2, offset, end, conditions), 3, offset, end, conditions)


def test_a_follower_without_progress_leaves() -> None:
    partition = both_at(10, 15, at())
    assert leaving(partition, 15, at(START_MS + LAG_MS)) == ()
    assert leaving(partition, 15, at(START_MS + LAG_MS + 1)) == (2, 3)


def test_a_follower_that_never_fetched_leaves_but_not_before_it_had_time() -> None:
    partition = leader_of(log_to(10))
    assert leaving(partition, 10, at(START_MS + LAG_MS)) == ()
    assert leaving(partition, 10, at(START_MS + LAG_MS + 1)) == (2, 3)


def test_a_follower_that_fetches_and_never_reaches_the_end_leaves() -> None:
    partition, end = leader_of(log_to(10)), 10
    for round_ in range(4):
        now = at(START_MS + round_ * LAG_MS // 3)
        partition = fetch(partition, 2, round_, end, now)
        partition = fetch(partition, 3, end, end, now)
        end += 10
    # Its lag counts from the last time it had all there was: when this leader began.
    assert leaving(partition, end, at(START_MS + LAG_MS + 1)) == (2,)


def test_a_follower_that_reaches_the_end_as_of_its_last_fetch_stays() -> None:
    partition, end = leader_of(log_to(10)), 10
    for round_ in range(10):
        now = at(START_MS + round_ * LAG_MS // 2)
        partition = fetch(fetch(partition, 2, end - 10, end, now), 3, end, end, now)
        end += 10  # always one batch behind, and never longer than the time between two fetches
    assert leaving(partition, end - 10, at(START_MS + 9 * LAG_MS // 2 + 1)) == ()


@pytest.mark.parametrize(("release", "leaves"), [("1.1", (2, 3)), ("2.1", (2, 3)), ("2.2", ()), ("3.9", ())])
def test_an_idle_partition_keeps_its_isr_since_2_2(release: str, leaves: tuple[int, ...]) -> None:
    now = at(release=release)
    partition = both_at(10, 10, now)
    later = at(START_MS + now.settings.replica_lag_time_max_ms + 1, release)
    assert leaving(partition, 10, later) == leaves


@pytest.mark.parametrize(("release", "limit_ms"), [("2.4", 10_000), ("2.5", 30_000)])
def test_the_limit_grew_in_2_5(release: str, limit_ms: int) -> None:
    partition = both_at(0, 1, at(release=release))
    assert leaving(partition, 1, at(START_MS + limit_ms, release)) == ()
    assert leaving(partition, 1, at(START_MS + limit_ms + 1, release)) == (2, 3)


@pytest.mark.parametrize("release", ["0.8.0", "0.8.1", "0.8.2"])
def test_up_to_0_8_2_too_many_messages_are_enough(release: str) -> None:
    partition = both_at(10, 10, at(release=release))
    assert leaving(partition, 4_010, at(release=release)) == ()
    assert leaving(partition, 4_011, at(release=release)) == (2, 3)
    assert leaving(partition, 4_011, at(release="0.9")) == ()


@pytest.mark.parametrize(("release", "leaves"), [("0.8.0", ()), ("0.8.1", (2, 3))])
def test_0_8_0_alone_forgave_silence_without_lag(release: str, leaves: tuple[int, ...]) -> None:
    partition = both_at(10, 10, at(release=release))
    assert leaving(partition, 10, at(START_MS + 10_001, release)) == leaves


def test_up_to_0_8_2_a_follower_that_lags_but_fetches_stays() -> None:
    partition = both_at(0, 4_000, at(release="0.8.2"))
    late = at(START_MS + 60_000, "0.8.2")
    assert leaving(fetch(fetch(partition, 2, 1, 4_000, late), 3, 1, 4_000, late), 4_000, late) == ()


def test_what_is_said_names_the_time_and_the_lag() -> None:
    partition = both_at(10, 15, at())
    decision = check_isr(partition, log_to(20), at(START_MS + LAG_MS + 1))
    assert decision.reasons == (
        "orders-0: broker 2 had not caught up for 30001 ms (it lacks 10 records), it leaves the ISR.",
        "orders-0: broker 3 had not caught up for 30001 ms (it lacks 10 records), it leaves the ISR.",
    )
