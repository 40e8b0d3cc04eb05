"""What is asked of a drill over the whole cluster, and its answer, as values that travel as JSON."""

from collections.abc import Mapping
from typing import Literal

import msgspec

Kind = Literal["brokers", "pairs", "racks", "brokers-and-racks", "random"]

FORMAT = "kdrill.drills/1"
DEFAULT_RATE = 0.01


class Parameters(msgspec.Struct, frozen=True, kw_only=True):
    """Which scenarios: every live broker, every two, every rack, every broker with every other rack, or random sets.

    `size`, `count` and `seed` are of the random ones. `racks` are the racks' names by number, as `racks_of` has them.
    """

    kind: Kind
    racks: tuple[str, ...] = ()
    size: int = 0
    count: int = 0
    seed: int = 0
    unclean: bool = False
    """Every topic may elect a leader that is not in sync, whatever is configured."""
    listed: int = 100
    """So many scenarios are in the answer, the worst first."""
    detailed: int = 20
    """So many of them say the leaders of each broker."""
    failure_rate: float = DEFAULT_RATE
    """The probability that a broker dies within the time it takes to notice and replace another."""


class Counts(msgspec.Struct, frozen=True):
    """Partitions after a scenario, at the end of it; the new ones were well before it."""

    offline: int
    under_min_isr: int
    under_replicated: int
    unclean: int = 0
    """Somebody leads who was not in sync: acknowledged records may be lost."""
    newly_offline: int = 0
    newly_under_min_isr: int = 0
    leaders_moved: int = 0
    hurt: int = 0
    """Newly offline, newly under min ISR, or unclean: each partition once."""


NAMES = Counts.__struct_fields__


class ScenarioOutcome(msgspec.Struct, frozen=True):
    """One scenario. `kill` are broker ids, `rack` a rack that dies as a whole; `most_leaders` -1: nobody asked."""

    kill: tuple[int, ...]
    rack: str | None
    counts: Counts
    most_leaders: int = -1
    """Leaders on the live broker that has the most of them then."""
    most_leaders_on: int = -1
    quorum_lost: bool = False
    """Whether a KRaft quorum loses its majority: nothing is elected any more."""
    leaders_by_broker: Mapping[int, int] = {}
    """Of live brokers, by id; empty where nobody asked."""


class HeatMap(msgspec.Struct, frozen=True):
    """Partitions that a pair hurts, as a symmetric table. By rack: the worst pair of the two racks."""

    by: Literal["broker", "rack"]
    labels: tuple[str, ...]
    hurt: tuple[tuple[int, ...], ...]


class FatalSet(msgspec.Struct, frozen=True):
    """Brokers that hold all in-sync replicas of so many partitions: if they die together and for good, data is lost."""

    kill: tuple[int, ...]
    partitions: int


class FatalSets(msgspec.Struct, frozen=True):
    """The minimal ones: none contains another. `counts` is by size; `sets` the smallest, and of those the widest."""

    counts: Mapping[int, int]
    sets: tuple[FatalSet, ...]


class LossChance(msgspec.Struct, frozen=True):
    """What is lost if brokers die for good: `failed` of them, any with the same probability, or each at `rate`.

    The expectations are exact. The probability that anything is lost is exact where `exact`; else it takes the sets
    for independent (1 - e^-expected_sets), as in Cidon et al., Copysets (2013).
    """

    failed: int | None
    rate: float | None
    expected_partitions: float
    expected_sets: float
    probability: float
    exact: bool


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """The answer."""

    scenarios: int
    hurting: int
    """Scenarios that hurt a partition, or in which nothing is elected any more."""
    before: Counts
    leaders_before: Mapping[int, int]
    """Of live brokers, by id."""
    listed: tuple[ScenarioOutcome, ...]
    worst: Mapping[str, ScenarioOutcome]
    """By the name of a count, the scenario that has the most of it; left out where none has any."""
    heat: HeatMap | None
    """Of pairs only."""
    fatal: FatalSets
    loss: tuple[LossChance, ...]
