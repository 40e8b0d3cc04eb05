"""A drill over the whole cluster as a kdrill.drills/1 document: plain values for JSON."""

from typing import Any

import msgspec

from model.cluster.cluster_image import ClusterImage
from model.drills.voters import is_kraft, not_forecast
from spark_tasks.drills.results import FORMAT, Parameters, Result, ScenarioOutcome

Document = dict[str, Any]

WORDS = {
    "brokers": "each-broker",
    "pairs": "each-pair",
    "racks": "each-rack",
    "brokers-and-racks": "each-broker-and-rack",
}
"""What the command line calls the scenarios."""


def document_of(result: Result, image: ClusterImage, parameters: Parameters, engine: str, seconds: float) -> Document:
    """All of it. `scenarios` are the worst ones, `scenario_count` says how many there were."""
    about: Document = {"not_forecast": not_forecast(image)} if is_kraft(image) else {}
    return {
        "format": FORMAT,
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


def _before(result: Result) -> Document:
    counts = result.before
    return {
        "offline": counts.offline,
        "under_min_isr": counts.under_min_isr,
        "under_replicated": counts.under_replicated,
        "leaders_by_broker": {str(broker): count for broker, count in result.leaders_before.items()},
    }


def _parameters(parameters: Parameters) -> Document:
    random = {"size": parameters.size, "count": parameters.count, "seed": parameters.seed}
    return {
        "scenarios": WORDS.get(parameters.kind, parameters.kind),
        **(random if parameters.kind == "random" else {}),
        "unclean": parameters.unclean,
        "failure_rate": parameters.failure_rate,
    }
