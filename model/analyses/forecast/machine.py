"""One partition through failures: the controller's rules reduced to sets of replicas, and a plain play of a history.

A replica is a position in the partition's assignment; sets of them are bit masks. The rules are written here and
nowhere else: the kernel reads them from `table_of`. Taken over: `PartitionStateMachine` and `Election` (3.9) for
ZooKeeper's controller, `PartitionChangeBuilder` (4.0) for KRaft's with eligible leader replicas (KIP-966).

Not in it: reassignments, and the order of heartbeats; of brokers that fail at once the lowest id is fenced first.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

NOBODY = -1
MOST_REPLICAS = 6
"""Of a partition: with more, the states are too many to list."""


class PartitionRules(NamedTuple):
    """What decides a partition's fate, beside who is out."""

    replicas: int
    min_isr: int
    """As it counts: at most the number of replicas, from 3.7 on (KAFKA-15583)."""
    unclean: bool = False
    elr: bool = False


class HistoryState(NamedTuple):
    """`last` is who led last, where nobody does and eligible leader replicas are kept."""

    alive: int
    isr: int
    leader: int
    elr: int = 0
    last: int = NOBODY


class HistoryStep(NamedTuple):
    """What an event leads to. `cut`: a leader was elected that lacks committed records."""

    state: HistoryState
    cut: bool = False


def healthy(rules: PartitionRules) -> HistoryState:
    """All in sync, the preferred replica leads."""
    every = (1 << rules.replicas) - 1
    return HistoryState(every, every, 0)


def fenced(rules: PartitionRules, state: HistoryState, who: int) -> HistoryStep:
    """The controller takes note that the replica's broker is gone."""
    bit = 1 << who
    isr, elr = state.isr & ~bit, state.elr
    if not rules.elr:
        isr = isr or state.isr & bit  # the last one stays
    elif state.isr & bit and isr.bit_count() < rules.min_isr:
        elr |= bit
    after = state._replace(alive=state.alive & ~bit, isr=isr, elr=elr)
    return _elected(rules, after._replace(leader=NOBODY), who) if state.leader == who else HistoryStep(after)


def registered(rules: PartitionRules, state: HistoryState, who: int, *, forgets: bool) -> HistoryStep:
    """The broker is back. `forgets`: it was no clean stop, so that it is no eligible leader any more (KAFKA-15586)."""
    bit = 1 << who
    after = state._replace(alive=state.alive | bit)
    if rules.elr and forgets:
        after = after._replace(elr=after.elr & ~bit, isr=after.isr & ~bit)
    return HistoryStep(after) if after.leader != NOBODY else _elected(rules, after, after.last)


def caught_up(rules: PartitionRules, state: HistoryState, who: int) -> HistoryStep:
    """The replica is in sync again."""
    isr = state.isr | 1 << who
    return HistoryStep(state._replace(isr=isr, elr=0 if isr.bit_count() >= rules.min_isr else state.elr & ~isr))


def lagged(rules: PartitionRules, state: HistoryState, who: int) -> HistoryStep:
    """The leader drops a replica that lives and is too slow. Who leads is always in sync with itself."""
    bit = 1 << who
    if state.leader in (who, NOBODY) or not state.isr & bit:
        return HistoryStep(state)
    isr = state.isr & ~bit
    return HistoryStep(
        state._replace(isr=isr, elr=state.elr | bit if rules.elr and isr.bit_count() < rules.min_isr else 0)
    )


def _elected(rules: PartitionRules, state: HistoryState, last: int) -> HistoryStep:
    """A leader for a partition without one, if anybody may lead."""
    clean = _first(state.isr & state.alive)
    if clean == NOBODY:
        clean = _first(state.elr & state.alive)
    if clean == NOBODY and rules.elr and not state.isr | state.elr and last != NOBODY and state.alive >> last & 1:
        clean = last
    if clean != NOBODY:
        return HistoryStep(_led(state, clean, state.isr))
    if rules.unclean and (any_one := _first(state.alive)) != NOBODY:
        return HistoryStep(_led(state, any_one, 0)._replace(elr=0), cut=True)
    return HistoryStep(state._replace(last=last if rules.elr else NOBODY))


def _led(state: HistoryState, who: int, isr: int) -> HistoryState:
    bit = 1 << who
    return state._replace(leader=who, isr=isr | bit, elr=state.elr & ~bit, last=NOBODY)


def _first(mask: int) -> int:
    return (mask & -mask).bit_length() - 1


FENCED, REGISTERED, RETURNED, CAUGHT_UP, LAGGED = range(5)
"""Events of a table. RETURNED is REGISTERED of one that was cut off, and forgets nothing."""


class Table(NamedTuple):
    """The machine of some rules as arrays, by number of state; 0 is `healthy`."""

    following: NDArray[np.int32]
    """[states, events, replicas]"""
    cuts: NDArray[np.bool_]
    leader: NDArray[np.int32]
    isr: NDArray[np.int64]
    awaited: NDArray[np.int32]
    """Where nobody leads: who has to come back."""


@lru_cache(maxsize=256)
def table_of(rules: PartitionRules) -> Table:
    """All states that can be reached, breadth first. What cannot happen in a state leaves it as it is."""
    states = [healthy(rules)]
    numbers = {states[0]: 0}
    rows: list[list[list[HistoryStep]]] = []
    while len(rows) < len(states):
        state = states[len(rows)]
        by_replica = [_steps(rules, state, who) for who in range(rules.replicas)]
        rows.append([list(steps) for steps in zip(*by_replica, strict=True)])
        for step in (each for steps in by_replica for each in steps):
            if step.state not in numbers:
                numbers[step.state] = len(states)
                states.append(step.state)
    return Table(
        np.array([[[numbers[step.state] for step in row] for row in steps] for steps in rows], np.int32),
        np.array([[[step.cut for step in row] for row in steps] for steps in rows]),
        np.array([state.leader for state in states], np.int32),
        np.array([state.isr for state in states], np.int64),
        np.array([max(state.last, _first(state.isr), 0) for state in states], np.int32),
    )


def _steps(rules: PartitionRules, state: HistoryState, who: int) -> tuple[HistoryStep, ...]:
    """By number of event."""
    stays, lives = HistoryStep(state), bool(state.alive >> who & 1)
    catches_up = lives and state.leader != NOBODY and not state.isr >> who & 1
    return (
        fenced(rules, state, who) if lives else stays,
        stays if lives else registered(rules, state, who, forgets=True),
        stays if lives else registered(rules, state, who, forgets=False),
        caught_up(rules, state, who) if catches_up else stays,
        lagged(rules, state, who) if lives else stays,
    )


class BrokerOutage(NamedTuple):
    """One broker is out, in ms of the history. What is slow lives, and only drops out of the ISR at `fence`."""

    start: int
    fence: int
    elect: int
    """How long an election takes after the fence."""
    end: int
    rejoin: int
    """How long it takes to be in sync again, from `end` on, while somebody leads."""
    slow: bool = False
    clean: bool = False
    forgets: bool = True
    empty: bool = False
    """Its data is gone when it comes back."""
    power: bool = False
    """What it had not written to disk is gone: Kafka leaves that to the page cache."""


class PartitionTotals(NamedTuple):
    """What a history did to a partition: ms, then numbers of events."""

    leaderless: int = 0
    under_min_isr: int = 0
    stalled: int = 0
    under_replicated: int = 0
    cut: int = 0
    gone: int = 0
    acked1: int = 0
    tail: int = 0
    """All in sync lost power at once."""


FOREVER_MS = 1 << 62


def play(
    rules: PartitionRules,
    brokers: Sequence[int],
    outages: Mapping[int, Sequence[BrokerOutage]],
    until: int = FOREVER_MS,
) -> PartitionTotals:
    """The plain play: one event after the other. `brokers`: ids of the replicas, the preferred one first.

    Preferred replicas lead again as soon as all are in sync. `until`: ms that are not counted any more.
    """
    return _Play(rules, brokers, outages, until).course()


DIE, FENCE, ELECTED, UP, CAUGHT = range(5)
"""The order of events of the same moment; then by id of the broker."""


_NO_OUTAGE = BrokerOutage(0, 0, 0, 0, 0)


class _Happening(NamedTuple):
    at: int
    kind: int
    broker: int
    who: int
    outage: BrokerOutage


_NEVER = _Happening(FOREVER_MS << 1, 0, 0, 0, _NO_OUTAGE)


class _Play:
    def __init__(
        self, rules: PartitionRules, brokers: Sequence[int], outages: Mapping[int, Sequence[BrokerOutage]], until: int
    ) -> None:
        self._rules, self._until = rules, until
        self._state = healthy(rules)
        self._now = 0
        self._sums = dict.fromkeys(PartitionTotals._fields, 0)
        self._down: set[int] = set()
        self._slow: set[int] = set()
        self._lost: set[int] = set()
        self._dark: dict[int, int] = {}
        """Who is down without power → since when."""
        self._missing: dict[int, int] = {}
        """Who waits for a leader to fetch from → how long it will fetch."""
        self._caught: dict[int, int] = {}
        """Who fetches → when it is in sync."""
        self._elected: int | None = None
        """When the election that is under way ends."""
        self._served = 0
        self._brokers = brokers
        self._planned = sorted(
            _Happening(at, kind, broker, who, outage)
            for who, broker in enumerate(brokers)
            for outage in outages.get(broker, ())
            for at, kind in ((outage.start, DIE), (outage.fence, FENCE), (outage.end, UP))
        )[::-1]

    def course(self) -> PartitionTotals:
        """All events, to the last."""
        handlers = (self._die, self._fence, self._election_ends, self._up, self._catch_up)
        while (event := self._next()) is not _NEVER:
            at, kind, _, who, outage = event
            self._pass(min(at, self._until))
            if at > self._until:
                break
            handlers[kind](who, outage)
            everybody = self._state.isr.bit_count() == self._rules.replicas
            if everybody and not self._down and not self._slow and self._elected is None:
                self._state, self._served = healthy(self._rules), 0
        return PartitionTotals(**self._sums)

    def _next(self) -> _Happening:
        """Of those that are planned and those that come of it."""
        comes = [_Happening(at, CAUGHT, self._brokers[who], who, _NO_OUTAGE) for who, at in self._caught.items()]
        if self._elected is not None:
            comes.append(_Happening(self._elected, ELECTED, 0, 0, _NO_OUTAGE))
        first = min(comes, default=_NEVER)
        return self._planned.pop() if self._planned and self._planned[-1] < first else first

    @property
    def _is_led(self) -> bool:
        return self._state.leader not in (NOBODY, *self._down) and self._elected is None

    def _pass(self, to: int) -> None:
        took, self._now = to - self._now, to
        in_sync, led = self._state.isr.bit_count(), self._is_led
        late = (self._down | self._slow) - {self._state.leader}
        self._sums["leaderless"] += 0 if led else took
        self._sums["under_min_isr"] += took if not led or in_sync < self._rules.min_isr else 0
        self._sums["stalled"] += took if led and any(self._state.isr >> who & 1 for who in late) else 0
        self._sums["under_replicated"] += took if in_sync < self._rules.replicas else 0

    def _die(self, who: int, outage: BrokerOutage) -> None:
        if outage.slow:
            self._slow.add(who)
            return
        self._down.add(who)
        self._dark.pop(who, None)
        if outage.power:
            self._dark[who] = self._now
            in_sync = [each for each in range(self._rules.replicas) if self._state.isr >> each & 1]
            self._sums["tail"] += who in in_sync and all(self._dark.get(each) == self._now for each in in_sync)
        self._caught.pop(who, None)
        self._missing.pop(who, None)
        if who == self._state.leader:
            self._missing |= {each: at - self._now for each, at in self._caught.items()}
            self._caught.clear()

    def _fence(self, who: int, outage: BrokerOutage) -> None:
        if outage.slow:
            self._state = lagged(self._rules, self._state, who).state
            return
        led = self._state.leader == who
        self._step(fenced(self._rules, self._state, who))
        if led:
            self._begin()
            self._elected = None if self._state.leader == NOBODY else self._now + outage.elect
            if outage.clean and self._elected is not None:
                self._served = self._state.leader  # it has all that the one before had

    def _election_ends(self, _who: int, _outage: BrokerOutage) -> None:
        self._elected = None
        self._serve()

    def _up(self, who: int, outage: BrokerOutage) -> None:
        if outage.slow:
            self._slow.discard(who)
        else:
            self._down.discard(who)
            self._dark.pop(who, None)
            self._lost |= {who} if outage.empty else set()
            led = self._state.leader != NOBODY
            self._step(registered(self._rules, self._state, who, forgets=outage.forgets))
            if not led:
                self._begin()
        if not self._state.isr >> who & 1:
            self._missing[who] = outage.rejoin
        self._serve()

    def _catch_up(self, who: int, _outage: BrokerOutage) -> None:
        del self._caught[who]
        self._lost.discard(who)
        self._state = caught_up(self._rules, self._state, who).state

    def _begin(self) -> None:
        """Who leads now, if anybody, fetches nothing; what it has is all there is."""
        self._sums["gone"] += self._state.leader in self._lost
        self._lost.discard(self._state.leader)
        self._missing.pop(self._state.leader, None)

    def _step(self, step: HistoryStep) -> None:
        self._state = step.state
        self._sums["cut"] += step.cut

    def _serve(self) -> None:
        """If there is a leader, followers fetch from it."""
        if self._is_led:
            self._sums["acked1"] += self._state.leader != self._served
            self._served = self._state.leader
            self._caught |= {each: self._now + need for each, need in self._missing.items()}
            self._missing.clear()
