"""A snapshot of KRaft's metadata of a million partitions, from the file to what screens are drawn from; processor time.

The first picture is of the first partitions that were read. The rival is the same file read record by record, and not
told to anybody; so many of the partitions that it takes seconds, the rest by rule of three.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from model.cluster.cluster_delta import ClusterDelta
from model.cluster.cluster_image import EMPTY, Provenance
from model.log.records import Record, RecordBatch, SegmentFile, records_of, scan
from model.metadata_log.replay import Replay
from model.metadata_log.topics import RecordPlace
from model.sources.addresses import MetadataLogName
from model.sources.feed import Feed, Moment
from model.sources.metadata_log.metadata_log_source import MetadataLogSource
from tests.benchmarks.fed_cluster import cpu_s
from tests.benchmarks.figure import Figure
from tests.model.metadata_log.snapshot_writer import snapshot, write_snapshot

SIZES = ((100, 10_000), (10_000, 100), (100_000, 10))
"""Topics, and partitions of each."""
GOAL_S = 8.0
PATIENCE_S = 300.0
PART = 20
"""The rival reads one in so many topics."""


def measure(folder: Path) -> Iterator[Figure]:
    """Few large topics, and many small ones."""
    for topics, partitions in SIZES:
        what = f"{topics:,} topics of {partitions:,} partitions"
        path = write_snapshot(folder, snapshot(topics // PART, partitions))
        rival_s = cpu_s(lambda path=path: one_by_one(path)) * PART
        path = write_snapshot(folder, snapshot(topics, partitions))
        first_s, whole_s = shown(path, topics * partitions)
        note = f"goal {GOAL_S:g} s; first picture {first_s:.2f} s (goal 1 s); {path.stat().st_size:,} bytes"
        yield Figure(what, whole_s, "record by record", rival_s, note=note)
        path.unlink()


def shown(path: Path, partitions: int) -> tuple[float, float]:
    """Seconds of processor time until some partitions can be seen, and until all can, with what is wrong with them."""
    began_s, seen_s = time.process_time(), list[float]()
    whole = threading.Event()

    def publish(moment: Moment) -> None:
        if moment.image.topics and not seen_s:
            seen_s.append(time.process_time() - began_s)
        if moment.status.phase == "snapshot":
            whole.set()

    feed = Feed("benchmark", publish)
    with closing(MetadataLogSource(MetadataLogName(path))) as source:
        source.open(feed)
        assert whole.wait(PATIENCE_S)
    whole_s = time.process_time() - began_s
    assert feed.moment.image.partition_count == partitions
    return seen_s[0], whole_s


def one_by_one(path: Path) -> None:
    """As a log is read."""
    replay = Replay()
    with SegmentFile(path) as source:
        for batch in scan(source):
            assert isinstance(batch, RecordBatch)
            for record in () if batch.is_control else records_of(source, batch):
                assert isinstance(record, Record)
                replay.take(record.value, RecordPlace())
    delta = ClusterDelta(EMPTY).replay_all(replay.facts(RecordPlace(1_000)))
    assert delta.apply(Provenance("benchmark")).topics
