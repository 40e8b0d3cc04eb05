"""One decision of an observer while it is being made: who is asked next, when, and what is known of the leader."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec

from model.observer.messages import (
    NOBODY,
    UNKNOWN,
    Address,
    Ask,
    Command,
    FetchLog,
    FetchSnapshot,
    HangUp,
    Leader,
    Question,
    place,
)
from model.observer.state import Decision, Observer, standing, wake_ms


class Pause(NamedTuple):
    """Before somebody else is asked, ms: `first_ms`, twice as long each time up to `longest_ms`.

    Not `always`: only once everybody was asked.
    """

    first_ms: int
    longest_ms: int
    always: bool = False


REDIRECTED = Pause(50, 1_000)
ELECTION = Pause(50, 1_000, always=True)
UNREACHABLE = Pause(100, 5_000)
STOPPING = Pause(100, 100, always=True)
SERVER_FAULT = Pause(1_000, 1_000, always=True)


class Turn:
    """The state as it becomes, and the commands so far. For one decision."""

    def __init__(self, state: Observer, now_ms: int) -> None:
        self.state = state
        self.now_ms = now_ms
        self.commands: list[Command] = []

    def set(self, **changed: Any) -> None:
        self.state = msgspec.structs.replace(self.state, **changed)

    def decision(self) -> Decision:
        state = self.state
        return Decision(state, tuple(self.commands), standing(state, self.now_ms), wake_ms(state, self.now_ms))

    def ask(self, address: Address, question: Question) -> int:
        """The question's number."""
        number = self.state.last_number + 1
        self.set(last_number=number)
        self.commands.append(Ask(number, address, question))
        return number

    def ask_for(self, question: FetchLog | FetchSnapshot) -> None:
        """Asks whoever is at `at` for the log, or for a piece of a snapshot."""
        if self.state.at is not None:
            self.set(question=question, asked=self.ask(self.state.at, question), asked_ms=self.now_ms)

    def fetch(self) -> None:
        """Asks whoever is at `at` for what comes next in the log."""
        state = self.state
        self.ask_for(FetchLog(state.epoch, state.log.end, state.leader_mark, state.cluster_id))

    def fetch_after(self, pause_ms: int) -> None:
        self.set(asked=0, not_before_ms=self.now_ms + pause_ms)

    def end(self, how: str, why: str) -> None:
        """For good."""
        if self.state.at is not None:
            self.commands.append(HangUp(self.state.at))
        self.set(ended=how, trouble=why, asked=0, is_led=False, download=None)

    def reject(self, address: Address, why: str) -> None:
        self.set(rejected={**self.state.rejected, address: why})
        if address == self.state.at:
            self.elsewhere(UNREACHABLE, f"{place(address)} is {why}")

    def learn(self, endpoints: Mapping[int, Address]) -> None:
        if not self.state.known.items() >= endpoints.items():
            self.set(known={**self.state.known, **endpoints})

    def adopt(self, leader: Leader) -> None:
        """Takes in who leads, where that is news: what is told of older epochs is none."""
        state = self.state
        if leader.epoch > state.epoch:
            self.set(epoch=leader.epoch, leader=leader.id, leader_mark=UNKNOWN, tried=frozenset())
            self.set(is_led=False, download=None, lost_snapshots=0)
        elif leader.epoch == state.epoch and state.leader == NOBODY != leader.id:
            self.set(leader=leader.id, tried=frozenset())

    def elsewhere(self, pause: Pause, trouble: str, *, may_be_here: bool = False) -> None:
        """Asks the next one that may lead, at once or after a pause. `may_be_here`: the one asked last may, too."""
        state = self.state
        tried = state.tried if may_be_here or state.at is None else state.tried | {state.at}
        choices = self.choices()
        if not choices:
            self.end("fault", "; ".join(f"{place(each)} is {why}" for each, why in state.rejected.items()))
            return
        target = next((each for each in choices if each not in tried), None)
        pause_ms = 0
        if target is None or pause.always:
            pause_ms = min(pause.longest_ms, pause.first_ms << min(state.failures, 16))
            self.set(failures=state.failures + 1)
        if target is None:
            tried = frozenset[Address]()
            target = next((each for each in choices if each != state.at), choices[0])
        if state.at is not None and target != state.at:
            self.commands.append(HangUp(state.at))
        self.set(at=target, tried=tried, trouble=trouble, is_led=False, download=None)
        if pause_ms:
            self.fetch_after(pause_ms)
        else:
            self.fetch()

    def choices(self) -> tuple[Address, ...]:
        """Who may be asked, the likeliest leader first."""
        state = self.state
        leader = state.known.get(state.leader)
        first = tuple(each for each in (leader, state.at) if each is not None)
        every = dict.fromkeys((*first, *state.given, *state.known.values()))
        return tuple(each for each in every if each not in state.rejected)
