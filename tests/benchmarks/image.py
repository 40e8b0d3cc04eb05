"""The image of a large cluster: memory, and what one delta costs.

The rival of what is worked out step by step is the same worked out anew; all of it in processor time.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from statistics import median

from model.cluster.findings import find
from tests.benchmarks.fed_cluster import PARTITIONS, FedCluster, cpu_s, look_at
from tests.benchmarks.figure import Figure
from tui.engine.listing import AnswerMemo

SIZES = (1_000, 10_000)
"""Topics."""

CHANGES = (1, 1_000)
ROUNDS = 15


def measure(folder: Path) -> Iterator[Figure]:
    """At a hundred thousand and a million partitions."""
    for topics in SIZES:
        size = f"{topics * PARTITIONS:,} partitions"
        cluster = FedCluster(topics)
        yield Figure(f"{size}: image from records", cluster.loaded_s, note=f"{cluster.bytes_each:.0f} bytes each")
        for changes in CHANGES:
            yield from _deltas(cluster, f"{size}, {changes:,} changed", changes)


def _deltas(cluster: FedCluster, what: str, changes: int) -> Iterator[Figure]:
    whole, findings, tables, rivals = list[float](), list[float](), list[float](), (list[float](), list[float]())
    for number in range(ROUNDS):
        before = cluster.feed.moment.findings
        whole.append(cluster.change(changes))
        moment = cluster.feed.moment
        findings.append(cpu_s(lambda was=before, image=moment.image: find(image, was)))
        tables.append(cpu_s(cluster.table))
        if number < 3:
            rivals[0].append(cpu_s(lambda image=moment.image: find(image)))
            rivals[1].append(cpu_s(lambda now=moment: look_at(now, AnswerMemo())))
    yield Figure(f"{what}: image, findings and feed", median(whole))
    yield Figure(f"{what}: findings", median(findings), "all anew", median(rivals[0]))
    yield Figure(f"{what}: partition table", median(tables), "all anew", median(rivals[1]))
