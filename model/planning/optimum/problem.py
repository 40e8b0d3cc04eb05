"""What is asked of the solver and what it answers, partitions that are the same to it, and what nothing can satisfy.

Brokers, racks and topics are numbers. Partitions that are the same are taken together: the solver then counts classes,
of which there are few. What no placement can satisfy is said in one line before anything is solved.
"""

from collections import defaultdict
from collections.abc import Callable
from enum import StrEnum
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
Flags = NDArray[np.bool_]
Floats = NDArray[np.float64]
Told = Callable[[str], None]
Ended = Callable[[], bool]

NONE = -1
"""Pads rows of replicas; as a rack: not known; as a leader: none that may lead."""


class PlanningError(ValueError):
    """No placement satisfies what was asked. One line: what is missing, and the way out."""


class Cancelled(Exception):  # noqa: N818 - it is no error
    """Whoever asked does not want the answer any more."""


class Scope(StrEnum):
    """How far a plan goes."""

    BALANCE = "balance"
    """Even counts of replicas and leaders, racks kept, with the fewest moves."""
    DRAIN = "drain"
    """Only forced moves: off brokers that are not allowed, and the replication factor."""
    RACKS = "racks"
    """Forced moves, and those that put every partition on as many racks as it can be on."""
    LEADERS = "leaders"
    """The order of replicas only. No data moves."""


class MoveCost(StrEnum):
    """What a move costs."""

    REPLICAS = "replicas"
    BYTES = "bytes"


class Objective(msgspec.Struct, frozen=True):
    """What is wanted: distinct allowed brokers and racks in any case, then in this order.

    - A balance: counts within the band, least cost, fewest moves, leaders within the band, fewest leader changes.
    - Forced moves, with racks or without: fewest moves, racks, fewest leader changes, counts and then leaders within
      the band as far as that allows.
    - Leaders: within the band, fewest leader changes.

    Then disks even, and topics. What cannot be within a band is as near to it as can be (`bands.outside`).

    `tolerance` 0.09 lets counts be up to 9 % from even; 0: within one. `disk_spread` is where evening of disks stops:
    (fullest - emptiest) / mean.
    """

    scope: Scope = Scope.BALANCE
    cost: MoveCost = MoveCost.REPLICAS
    tolerance: float = 0.0
    disk_spread: float = 0.03


class PlacementProblem(msgspec.Struct, frozen=True):
    """P partitions on B brokers. `bytes` are of one replica of the partition; `capacity` is what a broker can hold."""

    replicas: Ints
    """[P, W] broker numbers, the preferred leader first, padded with -1."""
    target_rf: Ints
    """[P] how many replicas there shall be."""
    allowed: Flags
    """[B] who may hold replicas. Dead and removed brokers are numbers that may not."""
    rack: Ints
    """[B] rack numbers; -1: not known. If that is so for an allowed broker, racks are no rule."""
    topic: Ints
    """[P] topic numbers."""
    bytes: Longs | None = None
    """[P]"""
    capacity: Longs | None = None
    """[B]"""
    fixed: Flags | None = None
    """[P] partitions that stay as they are; they count all the same."""


class Placement(msgspec.Struct, frozen=True):
    """The answer. Bounds are proven: no placement within the same rules has fewer that is at least as good as this one
    in all that counts before.

    `gap` is the largest distance of a cost from its bound, as a share of the bound; 0.0: nothing better exists, in the
    order of the objective; infinite: a bound is 0, or counts are not proven to be as even as can be.
    """

    replicas: Ints
    """[P, W'] padded with -1; the first leads."""
    moves: int
    """Replicas added where there was none."""
    moves_bound: int
    leader_changes: int
    """Partitions whose first replica is another one than before."""
    leader_changes_bound: int
    moved_bytes: int
    """0 without sizes."""
    moved_bytes_bound: int
    """0 unless bytes are what is kept low."""
    method: str
    """"proven optimum", or "within x % of the bound", or what is not known."""
    gap: float


class PartitionClass(NamedTuple):
    """Partitions with the same leader, the same replicas on allowed brokers and the same number of replicas to come."""

    leader: int
    """The first replica of now, if it may stay; else NONE."""
    present: tuple[int, ...]
    """Brokers that may keep what they have, ascending."""
    factor: int
    size: float
    """Bytes of each, where moves are counted in bytes; else 1."""
    members: tuple[int, ...]


class Classes(NamedTuple):
    """All that can be decided, and what is there whatever is decided."""

    classes: tuple[PartitionClass, ...]
    fixed_replicas: Floats
    """[B] replicas that allowed brokers have of partitions that stay as they are."""
    fixed_leaders: Floats
    """[B]"""


def classes_of(problem: PlacementProblem, objective: Objective) -> Classes:
    """The classes, in an order that follows from the problem alone."""
    by_bytes = objective.cost is MoveCost.BYTES and problem.bytes is not None
    members: defaultdict[tuple[int, tuple[int, ...], int, float, int], list[int]] = defaultdict(list)
    allowed = problem.allowed.tolist()
    stays = fixed_rows(problem, objective)
    for row in np.flatnonzero(~stays).tolist():
        replicas = [broker for broker in problem.replicas[row].tolist() if broker != NONE]
        present = tuple(sorted({broker for broker in replicas if allowed[broker]}))
        leader = replicas[0] if replicas and allowed[replicas[0]] else NONE
        factor = len(present) if objective.scope is Scope.LEADERS else int(problem.target_rf[row])
        size = float(problem.bytes[row]) if by_bytes and problem.bytes is not None else 1.0
        members[leader, present, factor, size, row if by_bytes else 0].append(row)
    classes = tuple(
        PartitionClass(leader, present, factor, size, tuple(rows))
        for (leader, present, factor, size, _), rows in sorted(members.items())
    )
    kept = problem.replicas[stays]
    return Classes(classes, counts_of(kept, problem.allowed), counts_of(kept[:, :1], problem.allowed))


def fixed_rows(problem: PlacementProblem, objective: Objective) -> Flags:
    """[P] partitions about which nothing can be decided."""
    stays = np.zeros(len(problem.replicas), np.bool_) if problem.fixed is None else problem.fixed
    if objective.scope is Scope.LEADERS:
        can_lead = (problem.allowed[problem.replicas] & (problem.replicas != NONE)).any(axis=1)
        stays = stays | ~can_lead
    return stays


def counts_of(replicas: Ints, allowed: Flags) -> Floats:
    """[B] replicas of each allowed broker; 0 of the others."""
    counts = np.bincount(replicas[replicas != NONE], minlength=len(allowed))
    return np.where(allowed, counts, 0).astype(np.float64)


MOST_REPLICAS = 14
"""Of a partition that may change: what it keeps is chosen among all subsets of its replicas."""


def check_problem(problem: PlacementProblem, objective: Objective) -> None:
    """Raises PlanningError."""
    if not problem.allowed.any():
        raise PlanningError("no broker may hold replicas: allow some")
    if objective.scope is not Scope.LEADERS:
        _check_factors(problem, objective)
        _check_capacity(problem)


def _check_factors(problem: PlacementProblem, objective: Objective) -> None:
    movable = ~fixed_rows(problem, objective)
    held = int((problem.replicas[movable] != NONE).sum(axis=1).max(initial=0))
    if held > MOST_REPLICAS:
        raise PlanningError(
            f"a partition has {held} replicas, and {MOST_REPLICAS} at most can be planned: leave it out"
        )
    factors = problem.target_rf[movable]
    brokers = int(problem.allowed.sum())
    if (most := int(factors.max(initial=0))) > brokers:
        raise PlanningError(
            f"{most} replicas need {most} brokers, and {brokers} may hold replicas: add brokers or lower the"
            " replication factor"
        )
    if int(factors.min(initial=1)) < 1:
        raise PlanningError("a partition cannot have 0 replicas: ask for a replication factor of 1 or more")


def _check_capacity(problem: PlacementProblem) -> None:
    if problem.capacity is None:
        return
    if problem.bytes is None:
        raise PlanningError("capacity means nothing without sizes of partitions: give sizes, or leave it out")
    needed, there = int(problem.bytes @ problem.target_rf), int(problem.capacity[problem.allowed].sum())
    if needed > there:
        raise PlanningError(f"{needed:,} bytes of replicas do not fit on brokers that hold {there:,}: add brokers")


def check_loads(problem: PlacementProblem, replicas: np.ndarray) -> None:
    """Whether every broker holds what it was given. Raises PlanningError."""
    if problem.capacity is None or problem.bytes is None:
        return
    loads = loads_of(replicas, problem.bytes, len(problem.allowed))
    for broker in np.flatnonzero(problem.allowed & (loads > problem.capacity)).tolist():
        raise PlanningError(
            f"broker {broker} would get {int(loads[broker]):,} bytes and holds {int(problem.capacity[broker]):,};"
            " no exchange was found that helps: raise its capacity, add brokers, or allow a tolerance"
        )


def loads_of(replicas: np.ndarray, sizes: np.ndarray, brokers: int) -> np.ndarray:
    """Bytes on each broker."""
    there = replicas != NONE
    weights = np.broadcast_to(sizes[:, None], replicas.shape)[there]
    return np.bincount(replicas[there], weights=weights, minlength=brokers)
