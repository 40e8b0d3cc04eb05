"""What LIVE promises in time where a leader was deposed and does not know it: nothing else shows old data for live."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field

import pytest

from model.observer.follow import BESIDE_MS, begin, decide
from model.observer.messages import (
    Answer,
    Answered,
    Ask,
    Command,
    ControllersDescribed,
    DescribeControllers,
    FetchLog,
    QuorumDescribed,
    TimePassed,
    Unanswered,
)
from model.observer.state import COMMITTED_MS, HEARD_MS, VOUCHED_MS, Decision
from tests.model.observer.simulated_quorum import SimulatedQuorum, Voter, address_of

TICK_MS, POLL_MS = 10, 500
CUT_MS, ELECTED_MS, END_MS = 5_000, 5_200, 20_000
"""The leader, 3, hears nobody; soon, as one of them heard nothing of it before, voter 1 leads the others."""
CLIENT_MS = 300
"""So often somebody creates something, of whoever leads the newest epoch."""


@dataclass
class Scene:
    """What happens to a quorum that is followed, 10 ms at a time."""

    delay_ms: int
    """From the observer to a voter, and as long back."""
    idle_ms: int
    """So often a leader writes although nothing happens, `metadata.max.idle.interval.ms`; 0: never."""
    hears_others: bool = True
    """Whether the observer reaches those that the leader does not."""
    is_cut: bool = True
    """Whether anything happens to the leader; if not, nobody creates anything either."""
    quorum: SimulatedQuorum = field(default_factory=SimulatedQuorum)
    now_ms: int = 0
    committed: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    """When, and up to which offset."""
    asked: list[tuple[int, int, Ask]] = field(default_factory=list[tuple[int, int, Ask]])
    """On their way, or parked: when they arrive, and when they are answered in any case."""
    answers: list[tuple[int, int, Answer]] = field(default_factory=list[tuple[int, int, Answer]])
    behind_ms: int = 0
    """At most while LIVE was said: how long what was not handed on had been committed."""
    live: list[int] = field(default_factory=list[int], repr=False)
    """When it was."""

    def play(self) -> None:
        """Until the end."""
        assert self.quorum.elect(3)
        self._replicate()
        self._see(begin([address_of(number) for number in (3, 2, 1)], 0))
        for self.now_ms in range(TICK_MS, END_MS, TICK_MS):
            self._look()
            self._happen()
            self._answer()
            if self.now_ms >= self.decision.wake_ms:
                self._see(decide(self.decision.state, TimePassed(), self.now_ms))

    def _see(self, decision: Decision) -> None:
        self.decision = decision
        for command in decision.commands:
            self._carry_out(command)

    def _carry_out(self, command: Command) -> None:
        if isinstance(command, Ask):
            arrives_ms = self.now_ms + self.delay_ms
            self.asked.append((arrives_ms, arrives_ms + POLL_MS, command))

    def _look(self) -> None:
        """As it was said until now."""
        if self.decision.standing.phase == "live":
            self.live.append(self.now_ms)
            handed = self.decision.state.log.handed.offset
            since = next((at_ms for at_ms, end in self.committed if end > handed), self.now_ms)
            self.behind_ms = max(self.behind_ms, self.now_ms - since)

    def _happen(self) -> None:
        if self.is_cut and self.now_ms == ELECTED_MS:
            assert self.quorum.elect(1)
        for voter in self.quorum.voters.values():
            if voter.leads and self.idle_ms and self.now_ms % self.idle_ms == 0:
                voter.write(1)
        if self.is_cut and self.now_ms % CLIENT_MS == 0 and not CUT_MS <= self.now_ms < ELECTED_MS:
            self._leader.write(1)
        self._replicate()

    @property
    def _leader(self) -> Voter:
        leader = self.quorum.leader()
        assert leader is not None
        return leader

    def _replicate(self) -> None:
        is_split = self.is_cut and CUT_MS <= self.now_ms < ELECTED_MS
        for number in () if is_split else (1, 2):
            self.quorum.learn(number)
            self.quorum.replicate(number, 1_000)
        if not self.committed or self.committed[-1][1] < self.quorum.high_watermark:
            self.committed.append((self.now_ms, self.quorum.high_watermark))

    def _answer(self) -> None:
        for each in [*self.asked]:
            arrives_ms, until_ms, ask = each
            if self.now_ms >= arrives_ms and (answer := self._said(ask, is_late=self.now_ms >= until_ms)):
                self.asked.remove(each)
                self.answers.append((self.now_ms + self.delay_ms, ask.number, answer))
        for each in [*self.answers]:
            if self.now_ms >= each[0]:
                self.answers.remove(each)
                self._see(decide(self.decision.state, Answered(each[1], each[2]), self.now_ms))

    def _said(self, ask: Ask, *, is_late: bool) -> Answer | None:
        number = int(ask.address[0].removeprefix("voter-"))
        if number != 3 and not self.hears_others and self.now_ms >= CUT_MS:
            return Unanswered(f"voter-{number}: refused")
        if not isinstance(ask.question, FetchLog):
            return ControllersDescribed() if isinstance(ask.question, DescribeControllers) else QuorumDescribed()
        answer = self.quorum.fetch(number, ask.question, 1_000)
        is_news = answer.error != "NONE" or answer.records or answer.high_watermark > ask.question.high_watermark
        return answer if is_news or is_late else None


@pytest.mark.parametrize(
    ("delay_ms", "idle_ms", "hears_others"), [*itertools.product((0, 100, 300), (500, 0), (True, False))]
)
def test_a_leader_that_was_deposed_is_not_live_for_long(delay_ms: int, idle_ms: int, hears_others: bool) -> None:
    scene = Scene(delay_ms, idle_ms, hears_others)
    scene.play()
    assert any(at_ms < CUT_MS for at_ms in scene.live)
    assert scene.behind_ms > COMMITTED_MS / 2, "nothing was tried"
    if idle_ms:
        assert scene.behind_ms <= HEARD_MS + COMMITTED_MS
    else:
        assert scene.behind_ms <= (
            COMMITTED_MS + BESIDE_MS + 4 * delay_ms if hears_others else VOUCHED_MS + 2 * delay_ms
        )
    assert (scene.live[-1] == END_MS - TICK_MS) == hears_others, "it comes to know the new leader where it can"


@pytest.mark.parametrize(("delay_ms", "idle_ms"), [*itertools.product((0, 100, 200), (500, 0))])
def test_whoever_leads_is_live_all_the_time(delay_ms: int, idle_ms: int) -> None:
    scene = Scene(delay_ms, idle_ms, is_cut=False)
    scene.play()
    assert scene.live == [*range(scene.live[0], END_MS, TICK_MS)]
