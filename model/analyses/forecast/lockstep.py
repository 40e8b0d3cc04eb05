"""Many plays of the machine at once: each row takes its own next event, and all rows take a step together.

What `machine.play` does one event at a time, by the tables of the same rules; tests compare the two to the ms.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from model.analyses.forecast.machine import (
    CAUGHT,
    CAUGHT_UP,
    DIE,
    ELECTED,
    FENCE,
    FENCED,
    LAGGED,
    NOBODY,
    REGISTERED,
    RETURNED,
    UP,
    PartitionRules,
    table_of,
)
from model.analyses.forecast.sampling import Flags, Floats, Longs

Ints = NDArray[np.int32]
NEVER = 1 << 58
MEASURES = ("leaderless", "under_min_isr", "stalled", "under_replicated")
EVENTS = ("cut", "gone", "acked1", "tail")


class Machines(NamedTuple):
    """The tables of several rules as one, `width` positions wide."""

    following: Ints
    cuts: Flags
    leader: Ints
    in_isr: Flags
    """[states, width]"""
    few: Flags
    """Whether fewer are in sync than acks=all needs."""
    short: Flags
    awaited: Ints
    first: Longs
    """By rules, the state in which all is well."""
    replicas: Longs


def machines_of(rules: Sequence[PartitionRules]) -> Machines:
    """In this order. A partition that refuses producers with all in sync is never told to be under min ISR."""
    width = max((each.replicas for each in rules), default=1)
    tables = [table_of(each) for each in rules]
    first = np.cumsum([0, *(len(table.leader) for table in tables)])
    following = np.zeros((first[-1], 5, width), np.int32)
    cuts = np.zeros((first[-1], 5, width), np.bool_)
    few, short = np.zeros(first[-1], np.bool_), np.zeros(first[-1], np.bool_)
    for rule, table, at in zip(rules, tables, first.tolist(), strict=False):
        rows = slice(at, at + len(table.leader))
        following[rows, :, : rule.replicas] = table.following + at
        cuts[rows, :, : rule.replicas] = table.cuts
        in_sync = np.bitwise_count(table.isr)
        few[rows] = (in_sync < rule.min_isr) & (rule.min_isr <= rule.replicas)
        short[rows] = in_sync < rule.replicas
    isr = np.concatenate([table.isr for table in tables]) if tables else np.empty(0, np.int64)
    return Machines(
        following, cuts,
        np.concatenate([table.leader for table in tables]) if tables else np.empty(0, np.int32),
        (isr[:, None] >> np.arange(width) & 1).astype(np.bool_),
        few, short,
        np.concatenate([table.awaited for table in tables]) if tables else np.empty(0, np.int32),
        first[:-1], np.array([each.replicas for each in rules], np.int64),
    )  # fmt: skip


class PlannedOutages(NamedTuple):
    """Outages of positions of rows."""

    row: Longs
    who: Longs
    broker: Longs
    start: Longs
    fence: Longs
    ready: Longs
    end: Longs
    back: Longs
    slow: Flags
    clean: Flags
    forgets: Flags
    empty: Flags
    cause: Longs
    """A number of a cause; 0 is the time until a death is noticed."""
    power: Flags


class PlayedRows(NamedTuple):
    """What became of each row, and of all by cause: partition-ms without leader, and under min ISR."""

    sums: Longs
    """int64[rows, MEASURES]"""
    events: Longs
    """int64[rows, EVENTS]"""
    causes: Floats
    """float64[2, causes]"""


def play_rows(
    machines: Machines, rules: Longs, planned: PlannedOutages, weights: Longs, until: int, causes: int, refuses: Flags
) -> PlayedRows:
    """`rules`: by row, which. `weights`: how many partitions a row stands for, for what is told by cause."""
    play = _Rows(machines, rules, planned, weights, until, causes, refuses)
    while len(play.id):
        play.step()
    return PlayedRows(play.sums, play.events, play.causes)


class _Rows:
    """The rows that are not over. `sums` and `events` are of all rows, by `id`."""

    def __init__(
        self, machines: Machines, rules: Longs, planned: PlannedOutages, weights: Longs, until: int, causes: int,
        refuses: Flags,
    ) -> None:  # fmt: skip
        rows, width = len(rules), machines.following.shape[2]
        self._machines, self._until, self._planned = machines, until, planned
        self._weights, self._refuses = weights, refuses
        self.sums = np.zeros((rows, len(MEASURES)), np.int64)
        self.events = np.zeros((rows, len(EVENTS)), np.int64)
        self.causes = np.zeros((2, causes))
        self.id = np.arange(rows)
        self._key, self._outage, self._next, self._end = _events(planned, rows)
        self._first = machines.first[rules]
        self._there: Flags = np.arange(width) < machines.replicas[rules][:, None]
        self._state = self._first.copy()
        self._now = np.zeros(rows, np.int64)
        self._elected = np.full(rows, NEVER)
        self._served = np.zeros(rows, np.int64)
        self._down = np.zeros((rows, width), np.bool_)
        self._slow = np.zeros((rows, width), np.bool_)
        self._lost = np.zeros((rows, width), np.bool_)
        self._dark = np.full((rows, width), -1)
        """Since when they are down without power."""
        self._missing = np.full((rows, width), -1)
        self._caught = np.full((rows, width), NEVER)
        self._cause = np.zeros((rows, width), np.int64)

    _BY_ROW = (
        "id", "_next", "_end", "_first", "_there", "_state", "_now", "_elected", "_served", "_down", "_slow", "_lost",
        "_dark", "_missing", "_caught", "_cause",
    )  # fmt: skip

    def step(self) -> None:
        """The next event of each row."""
        planned = np.where(self._next < self._end, self._key[np.minimum(self._next, len(self._key) - 1)], NEVER * 8)
        comes = np.minimum(self._elected * 8 + ELECTED, self._caught.min(axis=1) * 8 + CAUGHT)
        key = np.minimum(planned, comes)
        at = key >> 3
        self._pass(np.minimum(at, self._until))
        over = at > self._until
        kind = np.where(over, -1, key & 7)
        own = planned <= comes
        outage = self._outage[np.where(own & ~over, self._next, 0)]
        self._next += own & ~over
        slow = self._planned.slow[outage]
        for number, handle in ((DIE, self._die), (FENCE, self._fence), (UP, self._up)):
            for which in (False, True):
                if len(rows := np.flatnonzero((kind == number) & (slow == which))):
                    handle(rows, outage[rows], which)
        self._elected[kind == ELECTED] = NEVER
        if len(rows := np.flatnonzero(kind == CAUGHT)):
            self._catch_up(rows)
        if len(rows := np.flatnonzero((kind == ELECTED) | (kind == UP))):
            self._serve(rows)
        self._heal()
        if over.mean() > 0.3 or over.all():
            self._drop(over)

    def _drop(self, over: Flags) -> None:
        for name in self._BY_ROW:
            setattr(self, name, getattr(self, name)[~over])

    def _leader(self) -> tuple[Longs, Flags]:
        """Who leads, and whether somebody serves clients."""
        leader = self._machines.leader[self._state].astype(np.int64)
        dead = self._down[np.arange(len(leader)), np.maximum(leader, 0)]
        return leader, (leader != NOBODY) & ~dead & (self._elected == NEVER)

    def _pass(self, to: Longs) -> None:
        took = to - self._now
        self._now = to
        leader, led = self._leader()
        in_sync: Flags = self._machines.in_isr[self._state]
        late = (self._down | self._slow) & in_sync
        late[np.arange(len(late)), np.maximum(leader, 0)] = False
        under = (~led | self._machines.few[self._state]) & ~self._refuses[self.id]
        holds = (~led, under, led & late.any(axis=1), self._machines.short[self._state])
        self.sums[self.id] += np.stack(holds, axis=1) * took[:, None]
        unseen = ~led & (leader != NOBODY)
        weight = took * self._weights[self.id]
        self.causes[0, 0] += (weight * unseen).sum()
        self.causes[1, 0] += (weight * (unseen & under)).sum()
        if len(rows := np.flatnonzero((leader == NOBODY) & (took > 0))):
            back = self._cause[rows, self._machines.awaited[self._state[rows]]]
            self.causes[0] += np.bincount(back, weight[rows], self.causes.shape[1])
        if len(rows := np.flatnonzero(under & ~unseen & (took > 0))):
            out: Flags = (self._down[rows] | ~in_sync[rows]) & self._there[rows]
            each = weight[rows] / out.sum(axis=1)
            row, who = np.nonzero(out)
            self.causes[1] += np.bincount(self._cause[rows[row], who], each[row], self.causes.shape[1])

    def _die(self, rows: Longs, outage: Longs, slow: bool) -> None:
        who = self._planned.who[outage]
        self._cause[rows, who] = self._planned.cause[outage]
        if slow:
            self._slow[rows, who] = True
            return
        self._down[rows, who] = True
        self._lose_tails(rows, who, self._planned.power[outage])
        self._caught[rows, who] = NEVER
        self._missing[rows, who] = -1
        rows = rows[self._machines.leader[self._state[rows]] == who]
        at = self._caught[rows]
        fetching = at < NEVER
        self._missing[rows] = np.where(fetching, at - self._now[rows][:, None], self._missing[rows])
        self._caught[rows] = NEVER

    def _lose_tails(self, rows: Longs, who: Longs, power: Flags) -> None:
        """Where all in sync lost power at this very moment, nobody has what was not on disk."""
        now, in_sync = self._now[rows], self._machines.in_isr[self._state[rows]]
        self._dark[rows, who] = np.where(power, now, -1)
        everybody = (~in_sync | (self._dark[rows] == now[:, None])).all(axis=1)
        self.events[self.id[rows], 3] += power & in_sync[np.arange(len(rows)), who] & everybody

    def _fence(self, rows: Longs, outage: Longs, slow: bool) -> None:
        who = self._planned.who[outage]
        led = self._machines.leader[self._state[rows]] == who
        self._step(rows, np.full(len(rows), LAGGED if slow else FENCED), who)
        if slow:
            return
        rows, outage = rows[led], outage[led]
        leader = self._machines.leader[self._state[rows]]
        ready = self._now[rows] + self._planned.ready[outage] - self._planned.fence[outage]
        self._elected[rows] = np.where(leader == NOBODY, NEVER, ready)
        self._begin(rows)
        moved = self._planned.clean[outage] & (leader != NOBODY)
        self._served[rows[moved]] = leader[moved]

    def _up(self, rows: Longs, outage: Longs, slow: bool) -> None:
        who = self._planned.who[outage]
        if slow:
            self._slow[rows, who] = False
        else:
            self._down[rows, who] = False
            self._dark[rows, who] = -1
            self._lost[rows, who] |= self._planned.empty[outage]
            before = self._machines.leader[self._state[rows]]
            self._step(rows, np.where(self._planned.forgets[outage], REGISTERED, RETURNED), who)
            self._begin(rows[before == NOBODY])
        out = ~self._machines.in_isr[self._state[rows], who]
        rejoin = self._planned.back[outage] - self._planned.end[outage]
        self._missing[rows[out], who[out]] = rejoin[out]

    def _begin(self, rows: Longs) -> None:
        """Who leads now, if anybody, fetches nothing; what it has is all there is."""
        leader = self._machines.leader[self._state[rows]]
        rows, leader = rows[leader != NOBODY], leader[leader != NOBODY]
        self.events[self.id[rows], 1] += self._lost[rows, leader]
        self._lost[rows, leader] = False
        self._missing[rows, leader] = -1

    def _catch_up(self, rows: Longs) -> None:
        who = self._caught[rows].argmin(axis=1)
        self._caught[rows, who] = NEVER
        self._lost[rows, who] = False
        self._step(rows, np.full(len(rows), CAUGHT_UP), who)

    def _step(self, rows: Longs, event: Longs, who: Longs) -> None:
        state = self._state[rows]
        self.events[self.id[rows], 0] += self._machines.cuts[state, event, who]
        self._state[rows] = self._machines.following[state, event, who]

    def _serve(self, rows: Longs) -> None:
        leader, led = self._leader()
        rows = rows[led[rows]]
        self.events[self.id[rows], 2] += leader[rows] != self._served[rows]
        self._served[rows] = leader[rows]
        waiting = self._missing[rows] >= 0
        self._caught[rows] = np.where(waiting, self._now[rows][:, None] + self._missing[rows], self._caught[rows])
        self._missing[rows] = -1

    def _heal(self) -> None:
        """Where all are in sync the preferred replica leads again, at once."""
        out = (self._down | self._slow).any(axis=1) | self._machines.short[self._state] | (self._elected < NEVER)
        self._state = np.where(out, self._state, self._first)
        self._served = np.where(out, self._served, 0)


def _events(planned: PlannedOutages, rows: int) -> tuple[Longs, Longs, Longs, Longs]:
    """Keys (time, then kind) and outages, in the order of rows; where each row's begin and end."""
    every = len(planned.row)
    at = np.concatenate([planned.start, planned.fence, planned.end])
    kind = np.repeat(np.array([DIE, FENCE, UP]), every)
    outage = np.tile(np.arange(every), 3)
    order = np.lexsort((planned.broker[outage], kind, at, planned.row[outage]))
    ends = np.cumsum(np.bincount(planned.row, minlength=rows) * 3)
    return (at * 8 + kind)[order], outage[order], np.append(0, ends[:-1]), ends
