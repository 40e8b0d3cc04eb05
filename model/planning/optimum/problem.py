"""What is asked of the solver and what it answers. Brokers, racks and topics are numbers; nothing is decided here."""

from collections.abc import Callable
from enum import StrEnum

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


class Cost(StrEnum):
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
    cost: Cost = Cost.REPLICAS
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
