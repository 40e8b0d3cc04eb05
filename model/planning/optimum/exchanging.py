"""Evens disks, then topics, by swaps that change no count, no number of moves and no number of leader changes.

Two partitions exchange brokers: one goes from x to y, the other from y to x. It is a local search, which ends where no
single swap helps. What it finds is not proven, and counts less than all that is.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from model.planning.optimum.measures import reordered
from model.planning.optimum.problem import (
    NONE,
    Cancelled,
    Ended,
    Flags,
    Floats,
    Ints,
    MoveCost,
    Objective,
    PlacementProblem,
    Scope,
)

Rows = NDArray[np.intp]


class ExchangeSide(NamedTuple):
    """Partitions that could go from one broker to another, and what each brings with it.

    `kind` is equal on both sides of a swap that changes neither moves nor leaders, for the other side's signs are
    turned.
    """

    rows: Rows
    kind: NDArray[np.int8]


class SwapLayout:
    """Who holds what before and after. Swaps change it in place."""

    def __init__(self, problem: PlacementProblem, objective: Objective, after: Ints) -> None:
        brokers = len(problem.allowed)
        self.after = after.copy()
        self.holds = _held(after, brokers)
        self.had = _held(problem.replicas, brokers)
        self.sizes = np.ones(len(after)) if problem.bytes is None else problem.bytes.astype(float)
        self.loads: Floats = np.array([self.sizes[held].sum() for held in self.holds])
        self.topics = np.zeros((int(problem.topic.max(initial=-1)) + 1, brokers), np.int32)
        self.topic = problem.topic
        rows, columns = np.nonzero(after != NONE)
        np.add.at(self.topics, (self.topic[rows], after[rows, columns]), 1)
        self._movable = ~problem.fixed if problem.fixed is not None else np.ones(len(after), np.bool_)
        self._rack = problem.rack
        self._leader = problem.replicas[:, 0]
        self._same_moves = objective.scope is not Scope.BALANCE or objective.cost is MoveCost.BYTES
        # Where only what must move does, who led before and has a replica leads.
        self._leaders_lead = objective.scope in (Scope.DRAIN, Scope.RACKS)
        self.pairs = _pairs(problem, self.holds)

    def side(self, x: int, y: int, sign: int) -> ExchangeSide:
        """Partitions that can give up x for y."""
        rows = np.flatnonzero(self.holds[x] & ~self.holds[y] & self._movable)
        if self._rack[x] != self._rack[y]:
            left = self.holds[self._rack == self._rack[x]][:, rows].sum(axis=0) > 1
            rows = rows[left | ~self.holds[self._rack == self._rack[y]][:, rows].any(axis=0)]
        moves = self.had[x, rows].astype(np.int8) - self.had[y, rows]
        if self._same_moves:
            rows, moves = rows[moves == 0], moves[moves == 0]
        leads, old = self.after[rows, 0] == x, self._leader[rows]
        if self._leaders_lead:
            fitting = leads | (old != y)
            rows, moves, leads, old = rows[fitting], moves[fitting], leads[fitting], old[fitting]
        changes = np.where(leads, (old == x).astype(np.int8) - (old == y), 0)
        return ExchangeSide(rows, (sign * (3 * moves + changes) + 10 * leads).astype(np.int8))

    def swap(self, p: int, q: int, x: int, y: int) -> None:
        for row, gone, new in ((p, x, y), (q, y, x)):
            self.after[row, self.after[row] == gone] = new
            self.holds[gone, row], self.holds[new, row] = False, True
            self.loads[gone] -= self.sizes[row]
            self.loads[new] += self.sizes[row]
            self.topics[self.topic[row], gone] -= 1
            self.topics[self.topic[row], new] += 1


def _held(replicas: Ints, brokers: int) -> Flags:
    """[B, P]"""
    held = np.zeros((brokers, len(replicas)), np.bool_)
    rows, columns = np.nonzero(replicas != NONE)
    held[replicas[rows, columns], rows] = True
    return held


def _pairs(problem: PlacementProblem, holds: Flags) -> NDArray[np.intp]:
    """[N, 2] allowed brokers that could exchange anything: of one rack, where each partition has one in each."""
    allowed = np.flatnonzero(problem.allowed)
    first, second = np.triu_indices(len(allowed), 1)
    pairs = np.stack([allowed[first], allowed[second]], axis=1)
    racks = np.unique(problem.rack[allowed])
    in_rack = np.stack([holds[problem.rack == rack].sum(axis=0) for rack in racks])
    if (in_rack == 1).all():
        pairs = pairs[problem.rack[pairs[:, 0]] == problem.rack[pairs[:, 1]]]
    return pairs


_CELLS = 10**8
"""Partitions times brokers, beyond which placements stay as they are."""
_WORK = 3 * 10**8
"""Partitions looked at, at most, for topics."""
_FINE = 0.5
"""Pairs of brokers are evened to this share of the wanted spread, so that the whole gets there."""


def exchanged(problem: PlacementProblem, objective: Objective, after: Ints, ended: Ended) -> Ints:
    """The same placement to every proven figure, evener. Raises Cancelled."""
    if after.size == 0 or after.shape[0] * len(problem.allowed) > _CELLS:
        return after
    layout = SwapLayout(problem, objective, after)
    mean = float(layout.loads[problem.allowed].mean())
    if problem.bytes is not None:
        _even_disks(layout, problem, objective.disk_spread * mean, ended)
    _even_topics(layout, problem, objective.disk_spread * mean, ended)
    changed = (layout.after != after).any(axis=1)
    found = after.copy()
    found[changed] = reordered(problem.replicas[changed], layout.after[changed], led=True)
    return found


def _even_disks(layout: SwapLayout, problem: PlacementProblem, wanted: float, ended: Ended) -> None:
    """Each round the pair of brokers with the largest difference for which a swap is found."""
    limits = np.full(len(problem.allowed), np.inf) if problem.capacity is None else problem.capacity.astype(float)
    for _ in range(100 * len(problem.allowed)):
        if ended():
            raise Cancelled
        loads = layout.loads[problem.allowed]
        over = bool((layout.loads > limits)[problem.allowed].any())
        if not over and loads.max() - loads.min() <= wanted:
            return
        if not any(_evens(layout, x, y) for x, y in _uneven(layout, 0.0 if over else wanted * _FINE)):
            return


def _uneven(layout: SwapLayout, least: float) -> list[tuple[int, int]]:
    """Pairs (fuller, emptier), the most different first."""
    differences = layout.loads[layout.pairs[:, 0]] - layout.loads[layout.pairs[:, 1]]
    order = np.argsort(-np.abs(differences), kind="stable")
    order = order[np.abs(differences[order]) > least]
    turned = np.where((differences < 0)[:, None], layout.pairs[:, ::-1], layout.pairs)
    return [(int(x), int(y)) for x, y in turned[order]]


def _evens(layout: SwapLayout, x: int, y: int) -> bool:
    """The swap after which x and y are as equal as one swap makes them, if it helps."""
    give, take = layout.side(x, y, 1), layout.side(y, x, -1)
    half = float(layout.loads[x] - layout.loads[y]) / 2
    best, pair = half * 0.99, None
    for kind in np.intersect1d(give.kind, take.kind):
        giving, taking = give.rows[give.kind == kind], take.rows[take.kind == kind]
        taking = taking[np.argsort(layout.sizes[taking], kind="stable")]
        off, at = _nearest(layout.sizes[taking], layout.sizes[giving] - half)
        least = int(off.argmin())
        if off[least] < best:
            best, pair = float(off[least]), (int(giving[least]), int(taking[at[least]]))
    if pair is not None:
        layout.swap(*pair, x, y)
    return pair is not None


def _nearest(ascending: Floats, wanted: Floats) -> tuple[Floats, Rows]:
    """How far the nearest of `ascending` is from each wanted number, and where it is."""
    right = np.searchsorted(ascending, wanted).clip(0, len(ascending) - 1)
    left = (right - 1).clip(0)
    to_right, to_left = np.abs(ascending[right] - wanted), np.abs(ascending[left] - wanted)
    return np.minimum(to_right, to_left), np.where(to_left < to_right, left, right)


def _even_topics(layout: SwapLayout, problem: PlacementProblem, wanted: float, ended: Ended) -> None:
    """Swaps that lower the sum of squares of replicas a topic has on a broker, while disks stay as even as wanted."""
    work, improved = 0, True
    while improved:
        improved = False
        for x, y in layout.pairs.tolist():
            while work < _WORK and _evens_topics(layout, problem, x, y, wanted):
                improved, work = True, work + len(problem.topic)
            work += len(problem.topic)
            if ended():
                raise Cancelled


def _evens_topics(layout: SwapLayout, problem: PlacementProblem, x: int, y: int, wanted: float) -> bool:
    give, take = layout.side(x, y, 1), layout.side(y, x, -1)
    least, most = _room(layout, problem, x, y, wanted)
    best, pair = 0, None
    for kind in np.intersect1d(give.kind, take.kind):
        for p, gain in _uneven_topics(layout, give, kind, x, y):
            for q, other in _uneven_topics(layout, take, kind, y, x):
                shifted = layout.sizes[p] - layout.sizes[q]
                differ = layout.topic[p] != layout.topic[q]
                if differ and gain + other > best and least <= shifted <= most:
                    best, pair = gain + other, (p, q)
    if pair is not None:
        layout.swap(*pair, x, y)
    return pair is not None


def _uneven_topics(layout: SwapLayout, side: ExchangeSide, kind: np.int8, x: int, y: int) -> list[tuple[int, int]]:
    """The few partitions whose topic would gain most from going x to y, with what it gains."""
    rows = side.rows[side.kind == kind]
    topics = layout.topics[layout.topic[rows]]
    gains = topics[:, x] - topics[:, y] - 1
    few = np.argsort(-gains, kind="stable")[:4]
    return [(int(rows[at]), int(gains[at])) for at in few]


def _room(layout: SwapLayout, problem: PlacementProblem, x: int, y: int, wanted: float) -> tuple[float, float]:
    """The least and the most that may go from x to y."""
    loads: Floats = layout.loads[problem.allowed]
    if problem.bytes is None:
        return -np.inf, np.inf
    middle = (loads.max() + loads.min()) / 2
    half = max(loads.max() - loads.min(), wanted) / 2
    low, high = middle - half, middle + half
    at_x, at_y = layout.loads[x], layout.loads[y]
    return max(at_x - high, low - at_y), min(at_x - low, high - at_y)
