"""Where followers cut their logs (Kafka's LeaderEpochFileCacheTest, ReplicaFetcherThreadTest, KIP-101, KIP-279)."""

from __future__ import annotations

import pytest

from model.broker.commands import FetchState, RestartLog, TruncateLog
from model.broker.partition import NoEpochs, replication_rules_of
from model.broker.replication import (
    epoch_to_ask,
    initial_fetch_state,
    out_of_range,
    settle,
    truncate_by_epoch,
    truncate_unasked,
)
from model.broker.serving import EpochEnd, look_up_epoch_end
from model.controller.leader_and_isr import LeaderAndIsr
from tests.model.broker.partitions import NAME, leader_of, log_to

TRUNCATING = FetchState(NAME, 1, 5, 4, truncating=True)
LEADER_STATE = LeaderAndIsr(1, 5, (1, 2))


@pytest.mark.parametrize(
    ("asked", "epoch", "end"),
    [
        pytest.param(-1, -1, -1, id="undefined"),
        pytest.param(7, 7, 20, id="the latest ends at the log's end"),
        pytest.param(8, -1, -1, id="newer than all"),
        pytest.param(4, 4, 11, id="ends where the next begins"),
        pytest.param(3, 2, 9, id="a gap: the one before"),
        pytest.param(1, 1, 6, id="older than all: by its own name"),
    ],
)
def test_a_leader_says_where_an_epoch_ends(asked: int, epoch: int, end: int) -> None:
    log = log_to(20, (2, 6), (4, 9), (7, 11))
    partition = leader_of(log, leader_epoch=7)
    assert look_up_epoch_end(partition, 7, asked, log) == EpochEnd("NONE", epoch, end)


def test_of_another_leader_epoch_it_says_nothing() -> None:
    log = log_to(20, (7, 0))
    partition = leader_of(log, leader_epoch=7)
    assert look_up_epoch_end(partition, 6, 7, log) == EpochEnd("FENCED_LEADER_EPOCH")
    assert look_up_epoch_end(partition, 8, 7, log) == EpochEnd("UNKNOWN_LEADER_EPOCH")


@pytest.mark.parametrize(
    ("epoch", "end", "cut_at", "complete"),
    [
        pytest.param(-1, -1, 4, True, id="the leader knows nothing: the high watermark"),
        pytest.param(-1, 7, 7, True, id="an answer without epoch: its offset"),
        pytest.param(-1, 70, 10, True, id="an answer beyond the log"),
        pytest.param(3, 9, 9, True, id="the same epoch, ended earlier there"),
        pytest.param(3, 50, 10, True, id="the same epoch, longer there"),
        pytest.param(1, 5, 5, True, id="an older epoch, as long here"),
        pytest.param(1, 4, 4, True, id="an older epoch, shorter there"),
        pytest.param(2, 8, 6, False, id="an epoch unknown here: the end of the one before, and another question"),
        pytest.param(0, 9, 2, True, id="older than all here: at most to where the first begins"),
    ],
)
def test_a_follower_cuts_by_the_answer(epoch: int, end: int, cut_at: int, complete: bool) -> None:
    log = log_to(10, (1, 2), (3, 6))
    decision = truncate_by_epoch(TRUNCATING, epoch, end, log)
    assert decision.state.offset == cut_at
    assert decision.state.truncating is not complete
    cuts = [command.end_offset for command in decision.commands if isinstance(command, TruncateLog)]
    assert cuts == ([] if decision.state.offset >= 10 else [decision.state.offset])


def test_an_epoch_in_which_nothing_was_written_is_forgotten() -> None:
    """A leader that was overthrown at once: without this it would be told of the divergence again and again."""
    log = log_to(20, (0, 0), (4, 20))
    cut = truncate_by_epoch(FetchState(NAME, 2, 7, 20, last_fetched_epoch=4), 0, 20, log)
    assert cut.commands == (TruncateLog(NAME, 20),)
    assert cut.reasons == (
        "orders-0: leader epoch 4, in which nothing was written, is forgotten: "
        "epoch 0 of the leader ends at offset 20.",
    )
    assert settle(cut.state, log_to(20, (0, 0)), replication_rules_of("3.9")).last_fetched_epoch == 0


def test_what_is_cut_is_said() -> None:
    decision = truncate_by_epoch(TRUNCATING, 3, 9, log_to(10, (1, 2), (3, 6)))
    assert decision.reasons == (
        "orders-0: the log is cut from offset 10 back to 9: epoch 3 of the leader ends at offset 9.",
    )


def test_logs_that_part_in_an_epoch_the_follower_never_had_take_several_questions() -> None:
    """KIP-279: fast leader changes."""
    leader = log_to(9, (0, 0), (2, 5), (4, 7))
    follower = log_to(12, (0, 0), (1, 3), (3, 8))
    state, asked = TRUNCATING, list[int]()
    rules = replication_rules_of("2.0")
    while (epoch := epoch_to_ask(state, follower, rules)) is not None:
        asked.append(epoch)
        end = look_up_epoch_end(leader_of(leader, leader_epoch=4), None, epoch, leader)
        decision = truncate_by_epoch(state, end.leader_epoch, end.end_offset, follower)
        cut = decision.state.offset
        follower = log_to(cut, *(each for each in ((0, 0), (1, 3), (3, 8)) if each[1] < cut))
        state = settle(decision.state, follower, rules)
    assert asked == [3, 1]
    assert follower.end == 3


@pytest.mark.parametrize(
    ("release", "begins", "last_epoch", "truncating", "asks"),
    [
        ("0.10.2", 4, None, True, None),
        ("0.11", 4, None, True, 3),
        ("2.6", 4, None, True, 3),
        ("2.7", 10, 3, False, None),
    ],
)
def test_how_a_new_follower_begins(
    release: str, begins: int, last_epoch: int | None, truncating: bool, asks: int | None
) -> None:
    log, rules = log_to(10, (1, 2), (3, 6)), replication_rules_of(release)
    state = initial_fetch_state(NAME, LEADER_STATE, 4, log, rules)
    assert state == FetchState(NAME, 1, 5, begins, last_epoch, truncating)
    assert epoch_to_ask(state, log, rules) == asks


@pytest.mark.parametrize("release", ["0.10.2", "0.11", "2.7", "3.9"])
def test_a_log_without_epochs_is_cut_at_the_high_watermark(release: str) -> None:
    log, rules = log_to(10), replication_rules_of(release)
    state = initial_fetch_state(NAME, LEADER_STATE, 4, log, rules)
    assert epoch_to_ask(state, log, rules) is None
    assert truncate_unasked(state, log).commands == (TruncateLog(NAME, 4),)
    assert NoEpochs().end_offset_for(0, 10) == (-1, -1)


def test_after_an_unclean_election_the_follower_ends_where_its_leader_does() -> None:
    decision = out_of_range(FetchState(NAME, 1, 5, 10), 0, 7, log_to(10))
    assert decision.commands == (TruncateLog(NAME, 7),)
    assert decision.state.offset == 7
    assert "3 records before this one" in decision.reasons[0]


def test_a_leader_that_ends_where_this_log_does_cuts_nothing_off() -> None:
    decision = out_of_range(FetchState(NAME, 1, 5, 12), 0, 10, log_to(10))
    assert (decision.commands, decision.reasons) == ((), ())


def test_a_leader_that_has_deleted_what_comes_next_is_fetched_from_its_start() -> None:
    decision = out_of_range(FetchState(NAME, 1, 5, 10), 15, 20, log_to(10))
    assert decision.commands == (RestartLog(NAME, 15),)
    assert decision.state.offset == 15


def test_a_leader_that_is_only_ahead_loses_nothing() -> None:
    decision = out_of_range(FetchState(NAME, 1, 5, 4), 6, 20, log_to(10))
    assert decision.commands == ()
    assert decision.state.offset == 10
