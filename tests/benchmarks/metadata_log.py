"""A snapshot of KRaft's metadata of a million partitions, from the file to the feed of the screens; processor time.

The rival is the same file read record by record; so many of the partitions that it takes seconds, the rest by rule of
three.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from model.cluster.cluster_delta import ClusterDelta
from model.cluster.cluster_image import EMPTY, Provenance
from model.log.records import Record, RecordBatch, SegmentFile, records_of, scan
from model.metadata_log.replay import Replay
from model.metadata_log.topics import Place
from model.sources.addresses import MetadataLogName
from model.sources.feed import Feed
from model.sources.metadata_log.metadata_log_source import MetadataLogSource
from tests.benchmarks.fed_cluster import cpu_s
from tests.benchmarks.figure import Figure
from tests.model.metadata_log.snapshot_writer import snapshot, write_snapshot

SIZES = ((100, 10_000), (10_000, 100), (100_000, 10))
"""Topics, and partitions of each."""
PART = 20
"""The rival reads one in so many topics."""


def measure(folder: Path) -> Iterator[Figure]:
    """Few large topics, and many small ones."""
    for topics, partitions in SIZES:
        what = f"{topics:,} topics of {partitions:,} partitions"
        path = write_snapshot(folder, snapshot(topics // PART, partitions))
        rival_s = cpu_s(lambda path=path: one_by_one(path)) * PART
        path = write_snapshot(folder, snapshot(topics, partitions))
        sources: list[MetadataLogSource] = []
        image_s = cpu_s(lambda path=path, sources=sources: sources.append(MetadataLogSource(MetadataLogName(path))))
        yield Figure(f"{what}: image", image_s, "record by record", rival_s, note=f"{path.stat().st_size:,} bytes")
        feed = Feed("benchmark", lambda _: None)
        yield Figure(f"{what}: told to the feed", cpu_s(lambda source=sources[0], feed=feed: source.open(feed)))
        assert sum(map(len, feed.moment.image.topics.values())) == topics * partitions
        path.unlink()


def one_by_one(path: Path) -> None:
    """As a log is read."""
    replay = Replay()
    with SegmentFile(path) as source:
        for batch in scan(source):
            assert isinstance(batch, RecordBatch)
            for record in () if batch.is_control else records_of(source, batch):
                assert isinstance(record, Record)
                replay.take(record.value, Place())
    delta = ClusterDelta(EMPTY).replay_all(replay.facts(Place(1_000)))
    assert delta.apply(Provenance("benchmark")).topics
