"""Who leads, of replicas that are given: leadership passed along chains of brokers. Data stays where it is."""

from collections import deque
from itertools import pairwise

import numpy as np

from model.planning.optimum.bands import Band
from model.planning.optimum.figures import reordered
from model.planning.optimum.problem import NONE, Flags, Floats, Ints, PlacementProblem


def led_evenly(problem: PlacementProblem, replicas: Ints, band: Band, movable: Flags) -> Ints:
    """The same replicas, ordered so that leaders are within the band as far as chains of changes can do that.

    Whoever led before does so unless the band forbids it.
    """
    after = reordered(problem.replicas, replicas, led=False)
    brokers = len(problem.allowed)
    for high, low in ((band.most, band.least), (band.most, band.most), (band.least, band.least)):
        while True:
            counts = np.bincount(after[:, 0], minlength=brokers).astype(np.int32)
            passes = _passes(after, movable, brokers)
            path = _path(passes, counts, high, low, problem.allowed)
            if path is None:
                break
            room = [int(counts[path[0]] - high[path[0]]), int(low[path[-1]] - counts[path[-1]])]
            for giver, taker in pairwise(path):
                room.append(int(passes[giver, taker]))
            _pass_on(after, path, min(room), problem.replicas[:, 0], movable)
    return after


def _passes(after: Ints, movable: Flags, brokers: int) -> Ints:
    """[B, B] partitions that one leads and the other could."""
    rows = after[movable]
    flat = (rows[:, :1] * brokers + rows[:, 1:])[rows[:, 1:] != NONE]
    return np.bincount(flat, minlength=brokers * brokers).reshape(brokers, brokers).astype(np.int32)


def _path(passes: Ints, counts: Ints, high: Floats, low: Floats, allowed: Flags) -> list[int] | None:
    """The shortest chain from a broker above `high` to one below `low`."""
    starts = np.flatnonzero(allowed & (counts > high)).tolist()
    came: dict[int, int] = dict.fromkeys(starts, NONE)
    queue = deque(starts)
    while queue:
        at = queue.popleft()
        if counts[at] < low[at]:
            path = [at]
            while came[path[-1]] != NONE:
                path.append(came[path[-1]])
            return path[::-1]
        for to in np.flatnonzero(passes[at] * allowed).tolist():
            if to not in came:
                came[to] = at
                queue.append(to)
    return None


def _pass_on(after: Ints, path: list[int], count: int, before: Ints, movable: Flags) -> None:
    """Each of the path leads `count` fewer for the next one: first those whose leader is a new one anyway."""
    for giver, taker in reversed(list(pairwise(path))):
        rows = np.flatnonzero((after[:, 0] == giver) & (after[:, 1:] == taker).any(axis=1) & movable)
        dearness = (before[rows] == giver).astype(np.int8) - (before[rows] == taker)
        chosen = rows[np.argsort(dearness, kind="stable")][:count]
        column = (after[chosen] == taker).argmax(axis=1)
        after[chosen, column] = giver
        after[chosen, 0] = taker
