"""The .snapshot files of a partition folder: written at segment starts, read to get the producers back.

Kafka 3.9 `ProducerStateManager` (loadFromSnapshot, removeStraySnapshots) and `UnifiedLog.rebuildProducerState`.
"""

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from model.cluster.whole_file import MOST_FACTS, read_whole
from model.log.appending import marker_of
from model.log.checkpoints import write_durably
from model.log.indexes import AbortedTransaction
from model.log.names import SNAPSHOT, NumberedFile, numbered_file
from model.log.producers import Origin, Producers, decode_snapshot, encode_snapshot, producers_from
from model.log.records import RecordBatch
from model.log.segment import Segment
from model.log.segment_list import SegmentList


@dataclass(frozen=True)
class BadSnapshot:
    """A snapshot that could not be used, and was removed."""

    path: Path
    why: str


def snapshot_path(folder: Path, offset: int) -> Path:
    """The snapshot of the producers as they were before `offset`."""
    return folder / str(NumberedFile(offset, SNAPSHOT))


def snapshot_offsets(folder: Path) -> list[int]:
    """The offsets of all snapshots, rising."""
    names = (numbered_file(path.name) for path in folder.iterdir())
    return sorted(name.offset for name in names if name and name.kind == SNAPSHOT and not name.suffix)


def take_snapshot(folder: Path, producers: Producers, *, fsync: bool = False) -> None:
    """Writes the producers as they are, unless there is a snapshot as new.

    One that is lost in a power cut costs a longer scan, nothing else.
    """
    if producers.end_offset > max(snapshot_offsets(folder), default=0):
        write_durably(snapshot_path(folder, producers.end_offset), encode_snapshot(producers.snapshot()), fsync=fsync)


def remove_snapshots(folder: Path, *, after: int) -> None:
    """Removes the snapshots above an offset."""
    for offset in snapshot_offsets(folder):
        if offset > after:
            snapshot_path(folder, offset).unlink(missing_ok=True)


def stray_snapshots(offsets: Collection[int], segment_bases: Collection[int]) -> list[int]:
    """Snapshots that belong to no segment; the newest of them stays if it is newer than all segments (a clean stop)."""
    strays = sorted(set(offsets) - set(segment_bases))
    if strays and strays[-1] > max(segment_bases, default=-1):
        strays.pop()
    return strays


def latest_producers(folder: Path, end_offset: int, start_offset: int) -> tuple[Producers, list[BadSnapshot]]:
    """The producers from the newest good snapshot not after `end_offset`; none of them, without a snapshot."""
    bad: list[BadSnapshot] = []
    for offset in reversed(snapshot_offsets(folder)):
        if not start_offset < offset <= end_offset:
            continue
        path = snapshot_path(folder, offset)
        try:
            return producers_from(decode_snapshot(read_whole(path, MOST_FACTS, only_file=True)), offset), bad
        except ValueError as error:
            bad.append(BadSnapshot(path, str(error)))
            path.unlink()
    return Producers(start_offset), bad


def replay_batch(producers: Producers, segment: Segment, batch: RecordBatch) -> list[AbortedTransaction]:
    """Tells the producers of a batch that is in the log. Returns the transactions that it shows to be aborted."""
    marker = marker_of(segment.log, batch) if batch.is_control else None
    return producers.apply(producers.check([(batch, marker)], Origin.REPLICATION), batch.next_offset)


def catch_up(producers: Producers, segments: SegmentList, end_offset: int) -> None:
    """Replays the batches between the producers' end and `end_offset`."""
    for segment in segments.from_offset(producers.end_offset):
        start = max(producers.end_offset, segment.base_offset)
        if start >= end_offset:  # batches that are not replayed move nobody's end: the next segment may be damaged
            break
        for batch in segment.batches(segment.indexed_position(start)):
            if batch.last_offset >= start and batch.producer_id >= 0:
                replay_batch(producers, segment, batch)
    producers.end_offset = end_offset
