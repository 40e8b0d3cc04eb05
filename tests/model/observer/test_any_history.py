"""Whatever becomes of a quorum, its observer hands on what was committed: in order, once, and in the end all of it."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.observer.follow import begin, decide
from model.observer.messages import (
    Answered,
    Ask,
    BatchesCommitted,
    Command,
    ControllersDescribed,
    DescribeControllers,
    FetchLog,
    FetchSnapshot,
    QuorumDescribed,
    SnapshotRead,
    TimePassed,
    Unanswered,
)
from model.observer.state import Decision
from tests.model.observer.simulated_quorum import SimulatedQuorum, address_of

VOTERS = (1, 2, 3)
STEPS = ("write", "elect", "learn", "replicate", "answer", "answer", "lose", "snapshot", "trim", "wait")
"""What may happen, answers twice as often as all else."""


class Observed:
    """An observer beside a quorum, and the promises that it keeps after each step."""

    def __init__(self) -> None:
        self.quorum = SimulatedQuorum()
        self.now_ms = 10_000
        self.asks: dict[int, Ask] = {}
        self.seen: Counter[str] = Counter()
        self.end = 0
        """Of what was handed on."""
        self._see(begin([address_of(number) for number in VOTERS], self.now_ms))

    def _see(self, decision: Decision) -> None:
        self.state, self.standing = decision.state, decision.standing
        for command in decision.commands:
            self._carry_out(command)
        assert decision.standing.phase in ("live", "stale"), decision.standing
        assert decision.wake_ms > self.now_ms
        if decision.standing.phase == "live":
            self.seen["live"] += 1
            assert self.state.log.handed.offset >= self.state.leader_mark >= 0

    def _carry_out(self, command: Command) -> None:
        quorum = self.quorum
        match command:
            case Ask(number):
                self.asks[number] = command
            case BatchesCommitted(batches):
                self.seen["batches"] += 1
                for batch in batches:
                    entry = next(each for each in quorum.committed if each.base == batch.base_offset)
                    assert (batch.base_offset, batch.data) == (self.end, entry.data)
                    self.end = entry.end
            case SnapshotRead(snapshot, data):
                self.seen["snapshot"] += 1
                assert self.end < snapshot.offset <= quorum.high_watermark
                assert data == quorum.snapshot(snapshot)
                self.end = snapshot.offset
            case _:
                pass

    def step(self, what: str, number: int, amount: int) -> None:
        quorum, voter = self.quorum, self.quorum.voters[number]
        match what:
            case "write" if voter.leads:
                voter.write(amount)
            case "elect":
                self.seen["elections"] += quorum.elect(number)
            case "learn":
                quorum.learn(number)
            case "replicate":
                quorum.replicate(number, amount)
            case "snapshot" | "trim":
                quorum.make_snapshot(number, trims=what == "trim")
            case "answer" | "lose" if self.asks:
                self.answer(list(self.asks)[amount % len(self.asks)], amount, is_lost=what == "lose")
            case "wait":
                self.pass_time(amount * 200)
            case _:
                pass

    def answer(self, number: int, most: int, *, is_lost: bool = False) -> None:
        ask = self.asks.pop(number)
        voter = int(ask.address[0].removeprefix("voter-"))
        match ask.question:
            case _ if is_lost:
                answer = Unanswered("lost")
            case FetchLog() as question:
                answer = self.quorum.fetch(voter, question, most)
                self.seen["diverging"] += answer.diverging is not None
            case FetchSnapshot() as question:
                answer = self.quorum.fetch_snapshot(voter, question)
            case DescribeControllers():
                answer = ControllersDescribed()
            case _:
                answer = QuorumDescribed()
        before = self.state.log.pending
        self.now_ms += 30
        self._see(decide(self.state, Answered(number, answer), self.now_ms))
        self.seen["dropped"] += bool(before) and self.state.log.end.offset < before[-1].next_offset

    def pass_time(self, ms: int) -> None:
        self.now_ms += ms
        self._see(decide(self.state, TimePassed(), self.now_ms))

    def settle(self) -> None:
        """The quorum heals; then the observer has to come to know all of it."""
        quorum = self.quorum
        assert any(quorum.elect(number) for number in VOTERS)
        for number in VOTERS:
            quorum.learn(number)
            quorum.replicate(number, 1_000)
        for _ in range(400):
            while self.asks:
                self.answer(next(iter(self.asks)), 1_000)
                if self.end == quorum.high_watermark and self.standing.phase == "live":
                    return
            self.pass_time(50)
        raise AssertionError(f"{self.standing}, {self.end} of {quorum.high_watermark}")


@given(st.lists(st.tuples(st.sampled_from(STEPS), st.sampled_from(VOTERS), st.integers(1, 4)), max_size=120))
def test_only_what_is_committed_is_handed_on_and_all_of_it(steps: list[tuple[str, int, int]]) -> None:
    observed = Observed()
    for step in steps:
        observed.step(*step)
    observed.settle()


@pytest.fixture(scope="module")
def histories() -> Counter[str]:
    """What happened in 150 longer ones."""
    seen: Counter[str] = Counter()
    for seed in range(150):
        dice = random.Random(seed)
        observed = Observed()
        for _ in range(200):
            observed.step(dice.choice(STEPS), dice.choice(VOTERS), dice.randint(1, 4))
        observed.settle()
        seen += observed.seen + Counter(truncated=observed.quorum.truncated)
    return seen


@pytest.mark.parametrize("what", ["elections", "truncated", "diverging", "dropped", "snapshot", "batches", "live"])
def test_longer_histories_have_all_that_may_happen(histories: Counter[str], what: str) -> None:
    assert histories[what] >= 20, histories
