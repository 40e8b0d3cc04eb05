"""What a leader tells those that fetch, what is committed by that, and when it resigns (LeaderState 4.3)."""

from __future__ import annotations

import pytest

from model.observer.messages import NOBODY, UNKNOWN, LogPosition
from model.raft.messages import (
    Commit,
    EndQuorumEpoch,
    Exit,
    FetchAnswer,
    FetchSnapshot,
    LogCleaned,
    RequestReceived,
    SendAnswer,
    SnapshotAnswer,
    SnapshotMade,
    StepDown,
    StopWanted,
    TimePassed,
)
from model.raft.node import Leader, Resigned
from model.raft.raft_log import RaftLog, VoterSet
from tests.model.raft.replica import Replica, fetch, leader, log_of, propose, voters

SEEN = log_of((1, 131), (2, 149), voting=voters(1, 2, 3))
"""Epochs of a real quorum; its leader is elected in epoch 3, and writes up to offset 164."""


def seen(*, snapshot: bool = True) -> Replica:
    replica = leader(1, SEEN)
    propose(replica, 164 - replica.node.log.end)
    if snapshot:
        replica.tell(SnapshotMade(LogPosition(0, 0)))
        replica.tell(SnapshotMade(LogPosition(158, 3)))
    return replica


@pytest.mark.parametrize(
    ("offset", "epoch", "told"),
    [
        (0, 0, "snapshot 158-3"),
        (140, 1, "diverging 131-1"),
        (131, 1, "records"),
        (149, 2, "records"),
        (131, 2, "records"),
        (10, 0, "diverging 0-0"),
        (100_000, 3, "diverging 164-3"),
    ],
)
def test_a_fetch_is_told_what_real_leaders_tell(offset: int, epoch: int, told: str) -> None:
    replica = seen()
    answer = replica.ask(fetch(2, 3, LogPosition(offset, epoch)), FetchAnswer)
    (command,) = [each for each in replica.commands if isinstance(each, SendAnswer)]
    if told == "records":
        assert (answer.snapshot, answer.diverging, command.records_from) == (None, None, offset)
    else:
        kind, position = told.split()
        assert str(answer.snapshot if kind == "snapshot" else answer.diverging) == position


def test_the_snapshot_of_a_formatted_directory_is_never_told() -> None:
    replica = seen(snapshot=False)
    replica.tell(SnapshotMade(LogPosition(0, 0)))
    replica.ask(fetch(2, 3, LogPosition(0, 0)), FetchAnswer)
    assert [each.records_from for each in replica.commands if isinstance(each, SendAnswer)] == [0]


def test_who_is_below_the_logs_start_reads_the_snapshot_first() -> None:
    replica = seen()
    replica.tell(LogCleaned(LogPosition(158, 3)))
    for position in (LogPosition(140, 2), LogPosition(158, 2)):
        assert replica.ask(fetch(2, 3, position), FetchAnswer).snapshot == LogPosition(158, 3)


@pytest.mark.parametrize(
    ("request_epoch", "end", "error"),
    [
        (2, LogPosition(0, 0), "FENCED_LEADER_EPOCH"),
        (4, LogPosition(0, 0), "UNKNOWN_LEADER_EPOCH"),
        (3, LogPosition(-1, 0), "INVALID_REQUEST"),
        (3, LogPosition(10, 4), "INVALID_REQUEST"),
    ],
)
def test_fetches_that_are_refused(request_epoch: int, end: LogPosition, error: str) -> None:
    replica = seen()
    assert replica.ask(fetch(2, request_epoch, end), FetchAnswer).known.error == error
    assert replica.node.epoch == 3, "a larger epoch does not move a leader here"


@pytest.mark.parametrize(
    ("start", "ends", "mark"),
    [(7, (10, 8, 5), 8), (7, (10, 7, 5), UNKNOWN), (8, (10, 8, 5), UNKNOWN), (5, (10, 9, 6, 2), 6)],
)
def test_what_a_majority_has_is_committed_from_the_leaders_own_epoch_on(
    start: int, ends: tuple[int, ...], mark: int
) -> None:
    voting = VoterSet.of(voters(*range(1, len(ends) + 1)).voters, 0)
    replica = leader(1, log_of((1, start), voting=voting))
    propose(replica, ends[0] - replica.node.log.end)
    epoch = replica.node.epoch
    for id_, end in enumerate(ends[1:], start=2):
        replica.ask(fetch(id_, epoch, LogPosition(end, epoch if end > start else 1)), FetchAnswer)
    assert isinstance(replica.role, Leader)
    assert replica.role.high_watermark == mark


def test_an_observer_without_an_id_commits_nothing() -> None:
    replica = seen()
    replica.ask(fetch(NOBODY, 3, LogPosition(164, 3)), FetchAnswer)
    assert isinstance(replica.role, Leader)
    assert (replica.role.high_watermark, dict(replica.role.replicas)) == (UNKNOWN, {})


def test_who_has_it_all_waits_for_records_or_for_news_of_what_is_committed() -> None:
    replica = seen()
    waits = fetch(2, 3, LogPosition(164, 3), max_wait_ms=500)
    commands = replica.tell(RequestReceived(1, waits))
    assert Commit(164) in commands, "two of three have it"
    (answer,) = [each for each in commands if isinstance(each, SendAnswer)]
    assert isinstance(answer.reply, FetchAnswer)
    assert (answer.reply.high_watermark, answer.records_from) == (164, UNKNOWN), "its own mark was none"
    known = fetch(2, 3, LogPosition(164, 3), 164, 500)
    assert not [each for each in replica.tell(RequestReceived(2, known)) if isinstance(each, SendAnswer)]
    propose(replica, 1)
    assert [(each.number, each.records_from) for each in replica.commands if isinstance(each, SendAnswer)] == [(2, 164)]
    replica.tell(RequestReceived(3, fetch(2, 3, LogPosition(165, 3), 165, 500)))
    replica.wait(500, TimePassed())
    assert [each.number for each in replica.commands if isinstance(each, SendAnswer)] == [3]


def test_a_leader_that_no_majority_follows_resigns_after_three_seconds() -> None:
    replica = seen()
    replica.wait(2_900, TimePassed())
    replica.ask(fetch(3, 3, LogPosition(164, 3)), FetchAnswer)
    replica.wait(2_900, TimePassed())
    assert isinstance(replica.role, Leader)
    replica.tell(RequestReceived(7, fetch(NOBODY, 3, LogPosition(164, 3), 164, 500)))
    replica.wait(200, TimePassed())
    assert isinstance(replica.role, Resigned)
    assert StepDown(3) in replica.commands
    (answer,) = [each for each in replica.commands if isinstance(each, SendAnswer)]
    assert answer.reply.known.error == "NOT_LEADER_OR_FOLLOWER"


def test_the_only_voter_never_resigns() -> None:
    replica = leader(1, log_of((1, 5), voting=voters(1)))
    replica.wait(60_000, TimePassed())
    assert isinstance(replica.role, Leader)


def test_a_leader_that_stops_names_its_successors_and_waits_for_the_next() -> None:
    replica = seen()
    replica.ask(fetch(3, 3, LogPosition(164, 3)), FetchAnswer)
    replica.ask(fetch(2, 3, LogPosition(150, 3)), FetchAnswer)
    replica.tell(StopWanted())
    assert not any(isinstance(each, Exit) for each in replica.commands)
    sent = [request for _, request in replica.sent(EndQuorumEpoch)]
    assert [key.id for key in sent[0].successors] == [3, 2]
    replica.wait(5_000, TimePassed())
    assert Exit() in replica.commands


@pytest.mark.parametrize(
    ("snapshot", "position", "error"),
    [
        (LogPosition(158, 3), 0, "NONE"),
        (LogPosition(158, 3), -1, "POSITION_OUT_OF_RANGE"),
        (LogPosition(0, 0), 0, "SNAPSHOT_NOT_FOUND"),
        (LogPosition(100, 1), 0, "SNAPSHOT_NOT_FOUND"),
    ],
)
def test_snapshots_are_told_by_their_ids(snapshot: LogPosition, position: int, error: str) -> None:
    replica = seen()
    key = voters(2).voters[0].key
    answer = replica.ask(FetchSnapshot(None, key, 3, snapshot, position), SnapshotAnswer)
    assert answer.known.error == error


def test_a_follower_cuts_where_its_own_log_and_the_leaders_part() -> None:
    log = log_of((1, 131), (2, 151), voting=voters(1, 2, 3))
    assert log.truncation(LogPosition(149, 2)) == 149
    assert log_of((1, 10), (3, 20), voting=voters(1)).check(LogPosition(15, 2)) == LogPosition(10, 1)
    assert log.truncation(LogPosition(140, 1)) == 131, "its own end of that epoch comes first"
    assert log.truncation(LogPosition(0, 0)) == 0


def test_a_log_behind_a_snapshot_keeps_the_snapshots_epoch() -> None:
    log = RaftLog().replaced(LogPosition(82, 1), voters(1))
    assert (log.last, log.end_of(1), log.truncated(82).last) == (LogPosition(82, 1),) * 3
