"""A snapshot of KRaft's metadata of a million partitions, from the file to the whole image; processor time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from model.cluster.cluster_delta import ClusterDelta
from model.cluster.cluster_image import EMPTY, ClusterImage, Provenance
from model.metadata_log.replay import Replay
from model.sources.metadata_log.log_files import Snapshot, read_snapshot
from tests.benchmarks.fed_cluster import cpu_s
from tests.benchmarks.figure import Figure
from tests.model.metadata_log.snapshot_writer import snapshot, write_snapshot

SIZES = ((10_000, 100), (100_000, 10), (100, 10_000))
"""Topics, and partitions of each."""


def measure(folder: Path) -> Iterator[Figure]:
    """Few large topics, and many small ones."""
    for topics, partitions in SIZES:
        path = write_snapshot(folder, snapshot(topics, partitions))
        images: list[ClusterImage] = []
        took_s = cpu_s(lambda path=path, images=images: images.append(image_of(path)))
        assert sum(map(len, images[0].topics.values())) == topics * partitions
        yield Figure(f"{topics:,} topics of {partitions:,} partitions", took_s, note=f"{path.stat().st_size:,} bytes")
        path.unlink()


def image_of(path: Path) -> ClusterImage:
    """All of a snapshot."""
    replay = Replay()
    at = read_snapshot(Snapshot(1_000, 1, path), replay)
    assert not replay.troubles, replay.trouble
    return ClusterDelta(EMPTY).replay_all(replay.facts(at)).apply(Provenance("benchmark", at.offset, at.time_ms))
