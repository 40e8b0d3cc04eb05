"""Filters and sorts of the partition list, in processor time; the rival of a sort is Python's own, of ranks alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from statistics import median

from tests.benchmarks.fed_cluster import FedCluster
from tests.benchmarks.figure import Figure

TOPICS = 2_000
FILTERS = ("topic-0012", "~t12", "re:^topic-001.*-(3|4)$", "state:under", "broker:5", "age:<1m", "!ok")
SORTS = ("topic", "leader", "isr", "epoch", "age", "state")
GOAL_S = 0.1
"""For a filter or a sort of two hundred thousand rows."""


def measure(folder: Path) -> Iterator[Figure]:
    """Of two hundred thousand partitions, each after a change, so that nothing but the names is at hand."""
    cluster = FedCluster(TOPICS)
    cluster.answer(filter="x")
    for asked in (*({"filter": text} for text in FILTERS), *({"sort": name} for name in SORTS)):
        times: list[float] = []
        for _ in range(5):
            cluster.change(1)
            times.append(cluster.answer(**asked))
        (kind, text), size = *asked.items(), cluster.feed.moment.image.partition_count
        what, ours_s = f"{size:,} rows, {kind} {text}", median(times)
        yield Figure(what, ours_s, "the goal", GOAL_S, goal=1, note=f"{max(times) * 1e3:.0f} ms at most")
        if kind == "sort":
            yield Figure(what, ours_s, "Python's sorted", median(cluster.sorted_by_python(text) for _ in range(5)))
