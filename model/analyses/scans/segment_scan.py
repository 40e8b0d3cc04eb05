"""One segment: its batches walked once, whatever is damaged, and the indexes beside it checked in the same walk.

At most some MiB of a file are in memory. The broker may be at work on it: what has grown, was replaced or is gone is
told as that, not as damage. The walk only tells index entries that fit without doubt, all at once, and only beside a
log in which nothing is damaged; of others `model.log.dump.index_files` tells what is wrong.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from model.analyses.scans import findings
from model.analyses.scans.findings import Gathered
from model.analyses.scans.folders import FoundPartition, ScanParameters
from model.analyses.scans.header_walk import MANY, ContentsWalk, HeaderWalk, columns_of, contradicts_itself, in_bulk
from model.analyses.scans.tally import Report
from model.cluster.texts import counted
from model.log.dump.facts import OlderRule
from model.log.dump.index_files import (
    by_older_rule,
    checked_offset_index,
    checked_time_index,
    offset_index_entries,
    time_index_entries,
    transaction_index_entries,
)
from model.log.dump.salvage import batch_windows_past_damage
from model.log.indexes import OFFSET_ENTRY, TIME_ENTRY, written_entries
from model.log.names import INDEX, LOG, TIME_INDEX, TRANSACTION_INDEX, NumberedFile
from model.log.records import Damage, DamageKind, RecordBatch, SegmentFile, crc_holds
from model.log.records.columns import HeaderColumns, window_columns

Int64s = NDArray[np.int64]

_OFFSET = np.dtype([("offset", ">i4"), ("position", ">i4")])
_TIME = np.dtype([("timestamp", ">i8"), ("offset", ">i4")])


class OffsetIndexWalk:
    """An entry fits if a batch starts at its position, and its offset is that batch's first or last one, or the last
    one of a batch before the next entry's: all that Kafka's releases have written.
    """

    width = OFFSET_ENTRY.size
    """Of an entry, in bytes."""

    def __init__(self, data: bytes, base_offset: int) -> None:
        count = written_entries(data, OFFSET_ENTRY)
        entries = np.frombuffer(data, _OFFSET, count)
        self._offsets = entries["offset"].astype(np.int64) + base_offset
        self._positions = entries["position"].astype(np.int64)
        self._starts = np.zeros(count, np.bool_)
        self._found_at = np.full(count, -1, np.int64)
        self._newest_rule = np.zeros(count, np.bool_)
        self._sane = _ends_well(data, count, OFFSET_ENTRY.size) and _rises(self._offsets, self._positions)

    def see(self, columns: HeaderColumns) -> None:
        if not self._sane or not len(self._offsets):
            return
        at, starts = _matches(self._positions, columns.position)
        self._starts[at] = True
        is_first = self._offsets[at] == columns.base_offset[starts]
        self._found_at[at[is_first]] = self._positions[at[is_first]]
        self._newest_rule[at] = self._offsets[at] == columns.last_offset[starts]
        at, ends = _matches(self._offsets, columns.last_offset)
        self._found_at[at] = columns.position[ends]

    def fits(self) -> bool:
        """Whether all entries do, after the last batch was seen."""
        until = np.append(self._positions[1:], np.iinfo(np.int64).max)
        good = self._starts & (self._found_at >= self._positions) & (self._found_at < until)
        return self._sane and bool(good.all())

    def older(self) -> int:
        """How many entries, where all fit, do not hold their batch's last offset."""
        return int((~self._newest_rule).sum())


class TimeIndexWalk:
    """An entry fits if its timestamp is the largest up to the batch that holds its offset: as its last one, or within,
    where a leader of an older release wrote the offset of the record with that timestamp (`LogValidator` 2.1).
    """

    width = TIME_ENTRY.size
    """Of an entry, in bytes."""

    def __init__(self, data: bytes, base_offset: int) -> None:
        count = written_entries(data, TIME_ENTRY)
        entries = np.frombuffer(data, _TIME, count)
        self._timestamps = entries["timestamp"].astype(np.int64)
        self._offsets = entries["offset"].astype(np.int64) + base_offset
        self._good = np.zeros(count, np.bool_)
        self._newest_rule = np.zeros(count, np.bool_)
        self._newest = -1
        self._sane = _ends_well(data, count, TIME_ENTRY.size) and _rises(self._offsets, self._timestamps)

    def see(self, columns: HeaderColumns) -> None:
        if not self._sane or not len(self._offsets) or not len(columns.position):
            return
        newest = np.maximum.accumulate(np.concatenate(([self._newest], columns.max_timestamp)))[1:]
        self._newest = int(newest[-1])
        (start,) = np.searchsorted(self._offsets, columns.base_offset[:1]).tolist()
        (stop,) = np.searchsorted(self._offsets, columns.last_offset[-1:], "right").tolist()
        offsets = self._offsets[start:stop]  # none where damage makes offsets go back
        holders = np.searchsorted(columns.last_offset[:-1], offsets)
        self._good[start:stop] = (columns.base_offset[holders] <= offsets) & (
            self._timestamps[start:stop] == newest[holders]
        )
        self._newest_rule[start:stop] = columns.last_offset[holders] == offsets

    def fits(self) -> bool:
        """Whether all entries do, after the last batch was seen."""
        return self._sane and bool(self._good.all())

    def older(self) -> int:
        """How many entries, where all fit, do not hold their batch's last offset."""
        return int((~self._newest_rule).sum())


def _matches(sought: Int64s, column: Int64s) -> tuple[Int64s, Int64s]:
    """Places in `sought`, which rises, and in the column where both hold the same number."""
    places = np.searchsorted(sought, column)
    same = sought[np.minimum(places, len(sought) - 1)] == column
    return places[same], np.flatnonzero(same)


def _ends_well(data: bytes, count: int, width: int) -> bool:
    """Whether there are whole entries, and nothing but zeros after those that are written."""
    return len(data) % width == 0 and data[count * width :] == bytes(len(data) - count * width)


def _rises(*columns: Int64s) -> bool:
    return all(bool((np.diff(column) > 0).all()) and (not len(column) or bool(column[0] >= 0)) for column in columns)


_WINDOW = 1 << 22
_PIECE = 1 << 16
_SMALLEST_ENTRY = 26
_OPEN_ENDED = (DamageKind.TORN, DamageKind.TRUNCATED, DamageKind.ZEROS)


class SegmentScan:
    """Scans a segment of a partition folder."""

    def __init__(self, folder: FoundPartition, place: int, parameters: ScanParameters) -> None:
        """`place` is which segment of the folder it is."""
        self._folder = Path(folder.path)
        self._base = folder.segments[place].base_offset
        self._is_last = place + 1 == len(folder.segments)
        self._time_indexed = folder.time_indexed
        self._parameters = parameters
        self._gathered = Gathered(self._name(LOG))
        self._damage: list[Damage] = []

    def report(self) -> Report:
        """What there is to say of it. Raises nothing for what is wrong with files."""
        try:
            before = (self._folder / self._name(LOG)).stat()
            # Before the log: an entry that is written now is for a batch that is not seen.
            index = _read_index(self._folder / self._name(INDEX), OFFSET_ENTRY.size, before.st_size)
            time_index = _read_index(self._folder / self._name(TIME_INDEX), TIME_ENTRY.size, before.st_size)
            with SegmentFile(self._folder / self._name(LOG)) as log:
                return self._walk(log, before, index, time_index)
        except FileNotFoundError:
            self._gathered.add(findings.GONE, "deleted since the folder was listed")
        except OSError as error:
            name = Path(os.fsdecode(error.filename)).name if error.filename else ""
            self._gathered.add(findings.UNREADABLE, error.strerror or str(error), file=name)
        return Report(tuple(self._gathered.kept), self._gathered.counts, was_read=False)

    def _walk(self, log: SegmentFile, before: os.stat_result, index: bytes | None, time_index: bytes | None) -> Report:
        headers = HeaderWalk(self._base, self._parameters.now_ms, self._gathered)
        headers.tally.bytes = log.size
        offsets, times = OffsetIndexWalk(index or b"", self._base), TimeIndexWalk(time_index or b"", self._base)
        for part in in_bulk(self._parts(log, headers)):
            if isinstance(part, Damage):
                self._damage.append(part)
                headers.lose()
            else:
                for walk in (headers, offsets, times):
                    walk.see(part)
        changed = _changed(self._folder / self._name(LOG), log.size, before)
        self._tell_damage(log.size, changed)
        if not changed:
            is_sound = not self._gathered.has_damage()
            self._check_index(log, INDEX, index, offsets if is_sound else None)
            self._check_index(log, TIME_INDEX, time_index, times if is_sound else None)
            self._check_transaction_index()
        if headers.tally.future_batches:
            self._gathered.add(
                findings.FUTURE,
                f"{counted(headers.tally.future_batches, 'batch', 'batches')}: retention.ms waits for them",
            )
        return Report(
            tuple(self._gathered.kept),
            self._gathered.counts,
            headers.tally,
            first_offset=headers.first_offset,
            last_offset=headers.last_offset,
            first_epoch=headers.first_epoch,
            last_epoch=headers.last_epoch,
        )

    def _parts(self, log: SegmentFile, headers: HeaderWalk) -> Iterator[HeaderColumns | Damage]:
        """Headers of many batches at once. Of a deep scan, contents are looked at on the way."""
        contents = ContentsWalk(log, headers.tally, self._gathered) if self._parameters.deep else None
        single: list[RecordBatch] = []

        def singles() -> Iterator[HeaderColumns]:
            if single:
                columns = columns_of(single, [crc_holds(log, batch) for batch in single])
                yield columns
                if contents:
                    for place in np.flatnonzero(columns.crc_valid & ~contradicts_itself(columns)).tolist():
                        contents.see_batch(single[place])
                single.clear()

        for part in batch_windows_past_damage(log, _WINDOW):
            if isinstance(part, RecordBatch):
                single.append(part)
                if len(single) == MANY:
                    yield from singles()
                continue
            yield from singles()
            if isinstance(part, Damage):
                yield part
                continue
            yield window_columns(part)
            if contents:
                contents.see_window(part)
        yield from singles()

    def _tell_damage(self, size: int, changed: str) -> None:
        for damage in self._damage:
            is_end = damage.kind in _OPEN_ENDED and damage.position + damage.size == size
            if changed and is_end:
                self._gathered.add(findings.CHANGED, changed, damage.position, damage.size)
            elif self._is_last and is_end and damage.kind is DamageKind.ZEROS:
                self._gathered.add_damage(damage, findings.ZERO_TAIL)
            else:
                self._gathered.add_damage(damage)

    def _check_index(
        self, log: SegmentFile, kind: str, data: bytes | None, walk: OffsetIndexWalk | TimeIndexWalk | None
    ) -> None:
        """Entry by entry, unless the walk over a sound log has seen that all of `data`, its start, fit."""
        name, is_time = self._name(kind), kind == TIME_INDEX
        if data is None:
            if log.size and not self._is_last and (self._time_indexed or not is_time):
                missing = findings.MISSING_TIME_INDEX if is_time else findings.MISSING_INDEX
                self._gathered.add(missing, "the broker makes it anew at its next start, from the log", file=name)
            return
        with SegmentFile(self._folder / name) as index:
            if walk is not None and walk.fits() and _is_room(index, len(data), walk.width):
                if walk.older():
                    self._gathered.add(findings.OLDER_INDEX, by_older_rule(walk.older()), file=name)
                return
            parts = (
                checked_time_index(time_index_entries(index, self._base), log)
                if is_time
                else checked_offset_index(offset_index_entries(index, self._base), log)
            )
            for part in parts:
                if isinstance(part, Damage):
                    bad = findings.BAD_TIME_INDEX if is_time else findings.BAD_INDEX
                    self._gathered.add_damage(part, bad, name)
                elif isinstance(part, OlderRule):
                    self._gathered.add(findings.OLDER_INDEX, part.text, file=name)

    def _check_transaction_index(self) -> None:
        name = self._name(TRANSACTION_INDEX)
        try:
            with SegmentFile(self._folder / name) as index:
                for part in transaction_index_entries(index):
                    if isinstance(part, Damage):
                        self._gathered.add_damage(part, findings.BAD_TRANSACTION_INDEX, name)
        except FileNotFoundError:
            return

    def _name(self, kind: str) -> str:
        return str(NumberedFile(self._base, kind))


def _read_index(path: Path, width: int, log_bytes: int) -> bytes | None:
    """As much of an index as can hold entries; None where there is none. An active one is mostly room for more."""
    room = (log_bytes // _SMALLEST_ENTRY + 2) * width
    try:
        with SegmentFile(path) as file:
            return file.read(0, room)
    except FileNotFoundError:
        return None


def _is_room(index: SegmentFile, start: int, width: int) -> bool:
    """Whether nothing but zeros follows, in whole entries: an active index is a hole of MiB, of which none is read."""
    position = index.next_data(start)
    while piece := index.read(position, _PIECE):
        if piece.count(0) < len(piece):
            return False
        position = index.next_data(position + len(piece))
    return index.size % width == 0


def _changed(path: Path, size: int, before: os.stat_result) -> str:
    """What has become of the file meanwhile; empty if nothing."""
    try:
        now = path.stat()
    except OSError:
        return "deleted while it was scanned"
    if (now.st_dev, now.st_ino) != (before.st_dev, before.st_ino):
        return "replaced while it was scanned"
    if now.st_size == before.st_size == size:
        return ""
    return "grew while it was scanned" if now.st_size > before.st_size else "cut while it was scanned"
