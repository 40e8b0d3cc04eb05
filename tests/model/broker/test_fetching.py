"""What a follower fetches next, and what it makes of the answers (Kafka's AbstractFetcherThreadTest)."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import msgspec
import pytest

from model.broker.commands import FetchState
from model.broker.partition import LATEST, LogPositions, ReplicationRules, replication_rules_of
from model.broker.replication import (
    FetchAnswer,
    FetcherId,
    FetchRound,
    Verdict,
    fetcher_of,
    judge_epoch_end,
    judge_fetch,
    plan_round,
    settle,
)
from model.cluster.ids import TopicPartition
from tests.model.broker.partitions import NAME, log_to

LOG = log_to(10, (3, 0))
STATE = FetchState(NAME, 1, 5, 10, 3)


def plan_fetches(
    states: Iterable[FetchState],
    logs: Callable[[TopicPartition], LogPositions],
    now_ms: int,
    rules: ReplicationRules,
    fetchers: int = 1,
) -> dict[FetcherId, FetchRound]:
    """A round for each fetcher that has a partition, even if all of them back off."""
    by_fetcher: dict[FetcherId, list[FetchState]] = {}
    for state in states:
        by_fetcher.setdefault(fetcher_of(state.partition, state.leader, fetchers), []).append(state)
    return {fetcher: plan_round(of_it, logs, now_ms, rules) for fetcher, of_it in sorted(by_fetcher.items())}


def test_what_is_fine_is_appended_and_fetched_on() -> None:
    assert judge_fetch(STATE, STATE, FetchAnswer(high_watermark=9), LOG).verdict is Verdict.APPEND
    assert settle(STATE, log_to(12, (3, 0), (5, 11)), LATEST) == FetchState(NAME, 1, 5, 12, 5)


def test_a_divergence_is_cut() -> None:
    judgement = judge_fetch(STATE, STATE, FetchAnswer(diverging=(3, 8)), LOG)
    assert judgement.verdict is Verdict.TRUNCATE
    assert judgement.truncation is not None
    assert judgement.truncation.state.offset == 8


@pytest.mark.parametrize(
    "now",
    [None, FetchState(NAME, 1, 5, 8, 3), FetchState(NAME, 2, 6, 10, 3), FetchState(NAME, 1, 5, 10, truncating=True)],
    ids=["stopped", "elsewhere", "another leader", "truncating"],
)
def test_an_answer_to_what_is_not_wanted_any_more_is_ignored(now: FetchState | None) -> None:
    assert judge_fetch(now, STATE, FetchAnswer(), LOG).verdict is Verdict.IGNORE


@pytest.mark.parametrize(
    ("error", "verdict"),
    [
        ("OFFSET_OUT_OF_RANGE", Verdict.ASK_OFFSETS),
        ("FENCED_LEADER_EPOCH", Verdict.GIVE_UP),
        ("UNKNOWN_LEADER_EPOCH", Verdict.BACK_OFF),
        ("NOT_LEADER_OR_FOLLOWER", Verdict.BACK_OFF),
        ("UNKNOWN_TOPIC_OR_PARTITION", Verdict.BACK_OFF),
        ("UNKNOWN_TOPIC_ID", Verdict.BACK_OFF),
        ("KAFKA_STORAGE_ERROR", Verdict.BACK_OFF),
    ],
)
def test_each_error_has_its_verdict(error: str, verdict: Verdict) -> None:
    judgement = judge_fetch(STATE, STATE, FetchAnswer(error), LOG)
    assert judgement.verdict is verdict
    assert judgement.why == f"orders-0: broker 1 answers a fetch at offset 10 with {error}."


def test_who_was_fenced_for_an_epoch_it_has_left_tries_again() -> None:
    newer = msgspec.structs.replace(STATE, leader_epoch=6)
    assert judge_fetch(newer, STATE, FetchAnswer("FENCED_LEADER_EPOCH"), LOG).verdict is Verdict.BACK_OFF


def test_answers_about_epochs() -> None:
    asked = FetchState(NAME, 1, 5, 4, truncating=True)
    cut = judge_epoch_end(asked, asked, "NONE", (3, 8), LOG)
    assert cut.truncation is not None
    assert cut.truncation.state == FetchState(NAME, 1, 5, 8)
    assert judge_epoch_end(asked, asked, "FENCED_LEADER_EPOCH", (-1, -1), LOG).verdict is Verdict.GIVE_UP
    assert judge_epoch_end(asked, asked, "UNKNOWN_LEADER_EPOCH", (-1, -1), LOG).verdict is Verdict.BACK_OFF
    assert judge_epoch_end(STATE, asked, "NONE", (3, 8), LOG).verdict is Verdict.IGNORE


def test_a_round_fetches_asks_cuts_and_waits() -> None:
    names = [TopicPartition("orders", number) for number in range(4)]
    fetching, truncating, without_epochs, backing_off = (
        FetchState(names[0], 1, 5, 10, 3),
        FetchState(names[1], 1, 5, 4, truncating=True),
        FetchState(names[2], 1, 5, 4, truncating=True),
        FetchState(names[3], 1, 5, 10, 3).wait_until(2_000),
    )
    logs = dict.fromkeys(names, LOG) | {names[2]: log_to(10)}
    states = [fetching, truncating, without_epochs, backing_off]
    plan = plan_round(states, logs.__getitem__, 1_000, replication_rules_of("0.11"))
    assert plan == FetchRound((fetching,), ((truncating, 3),), (without_epochs,), 2_000)
    assert plan_round(states, logs.__getitem__, 2_000, replication_rules_of("0.11")).fetches == (fetching, backing_off)


def test_each_leader_has_its_fetchers() -> None:
    states = [FetchState(TopicPartition("orders", number), 1 + number % 2, 5, 10, 3) for number in range(4)]
    plan = plan_fetches(states, lambda _: LOG, 0, LATEST)
    assert {fetcher: round_.fetches for fetcher, round_ in plan.items()} == {
        FetcherId(1): (states[0], states[2]),
        FetcherId(2): (states[1], states[3]),
    }


@pytest.mark.parametrize(
    ("topic", "partition", "number"),
    [("orders", 0, 6), ("orders", 7, 6), ("a", 0, 4), ("polygenelubricants", 0, 0), ("polygenelubricants", 7, 2)],
)
def test_a_partition_keeps_its_fetcher_as_in_kafka(topic: str, partition: int, number: int) -> None:
    """By `Utils.abs(31 * hashCode + partition)` of Kafka 3.9.1, seven fetchers; the last hash has no opposite."""
    assert fetcher_of(TopicPartition(topic, partition), 1, 7).number == number
