"""What an observer of a quorum knows between two events and how it stands, and one decision while it is being made.

LIVE means: the leader of the newest epoch that anybody told has answered what it was asked within the last 2 s, its
high watermark is known, all below it was handed on, and no record waits longer than 1.5 s to be committed. All else is
STALE, with its reason.

A leader that was deposed and has not heard of it answers on: before 3.7 for ever, later for up to 1.5 times
`controller.quorum.fetch.timeout.ms`. It commits nothing any more, and that shows, since it writes every half second
(`metadata.max.idle.interval.ms`): LIVE lacks at most what was acknowledged within the last 3.5 s, however slow answers
are. Where it writes more rarely, or never (0), another voter is asked every 2 s whether it still leads; where none has
said so for 8 s, that is STALE, too.
"""

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

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
    KnownLeader,
    LogPosition,
    Question,
    place,
)
from model.observer.observed_log import ObservedLog

HEARD_MS = 2_000
"""An answer to what was asked longer ago proves nothing any more: two long polls, each half a second on its way."""
COMMITTED_MS = 1_500
"""Three times the interval in which leaders write."""
VOUCHED_MS = 8_000
"""Long enough to ask four other voters, one after the other."""


class Download(msgspec.Struct, frozen=True):
    """A snapshot, as far as it was read; `size` in bytes, UNKNOWN before the first piece."""

    id: LogPosition
    pieces: tuple[bytes, ...] = ()
    position: int = 0
    size: int = UNKNOWN


class Beside(msgspec.Struct, frozen=True):
    """What is asked beside the log: numbers of questions that wait for an answer, 0 for none, and when one is due."""

    voter: int = 0
    """A second voter, who may know of a newer epoch."""
    voter_due_ms: int = 0
    voters_asked: int = 0
    quorum: int = 0
    quorum_due_ms: int = 0
    controllers: int = 0
    has_asked_controllers: bool = False


class Observer(msgspec.Struct, frozen=True):
    """All of it. Times in ms of one clock, which starts anywhere."""

    given: tuple[Address, ...]
    """Where the operator says that controllers listen."""
    log: ObservedLog = ObservedLog()
    known: Mapping[int, Address] = {}
    """Where controllers listen by what they say, by id."""
    rejected: Mapping[Address, str] = {}
    """Who is never asked again, and why."""
    cluster_id: str | None = None
    epoch: int = 0
    """The largest that anybody told."""
    leader: int = NOBODY
    """Of `epoch`."""
    leader_mark: int = UNKNOWN
    """The high watermark as the leader of `epoch` told it last."""
    at: Address | None = None
    """Who is asked for the log, now or next."""
    question: FetchLog | FetchSnapshot = FetchLog()
    """What was asked last."""
    asked: int = 0
    """The number of that question while it has no answer; 0: nothing is asked before `not_before_ms`."""
    asked_ms: int = 0
    not_before_ms: int = 0
    is_led: bool = False
    """The one at `at` answered as the leader of `epoch`."""
    heard_ms: int = 0
    """When it was asked what it answered last: an answer that comes late says nothing of the time since then."""
    moved_ms: int = 0
    """When the high watermark moved last, or nothing was there to be committed."""
    vouched_ms: int = 0
    """When the high watermark moved last, or another voter was asked that said who leads: so it does."""
    download: Download | None = None
    tried: frozenset[Address] = frozenset()
    """Who was no help since the last time that anybody was."""
    failures: int = 0
    """Pauses since then."""
    garbled: int = 0
    """Answers in a row that no controller would give."""
    lost_snapshots: int = 0
    """Downloads in a row that ended in an error."""
    beside: Beside = Beside()
    last_number: int = 0
    trouble: str = "no controller was asked yet"
    """Why nobody leads us, one clause."""
    ended: Literal["", "denied", "fault"] = ""
    """Nothing is asked any more; `trouble` says why."""


Phase = Literal["live", "stale", "denied", "fault"]


class ObserverStatus(msgspec.Struct, frozen=True):
    """How it stands; `reason` is empty where it is live. `high_watermark` UNKNOWN: nothing was ever committed to us."""

    phase: Phase
    reason: str
    leader: int
    epoch: int
    high_watermark: int
    at: Address | None = None
    """Who is asked for the log."""
    heard_ms: int = 0
    """When the leader was asked what it answered last; 0: nobody ever did."""
    cluster_id: str | None = None
    """As controllers tell it since 3.7."""


class Decision(msgspec.Struct, frozen=True):
    """What follows from an event. Commands are carried out in their order; TimePassed is told at `wake_ms`."""

    state: Observer
    commands: tuple[Command, ...]
    standing: ObserverStatus
    wake_ms: int


def standing(state: Observer, now_ms: int) -> ObserverStatus:
    """How it stands at this time, if nothing happened since the last event."""
    reason = state.trouble if state.ended else _reason(state, now_ms)
    phase: Phase = state.ended or ("stale" if reason else "live")
    mark = state.log.high_watermark
    return ObserverStatus(phase, reason, state.leader, state.epoch, mark, state.at, state.heard_ms, state.cluster_id)


def _reason(state: Observer, now_ms: int) -> str:
    """Why it is not live; empty where it is."""
    log = state.log
    if not state.is_led:
        return state.trouble
    who = _leader(state)
    if now_ms - state.heard_ms > HEARD_MS:
        return f"no answer from {who} for {HEARD_MS / 1000:g} s"
    if state.download is not None:
        size = "" if state.download.size == UNKNOWN else f" of {state.download.size:,}"
        return f"reading snapshot {state.download.id}: {state.download.position:,}{size} bytes"
    if state.leader_mark == UNKNOWN:
        return f"{who} was just elected and has committed nothing yet"
    if log.handed.offset < state.leader_mark:
        return f"reading the log: {log.handed.offset:,} of {state.leader_mark:,} records"
    if log.pending and now_ms - state.moved_ms > COMMITTED_MS:
        return f"{who} writes, yet nothing was committed for {COMMITTED_MS / 1000:g} s: a majority may not follow it"
    if now_ms - state.vouched_ms > VOUCHED_MS and others(state):
        return f"{who} has committed nothing for {VOUCHED_MS / 1000:g} s, and no other voter says that it still leads"
    return ""


def _leader(state: Observer) -> str:
    where = "" if state.at is None else f" at {place(state.at)}"
    return f"controller {state.leader}{where}" if state.leader != NOBODY else f"the controller{where}"


def wake_ms(state: Observer, now_ms: int) -> int:
    """When to look again although nothing happens."""
    if state.ended:
        return now_ms + HEARD_MS
    times = [state.heard_ms + HEARD_MS + 1, state.moved_ms + COMMITTED_MS + 1, state.vouched_ms + VOUCHED_MS + 1]
    if not state.asked:
        times.append(state.not_before_ms)
    if state.is_led:
        times += [state.beside.voter_due_ms, state.beside.quorum_due_ms]
    return min((at_ms for at_ms in times if at_ms > now_ms), default=now_ms + HEARD_MS)


def choices(state: Observer) -> tuple[Address, ...]:
    """Who may be asked, the likeliest leader first."""
    leader = state.known.get(state.leader)
    first = tuple(each for each in (leader, state.at) if each is not None)
    every = dict.fromkeys((*first, *state.given, *state.known.values()))
    return tuple(each for each in every if each not in state.rejected)


def others(state: Observer) -> tuple[Address, ...]:
    """Who may be asked beside the one that is asked for the log."""
    return tuple(each for each in choices(state) if each != state.at)


class Backoff(NamedTuple):
    """Before somebody else is asked, ms: `first_ms`, twice as long each time up to `longest_ms`.

    Not `always`: only once everybody was asked.
    """

    first_ms: int
    longest_ms: int
    always: bool = False


REDIRECTED = Backoff(50, 1_000)
ELECTION = Backoff(50, 1_000, always=True)
UNREACHABLE = Backoff(100, 1_000)
STOPPING = Backoff(100, 100, always=True)
SERVER_FAULT = Backoff(1_000, 1_000, always=True)


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

    def adopt(self, leader: KnownLeader) -> None:
        """Takes in who leads, where that is news: what is told of older epochs is none."""
        state = self.state
        if leader.epoch > state.epoch:
            self.set(epoch=leader.epoch, leader=leader.id, leader_mark=UNKNOWN, tried=frozenset())
            self.set(is_led=False, download=None, lost_snapshots=0)
        elif leader.epoch == state.epoch and state.leader == NOBODY != leader.id:
            self.set(leader=leader.id, tried=frozenset())

    def elsewhere(self, pause: Backoff, trouble: str, *, may_be_here: bool = False) -> None:
        """Asks the next one that may lead, at once or after a pause. `may_be_here`: the one asked last may, too."""
        state = self.state
        tried = state.tried if may_be_here or state.at is None else state.tried | {state.at}
        every = choices(state)
        if not every:
            self.end("fault", "; ".join(f"{place(each)} is {why}" for each, why in state.rejected.items()))
            return
        target = next((each for each in every if each not in tried), None)
        pause_ms = 0
        if target is None or pause.always:
            pause_ms = min(pause.longest_ms, pause.first_ms << min(state.failures, 16))
            self.set(failures=state.failures + 1)
        if target is None:
            tried = frozenset[Address]()
            target = next((each for each in every if each != state.at), every[0])
        if state.at is not None and target != state.at:
            self.commands.append(HangUp(state.at))
        self.set(at=target, tried=tried, trouble=trouble, is_led=False, download=None)
        if pause_ms:
            self.fetch_after(pause_ms)
        else:
            self.fetch()
