"""Small files beside the segments: checkpoints, producers' snapshots, meta.properties, partition.metadata, the mark of
a clean shutdown.

Files are replaced so that a crash leaves the old or the new content, never a mixture. Checkpoints share a form: a
version, a count, then one entry a line; an offset checkpoint's line is `topic partition offset`. An empty file holds
nothing; any other that is not as written is refused whole.

`org.apache.kafka.server.common.CheckpointFile`, `org.apache.kafka.storage.internals.checkpoint.OffsetCheckpointFile`
(3.9).

Which leader epoch wrote which offsets: the history that followers compare to find where their logs part.

`org.apache.kafka.storage.internals.epoch.LeaderEpochFileCache` (3.9), KIP-101 and KIP-279. It writes no file itself.

The .snapshot files of a partition folder: written at segment starts, read to get the producers back.

Kafka 3.9 `ProducerStateManager` (loadFromSnapshot, removeStraySnapshots) and `UnifiedLog.rebuildProducerState`.
"""

import base64
import json
import os
import re
import uuid
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple, TypeVar

from model.cluster.whole_file import MOST_FACTS, MOST_SETTINGS, read_text, read_whole
from model.log.appending import marker_of
from model.log.indexes import AbortedTransaction
from model.log.names import (
    CLEAN_SHUTDOWN_FILE,
    META_PROPERTIES_FILE,
    PARTITION_METADATA_FILE,
    SNAPSHOT,
    DamagedFileError,
    NumberedFile,
    numbered_file,
)
from model.log.producers import Origin, Producers, decode_snapshot, encode_snapshot, producers_from
from model.log.records import RecordBatch
from model.log.segment import Segment
from model.log.segment_list import SegmentList


def fsync_folder(folder: Path) -> None:
    """Makes renames, creations and deletions in `folder` outlast a power cut."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_durably(path: Path, data: bytes, *, fsync: bool = True) -> None:
    """Writes `path.tmp` and renames it to `path`, as Kafka's CheckpointFile does.

    Without `fsync` the content outlasts the end of this process, but not that of the machine.
    """
    temporary = path.with_name(path.name + ".tmp")
    with temporary.open("wb") as file:
        file.write(data)
        file.flush()
        if fsync:
            os.fsync(file.fileno())
    temporary.replace(path)
    if fsync:
        fsync_folder(path.parent)


VERSION = 0
INT32, INT64 = 32, 64
_NUMBER: Final = re.compile(r"[+-]?[0-9]{1,19}")

Entry = TypeVar("Entry")


def whole_number(text: str, bits: int) -> int:
    """As Java's `parseInt` (INT32) and `parseLong` (INT64). Raises ValueError."""
    if _NUMBER.fullmatch(text) is None or not -(1 << bits - 1) <= int(text) < 1 << bits - 1:
        raise ValueError(f"{text[:40]!r} is no number of {bits} bits")
    return int(text)


def encode_checkpoint(lines: Iterable[str]) -> bytes:
    """The content of a file with these entries."""
    entries = list(lines)
    return "".join(f"{line}\n" for line in (VERSION, len(entries), *entries)).encode()


def read_checkpoint(path: Path, parse: Callable[[list[str]], Entry]) -> list[Entry]:
    """The entries of a file, each parsed from its words; none when there is no such file.

    `parse` raises ValueError for words that are no entry. Raises DamagedFileError naming the line.
    """
    try:
        text = read_whole(path, MOST_FACTS, only_file=True).decode()
    except FileNotFoundError:
        return []
    except UnicodeDecodeError as error:
        raise DamagedFileError(path, f"byte {error.start} is not UTF-8") from None
    if not text:
        return []
    lines = text.removesuffix("\n").split("\n")
    if lines[0].strip() != str(VERSION):
        raise DamagedFileError(path, f"the version is {lines[0][:40]!r}, not {VERSION}", 1)
    try:
        promised = whole_number(lines[1].strip(), INT32)
    except (IndexError, ValueError):
        raise DamagedFileError(path, "the number of entries is missing", 2) from None
    entries = [_entry(path, number, line, parse) for number, line in enumerate(lines[2:], 3)]
    if len(entries) != promised:
        raise DamagedFileError(path, f"{promised} entries are promised, {len(entries)} are there", 2)
    return entries


def write_checkpoint(path: Path, lines: Iterable[str], *, fsync: bool = True) -> None:
    """Replaces the file by one with these entries."""
    write_durably(path, encode_checkpoint(lines), fsync=fsync)


def _entry(path: Path, number: int, line: str, parse: Callable[[list[str]], Entry]) -> Entry:
    try:
        return parse(line.split())
    except ValueError:
        raise DamagedFileError(path, f"{line[:80]!r} is no entry", number) from None


TopicPartition = tuple[str, int]


def read_offsets(path: Path) -> dict[TopicPartition, int]:
    """Offset by topic and partition; empty when there is no such file. Raises DamagedFileError."""
    return dict(read_checkpoint(path, _parse))


def write_offsets(path: Path, offsets: Mapping[TopicPartition, int], *, fsync: bool = True) -> None:
    """Replaces the file. Kafka's order of lines is a hash map's; here they are sorted."""
    lines = (f"{topic} {partition} {offset}" for (topic, partition), offset in sorted(offsets.items()))
    write_checkpoint(path, lines, fsync=fsync)


def _parse(words: list[str]) -> tuple[TopicPartition, int]:
    topic, partition, offset = words
    return (topic, whole_number(partition, INT32)), whole_number(offset, INT64)


def read_meta_properties(folder: Path) -> dict[str, str]:
    """The keys of a log folder's meta.properties; empty when there is none, as before 0.9.

    ZooKeeper mode has `version` (0), `broker.id` and from 0.10.1 `cluster.id`; KRaft has `node.id` and `directory.id`.
    Raises DamagedFileError for a line that is no property.
    """
    path = folder / META_PROPERTIES_FILE
    try:
        text = read_text(path, "iso-8859-1", only_file=True)  # Java's properties are
    except FileNotFoundError:
        return {}
    properties: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        if not stripped or stripped[0] in "#!":
            continue
        key, separator, value = stripped.partition("=")
        if not separator:
            raise DamagedFileError(path, f"{stripped[:80]!r} is no key=value", number)
        properties[key.strip()] = value.strip()
    return properties


def write_meta_properties(folder: Path, properties: Mapping[str, str]) -> None:
    """Replaces meta.properties. Kafka puts the date into the second line; it means nothing, and is left out."""
    lines = ["#", *(f"{key}={value}" for key, value in properties.items())]
    write_durably(folder / META_PROPERTIES_FILE, "".join(f"{line}\n" for line in lines).encode("iso-8859-1"))


def read_topic_id(folder: Path) -> uuid.UUID | None:
    """The topic id in a partition folder's partition.metadata (2.8+); None when there is no such file.

    Raises DamagedFileError.
    """
    path = folder / PARTITION_METADATA_FILE
    try:
        lines = read_whole(path, MOST_SETTINGS, only_file=True).decode("ascii", "replace").split("\n")
    except FileNotFoundError:
        return None
    if lines[0] != "version: 0":
        raise DamagedFileError(path, f"the version is {lines[0][:40]!r}, not 'version: 0'", 1)
    key, _, value = (lines[1] if len(lines) > 1 else "").partition(": ")
    try:
        digits = base64.b64decode(value + "==", altchars=b"-_", validate=True)
    except ValueError:  # also binascii.Error
        digits = b""
    if key != "topic_id" or len(digits) != 16:
        raise DamagedFileError(path, "there is no topic id of 22 base64url characters", 2)
    return uuid.UUID(bytes=digits)


def write_topic_id(folder: Path, topic_id: uuid.UUID, *, fsync: bool = True) -> None:
    """Writes partition.metadata: 43 bytes, without a line's end."""
    text = base64.urlsafe_b64encode(topic_id.bytes).rstrip(b"=").decode()
    write_durably(folder / PARTITION_METADATA_FILE, f"version: 0\ntopic_id: {text}".encode(), fsync=fsync)


def mark_clean_shutdown(folder: Path, broker_epoch: int = -1) -> None:
    """Says that everything in this log folder is on disk. The last act of an orderly stop."""
    mark = json.dumps({"version": 0, "brokerEpoch": broker_epoch}, separators=(",", ":"))
    write_durably(folder / CLEAN_SHUTDOWN_FILE, mark.encode())


def take_clean_shutdown_mark(folder: Path) -> bool:
    """Whether the last stop was orderly; the mark is gone afterwards. Its content has no bearing on the answer."""
    path = folder / CLEAN_SHUTDOWN_FILE
    try:
        path.unlink()
    except FileNotFoundError:
        return False
    fsync_folder(folder)
    return True


NO_EPOCH = -1
NO_OFFSET = -1


class EpochStart(NamedTuple):
    """The first offset of a leader's epoch."""

    epoch: int
    start_offset: int


class EpochEnd(NamedTuple):
    """Where an epoch ended: the first offset that is no more its own. Both -1: not known."""

    epoch: int
    end_offset: int


UNKNOWN_END = EpochEnd(NO_EPOCH, NO_OFFSET)


@dataclass(frozen=True)
class LeaderEpochs:
    """Epochs with their start offsets, both rising. A value: each change gives another."""

    starts: tuple[EpochStart, ...] = ()

    @property
    def latest(self) -> int | None:
        """The newest epoch; None when none is known."""
        return self.starts[-1].epoch if self.starts else None

    def assign(self, epoch: int, start_offset: int) -> "LeaderEpochs":
        """With an epoch that starts at an offset; entries that contradict it (as new, or as far on) are dropped.

        An epoch that is already the latest keeps its start.
        """
        if self.latest is not None and self.latest == epoch and start_offset >= self.starts[-1].start_offset:
            return self
        kept = tuple(each for each in self.starts if each.epoch < epoch and each.start_offset < start_offset)
        return LeaderEpochs((*kept, EpochStart(epoch, start_offset)))

    def end_offset_for(self, epoch: int, log_end_offset: int) -> EpochEnd:
        """What a leader answers when it is asked for an epoch's end (OffsetsForLeaderEpoch, Fetch's diverging epoch).

        The latest epoch ends at the log's end. An epoch newer than all is unknown. One older than all ends, by that
        name, where the first known one begins. Else the answer is for the greatest known epoch that is not newer.
        """
        if epoch == NO_EPOCH or not self.starts:
            return UNKNOWN_END
        if epoch == self.latest:
            return EpochEnd(epoch, log_end_offset)
        later = bisect_right(self.starts, epoch, key=lambda each: each.epoch)
        if later == len(self.starts):
            return UNKNOWN_END
        floor = epoch if later == 0 else self.starts[later - 1].epoch
        return EpochEnd(floor, self.starts[later].start_offset)

    def epoch_at(self, offset: int) -> int | None:
        """The epoch that wrote an offset; None before the first known one."""
        later = bisect_right(self.starts, offset, key=lambda each: each.start_offset)
        return self.starts[later - 1].epoch if later else None

    def truncate_from_end(self, end_offset: int) -> "LeaderEpochs":
        """Without epochs that start at `end_offset` or later."""
        return self._unless_same([each for each in self.starts if each.start_offset < end_offset])

    def truncate_from_start(self, start_offset: int) -> "LeaderEpochs":
        """Without what lies before `start_offset`: the epoch it lies in now starts there."""
        later = bisect_right(self.starts, start_offset, key=lambda each: each.start_offset)
        if later == 0:
            return self
        return self._unless_same([EpochStart(self.starts[later - 1].epoch, start_offset), *self.starts[later:]])

    def _unless_same(self, starts: Sequence[EpochStart]) -> "LeaderEpochs":
        kept = tuple(starts)
        return self if kept == self.starts else LeaderEpochs(kept)


def read_leader_epochs(path: Path) -> LeaderEpochs:
    """A partition's leader-epoch-checkpoint; empty when there is none. Raises DamagedFileError.

    A line that contradicts those before it wins over them, as in Kafka.
    """
    epochs = LeaderEpochs()
    for epoch, start_offset in read_checkpoint(path, _parse_epochs):
        epochs = epochs.assign(epoch, start_offset)
    return epochs


def write_leader_epochs(path: Path, epochs: LeaderEpochs, *, fsync: bool = True) -> None:
    """Replaces the checkpoint."""
    write_checkpoint(path, (f"{epoch} {start}" for epoch, start in epochs.starts), fsync=fsync)


def _parse_epochs(words: list[str]) -> EpochStart:
    epoch, start_offset = words
    return EpochStart(whole_number(epoch, INT32), whole_number(start_offset, INT64))


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
