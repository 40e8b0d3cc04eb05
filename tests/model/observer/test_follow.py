"""What an observer does with each answer that controllers give, and with none."""

from __future__ import annotations

import pytest

from model.cluster.image_parts import Quorum
from model.observer.messages import (
    Address,
    Answer,
    BatchesCommitted,
    ControllersDescribed,
    DescribeControllers,
    DescribeQuorum,
    FetchLog,
    KnownLeader,
    LogFetched,
    LoginRefused,
    LogPosition,
    NoController,
    QuorumDescribed,
    QuorumSeen,
    SnapshotFetched,
    Unanswered,
)
from tests.model.observer.play import A, B, C, Play, batch, fenced, following

THREE = batch(0) + batch(1) + batch(2)
STAYS = None
ROWS: dict[str, tuple[LogFetched | Unanswered, Address, int, int, str]] = {
    "an older epoch": (fenced(2, 5, B), B, 5, 0, "controller 2 leads epoch 5"),
    "an older epoch, from its own leader": (fenced(1, 5, A), A, 5, 0, "controller 1 leads epoch 5"),
    "an older epoch, and no endpoint": (fenced(2, 5, None), A, 5, 0, "controller 2 leads epoch 5"),
    "an older epoch, nobody elected": (fenced(-1, 5, None), B, 5, 50, "a controller is being elected (epoch 5)"),
    "no leader": (
        LogFetched(error="NOT_LEADER_OR_FOLLOWER", leader=KnownLeader(3, 2), endpoints={3: C}), C, 2, 0,
        "a:9093 says that controller 3 leads",
    ),
    "no leader, nobody elected": (
        LogFetched(error="NOT_LEADER_OR_FOLLOWER", leader=KnownLeader(-1, 2)), B, 2, 50,
        "a controller is being elected (epoch 2)",
    ),
    "a node that is behind": (
        LogFetched(error="UNKNOWN_LEADER_EPOCH", leader=KnownLeader(1, 0)), B, 1, 0,
        "a:9093 does not know of epoch 1 yet",
    ),
    "a leader that stops": (
        LogFetched(error="BROKER_NOT_AVAILABLE", leader=KnownLeader(1, 1)), B, 1, 100,
        "a:9093 is stopping or being upgraded: BROKER_NOT_AVAILABLE",
    ),
    "a leader that is upgraded": (
        LogFetched(top_error="UNSUPPORTED_VERSION"), B, 1, 100,
        "a:9093 is stopping or being upgraded: UNSUPPORTED_VERSION",
    ),
    "a fault of the server": (
        LogFetched(error="UNKNOWN_SERVER_ERROR", leader=KnownLeader(1, 1)), B, 1, 1_000, "a:9093: UNKNOWN_SERVER_ERROR"
    ),
    "another cluster": (
        LogFetched(top_error="INCONSISTENT_CLUSTER_ID"), B, 1, 0, "a:9093 is of another cluster than mine"
    ),
    "a broker's listener": (
        LogFetched(error="UNKNOWN_TOPIC_ID"), B, 1, 0, "a:9093 is a broker's listener, not a controller's"
    ),
    "no answer": (Unanswered("a:9093: refused"), B, 1, 0, "a:9093: refused"),
    "the leader of an older epoch": (
        LogFetched(leader=KnownLeader(1, 0), high_watermark=9, records=THREE), B, 1, 0,
        "a:9093 leads an older epoch than 1",
    ),
}  # fmt: skip
"""Answer → who is asked next, in which epoch, after how many ms, and what is said meanwhile."""


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_an_answer_without_records(row: tuple[LogFetched | Unanswered, Address, int, int, str]) -> None:
    answer, address, epoch, pause_ms, reason = row
    play = following(batch(0) + batch(1), 1)
    play.answer_to(play.beside(DescribeControllers), ControllersDescribed(cluster_id="mine"))
    play.answer(answer)
    assert (play.standing.phase, play.standing.reason) == ("stale", reason)
    assert (play.asked is None, play.pause_ms()) == (pause_ms > 0, pause_ms)
    assert play.asked is not None
    assert play.asked.address == address
    mark = 1 if epoch == 1 else -1  # a new leader does not know of any high watermark yet
    assert play.question() == FetchLog(epoch, LogPosition(2, 1), mark, "mine"), "from the same offset on"
    assert play.committed == [0], "what was shown stays"


def test_any_voter_leads_to_the_leader_in_two_requests() -> None:
    play = Play(A)
    assert play.question() == FetchLog(0, LogPosition(0, 0), -1, None)
    play.answer(fenced(3, 7, C))
    assert play.asked is not None
    assert (play.asked.address, play.question()) == (C, FetchLog(7))


def test_releases_before_3_9_name_the_leader_by_its_id_alone() -> None:
    """Then whoever is given is asked, until one answers as the leader."""
    play = Play(A, B, C)
    play.answer(fenced(3, 7, None))
    tried: list[Address] = []
    for _ in range(2):
        assert play.asked is not None
        tried.append(play.asked.address)
        play.answer(LogFetched(error="NOT_LEADER_OR_FOLLOWER", leader=KnownLeader(3, 7)))
    play.answer(LogFetched(leader=KnownLeader(3, 7), high_watermark=0))
    assert (tried, play.state.at, play.standing.phase) == ([A, B], C, "live")


def test_nothing_above_the_high_watermark_is_handed_on() -> None:
    play = following(THREE, -1)
    assert (play.committed, play.standing.phase) == ([], "stale")
    assert play.standing.reason == "controller 1 at a:9093 was just elected and has committed nothing yet"
    play.lead(b"", 2)
    assert (play.committed, play.standing.phase, play.standing.high_watermark) == ([0, 1], "live", 2)
    play.lead(batch(3, 4), 5)
    assert play.committed == [0, 1, 2], "a batch is handed on as a whole"
    play.lead(b"", 7)
    assert play.committed == [0, 1, 2, 3]


def test_a_high_watermark_never_falls_and_reaches_no_further_than_the_log() -> None:
    play = following(THREE, 1_000)
    assert (play.committed, play.standing.high_watermark) == ([0, 1, 2], 3)
    assert play.standing.reason == "reading the log: 3 of 1,000 records"
    play.lead(batch(3), 2)
    assert (play.committed, play.standing.high_watermark) == ([0, 1, 2], 3)


def test_after_an_election_what_is_shown_stays_and_is_not_called_up_to_date() -> None:
    play = following(THREE, 3)
    assert play.standing.phase == "live"
    play.answer(fenced(2, 2, B))
    play.answer(LogFetched(leader=KnownLeader(2, 2), high_watermark=-1, records=batch(3, epoch=2)))
    assert (play.committed, play.standing.high_watermark) == ([0, 1, 2], 3)
    assert play.standing.reason == "controller 2 at b:9093 was just elected and has committed nothing yet"
    play.answer(LogFetched(leader=KnownLeader(2, 2), high_watermark=4))
    assert (play.committed, play.standing.phase) == ([0, 1, 2, 3], "live")


def diverging(epoch: int, end: int) -> LogFetched:
    return LogFetched(leader=KnownLeader(1, 3), high_watermark=99, diverging=LogPosition(end, epoch))


@pytest.mark.parametrize(
    ("answer", "end"),
    [
        (diverging(2, 5), LogPosition(5, 2)),
        (diverging(1, 9), LogPosition(3, 1)),  # its epoch 1 is longer than ours: ours ends at 3
        (diverging(2, 4), LogPosition(3, 1)),  # in the midst of a batch, which goes as a whole
        (diverging(1, 2), LogPosition(2, 1)),
    ],
)
def test_what_diverges_is_dropped(answer: LogFetched, end: LogPosition) -> None:
    play = following(THREE + batch(3, 2, epoch=2) + batch(5, 2, epoch=2), 2, epoch=2)
    play.answer(fenced(1, 3, A))
    play.answer(answer)
    question = play.question()
    assert isinstance(question, FetchLog)
    assert (question.end, play.committed) == (end, [0, 1]), "its high watermark is of another log than ours"


@pytest.mark.parametrize("answer", [diverging(1, 1), diverging(0, 0)])
def test_a_quorum_that_lost_what_it_had_committed_is_no_source_any_more(answer: LogFetched) -> None:
    play = following(THREE, 2, epoch=3)
    play.answer(answer)
    assert play.standing.phase == "fault"
    assert "offset 1 was committed: the quorum lost committed records, or this is another" in play.standing.reason
    play.wait(60_000)
    assert play.asked is None


def test_whoever_has_shown_nothing_begins_again_where_its_epoch_is_older_than_the_log() -> None:
    play = following(THREE, -1)
    play.answer(LogFetched(leader=KnownLeader(1, 1), diverging=LogPosition(0, 0)))
    assert (play.question(), play.standing.phase) == (FetchLog(1), "stale")


GARBLED: dict[str, Answer] = {
    "a CRC that does not hold": LogFetched(leader=KnownLeader(1, 2), records=batch(3)[:-1] + b"\1"),
    "a gap": LogFetched(leader=KnownLeader(1, 2), records=batch(4)),
    "what was there already": LogFetched(leader=KnownLeader(1, 2), records=batch(2)),
    "an epoch that goes back": LogFetched(leader=KnownLeader(1, 2), records=batch(3, epoch=2) + batch(4, epoch=1)),
    "an epoch that does not exist yet": LogFetched(leader=KnownLeader(1, 2), records=batch(3, epoch=3)),
    "less than a batch": LogFetched(leader=KnownLeader(1, 2), records=batch(3)[:30]),
    "another format": LogFetched(leader=KnownLeader(1, 2), records=batch(3)[:16] + b"\5" + batch(3)[17:]),
    "divergence where nothing diverges": LogFetched(leader=KnownLeader(1, 2), diverging=LogPosition(3, 1)),
    "a piece of a snapshot": SnapshotFetched(leader=KnownLeader(1, 2), snapshot=LogPosition(9, 1), size=9, data=b"x"),
    "another answer": QuorumDescribed(),
}


@pytest.mark.parametrize("answer", GARBLED.values(), ids=GARBLED)
def test_what_no_controller_would_say_is_asked_again_once(answer: Answer) -> None:
    play = following(THREE, 3, epoch=2)
    play.answer(answer)
    assert (play.standing.phase, play.hung_up, play.asked) == ("stale", [A], None)
    play.wait(50)
    assert play.question() == FetchLog(2, LogPosition(3, 1), 3, None)
    play.answer(answer)
    assert (play.standing.phase, play.committed) == ("fault", [0, 1, 2])
    assert play.standing.reason.endswith("(2 times in a row)")


def test_a_batch_cut_short_by_the_size_that_was_asked_for_comes_whole_the_next_time() -> None:
    play = following(THREE + batch(3)[:40], 4)
    question = play.question()
    assert isinstance(question, FetchLog)
    assert (play.committed, question.end) == ([0, 1, 2], LogPosition(3, 1))


def test_live_is_who_was_answered_of_late() -> None:
    play = following(THREE, 3)
    assert play.standing.phase == "live"
    play.wait(1_900)  # the answer took 100 ms
    assert play.standing.phase == "live"
    play.wait(1)
    assert (play.standing.phase, play.standing.reason) == ("stale", "no answer from controller 1 at a:9093 for 2 s")
    play.lead(b"", 3)
    assert play.standing.phase == "stale", "it came late, and says how it was when it was asked"
    play.lead(b"", 3, after_ms=500)
    assert play.standing.phase == "live"


def test_a_leader_that_writes_and_commits_nothing_is_not_live() -> None:
    """As one that is cut off from the others answers until it gives up, before 3.7 for ever."""
    play = following(THREE, 3)
    for offset in range(3, 6):
        play.lead(batch(offset), 3, after_ms=500)
        assert play.standing.phase == "live"
    play.lead(batch(6), 3, after_ms=100)
    assert play.standing.reason == (
        "controller 1 at a:9093 writes, yet nothing was committed for 1.5 s: a majority may not follow it"
    )
    assert play.committed == [0, 1, 2]


def test_another_voter_is_asked_while_the_high_watermark_stands_still() -> None:
    play = following(THREE, 3)
    for offset in range(3, 7):
        play.lead(batch(offset), 3, after_ms=500)
    probe = play.beside(FetchLog)
    assert (probe.address, probe.question) == (B, FetchLog())
    play.answer_to(probe, fenced(1, 1, A))
    assert play.state.at == A
    play.wait(2_000)
    again = play.beside(FetchLog)
    assert again.address == C, "one after the other"
    play.answer_to(again, fenced(2, 2, B))
    assert play.asked is not None
    assert (play.asked.address, play.hung_up, play.question()) == (B, [A], FetchLog(2, LogPosition(7, 1)))
    assert play.committed == [0, 1, 2]


def test_nobody_else_is_asked_while_all_is_well() -> None:
    play = following(THREE, 3)
    for offset in range(3, 30):
        play.lead(batch(offset), offset + 1, after_ms=500)
    with pytest.raises(IndexError):
        play.beside(FetchLog)


def test_a_lost_connection_tells_nothing_of_the_others() -> None:
    play = following(THREE, 3)
    pauses: list[int] = []
    for _ in range(30):
        pauses.append(play.pause_ms())
        play.answer(Unanswered("refused"), 0)
    assert [each for each in pauses if each] == [100, 200, 400, 800, 1_000, 1_000, 1_000, 1_000, 1_000]
    assert (play.standing.phase, play.standing.reason, play.standing.high_watermark) == ("stale", "refused", 3)


def test_elections_are_waited_for_ever_longer() -> None:
    play = following(THREE, 3)
    pauses: list[int] = []
    for _ in range(7):
        play.answer(LogFetched(error="NOT_LEADER_OR_FOLLOWER", leader=KnownLeader(-1, 2)), 0)
        pauses.append(play.pause_ms())
    assert pauses == [50, 100, 200, 400, 800, 1_000, 1_000]


ENDS: dict[str, tuple[Answer, str, str]] = {
    "no right": (
        LogFetched(top_error="CLUSTER_AUTHORIZATION_FAILED"),
        "denied",
        "a:9093: CLUSTER_AUTHORIZATION_FAILED: the metadata log takes the right CLUSTER_ACTION on the cluster",
    ),
    "no login": (LoginRefused("a:9093: the login is refused"), "denied", "a:9093: the login is refused"),
    "our defect": (
        LogFetched(error="INVALID_REQUEST", leader=KnownLeader(1, 1)),
        "fault",
        "a defect in kdrill: FetchLog(",
    ),
}


@pytest.mark.parametrize("row", ENDS.values(), ids=ENDS)
def test_what_does_not_become_better_by_asking_again(row: tuple[Answer, str, str]) -> None:
    answer, phase, reason = row
    play = following(THREE, 3)
    play.answer(answer)
    assert play.standing.phase == phase
    assert reason in play.standing.reason
    play.wait(60_000)
    assert (play.asked, play.hung_up) == (None, [])


def test_where_nobody_is_a_controller_it_ends() -> None:
    play = Play(A, B)
    play.answer(NoController("a broker's listener, not a controller's"))
    play.answer(LogFetched(error="UNKNOWN_TOPIC_OR_PARTITION"))
    assert (play.standing.phase, play.standing.reason) == (
        "fault",
        "a:9093 is a broker's listener, not a controller's; b:9093 is a broker's listener, not a controller's",
    )


def test_an_answer_that_came_too_late_changes_nothing() -> None:
    play = following(THREE, 1)
    late = play.asked
    assert late is not None
    play.answer(Unanswered("no answer in time"))
    before = play.state
    play.answer_to(late, LogFetched(leader=KnownLeader(1, 1), high_watermark=3))
    assert (play.state, play.committed) == (before, [0])


def test_a_second_leader_of_the_same_epoch_is_not_believed() -> None:
    play = following(THREE, 3)
    play.answer(LogFetched(error="NOT_LEADER_OR_FOLLOWER", leader=KnownLeader(2, 1), endpoints={2: B}))
    assert play.state.leader == 1


def test_the_quorum_is_asked_for_every_two_seconds() -> None:
    play = following(THREE, 3)
    quorum = Quorum(1, 1, 3)
    asks: set[int] = set()
    for _ in range(50):
        ask = play.beside(DescribeQuorum)
        if ask.number not in asks:
            asks.add(ask.number)
            play.answer_to(ask, QuorumDescribed(quorum, {3: C}), 0)
            assert play.commands == (QuorumSeen(quorum),)
        play.lead(b"", 3)
    assert (len(asks), play.state.known[3]) == (3, C)


def test_a_cluster_s_id_is_learnt_once() -> None:
    play = following(THREE, 3)
    play.answer_to(play.beside(DescribeControllers), ControllersDescribed("mine", {2: B}))
    play.lead(b"", 3)
    assert play.question() == FetchLog(1, LogPosition(3, 1), 3, "mine")
    play.wait(10_000)
    asks = [each for each in play.all if isinstance(getattr(each, "question", None), DescribeControllers)]
    assert len(asks) == 1


def test_who_does_not_wait_as_asked_gets_a_rest() -> None:
    play = following(THREE, 3)
    play.lead(b"", 3, after_ms=500)
    assert play.asked is not None
    play.lead(b"", 3, after_ms=0)
    assert play.asked is None
    assert play.wake_ms == play.now_ms + 50


def test_batches_come_as_they_are_in_the_log() -> None:
    play = following(THREE, 2)
    told = next(each for each in play.all if isinstance(each, BatchesCommitted))
    assert b"".join(each.data for each in told.batches) == batch(0) + batch(1)
    assert [(each.base_offset, each.next_offset, each.epoch, each.timestamp_ms) for each in told.batches] == [
        (0, 1, 1, 7),
        (1, 2, 1, 7),
    ]
