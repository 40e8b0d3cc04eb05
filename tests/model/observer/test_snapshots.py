"""Snapshots of the metadata log as an observer takes them: in pieces, whole, and forward only."""

from __future__ import annotations

import msgspec
import pytest

from model.observer.follow import MOST_SNAPSHOT_BYTES
from model.observer.messages import (
    FetchLog,
    FetchSnapshot,
    KnownLeader,
    LogFetched,
    LogPosition,
    SnapshotFetched,
    SnapshotGrew,
)
from tests.model.observer.play import B, Play, batch, following, snapshot_file

THREE = batch(0) + batch(1) + batch(2)
SNAPSHOT = LogPosition(40, 3)
DATA = snapshot_file(3, ["one", "two"])


def at_snapshot() -> Play:
    play = following(b"", 60, epoch=4)
    play.answer(LogFetched(leader=KnownLeader(1, 4), high_watermark=60, snapshot=SNAPSHOT))
    return play


def piece(start: int, end: int, data: bytes = DATA) -> SnapshotFetched:
    part = data[start:end]
    return SnapshotFetched(leader=KnownLeader(1, 4), snapshot=SNAPSHOT, size=len(data), position=start, data=part)


def test_a_snapshot_comes_in_pieces_and_the_log_behind_it() -> None:
    play = at_snapshot()
    assert play.question() == FetchSnapshot(4, SNAPSHOT, 0, None)
    play.answer(piece(0, 100))
    assert play.standing.reason == f"reading snapshot 40-3: 100 of {len(DATA)} bytes"
    assert play.question() == FetchSnapshot(4, SNAPSHOT, 100, None)
    assert play.all[-1] == SnapshotGrew(SNAPSHOT, 0, DATA[:100], len(DATA))
    assert not play.snapshots
    play.answer(piece(100, len(DATA)))
    assert [(each.id, each.data) for each in play.snapshots] == [(SNAPSHOT, DATA)]
    assert play.question() == FetchLog(4, SNAPSHOT, 60, None)
    play.lead(batch(40, 20, epoch=4), 60, epoch=4)
    assert (play.committed, play.standing.phase) == ([40], "live")


def test_a_snapshot_s_error_is_not_believed_the_log_is_asked_again() -> None:
    """Real controllers answer UNKNOWN_SERVER_ERROR whatever is wrong."""
    play = at_snapshot()
    play.answer(piece(0, 100))
    play.answer(SnapshotFetched(top_error="UNKNOWN_SERVER_ERROR"))
    play.wait(50)
    assert play.question() == FetchLog(4, LogPosition(0, 0), 60, None)
    newer = LogPosition(50, 4)
    play.answer(LogFetched(leader=KnownLeader(1, 4), high_watermark=60, snapshot=newer))
    assert play.question() == FetchSnapshot(4, newer, 0, None)


@pytest.mark.parametrize("error", ["UNKNOWN_SERVER_ERROR", "SNAPSHOT_NOT_FOUND", "POSITION_OUT_OF_RANGE"])
def test_a_snapshot_that_cannot_be_had_three_times_is_a_fault(error: str) -> None:
    play = at_snapshot()
    for _ in range(2):
        play.answer(SnapshotFetched(error=error, leader=KnownLeader(1, 4)))
        play.wait(50)
        play.answer(LogFetched(leader=KnownLeader(1, 4), snapshot=SNAPSHOT))
    play.answer(SnapshotFetched(error=error, leader=KnownLeader(1, 4)))
    assert (play.standing.phase, play.standing.reason) == (
        "fault",
        f"a:9093: snapshot 40-3: {error} (3 times in a row)",
    )


def test_a_snapshot_that_is_too_large_is_not_read() -> None:
    play = at_snapshot()
    for _ in range(2):
        play.answer(msgspec.structs.replace(piece(0, 100), size=MOST_SNAPSHOT_BYTES + 1))
        play.wait(50)
        if not play.state.ended:
            play.answer(LogFetched(leader=KnownLeader(1, 4), snapshot=SNAPSHOT))
    assert play.standing.phase == "fault"
    assert play.standing.reason.startswith(
        "a:9093: snapshot 40-3 has 2,147,483,649 bytes, in pieces such as one of 100: "
    )


def test_a_snapshot_in_too_many_pieces_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    most = 64
    monkeypatch.setattr("model.observer.follow.MOST_PIECES", most)
    play, data = at_snapshot(), bytes(2 * most)
    for at in range(most):
        play.answer(piece(at, at + 1, data))
    assert play.state.download is not None
    play.answer(piece(most, most + 1, data))
    assert play.state.download is None
    assert "in pieces such as one of 1: " in play.standing.reason


def test_a_leader_deposed_during_a_download_leads_to_the_next_one() -> None:
    play = at_snapshot()
    play.answer(piece(0, 100))
    answer = SnapshotFetched(error="NOT_LEADER_OR_FOLLOWER", leader=KnownLeader(2, 5), endpoints={2: B})
    play.answer(answer)
    assert play.asked is not None
    assert (play.asked.address, play.question()) == (B, FetchLog(5))


def test_a_snapshot_of_nothing_is_never_asked_for() -> None:
    play = following()
    play.answer(LogFetched(leader=KnownLeader(1, 1), snapshot=LogPosition(0, 0)))
    play.wait(50)
    assert not any(isinstance(getattr(each, "question", None), FetchSnapshot) for each in play.all)


def test_a_snapshot_of_what_is_known_already_is_a_step_back() -> None:
    play = following(THREE, 3, epoch=2)
    play.answer(LogFetched(leader=KnownLeader(1, 2), snapshot=LogPosition(2, 2)))
    assert play.standing.phase == "fault"


@pytest.mark.parametrize(
    "data",
    [
        DATA[:-5],
        DATA[: len(DATA) // 2],
        snapshot_file(2, ["one"]),
        batch(0, epoch=3),
        DATA[:70] + b"\0\0" + DATA[72:],
        DATA + batch(4, epoch=3),
    ],
    ids=["cut", "half", "another epoch", "no header", "changed", "no footer at its end"],
)
def test_a_damaged_snapshot_replaces_nothing(data: bytes) -> None:
    play = at_snapshot()
    play.answer(piece(0, len(data), data))
    assert (play.snapshots, play.standing.phase, play.state.log.handed) == ([], "stale", LogPosition(0, 0))


def test_an_offset_that_no_request_can_hold_is_not_taken() -> None:
    play, last = at_snapshot(), 2**63 - 1
    play.answer(SnapshotFetched(error="SNAPSHOT_NOT_FOUND", leader=KnownLeader(1, 4)))
    play.wait(50)
    play.answer(LogFetched(leader=KnownLeader(1, 4), snapshot=LogPosition(last, 3)))
    play.answer(SnapshotFetched("NONE", "NONE", KnownLeader(1, 4), {}, LogPosition(last, 3), len(DATA), 0, DATA))
    assert play.question() == FetchLog(4, LogPosition(last, 3), 60, None)
    play.lead(batch(last, 1, epoch=4), 60, epoch=4)
    assert "offsets 9223372036854775807 to 9223372036854775807" in play.standing.reason
    play.wait(50)
    assert play.question() == FetchLog(4, LogPosition(last, 3), 60, None)
