"""Snapshots of the metadata log: whether a file of that name is whole, and what its records say.

It is named `<end offset>-<epoch>.checkpoint`, the end exclusive. Its first batch has the header, its last the footer: a
file without them was not written to its end. Source: `org.apache.kafka.snapshot.Snapshots` (4.3).
"""

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Final

import msgspec
import numpy as np

from model.hosts.observing.replaying import control_number, header_time
from model.log.records import Damage, DamageKind, Record, RecordBatch, SegmentFile, crc_holds, layout, records_of
from model.log.records.columns import BatchGroup, Flags, HeaderColumns, batch_groups, window_columns
from model.log.records.scan import BatchWindow, batch_windows
from model.metadata_log.partition_records import Values
from model.metadata_log.replay import SNAPSHOT_FOOTER, SNAPSHOT_HEADER, Replay
from model.metadata_log.topics import RecordPlace

_WINDOW: Final = 8 << 20
"""Bytes of a snapshot that are read at once."""
_SNAPSHOT_ID: Final = re.compile(r"(\d{20})-(\d{10})\.checkpoint")


class MetadataLogError(Exception):
    """A log or a snapshot that cannot be used; the message is one line that names the file and the way out."""


class Snapshot(msgspec.Struct, frozen=True, order=True):
    """A `.checkpoint` file. `end_offset` is the first offset that is not in it."""

    end_offset: int
    epoch: int
    path: Path


def snapshot_of(path: Path) -> Snapshot | None:
    """The snapshot of a file with such a name."""
    named = _SNAPSHOT_ID.fullmatch(path.name)
    return None if named is None else Snapshot(int(named[1]), int(named[2]), path)


class WholeSnapshot(msgspec.Struct, frozen=True):
    """A snapshot whose batches are sound, the first its header, the last its footer."""

    path: Path
    size: int
    end_offset: int
    at: RecordPlace
    """Where and when its last record was written."""


def checked(snapshot: Snapshot) -> WholeSnapshot:
    """Reads no record of what it says. Raises MetadataLogError where it is not whole."""
    kinds: list[int] = []
    time_ms = size = 0
    for source, window in _windows(snapshot.path):
        size = source.size
        for batch in _unusual(window) if isinstance(window, BatchWindow) else (window,):
            _see_sound(snapshot.path, source, batch)
            for record in _records(snapshot.path, source, batch) if batch.is_control else ():
                kinds.append(control_number(record.key))
                if kinds[-1] == SNAPSHOT_HEADER:
                    time_ms = header_time(record.value)
    if not kinds or kinds[0] != SNAPSHOT_HEADER or kinds[-1] != SNAPSHOT_FOOTER:
        raise MetadataLogError(f"{snapshot.path}: no whole snapshot: it lacks its header or footer; use another one")
    return WholeSnapshot(
        snapshot.path, size, snapshot.end_offset, RecordPlace(snapshot.end_offset - 1, snapshot.epoch, time_ms)
    )


def _windows(path: Path) -> Iterator[tuple[SegmentFile, BatchWindow | RecordBatch]]:
    """Many batches each, or one. Raises MetadataLogError where the file is damaged."""
    try:
        with SegmentFile(path) as source:
            for window in batch_windows(source, window=_WINDOW):
                if isinstance(window, Damage):
                    why = unsound(source, window, 0, 0) or "ends in zeros"
                    raise MetadataLogError(f"{path}: {why}: use another snapshot")
                yield source, window
    except OSError as error:
        raise MetadataLogError(f"{path}: cannot be read: {error.strerror or error}") from None


def _unusual(window: BatchWindow) -> Iterator[RecordBatch]:
    """Batches that are no sound data."""
    headers = window_columns(window)
    for index in np.flatnonzero(~_is_data(headers)).tolist():
        yield window.batch(index)


def _is_data(headers: HeaderColumns) -> Flags:
    """Of each batch, whether it is sound and no control batch."""
    is_control = headers.attributes & layout.CONTROL != 0
    return headers.crc_valid & ~is_control & (headers.last_offset >= headers.base_offset)


def _see_sound(path: Path, source: SegmentFile, batch: RecordBatch) -> None:
    """Raises MetadataLogError where a batch of a snapshot is not."""
    why = unsound(source, batch, batch.base_offset, 0)
    if why:
        raise MetadataLogError(f"{path}: {why}: use another snapshot")


def _records(path: Path, source: SegmentFile, batch: RecordBatch) -> Iterator[Record]:
    """Raises MetadataLogError where one is damaged."""
    for record in records_of(source, batch):
        if isinstance(record, Damage):
            where = f"is damaged at byte {record.position} ({record.cause})"
            raise MetadataLogError(f"{path}: {where}: use another snapshot")
        yield record


def read_parts(snapshot: WholeSnapshot, replay: Replay) -> Iterator[int]:
    """All that it says, a window at a time: bytes that were read so far. Raises MetadataLogError."""
    for source, window in _windows(snapshot.path):
        if isinstance(window, BatchWindow):
            for group in batch_groups(window):
                _replay_group(snapshot, replay, source, window, group)
            yield window.position + window.starts[-1]
        else:
            _replay_batch(snapshot, replay, source, window)
            yield window.end


def _replay_group(
    snapshot: WholeSnapshot, replay: Replay, source: SegmentFile, window: BatchWindow, group: BatchGroup
) -> None:
    """Many batches at once, but for those that are no sound data, or have to be read record by record."""
    records, is_usual = group.records, _is_data(group.headers) & (group.counts >= 0)
    ends = np.cumsum(np.maximum(group.counts, 0))
    cuts = (np.flatnonzero(np.diff(is_usual)) + 1).tolist()
    for first, end in pairwise([0, *cuts, len(is_usual)]):
        if is_usual[first]:
            rows = slice(int(ends[first] - group.counts[first]), int(ends[end - 1]))
            replay.load(Values(records.data, records.value_start[rows], records.value_size[rows]))
        else:
            for index in range(group.start + first, group.start + end):
                _replay_batch(snapshot, replay, source, window.batch(index))


def _replay_batch(snapshot: WholeSnapshot, replay: Replay, source: SegmentFile, batch: RecordBatch) -> None:
    _see_sound(snapshot.path, source, batch)
    for record in _records(snapshot.path, source, batch):
        if batch.is_control:
            kind = control_number(record.key)
            replay.take_control(kind, record.value, RecordPlace(time_ms=snapshot.at.time_ms))
        else:
            replay.take(record.value, RecordPlace())


def unsound(source: SegmentFile, batch: RecordBatch | Damage, expected: int, epoch: int) -> str:
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
