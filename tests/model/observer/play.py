"""An observer driven by hand: its questions are answered as a test says, in a time that only the test moves."""

from __future__ import annotations

from model.log.records import Record, encode_batch
from model.observer.follow import begin, decide
from model.observer.messages import (
    Address,
    Answer,
    Answered,
    Ask,
    BatchesCommitted,
    Command,
    FetchLog,
    FetchSnapshot,
    HangUp,
    KnownLeader,
    LogFetched,
    SnapshotRead,
    TimePassed,
)
from model.observer.state import Decision

A, B, C = ("a", 9093), ("b", 9093), ("c", 9093)
HEADER, FOOTER = 3, 4
"""Types of control records."""


def batch(base: int, count: int = 1, epoch: int = 1) -> bytes:
    """A batch of records that say their offset and epoch."""
    records = [Record(base + each, 7, value=f"{base + each}@{epoch}".encode()) for each in range(count)]
    return encode_batch(records, leader_epoch=epoch)


def snapshot_file(epoch: int, texts: list[str]) -> bytes:
    """A snapshot's file with one record for each text."""

    def control(kind: int, offset: int) -> bytes:
        key = b"\0\0" + kind.to_bytes(2, "big")
        return encode_batch([Record(offset, 7, key=key, value=b"\0\0\0")], leader_epoch=epoch, control=True)

    data = [Record(at, 7, value=text.encode()) for at, text in enumerate(texts, 1)]
    middle = encode_batch(data, leader_epoch=epoch) if data else b""
    return control(HEADER, 0) + middle + control(FOOTER, len(texts) + 1)


class Play:
    """Begins at once, at these addresses."""

    def __init__(self, *addresses: Address, now_ms: int = 50_000) -> None:
        self.now_ms = now_ms
        self.commands: tuple[Command, ...] = ()
        """Of the last event."""
        self.all: list[Command] = []
        self._main = set[int]()
        self._see(begin(addresses or (A, B, C), now_ms))

    def _see(self, decision: Decision) -> None:
        self.state, self.standing, self.wake_ms = decision.state, decision.standing, decision.wake_ms
        self.commands = decision.commands
        self.all += decision.commands
        self._main.add(self.state.asked)

    @property
    def asked(self) -> Ask | None:
        """What waits for an answer about the log."""
        latest = reversed(self.all)  # of thousands it is one of the last
        return next((each for each in latest if isinstance(each, Ask) and each.number == self.state.asked), None)

    def question(self) -> FetchLog | FetchSnapshot:
        assert self.asked is not None
        assert isinstance(self.asked.question, FetchLog | FetchSnapshot)
        return self.asked.question

    def beside(self, kind: type) -> Ask:
        """The last question of this kind that is none for the log."""
        asks = [each for each in self.all if isinstance(each, Ask) and isinstance(each.question, kind)]
        return [each for each in asks if each.number not in self._main][-1]

    def answer(self, answer: Answer, after_ms: int = 100) -> None:
        """To what was asked about the log."""
        assert self.asked is not None, "nothing was asked"
        self.answer_to(self.asked, answer, after_ms)

    def answer_to(self, ask: Ask, answer: Answer, after_ms: int = 100) -> None:
        self.now_ms += after_ms
        self._see(decide(self.state, Answered(ask.number, answer), self.now_ms))

    def wait(self, ms: int) -> None:
        """Wakes it whenever it wants to be, for so long."""
        end_ms = self.now_ms + ms
        while self.wake_ms <= end_ms:
            assert self.wake_ms > self.now_ms, "woken for nothing"
            self.now_ms = self.wake_ms
            self._see(decide(self.state, TimePassed(), self.now_ms))
        self.now_ms = end_ms

    def pause_ms(self) -> int:
        """Waits until somebody is asked for the log; how long that took."""
        pause_ms = 0 if self.asked is not None else self.state.not_before_ms - self.now_ms
        self.wait(pause_ms)
        return pause_ms

    def lead(self, records: bytes = b"", high_watermark: int = -1, *, epoch: int = 1, after_ms: int = 100) -> None:
        """Whoever is asked answers as the leader, controller 1."""
        self.answer(LogFetched(leader=KnownLeader(1, epoch), high_watermark=high_watermark, records=records), after_ms)

    @property
    def committed(self) -> list[int]:
        """The base offsets of all batches handed on."""
        told = (each for each in self.all if isinstance(each, BatchesCommitted))
        return [one.base_offset for each in told for one in each.batches]

    @property
    def snapshots(self) -> list[SnapshotRead]:
        return [each for each in self.all if isinstance(each, SnapshotRead)]

    @property
    def hung_up(self) -> list[Address]:
        """By the last event."""
        return [each.address for each in self.commands if isinstance(each, HangUp)]


def fenced(leader: int = 1, epoch: int = 1, at: Address | None = A) -> LogFetched:
    """As everybody answers to a question of an older epoch."""
    endpoints = {} if at is None else {leader: at}
    return LogFetched(error="FENCED_LEADER_EPOCH", leader=KnownLeader(leader, epoch), endpoints=endpoints)


def following(records: bytes = b"", high_watermark: int = -1, *, epoch: int = 1) -> Play:
    """One that found the leader at A, and had these records from it."""
    play = Play()
    play.answer(fenced(epoch=epoch))
    play.lead(records, high_watermark, epoch=epoch)
    return play
