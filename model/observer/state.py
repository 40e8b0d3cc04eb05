"""What an observer of a quorum knows between two events, and how it stands: whether what it handed on is up to date.

LIVE means: the leader of the newest epoch that anybody told answered within 1.5 s, its high watermark is known, all
below it was handed on, and no record waits longer than 1.5 s to be committed. All else is STALE, with its reason.
"""

from collections.abc import Mapping
from typing import Literal

import msgspec

from model.observer.messages import (
    NOBODY,
    UNKNOWN,
    Address,
    Command,
    FetchLog,
    FetchSnapshot,
    LogPosition,
    place,
)
from model.observer.observed_log import ObservedLog

LIVE_MS = 1_500
"""Three long polls: an answer that is older proves nothing any more."""


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
    """When it did so last."""
    moved_ms: int = 0
    """When the high watermark moved last, or nothing was there to be committed."""
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


class Standing(msgspec.Struct, frozen=True):
    """How it stands; `reason` is empty where it is live. `high_watermark` UNKNOWN: nothing was ever committed to us."""

    phase: Phase
    reason: str
    leader: int
    epoch: int
    high_watermark: int
    at: Address | None = None
    """Who is asked for the log."""
    heard_ms: int = 0
    """When the leader answered last; 0: nobody ever did."""
    cluster_id: str | None = None
    """As controllers tell it since 3.7."""


class Decision(msgspec.Struct, frozen=True):
    """What follows from an event. Commands are carried out in their order; TimePassed is told at `wake_ms`."""

    state: Observer
    commands: tuple[Command, ...]
    standing: Standing
    wake_ms: int


def standing(state: Observer, now_ms: int) -> Standing:
    """How it stands at this time, if nothing happened since the last event."""
    reason = state.trouble if state.ended else _reason(state, now_ms)
    phase: Phase = state.ended or ("stale" if reason else "live")
    mark = state.log.high_watermark
    return Standing(phase, reason, state.leader, state.epoch, mark, state.at, state.heard_ms, state.cluster_id)


def _reason(state: Observer, now_ms: int) -> str:
    """Why it is not live; empty where it is."""
    log = state.log
    if not state.is_led:
        return state.trouble
    who = _leader(state)
    if now_ms - state.heard_ms > LIVE_MS:
        return f"no answer from {who} for {LIVE_MS / 1000:g} s"
    if state.download is not None:
        size = "" if state.download.size == UNKNOWN else f" of {state.download.size:,}"
        return f"reading snapshot {state.download.id}: {state.download.position:,}{size} bytes"
    if state.leader_mark == UNKNOWN:
        return f"{who} was just elected and has committed nothing yet"
    if log.handed.offset < state.leader_mark:
        return f"reading the log: {log.handed.offset:,} of {state.leader_mark:,} records"
    if log.pending and now_ms - state.moved_ms > LIVE_MS:
        return f"{who} writes, yet nothing was committed for {LIVE_MS / 1000:g} s: a majority may not follow it"
    return ""


def _leader(state: Observer) -> str:
    where = "" if state.at is None else f" at {place(state.at)}"
    return f"controller {state.leader}{where}" if state.leader != NOBODY else f"the controller{where}"


def wake_ms(state: Observer, now_ms: int) -> int:
    """When to look again although nothing happens."""
    if state.ended:
        return now_ms + LIVE_MS
    times = [state.heard_ms + LIVE_MS + 1, state.moved_ms + LIVE_MS + 1]
    if not state.asked:
        times.append(state.not_before_ms)
    if state.is_led:
        times += [state.beside.voter_due_ms, state.beside.quorum_due_ms]
    return min((at_ms for at_ms in times if at_ms > now_ms), default=now_ms + LIVE_MS)
