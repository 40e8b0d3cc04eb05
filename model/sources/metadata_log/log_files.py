"""Files of the metadata log → facts in the order in which they were written, and no further than the files are sound.

A node's folder has segments (`<base offset>.log`), snapshots (`<end offset>-<epoch>.checkpoint`, the end exclusive) and
`quorum-state`. Reading begins at the log's first record, or at a snapshot where the log's beginning was deleted or much
would have to be read. What follows damage, a gap or a smaller epoch is not read: nobody knows whether it is meant.

Source: `org.apache.kafka.snapshot.Snapshots`, `org.apache.kafka.raft.FileQuorumStateStore` (4.3).
"""

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, cast

import msgspec

from model.cluster import records as r
from model.log.names import LOG, segment_bases
from model.log.records import Damage, DamageKind, RecordBatch, SegmentFile, crc_holds, records_of, scan
from model.log.records.columns import batch_columns
from model.metadata_log.decoder import Decoded, decode_control, java_text
from model.metadata_log.partition_records import Values
from model.metadata_log.replay import SNAPSHOT_FOOTER, SNAPSHOT_HEADER, Replay
from model.metadata_log.topics import Place
from model.recordings.folder import said

WHOLE_BYTES: Final = 32 << 20
"""A log of at most so many bytes is read from its beginning: then of everything is known when it was written."""
_SNAPSHOT_ID: Final = re.compile(r"(\d{20})-(\d{10})\.checkpoint")
_MOST_NOTED: Final = 1 << 16
"""Bytes that `quorum-state` and `meta.properties` may have."""


class MetadataLogError(Exception):
    """A log or a snapshot that cannot be used; the message is one line that names the file and the way out."""


class Until(msgspec.Struct, frozen=True):
    """How far to read: up to an offset, or a time (ms), both included; None: to the end."""

    offset: int | None = None
    at_ms: int | None = None

    def has(self, place: Place) -> bool:
        return (self.offset is None or place.offset <= self.offset) and (
            self.at_ms is None or place.time_ms <= self.at_ms
        )


class Snapshot(msgspec.Struct, frozen=True, order=True):
    """A `.checkpoint` file. `end_offset` is the first offset that is not in it."""

    end_offset: int
    epoch: int
    path: Path


class QuorumState(msgspec.Struct, frozen=True):
    """What the node noted last of elections; -1: nothing."""

    leader: int = -1
    epoch: int = -1
    voters: tuple[int, ...] = ()


class Step(msgspec.Struct, frozen=True):
    """What a batch, or a snapshot, made of the cluster; `at` is its last record."""

    at: Place
    facts: list[r.Record]


class MetadataLog:
    """The files of one node. Raises MetadataLogError where nothing of it can be used; files may grow meanwhile."""

    def __init__(self, path: Path) -> None:
        """A folder, or one snapshot."""
        self._path = path
        is_folder = path.is_dir()
        folder = path if is_folder else path.parent
        try:
            names = sorted(os.listdir(path)) if is_folder else [path.name]
            self._segments = [(base, folder / f"{base:020}{LOG}") for base in segment_bases(names)]
            sizes = [path.stat().st_size for _, path in self._segments]
        except OSError as error:
            raise MetadataLogError(f"{path}: cannot be read: {error.strerror or error}") from None
        self._size = sum(sizes)
        self.snapshots = sorted(found for name in names if (found := _snapshot(folder / name)))
        if not is_folder and not self.snapshots:
            self.snapshots = [Snapshot(0, 0, path)]  # of another name, such as bootstrap.checkpoint
        self.quorum_state = _quorum_state(folder) if is_folder else QuorumState()
        self.cluster_id = _cluster_id(folder) if is_folder else None
        self.remarks: list[str] = []
        """What the last reading met: where it ended early, which snapshots it could not use."""
        self.begins_at = 0
        """The offset up to which a snapshot stands for the records; 0: all of them are there."""

    def steps(self, until: Until) -> Iterator[Step]:
        """From the beginning on, a step for each batch that said something. Raises MetadataLogError."""
        self.remarks = []
        replay, at, self.begins_at = self._beginning(until)
        facts: list[r.Record] = [r.GenerationRecognised(generation="kraft")]
        if self.cluster_id is not None:
            facts.append(r.ClusterIdentified(cluster_id=self.cluster_id))
        told, first_ms = replay.facts(at), 0
        facts, is_known = [*facts, *told], bool(told)
        for source, batch in self._batches(self.begins_at):
            if not until.has(Place(batch.base_offset, time_ms=batch.max_timestamp)):
                first_ms = batch.max_timestamp
                break
            at, is_known = _replayed(source, batch, replay, self.begins_at, until), True
            if (facts := [*facts, *replay.facts(at)]) and not replay.is_in_transaction:
                yield Step(at, facts)
                facts = []
        if not is_known:
            raise MetadataLogError(f"{self._path}: {self._lack(until, 0, first_ms)}")
        if until == Until():
            replay.assume_leader(*msgspec.structs.astuple(self.quorum_state))
        yield Step(at, [*facts, *replay.facts(at)])
        if replay.is_in_transaction:
            self.remarks.append("the transaction at its end is not complete, and not shown")
        if replay.trouble:
            self.remarks.append(replay.trouble)

    def _beginning(self, until: Until) -> tuple[Replay, Place, int]:
        """What a snapshot says, its last record, and the offset after it; nothing where the log says it all."""
        first = self._segments[0][0] if self._segments else None
        if first == 0 and 0 < self._size <= WHOLE_BYTES:
            return Replay(), Place(), 0
        usable = [each for each in self.snapshots if each.end_offset >= (first or 0)]
        if until.offset is not None:
            usable = [each for each in usable if each.end_offset <= until.offset + 1]
        if first is None or self._size > WHOLE_BYTES:
            usable.reverse()
        earliest_ms = 0
        for snapshot in usable:
            replay = Replay()
            try:
                at = read_snapshot(snapshot, replay)
            except MetadataLogError as error:
                self.remarks.append(str(error))
                continue
            if until.at_ms is None or at.time_ms <= until.at_ms:
                return replay, at, snapshot.end_offset
            earliest_ms = at.time_ms
        if first == 0:
            return Replay(), Place(), 0
        why = self.remarks[-1] if self.remarks else f"{self._path}: {self._lack(until, first, earliest_ms)}"
        raise MetadataLogError(why)

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

    def _batches(self, start: int) -> Iterator[tuple[SegmentFile, RecordBatch]]:
        """Those with records from an offset on, as far as they are sound and none is missing."""
        expected, epoch = start, 0
        for number, (_, path) in enumerate(self._segments):
            if number + 1 < len(self._segments) and self._segments[number + 1][0] <= start:
                continue
            try:
                with SegmentFile(path) as source:
                    for batch in scan(source):
                        why = _unsound(source, batch, expected, epoch)
                        if why:
                            self.remarks.append(f"{path.name} {why}: what follows offset {expected - 1} is not read")
                            return
                        if isinstance(batch, RecordBatch) and batch.last_offset >= start:
                            yield source, batch
                            expected, epoch = batch.last_offset + 1, batch.partition_leader_epoch
            except OSError as error:
                raise MetadataLogError(f"{path}: cannot be read: {error.strerror or error}") from None


def _unsound(source: SegmentFile, batch: RecordBatch | Damage, expected: int, epoch: int) -> str:
    """Why a batch cannot be the next one; empty if it can. Zeros at the end are a file that is in use."""
    if isinstance(batch, Damage):
        return "" if batch.kind is DamageKind.ZEROS else f"is damaged at byte {batch.position} ({batch.cause})"
    if batch.magic < 2 or not crc_holds(source, batch):
        return f"is damaged at byte {batch.position} (its CRC does not hold)"
    if batch.last_offset < batch.base_offset:
        return f"is damaged at byte {batch.position} (a batch that ends before it begins)"
    if batch.base_offset > expected or (batch.base_offset < expected <= batch.last_offset and epoch):
        return f"goes on at offset {batch.base_offset}"
    if batch.partition_leader_epoch < epoch:
        return f"goes on in epoch {batch.partition_leader_epoch} at offset {batch.base_offset}, after epoch {epoch}"
    return ""


def _replayed(source: SegmentFile, batch: RecordBatch, replay: Replay, start: int, until: Until) -> Place:
    """A batch, as far as it is wanted; the last record that was replayed."""
    at = Place(batch.last_offset, batch.partition_leader_epoch, batch.max_timestamp)
    for record in records_of(source, batch):
        if isinstance(record, Damage):
            replay.note(f"a batch is damaged: {record.cause}", at)
            break
        if record.offset < start or (until.offset is not None and record.offset > until.offset):
            continue
        at = Place(record.offset, batch.partition_leader_epoch, batch.max_timestamp)
        if batch.is_control:
            replay.take_control(control_number(record.key), record.value, at)
        else:
            replay.take(record.value, at)
    return at


def control_number(key: bytes | None) -> int:
    """The type of a control record; -1 for a key that is too short."""
    return -1 if key is None or len(key) < 4 else int.from_bytes(key[2:4], "big", signed=True)


def read_snapshot(snapshot: Snapshot, replay: Replay) -> Place:
    """All of a snapshot; where and when its last record was written. Raises MetadataLogError where it is not whole."""
    kinds: list[int] = []
    time_ms = 0
    try:
        with SegmentFile(snapshot.path) as source:
            for batch in scan(source):
                why = _unsound(source, batch, batch.base_offset if isinstance(batch, RecordBatch) else 0, 0)
                if why or isinstance(batch, Damage):
                    raise MetadataLogError(f"{snapshot.path}: {why or 'ends in zeros'}: use another snapshot")
                if not batch.is_control and (columns := batch_columns(source, batch)) is not None:
                    replay.load(Values(columns.data, columns.value_start, columns.value_size))
                    continue
                for record in records_of(source, batch):
                    if isinstance(record, Damage):
                        where = f"is damaged at byte {record.position} ({record.cause})"
                        raise MetadataLogError(f"{snapshot.path}: {where}: use another snapshot")
                    if not batch.is_control:
                        replay.take(record.value, Place())
                        continue
                    kinds.append(control_number(record.key))
                    if kinds[-1] == SNAPSHOT_HEADER:
                        time_ms = header_time(record.value)
                    replay.take_control(kinds[-1], record.value, Place(time_ms=time_ms))
    except OSError as error:
        raise MetadataLogError(f"{snapshot.path}: cannot be read: {error.strerror or error}") from None
    if not kinds or kinds[0] != SNAPSHOT_HEADER or kinds[-1] != SNAPSHOT_FOOTER:
        raise MetadataLogError(f"{snapshot.path}: no whole snapshot: it lacks its header or footer; use another one")
    return Place(snapshot.end_offset - 1, snapshot.epoch, time_ms)


def header_time(value: bytes | None) -> int:
    """When the last record that a snapshot holds was written, as its header says, ms; 0 where it does not."""
    found = decode_control(SNAPSHOT_HEADER, value)
    return cast(int, found.fields["lastContainedLogTimestamp"]) if isinstance(found, Decoded) else 0


def _snapshot(path: Path) -> Snapshot | None:
    named = _SNAPSHOT_ID.fullmatch(path.name)
    return None if named is None else Snapshot(int(named[1]), int(named[2]), path)


def _quorum_state(folder: Path) -> QuorumState:
    try:
        noted: Any = json.loads(_noted(folder / "quorum-state") or "{}")
        voters = tuple(sorted(int(each["voterId"]) for each in noted.get("currentVoters") or ()))
        return QuorumState(int(noted.get("leaderId", -1)), int(noted.get("leaderEpoch", -1)), voters)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return QuorumState()


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
