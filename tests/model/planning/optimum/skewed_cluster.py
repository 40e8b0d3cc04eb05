"""A skewed cluster of 12 brokers, 3 racks and 3,000 partitions: `tests/data/plans`, as arrays."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from model.planning.optimum.problem import PlacementProblem

FILE = Path(__file__).parents[4] / "tests/data/plans/skewed-12-brokers-3000-partitions.json"


def skewed(removed: Iterable[int] = (), added: Iterable[tuple[int, str]] = ()) -> PlacementProblem:
    """Brokers are numbered by their ids, ascending; so are racks and topics by their names."""
    content: dict[str, Any] = json.loads(FILE.read_text())
    racks = {broker["id"]: broker["rack"] for broker in content["brokers"]} | dict(added)
    ids, names = sorted(racks), sorted(set(racks.values()))
    topics = sorted(content["topics"])
    rows = [(topics.index(name), row) for name in topics for row in content["topics"][name]["partitions"].values()]
    return PlacementProblem(
        replicas=np.array([[ids.index(broker) for broker in row["replicas"]] for _, row in rows], np.int32),
        target_rf=np.full(len(rows), 3, np.int32),
        allowed=~np.isin(ids, list(removed)),
        rack=np.array([names.index(racks[broker]) for broker in ids], np.int32),
        topic=np.array([topic for topic, _ in rows], np.int32),
        bytes=np.array([row["size_bytes"] for _, row in rows], np.int64),
    )


def spread(numbers: np.ndarray, asked: PlacementProblem) -> float:
    """Most minus least, of the allowed brokers."""
    return float(np.ptp(numbers[asked.allowed]))


def disk_spread(replicas: np.ndarray, asked: PlacementProblem) -> float:
    """Fullest minus emptiest allowed broker, as a share of the mean."""
    assert asked.bytes is not None
    sizes = np.repeat(asked.bytes, replicas.shape[1])
    loads = np.bincount(replicas.ravel(), weights=sizes, minlength=len(asked.allowed))[asked.allowed]
    return float(np.ptp(loads) / loads.mean())
