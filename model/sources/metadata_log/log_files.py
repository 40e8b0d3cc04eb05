"""Files of the metadata log → facts in the order in which they were written, and no further than the files are sound.

A node's folder has segments (`<base offset>.log`), snapshots (`<end offset>-<epoch>.checkpoint`, the end exclusive) and
`quorum-state`. Reading begins at the log's first record, or at a snapshot where the log's beginning was deleted or much
would have to be read. What follows damage, a gap or a smaller epoch is not read: nobody knows whether it is meant.

Source: `org.apache.kafka.raft.FileQuorumStateStore` (4.3).
"""

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec

from model.cluster import records as r
from model.log.names import LOG, segment_bases
from model.log.records import Damage, RecordBatch, SegmentFile, records_of, scan
from model.metadata_log.decoder import java_text
from model.metadata_log.journal import Logged
from model.metadata_log.replay import Replay
from model.metadata_log.topics import RecordPlace
from model.recordings.folder import said
from model.sources.metadata_log.snapshots import (
    MetadataLogError,
    Snapshot,
    WholeSnapshot,
    checked,
    control_number,
    read_parts,
    snapshot_of,
    unsound,
)

WHOLE_BYTES: Final = 32 << 20
"""A log of at most so many bytes is read from its beginning: then of everything is known when it was written."""
_MOST_NOTED: Final = 1 << 16
"""Bytes that `quorum-state` and `meta.properties` may have."""


class Until(msgspec.Struct, frozen=True):
    """How far to read: up to an offset, or a time (ms), both included; None: to the end."""

    offset: int | None = None
    at_ms: int | None = None

    def has(self, place: RecordPlace) -> bool:
        return (self.offset is None or place.offset <= self.offset) and (
            self.at_ms is None or place.time_ms <= self.at_ms
        )


ALL: Final = Until()


class QuorumState(msgspec.Struct, frozen=True):
    """What the node noted last of elections; -1: nothing."""

    leader: int = -1
    epoch: int = -1
    voters: tuple[int, ...] = ()


class LogStep(msgspec.Struct, frozen=True):
    """What a batch, or a snapshot, made of the cluster; `at` is its last record."""

    at: RecordPlace
    facts: list[r.ClusterRecord]
    read: int = 0
    """More of this snapshot follows, and belongs to the same moment; bytes of it that were read so far."""
    size: int = 0
    """Of that snapshot, bytes."""
    is_anew: bool = False
    """The snapshot that was told until now turned out to be damaged: none of it holds."""
    logged: tuple[Logged, ...] = ()
    """The records themselves, where they are kept."""


class Resumed(NamedTuple):
    """Where reading goes on: what all records until then said, the last of them, and where the next batch begins."""

    replay: Replay
    """Nobody asked it for facts yet."""
    at: RecordPlace
    position: int
    """In its segment."""


class MetadataLog:
    """The files of one node. Raises MetadataLogError where nothing of it can be used; files may grow meanwhile."""

    def __init__(self, path: Path, most_logged: int = 0, whole_bytes: int = WHOLE_BYTES) -> None:
        """A folder, or one snapshot. `most_logged`: how many records are kept between two steps, the last ones.

        `whole_bytes`: a log of more is read from the newest snapshot on that will do.
        """
        self._path, self._most_logged, self._whole_bytes = path, most_logged, whole_bytes
        is_folder = path.is_dir()
        folder = path if is_folder else path.parent
        try:
            names = sorted(os.listdir(path)) if is_folder else [path.name]
            self._segments = [(base, folder / f"{base:020}{LOG}") for base in segment_bases(names)]
            sizes = [path.stat().st_size for _, path in self._segments]
        except OSError as error:
            raise MetadataLogError(f"{path}: cannot be read: {error.strerror or error}") from None
        self._size = sum(sizes)
        self.snapshots = sorted(found for name in names if (found := snapshot_of(folder / name)))
        if not is_folder and not self.snapshots:
            self.snapshots = [Snapshot(0, 0, path)]  # of another name, such as bootstrap.checkpoint
        self.quorum_state = _quorum_state(folder) if is_folder else QuorumState()
        self.cluster_id = _cluster_id(folder) if is_folder else None
        self.remarks: list[str] = []
        """What the last reading met: where it ended early, which snapshots it could not use."""
        self.begins_at = 0
        """The offset up to which a snapshot stands for the records; 0: all of them are there."""

    def steps(self, until: Until) -> Iterator[LogStep]:
        """From the beginning on, a step for each batch, also where it said nothing. Raises MetadataLogError."""
        facts: list[r.ClusterRecord] = []
        for part in self.parts(until):
            facts = part.facts if part.is_anew else [*facts, *part.facts]
            if not part.read and not part.is_anew:
                yield LogStep(part.at, facts)
                facts = []

    def parts(self, until: Until) -> Iterator[LogStep]:
        """The same, with what a large snapshot says in parts."""
        self.remarks, self.begins_at = [], 0
        replay, at, facts = Replay(self._most_logged), RecordPlace(), self._named()
        is_known, first_ms = False, 0
        for snapshot in self._beginnings(until):
            at, self.begins_at = snapshot.at, snapshot.end_offset
            try:
                for read in read_parts(snapshot, replay):
                    told = replay.facts(at)
                    yield LogStep(at, [*facts, *told], read, snapshot.size)
                    facts, is_known = [], is_known or bool(told)
                break
            except MetadataLogError as error:
                self.remarks.append(str(error))
                replay, at, facts = Replay(self._most_logged), RecordPlace(), self._named()
                is_known, self.begins_at = False, 0
                yield LogStep(at, [], is_anew=True)
        for source, batch in self._batches(self.begins_at):
            if not until.has(RecordPlace(batch.base_offset, time_ms=batch.max_timestamp)):
                first_ms = batch.max_timestamp
                break
            at, is_known = replayed(source, batch, replay, self.begins_at, until), True
            facts = [*facts, *replay.facts(at)]
            if replay.is_in_transaction:
                yield LogStep(at, [])
            else:
                yield LogStep(at, facts, logged=replay.logged())
                facts = []
        if not is_known:
            raise self.lacking(until, first_ms)
        if until == ALL:
            replay.assume_leader(*msgspec.structs.astuple(self.quorum_state))
        yield LogStep(at, [*facts, *replay.facts(at)], logged=replay.logged())
        if replay.is_in_transaction:
            self.remarks.append("the transaction at its end is not complete, and not shown")
        if replay.trouble:
            self.remarks.append(replay.trouble)

    @property
    def size(self) -> int:
        """Bytes of its segments."""
        return self._size

    def walk(self, replay: Replay) -> Iterator[tuple[SegmentFile, RecordBatch]]:
        """The batches behind the beginning, once `replay` has that; whoever walks replays them. Tells no facts."""
        self.remarks, self.begins_at = [], 0
        for snapshot in self._beginnings(ALL):
            for _ in read_parts(snapshot, replay):
                pass
            self.begins_at = snapshot.end_offset
            break
        yield from self._batches(self.begins_at)

    def steps_from(self, resumed: Resumed, end_offset: int | None) -> Iterator[LogStep]:
        """A first step with all that was so by then, then one for each batch, to before an offset.

        None: to the end.
        """
        self.remarks = []
        replay, at = resumed.replay, resumed.at
        yield LogStep(at, [*self._named(), *replay.facts(at)])
        facts: list[r.ClusterRecord] = []
        for source, batch in self._batches(at.offset + 1, at.epoch, resumed.position):
            if end_offset is not None and batch.base_offset >= end_offset:
                break
            at = replayed(source, batch, replay, until=Until(None if end_offset is None else end_offset - 1))
            facts = [*facts, *replay.facts(at)]
            if replay.is_in_transaction:
                yield LogStep(at, [])
            else:
                yield LogStep(at, facts)
                facts = []
        if end_offset is None:
            replay.assume_leader(*msgspec.structs.astuple(self.quorum_state))
        yield LogStep(at, [*facts, *replay.facts(at)])

    def _named(self) -> list[r.ClusterRecord]:
        facts: list[r.ClusterRecord] = [r.GenerationRecognised(generation="kraft")]
        return facts if self.cluster_id is None else [*facts, r.ClusterIdentified(cluster_id=self.cluster_id)]

    def _beginnings(self, until: Until) -> Iterator[WholeSnapshot]:
        """Snapshots to begin at, the next one if that cannot be used; none where the log says it all.

        Raises MetadataLogError where none of them can be, and the log does not say it.
        """
        first = self._segments[0][0] if self._segments else None
        if first == 0 and 0 < self._size <= self._whole_bytes:
            return
        usable = [each for each in self.snapshots if each.end_offset >= (first or 0)]
        if until.offset is not None:
            usable = [each for each in usable if each.end_offset <= until.offset + 1]
        if first is None or self._size > self._whole_bytes:
            usable.reverse()
        earliest_ms = 0
        for snapshot in usable:
            try:
                whole = checked(snapshot)
            except MetadataLogError as error:
                self.remarks.append(str(error))
                continue
            if until.at_ms is None or whole.at.time_ms <= until.at_ms:
                yield whole
            else:
                earliest_ms = whole.at.time_ms
        if first != 0:
            raise MetadataLogError(
                self.remarks[-1] if self.remarks else f"{self._path}: {self._lack(until, first, earliest_ms)}"
            )

    def lacking(self, until: Until, first_ms: int) -> MetadataLogError:
        """Why nothing is known of a place: what is there begins later, with a batch of that time."""
        return MetadataLogError(f"{self._path}: {self._lack(until, self.begins_at, first_ms)}")

    def _lack(self, until: Until, first: int | None, earliest_ms: int) -> str:
        if earliest_ms and until.at_ms is not None:
            return f"what is here begins at {said(earliest_ms)}, not at {said(until.at_ms or 0)}"
        if first == 0:
            return "the log is empty"
        if first is None and not self.snapshots:
            return "neither a log nor a snapshot of KRaft's metadata is here"
        known = min((each.end_offset for each in self.snapshots if each.end_offset >= (first or 0)), default=None)
        if known is None:
            return f"the log begins at offset {first}, and no snapshot leads there"
        return f"what is here begins at offset {known - 1}, not at {until.offset}"

    def _batches(self, start: int, epoch: int = 0, position: int = 0) -> Iterator[tuple[SegmentFile, RecordBatch]]:
        """Those with records from an offset on, as far as they are sound and none is missing.

        `position`: where the first one begins in its segment; `epoch`: of the batch before it.
        """
        expected = start
        for number, (_, path) in enumerate(self._segments):
            if number + 1 < len(self._segments) and self._segments[number + 1][0] <= start:
                continue
            try:
                with SegmentFile(path) as source:
                    for batch in scan(source, position):
                        why = unsound(source, batch, expected, epoch)
                        if why:
                            self.remarks.append(f"{path.name} {why}: what follows offset {expected - 1} is not read")
                            return
                        if isinstance(batch, RecordBatch) and batch.last_offset >= start:
                            yield source, batch
                            expected, epoch = batch.last_offset + 1, batch.partition_leader_epoch
                position = 0
            except OSError as error:
                raise MetadataLogError(f"{path}: cannot be read: {error.strerror or error}") from None


def replayed(
    source: SegmentFile, batch: RecordBatch, replay: Replay, start: int = 0, until: Until = ALL
) -> RecordPlace:
    """A batch, as far as it is wanted; the last record that was replayed."""
    at = RecordPlace(batch.last_offset, batch.partition_leader_epoch, batch.max_timestamp)
    for record in records_of(source, batch):
        if isinstance(record, Damage):
            replay.note(f"a batch is damaged: {record.cause}", at)
            break
        if record.offset < start or (until.offset is not None and record.offset > until.offset):
            continue
        at = RecordPlace(record.offset, batch.partition_leader_epoch, batch.max_timestamp)
        if batch.is_control:
            replay.take_control(control_number(record.key), record.value, at)
        else:
            replay.take(record.value, at)
    return at


def _quorum_state(folder: Path) -> QuorumState:
    try:
        noted: Any = json.loads(_noted(folder / "quorum-state") or "{}")
        voters = tuple(sorted(_int32(each["voterId"]) for each in noted.get("currentVoters") or ()))
        return QuorumState(_int32(noted.get("leaderId", -1)), _int32(noted.get("leaderEpoch", -1)), voters)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return QuorumState()


def _int32(number: object) -> int:
    """Raises ValueError for what is none: JSON has numbers of any size."""
    if not isinstance(number, int) or not -(1 << 31) <= number < 1 << 31:
        raise ValueError("no int32")
    return number


def _cluster_id(folder: Path) -> str | None:
    """As the log directory that the folder is in says, or the folder itself, where that was copied into it."""
    for place in (folder.parent, folder):
        found = re.search(r"^cluster\.id=(\S+)$", _noted(place / "meta.properties"), re.MULTILINE)
        if found:
            return found[1]
    return None


def _noted(path: Path) -> str:
    """A small file's text; empty where it cannot be had."""
    try:
        with SegmentFile(path) as file:
            return java_text(file.read(0, _MOST_NOTED))
    except OSError:
        return ""
