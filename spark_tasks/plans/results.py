"""What is asked of plans that remove each broker in turn, and the answer, as values that travel as JSON."""

import msgspec

from model.planning.request import By, Reach
from spark_tasks.drills.results import DEFAULT_RATE
from spark_tasks.plans.drill_figures import DrillFigures

FORMAT = "kdrill.plans/1"


class Parameters(msgspec.Struct, frozen=True, kw_only=True):
    """How each plan is to be made; the fields mean what they mean in `PlanRequest`.

    `brokers` are those to remove in turn, none: every live one. `racks` are the racks' names by number.
    """

    brokers: tuple[int, ...] = ()
    racks: tuple[str, ...] = ()
    reach: Reach = "balance"
    by: By = "count"
    tolerance_percent: float = 0.0
    capacity: int | None = None
    failure_rate: float = DEFAULT_RATE


class WithoutBroker(msgspec.Struct, frozen=True, kw_only=True):
    """What it takes to do without one broker, and what is left then."""

    broker: int
    rack: str | None
    hurt_by_death: int
    """Partitions newly offline, newly under min ISR or led uncleanly if it dies now."""
    moves: int
    moves_bound: int
    bytes: int | None
    leader_changes: int
    replicas_spread: int
    leaders_spread: int
    disk_spread_percent: float | None
    rack_violations: int | None
    left: int
    """Partitions that stay on it: being reassigned, or without a live leader."""
    drills: DrillFigures
    """When it is gone."""


class NoPlan(msgspec.Struct, frozen=True):
    """A broker that cannot be done without, and why."""

    broker: int
    reason: str


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """Every broker by id, and how drills are now."""

    brokers: tuple[WithoutBroker, ...]
    impossible: tuple[NoPlan, ...]
    now: DrillFigures
