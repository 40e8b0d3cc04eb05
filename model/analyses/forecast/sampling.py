"""Random histories: which broker is out from when to when, drawn so that nothing depends on who draws.

A history has a stream of its own, `Philox(key=[seed, history])`; within it each component has its places, and each of
its outages three numbers: time up, time down, and a lottery. So two variants of a cluster live through the same
accidents, and units may be dealt to any number of processes. Laws are worked out from plain uniform numbers, for numpy
promises the streams of its bit generators and not those of its distributions.

Times are whole ms from the beginning of a history.
"""

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

Longs = NDArray[np.int64]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

HOUR_MS = 3_600_000
SPAN = 1 << 42
"""ms: beyond any history; what tells histories and brokers apart in one number."""

DETECTION = "detection"
KINDS = (DETECTION, "broker", "disk", "group", "slow", "restart")
"""Kinds of causes, the time until a death is noticed first."""


class Component(msgspec.Struct, frozen=True, kw_only=True):
    """What fails by itself, with exponential times between failures and of repairs.

    `brokers` are places in the list of brokers. `effect`: of a group that is cut off, brokers live on and forget
    nothing; what is slow only drops out of ISRs; what is empty comes back without its data.
    """

    name: str
    kind: Literal["broker", "disk", "group", "slow"]
    brokers: tuple[int, ...]
    up_ms: float
    down_ms: float
    more_ms: int = 0
    """On top of each time down: log recovery."""
    effect: Literal["crash", "cut off", "empty", "slow"] = "crash"
    lost_share: float = 0.0
    """Of the brokers of a group, how many never come back with their data."""


class Restarts(msgspec.Struct, frozen=True, kw_only=True):
    """Rolling restarts: clean stops of one broker after the other, in the order of their places."""

    every_ms: int
    down_ms: int
    waits: bool = True
    """The next begins only when all are in sync again."""
    polite: bool = True
    """None begins while another broker is out for other reasons."""


class Times(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How long things take in one variant of a cluster, ms; lists are by broker."""

    components: tuple[Component, ...]
    restarts: tuple[Restarts, ...] = ()
    detect_ms: int
    lag_ms: int
    elect_ms: tuple[int, ...]
    rejoin_ppm: int
    """Of the time that a broker was out, as millionths, it takes to fetch what it missed."""
    rejoin_ms: int
    refill_ms: tuple[int, ...]
    """To fetch everything."""
    voters: tuple[int, ...] = ()
    """Brokers that vote for the controller, too; voters apart from brokers never fail."""
    spare_voters: int = 0
    """So many may be out before nothing is elected, and nobody fenced or registered."""


class Place(NamedTuple):
    """Where a component's numbers are within those of a history: `outages` times three of them, from `at` on."""

    name: str
    at: int
    outages: int


def places_of(variants: Sequence[Times], horizon_ms: int) -> tuple[Place, ...]:
    """All components of all variants: what only a later one has comes behind the others', which keep their numbers."""
    most: dict[str, int] = {}
    for times in variants:
        for one in times.components:
            expected = horizon_ms / one.up_ms
            most[one.name] = max(most.get(one.name, 0), math.ceil(expected + 7 * math.sqrt(expected) + 6))
        for number, _ in enumerate(times.restarts):
            most.setdefault(_restarts_name(number), 1)
    places: list[Place] = []
    at = 0
    for name, outages in most.items():
        places.append(Place(name, at, outages))
        at += 3 * outages
    return tuple(places)


def _restarts_name(number: int) -> str:
    return "rolling restarts" if number == 0 else f"rolling restarts {number + 1}"


def draw(places: Sequence[Place], seed: int, histories: range) -> Floats:
    """float64[histories, numbers], each history's from its own stream."""
    width = places[-1].at + 3 * places[-1].outages if places else 0
    found = np.empty((len(histories), width))
    bits = np.random.Philox(key=np.array([seed, 0], np.uint64))
    dice = np.random.Generator(bits)
    fresh = bits.state
    for row, history in enumerate(histories):
        fresh["state"]["key"] = np.array([seed, history], np.uint64)
        bits.state = fresh
        dice.random(out=found[row])
    return found


class Outages(NamedTuple):
    """Sorted by history, broker and start; those of one broker never overlap. See `machine.Outage` for the times."""

    history: Longs
    broker: Longs
    start: Longs
    fence: Longs
    ready: Longs
    """When an election that the fence makes necessary is over."""
    end: Longs
    back: Longs
    """When the broker is in sync again, if somebody led all the while."""
    slow: Flags
    clean: Flags
    forgets: Flags
    empty: Flags
    component: Longs
    """A place in `places_of`."""
    power: Flags


class _Raw(NamedTuple):
    history: Longs
    broker: Longs
    start: Longs
    end: Longs
    slow: Flags
    clean: Flags
    forgets: Flags
    empty: Flags
    component: Longs
    power: Flags


class Accidents:
    """What these histories' numbers make of variants; what several variants have alike is worked out once."""

    def __init__(self, places: Sequence[Place], seed: int, histories: range, horizon_ms: int) -> None:
        self._numbers = draw(places, seed, histories)
        self._places = {place.name: (index, place) for index, place in enumerate(places)}
        self._seed, self._histories, self._horizon_ms = seed, histories, horizon_ms
        self._drawn: dict[tuple[Component, int], _Raw] = {}

    def of(self, times: Times) -> Outages:
        """One variant's outages."""
        raw = _joined([self._of_component(one, times.lag_ms) for one in times.components])
        for number, restarts in enumerate(times.restarts):
            index, place = self._places[_restarts_name(number)]
            windows = self._numbers[:, place.at]
            raw = _joined([raw, _rolled(windows, index, restarts, raw, times, self._horizon_ms)])
        quorum = _Quorum.of(raw, times)
        return _timed(_united(raw, times, quorum), times, quorum)

    def _of_component(self, one: Component, lag_ms: int) -> _Raw:
        if (one, lag_ms) not in self._drawn:
            index, place = self._places[one.name]
            self._drawn[one, lag_ms] = _drawn(
                self._numbers, index, place, one, lag_ms, self._horizon_ms, self._seed, self._histories
            )
        return self._drawn[one, lag_ms]


def _joined(rows: Sequence[_Raw]) -> _Raw:
    if not rows:
        none, no = np.empty(0, np.int64), np.empty(0, np.bool_)
        return _Raw(none, none, none, none, no, no, no, no, none, no)
    return _Raw._make(np.concatenate(columns) for columns in zip(*rows, strict=True))


def _drawn(
    numbers: Floats, index: int, place: Place, one: Component, lag_ms: int, horizon_ms: int, seed: int, ids: range
) -> _Raw:
    """One component's outages, a row for each of its brokers."""
    own = numbers[:, place.at : place.at + 3 * place.outages].reshape(len(numbers), place.outages, 3)
    up = -np.log1p(-own[..., 0]) * one.up_ms
    down = -np.log1p(-own[..., 1]) * one.down_ms
    sums = np.empty((len(numbers), 2 * place.outages))
    sums[:, 0::2], sums[:, 1::2] = up, down
    np.cumsum(sums, axis=1, out=sums)
    history, column = np.nonzero(sums[:, 0::2] < horizon_ms)
    start, end = sums[history, 2 * column].astype(np.int64), sums[history, 2 * column + 1].astype(np.int64)
    lottery = own[history, column, 2]
    for row in np.flatnonzero(sums[:, -1] < horizon_ms).tolist():  # once in 10^11: there are more than places
        more = _further(one, index, sums[row, -1], horizon_ms, seed, ids[row])
        history = np.concatenate([history, np.full(len(more), row)])
        start = np.concatenate([start, more[:, 0].astype(np.int64)])
        end = np.concatenate([end, more[:, 1].astype(np.int64)])
        lottery = np.concatenate([lottery, more[:, 2]])
    brokers = len(one.brokers)
    lost = (lottery / one.lost_share).astype(np.int64) if one.lost_share else np.full(len(lottery), brokers)
    gone = np.minimum(lost, brokers)[:, None] == np.arange(brokers)
    every = len(history) * brokers
    slow, forgets = one.effect == "slow", one.effect in ("crash", "empty")
    started = np.repeat(start, brokers)
    ended = np.repeat(end, brokers) + one.more_ms + (lag_ms if slow else 0)
    return _Raw(
        history=np.repeat(history, brokers),
        broker=np.tile(np.array(one.brokers, np.int64), len(history)),
        start=started,
        end=np.minimum(ended, SPAN - 1),
        slow=np.full(every, slow),
        clean=np.full(every, False),
        forgets=np.full(every, forgets) | gone.reshape(-1),
        empty=np.full(every, one.effect == "empty") | gone.reshape(-1),
        component=np.full(every, index),
        power=np.full(every, one.kind == "group" and one.effect == "crash"),
    )


def _further(one: Component, index: int, since: float, horizon_ms: int, seed: int, history: int) -> Floats:
    """Start, end and lottery of the outages for which a history has no places: they have a stream for themselves."""
    dice = np.random.Generator(np.random.Philox(key=np.array([seed, history], np.uint64), counter=[0, 0, index, 1]))
    found: list[tuple[float, float, float]] = []
    while since < horizon_ms:
        up, down, lottery = dice.random(3).tolist()
        start = since - math.log1p(-up) * one.up_ms
        since = start - math.log1p(-down) * one.down_ms
        found.append((start, since, lottery))
    return np.array(found[:-1] if found[-1][0] >= horizon_ms else found).reshape(-1, 3)


def _rolled(lottery: Floats, index: int, restarts: Restarts, others: _Raw, times: Times, horizon_ms: int) -> _Raw:
    """Every window of every history at once, broker by broker. The first one's time is drawn."""
    brokers, down = len(times.elect_ms), restarts.down_ms
    rejoin = times.rejoin_ms + down * times.rejoin_ppm // 1_000_000
    histories = np.arange(len(lottery))
    busy = _busy(others, times)
    found: list[_Raw] = []
    window = (lottery * restarts.every_ms).astype(np.int64)
    while (window < horizon_ms).any():
        at = window
        for broker in range(brokers):
            at = _polite(at, down, busy) if restarts.polite else at
            here = np.flatnonzero(at < horizon_ms)
            yes, no = np.full(len(here), True), np.full(len(here), False)
            then, which = at[here], np.full(len(here), broker)
            index_of = np.full(len(here), index)
            found.append(_Raw(histories[here], which, then, then + down, no, yes, no, no, index_of, no))
            at = at + down + (rejoin + 1 if restarts.waits else 0)
        window = window + restarts.every_ms
    return _joined(found)


def _busy(others: _Raw, times: Times) -> tuple[Longs, Longs]:
    """Stretches in which anybody is out or catching up, by history: beginnings and ends, in one order."""
    rejoin = times.rejoin_ms + (others.end - others.start) * times.rejoin_ppm // 1_000_000
    begin = others.history * SPAN + others.start
    order = np.argsort(begin, kind="stable")
    begin, end = begin[order], (others.history * SPAN + others.end + rejoin)[order]
    until = np.maximum.accumulate(end) if len(end) else end
    first = np.ones(len(begin), np.bool_)
    first[1:] = begin[1:] > until[:-1]
    last = np.append(np.flatnonzero(first)[1:] - 1, len(begin) - 1) if len(begin) else np.empty(0, np.int64)
    return begin[first], until[last]


def _polite(at: Longs, down: int, busy: tuple[Longs, Longs]) -> Longs:
    """The same time, or the end of what is going on then, and again, until there is room enough."""
    begin, end = busy
    base = np.arange(len(at)) * SPAN
    if not len(begin):
        return at
    while True:
        place = np.searchsorted(begin, base + at + down, side="right") - 1
        ends = np.where(place >= 0, end[np.maximum(place, 0)], -1)
        late = ends >= base + at
        if not late.any():
            return at
        at = np.where(late, ends - base + 1, at)


class _Quorum(NamedTuple):
    """When no majority of the voters is left, as numbers that tell histories apart; until a session after that."""

    begin: Longs
    until: Longs

    @classmethod
    def of(cls, raw: _Raw, times: Times) -> "_Quorum":
        """Rule: what falls into such a time takes effect once each broker's fresh session would be over."""
        votes = np.isin(raw.broker, times.voters) & ~raw.slow if times.voters else np.zeros(len(raw.start), np.bool_)
        one_each = _merged(_taken(raw, votes), len(times.elect_ms))
        base = one_each.history * SPAN
        at = np.concatenate([base + one_each.start, base + one_each.end])
        step = np.repeat([1, -1], len(base))
        order = np.lexsort((step, at))
        lost = np.cumsum(step[order]) > times.spare_voters
        before = np.append(False, lost[:-1])[: len(lost)]
        return cls(at[order][lost & ~before], at[order][~lost & before] + times.detect_ms)

    def heard(self, history: Longs, at: Longs) -> Longs:
        """When something that happens then is acted upon."""
        key = history * SPAN + at
        while len(self.begin):
            place = np.searchsorted(self.begin, key, side="right") - 1
            until = np.where(place >= 0, self.until[np.maximum(place, 0)], -1)
            if not (key < until).any():
                break
            key = np.maximum(key, until)
        return key - history * SPAN


def _united(raw: _Raw, times: Times, quorum: _Quorum) -> _Raw:
    """What overlaps of one broker as one outage; nobody is slow who is out anyway."""
    elect = np.array(times.elect_ms, np.int64)
    noticed = quorum.heard(raw.history, raw.start + np.where(raw.clean, 0, times.detect_ms))
    least = noticed + np.where(raw.clean, 0, elect[raw.broker])
    end = np.maximum(quorum.heard(raw.history, raw.end), least)
    raw = raw._replace(end=np.where(raw.slow, raw.end, end))
    hard = _merged(_taken(raw, ~raw.slow), len(elect))
    soft = _merged(_taken(raw, raw.slow), len(elect))
    if not len(soft.start):
        return hard
    begin = (hard.history * len(elect) + hard.broker) * SPAN
    base = (soft.history * len(elect) + soft.broker) * SPAN
    before = np.searchsorted(begin + hard.start, base + soft.end, side="right") - 1
    ends = np.append(begin + hard.end, -1)[before] if len(begin) else np.full(len(base), -1)
    return _sorted(_joined([hard, _taken(soft, ends < base + soft.start)]), len(elect))


def _taken(raw: _Raw, which: Flags | Longs) -> _Raw:
    return _Raw._make(column[which] for column in raw)


def _sorted(raw: _Raw, brokers: int) -> _Raw:
    return _taken(raw, np.argsort((raw.history * brokers + raw.broker) * SPAN + raw.start, kind="stable"))


def _merged(raw: _Raw, brokers: int) -> _Raw:
    """It begins as the first of those that overlap does; who loses data in any of them has lost it."""
    if not len(raw.start):
        return raw
    raw = _sorted(raw, brokers)
    base = (raw.history * brokers + raw.broker) * SPAN
    until = np.maximum.accumulate(base + raw.end)
    first = np.ones(len(base), np.bool_)
    first[1:] = (base + raw.start)[1:] > until[:-1]
    at = np.flatnonzero(first)
    last = np.append(at[1:] - 1, len(base) - 1)
    return _taken(raw, at)._replace(
        end=until[last] - base[at],
        forgets=np.logical_or.reduceat(raw.forgets, at),
        empty=np.logical_or.reduceat(raw.empty, at),
    )


def _timed(raw: _Raw, times: Times, quorum: _Quorum) -> Outages:
    elect, refill = np.array(times.elect_ms, np.int64), np.array(times.refill_ms, np.int64)
    noticed = raw.start + np.where(raw.clean, 0, np.where(raw.slow, times.lag_ms, times.detect_ms))
    fence = quorum.heard(raw.history, noticed)
    fence = np.where(raw.slow, np.minimum(fence, raw.end), fence)
    ready = fence + np.where(raw.clean | raw.slow, 0, elect[raw.broker])
    missed = times.rejoin_ms + (raw.end - raw.start) * times.rejoin_ppm // 1_000_000
    back = raw.end + np.where(raw.empty, np.maximum(refill[raw.broker], missed), missed)
    return Outages(
        raw.history, raw.broker, raw.start, fence, ready, raw.end, back,
        raw.slow, raw.clean, raw.forgets, raw.empty, raw.component, raw.power,
    )  # fmt: skip
