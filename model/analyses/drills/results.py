"""What is asked of a drill over the whole cluster, its answer, and that as a kdrill.drills/1 document."""

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from model.cluster.cluster_image import ClusterImage
from model.drills.voters import is_kraft, not_forecast

Kind = Literal["brokers", "pairs", "racks", "brokers-and-racks", "random"]

DRILLS_FORMAT = "kdrill.drills/1"
DEFAULT_RATE = 0.01


class DrillParameters(msgspec.Struct, frozen=True, kw_only=True):
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


class ScenarioCounts(msgspec.Struct, frozen=True):
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


NAMES = ScenarioCounts.__struct_fields__


class ScenarioOutcome(msgspec.Struct, frozen=True):
    """One scenario. `kill` are broker ids, `rack` a rack that dies as a whole; `most_leaders` -1: nobody asked."""

    kill: tuple[int, ...]
    rack: str | None
    counts: ScenarioCounts
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


class DrillResult(msgspec.Struct, frozen=True, kw_only=True):
    """The answer."""

    scenarios: int
    hurting: int
    """Scenarios that hurt a partition, or in which nothing is elected any more."""
    before: ScenarioCounts
    leaders_before: Mapping[int, int]
    """Of live brokers, by id."""
    listed: tuple[ScenarioOutcome, ...]
    worst: Mapping[str, ScenarioOutcome]
    """By the name of a count, the scenario that has the most of it; left out where none has any."""
    heat: HeatMap | None
    """Of pairs only."""
    fatal: FatalSets
    loss: tuple[LossChance, ...]


Document = dict[str, Any]

WORDS = {
    "brokers": "each-broker",
    "pairs": "each-pair",
    "racks": "each-rack",
    "brokers-and-racks": "each-broker-and-rack",
}
"""What the command line calls the scenarios."""


def document_of(
    result: DrillResult, image: ClusterImage, parameters: DrillParameters, engine: str, seconds: float
) -> Document:
    """All of it. `scenarios` are the worst ones, `scenario_count` says how many there were."""
    about: Document = {"not_forecast": not_forecast(image)} if is_kraft(image) else {}
    return {
        "format": DRILLS_FORMAT,
        **about,
        "scenario_count": result.scenarios,
        "hurting": result.hurting,
        "before": _before(result),
        "scenarios": [scenario(one) for one in result.listed],
        "worst": [{"of": name, **scenario(one)} for name, one in result.worst.items()],
        "minimal_fatal_sets": [msgspec.to_builtins(one) for one in result.fatal.sets],
        "minimal_fatal_set_counts": {str(size): count for size, count in result.fatal.counts.items()},
        "loss": [msgspec.to_builtins(one) for one in result.loss],
        "heat_map": msgspec.to_builtins(result.heat),
        "provenance": {
            "source": image.provenance.source,
            "zxid": image.provenance.zxid,
            "time_ms": image.provenance.time_ms,
            "parameters": _parameters(parameters),
            "engine": engine,
            "seconds": round(seconds, 3),
        },
    }


def scenario(one: ScenarioOutcome) -> Document:
    """Who dies, and what becomes of it."""
    summary: Document = {
        **msgspec.to_builtins(one.counts),
        "most_leaders": one.most_leaders,
        "most_leaders_on": one.most_leaders_on,
    }
    if one.leaders_by_broker:
        summary["leaders_by_broker"] = {str(broker): count for broker, count in one.leaders_by_broker.items()}
    return {"kill": one.kill, "rack": one.rack, "quorum_lost": one.quorum_lost, "summary": summary}


def _before(result: DrillResult) -> Document:
    counts = result.before
    return {
        "offline": counts.offline,
        "under_min_isr": counts.under_min_isr,
        "under_replicated": counts.under_replicated,
        "leaders_by_broker": {str(broker): count for broker, count in result.leaders_before.items()},
    }


def _parameters(parameters: DrillParameters) -> Document:
    random = {"size": parameters.size, "count": parameters.count, "seed": parameters.seed}
    return {
        "scenarios": WORDS.get(parameters.kind, parameters.kind),
        **(random if parameters.kind == "random" else {}),
        "unclean": parameters.unclean,
        "failure_rate": parameters.failure_rate,
    }
