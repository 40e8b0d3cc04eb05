"""The log read from its start, of a simulated quorum: whole, wherever it starts, and no probing for snapshots."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.observer.messages import (
    BatchesCommitted,
    FetchLog,
    FetchSnapshot,
    LogFetched,
    LogPosition,
    SnapshotRead,
    Unanswered,
)
from model.observer.past import MOST_OFFSETS, NoPastError, begin, read_on
from tests.model.observer.play import batch
from tests.model.observer.simulated_quorum import Entry, SimulatedQuorum


def quorum_of(*epochs: int) -> SimulatedQuorum:
    """Its log has so many batches in each epoch, of two records each behind the leader's first."""
    quorum = SimulatedQuorum()
    for number, batches in enumerate(epochs):
        leader = number % 3 + 1
        quorum.elect(leader)
        for voter in (1, 2, 3):
            quorum.learn(voter)
        for _ in range(batches):
            quorum.voters[leader].write(2)
        for voter in (1, 2, 3):
            quorum.replicate(voter, 1_000)
    return quorum


class Reader:
    """Reads all below the high watermark, two batches an answer."""

    def __init__(self, quorum: SimulatedQuorum) -> None:
        leader = quorum.leader()
        assert leader is not None
        self.asked: list[FetchLog | FetchSnapshot] = []
        self.snapshot: LogPosition | None = None
        self.data = b""
        reading = begin(leader.epoch, quorum.high_watermark)
        while reading is not None:
            question = reading.question
            self.asked.append(question)
            if isinstance(question, FetchSnapshot):
                reading, handed = read_on(reading, quorum.fetch_snapshot(leader.number, question))
            else:
                reading, handed = read_on(reading, quorum.fetch(leader.number, question, 2))
            for each in handed:
                match each:
                    case SnapshotRead(at, _):
                        assert not self.data
                        self.snapshot = at
                    case BatchesCommitted(batches):
                        self.data += b"".join(one.data for one in batches)
                    case _:
                        raise AssertionError(each)


def trim(quorum: SimulatedQuorum, place: int) -> LogPosition:
    """The leader's log starts behind this batch, and a newer snapshot is there, too."""
    leader = quorum.leader()
    assert leader is not None
    leader.snapshot = leader.end
    start = LogPosition(leader.log[place].end, leader.log[place].epoch)
    leader.kept, leader.start = [start], start.offset
    return start


def test_a_log_that_is_there_from_the_beginning_is_read_whole_though_snapshots_are_offered() -> None:
    quorum = quorum_of(3, 1, 4)
    quorum.make_snapshot(3, trims=False)
    read = Reader(quorum)
    assert read.snapshot is None
    assert read.data == b"".join(entry.data for entry in quorum.committed[1:]), "all but the first leader's election"
    assert all(isinstance(question, FetchLog) for question in read.asked)


@given(st.lists(st.integers(1, 4), min_size=1, max_size=5), st.integers(0, 20))
def test_a_log_that_starts_later_begins_with_the_snapshot_that_ends_there(epochs: list[int], cut: int) -> None:
    quorum = quorum_of(*epochs)
    leader = quorum.leader()
    assert leader is not None
    start = trim(quorum, min(cut, len(leader.log) - 2))
    read = Reader(quorum)
    assert read.snapshot == start
    assert read.data == b"".join(entry.data for entry in quorum.committed if entry.base >= start.offset)
    wanted = {question.snapshot for question in read.asked if isinstance(question, FetchSnapshot)}
    assert wanted == {start}, "a real controller writes a stack trace for one that is not there"


def test_records_that_are_not_committed_are_not_handed_on() -> None:
    quorum = quorum_of(3)
    quorum.voters[1].write(5)
    assert Reader(quorum).data == b"".join(entry.data for entry in quorum.committed[1:])


def test_what_is_in_one_batch_with_the_record_asked_for_is_read_too() -> None:
    """As the first leader writes since 3.9: its election, kraft.version and the voters together."""
    quorum = quorum_of(3)
    first, second, *rest = quorum.committed
    data = batch(0, count=second.end)
    for voter in quorum.voters.values():
        voter.log = [Entry(0, second.end, first.epoch, data), *rest]
    assert Reader(quorum).data == data + b"".join(entry.data for entry in rest)


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (Unanswered("c1:9093: no answer"), "c1:9093: no answer"),
        (LogFetched(error="FENCED_LEADER_EPOCH"), "the leader answers FENCED_LEADER_EPOCH"),
        (LogFetched(snapshot=LogPosition(9, 1), log_start=0), "its start cannot be read"),
        (LogFetched(diverging=LogPosition(9, 1)), "its log diverges at 9-1"),
        (LogFetched(log_start=100), "the log starts at 100, behind what was wanted of it"),
        (LogFetched(log_start=2**63 - 1), "the log starts at 9223372036854775807"),
        (LogFetched(), "the log's records ended, or its start moved"),
    ],
)
def test_where_it_cannot_be_read_one_clause_says_why(answer: LogFetched | Unanswered, why: str) -> None:
    with pytest.raises(NoPastError, match=why):
        read_on(begin(3, 100), answer)


def test_a_log_that_is_too_long_is_left() -> None:
    with pytest.raises(NoPastError, match="it has 4,000,001 records, more than the 4,000,000 that are read"):
        read_on(begin(3, MOST_OFFSETS + 1), LogFetched(log_start=0))
