"""Two partitions exchange brokers: one goes from x to y, the other from y to x, and every count stays as it was."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from model.planning.optimum.problem import NONE, Cost, Flags, Floats, Ints, Objective, PlacementProblem, Scope

Rows = NDArray[np.intp]


class Side(NamedTuple):
    """Partitions that could go from one broker to another, and what each brings with it.

    `kind` is equal on both sides of a swap that changes neither moves nor leaders, for the other side's signs are
    turned.
    """

    rows: Rows
    kind: NDArray[np.int8]


class Layout:
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
        self._same_moves = objective.scope is not Scope.BALANCE or objective.cost is Cost.BYTES
        # Where only what must move does, who led before and has a replica leads.
        self._leaders_lead = objective.scope in (Scope.DRAIN, Scope.RACKS)
        self.pairs = _pairs(problem, self.holds)

    def side(self, x: int, y: int, sign: int) -> Side:
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
        return Side(rows, (sign * (3 * moves + changes) + 10 * leads).astype(np.int8))

    def swap(self, p: int, q: int, x: int, y: int) -> None:
        """p from x to y, q from y to x."""
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
