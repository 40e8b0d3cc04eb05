"""A placement for problems too large for the linear program: a bounded search, and a bound reckoned from counts alone.

Replicas go straight from brokers that have too many to brokers that have too few, or by way of a third broker.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from model.planning.optimum.assigning import choose_leaders, padded
from model.planning.optimum.measures import Band, Bounds, least_led
from model.planning.optimum.problem import NONE, Cancelled, Ended, Flags, Ints, Longs, PlacementProblem, counts_of


class _Search(NamedTuple):
    problem: PlacementProblem
    band: Band
    holds: Flags
    """[B, P], changed in place."""
    counts: Longs
    """[B]"""
    movable: Flags

    def going(self, x: int, y: int) -> NDArray[np.intp]:
        """Partitions that may give up x for y; those that x does not lead come first."""
        rows = np.flatnonzero(self.holds[x] & ~self.holds[y] & self.movable)
        rack = self.problem.rack
        if rack[x] != rack[y]:
            left = self.holds[rack == rack[x]][:, rows].sum(axis=0) > 1
            rows = rows[left | ~self.holds[rack == rack[y]][:, rows].any(axis=0)]
        return rows[np.argsort(self.problem.replicas[rows, 0] == x, kind="stable")]

    def move(self, rows: NDArray[np.intp], x: int, y: int) -> None:
        self.holds[x, rows], self.holds[y, rows] = False, True
        self.counts[x] -= len(rows)
        self.counts[y] += len(rows)


def searched(
    problem: PlacementProblem, replicas: Band, leaders: Band, movable: Flags, by_bytes: bool, ended: Ended
) -> tuple[Ints, Bounds]:
    """Replicas within the bands of all brokers as far as the search gets, and bounds. Raises Cancelled."""
    brokers, partitions = len(problem.allowed), len(problem.replicas)
    holds = np.zeros((brokers, partitions), np.bool_)
    at, column = np.nonzero(problem.replicas != NONE)
    holds[problem.replicas[at, column], at] = True
    holds[~problem.allowed[:, None] & movable[None, :]] = False
    search = _Search(problem, replicas, holds, holds.sum(axis=1).astype(np.int64), movable)
    forced, had = _forced(search), holds[:, movable].sum(axis=1)
    moves, moved = int(forced.sum()), int(forced @ problem.bytes) if by_bytes and problem.bytes is not None else 0
    _mend(search)
    least, most = replicas
    while _step(search, most, least) or _step(search, most, most) or _step(search, least, least):
        if ended():
            raise Cancelled
    after = choose_leaders(problem, _rows(problem, holds), leaders, movable)
    # What the band forces holds only where it can be kept, and that is known only where it is.
    if replicas.holds(counts_of(after, problem.allowed)):
        room = replicas.without(counts_of(problem.replicas[~movable], problem.allowed))
        kept = np.minimum(had, room.most).sum()
        short = np.maximum(room.least - had, 0).sum()
        moves = max(moves, int(problem.target_rf[movable].sum() - kept), int(short))
    return after, least_led(problem, after, leaders, movable, Bounds(moves, bytes=moved))


def _forced(search: _Search) -> Ints:
    """[P] replicas that are added whatever the counts: those that are missing, and those for racks that have none."""
    problem, holds = search.problem, search.holds
    covered, racks = _covered(search)
    missing = problem.target_rf - holds.sum(axis=0)
    least = np.maximum(missing, np.minimum(problem.target_rf, racks) - covered).clip(min=0)
    return np.where(search.movable, least, 0).astype(np.int32)


def _covered(search: _Search) -> tuple[NDArray[np.intp], int]:
    """[P] racks with a replica, and how many racks there are."""
    rack, allowed = search.problem.rack, search.problem.allowed
    racks = np.unique(rack[allowed])
    return np.stack([search.holds[(rack == each) & allowed].any(axis=0) for each in racks]).sum(axis=0), len(racks)


def _mend(search: _Search) -> None:
    """Partitions with too many replicas, too few, or two in a rack while another has none."""
    problem, holds, counts = search.problem, search.holds, search.counts
    racks = np.unique(problem.rack[problem.allowed])
    covered, _ = _covered(search)
    wrong = (holds.sum(axis=0) != problem.target_rf) | (covered < np.minimum(problem.target_rf, len(racks)))
    for row in np.flatnonzero(wrong & search.movable).tolist():
        while True:
            here = np.flatnonzero(holds[:, row])
            open_racks = set(racks.tolist()) - set(problem.rack[here].tolist())
            missing = int(problem.target_rf[row]) - len(here)
            if missing < min(len(open_racks), 1) or missing < 0:
                double = [int(b) for b in here if (problem.rack[here] == problem.rack[b]).sum() > 1]
                if missing == 0 and not double:
                    break
                gone = max(double or here.tolist(), key=lambda b: (b != problem.replicas[row, 0], counts[b], b))
                search.holds[gone, row] = False
                counts[gone] -= 1
            elif missing > 0:
                free: list[int] = np.flatnonzero(problem.allowed & ~holds[:, row]).tolist()
                fitting = [b for b in free if problem.rack[b] in open_racks] or free
                new = min(fitting, key=lambda b: (counts[b] - search.band.least[b], b))
                search.holds[new, row] = True
                counts[new] += 1
            else:
                break


def _step(search: _Search, high: NDArray[np.float64], low: NDArray[np.float64]) -> bool:
    """From brokers above `high` to brokers below `low`: each step leaves fewer replicas too many, or too few."""
    allowed = np.flatnonzero(search.problem.allowed)
    over = [int(b) for b in allowed[np.argsort(-(search.counts - high)[allowed], kind="stable")]]
    under = [int(b) for b in allowed[np.argsort((search.counts - low)[allowed], kind="stable")]]
    moved = False
    for x in over:
        for y in under:
            count = int(min(search.counts[x] - high[x], low[y] - search.counts[y]))
            if count > 0 and x != y:
                rows = search.going(x, y)[:count]
                search.move(rows, x, y)
                moved |= len(rows) > 0
    return moved or any(_by_way(search, x, y, allowed) for x in over for y in under if _far(search, x, y, high, low))


def _far(search: _Search, x: int, y: int, high: NDArray[np.float64], low: NDArray[np.float64]) -> bool:
    return bool(search.counts[x] > high[x] and search.counts[y] < low[y])


def _by_way(search: _Search, x: int, y: int, allowed: NDArray[np.intp]) -> bool:
    """One replica from x to a third broker, another one from there to y."""
    for middle in allowed.tolist():
        if middle not in (x, y):
            first, second = search.going(x, middle)[:2], search.going(middle, y)[:2]
            pairs = [(p, q) for p in first for q in second if p != q]
            if pairs:
                search.move(np.array([pairs[0][0]]), x, middle)
                search.move(np.array([pairs[0][1]]), middle, y)
                return True
    return False


def _rows(problem: PlacementProblem, holds: Flags) -> Ints:
    rows: list[list[int]] = []
    for row, old in enumerate(problem.replicas.tolist()):
        now = np.flatnonzero(holds[:, row]).tolist()
        rows.append(list(dict.fromkeys([*(b for b in old if b in now), *now])))
    return padded(rows)
