"""One segment: a .log file and its indexes, kept in step. It checks nothing that it is given.

Kafka 3.9.1 `org.apache.kafka.storage.internals.log.LogSegment` (`append`, `recover`): a batch is indexed when more than
index.interval.bytes lie between it and the last one indexed; the entry holds the batch's last offset and its position.
The rule is the same for appends, for rebuilding and for compaction.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from io import FileIO
from pathlib import Path

import msgspec

from model.log.indexes import (
    OFFSET_ENTRY,
    TIME_ENTRY,
    EntryFile,
    TransactionIndex,
    ends_complaint,
    floor_slot,
    offset_entry,
    time_entry,
)
from model.log.names import INDEX, LOG, SEGMENT_KINDS, TIME_INDEX, TRANSACTION_INDEX, DamagedFileError, NumberedFile
from model.log.records import Damage, RecordBatch, crc_holds, scan
from model.log.records.layout import INT64_MAX
from model.log.settings import LARGEST_RELATIVE_OFFSET, ActiveSegment, LogSettings


class LogFile:
    """A file of batches, opened at first use. `size` is in bytes, without the zeros of a preallocated file."""

    def __init__(self, path: Path) -> None:
        """A file that exists is taken as it is, to its end."""
        self.path = path
        self.size = path.stat().st_size if path.exists() else 0
        self._file: FileIO | None = None

    def append(self, data: bytes | bytearray | memoryview) -> int:
        """Adds bytes and returns their position. Raises OSError when the disk takes them not; then none are there."""
        position = self.size
        descriptor = self._open()
        try:
            written = 0
            while written < len(data):
                written += os.pwrite(descriptor, memoryview(data)[written:], position + written)
        except OSError:
            os.ftruncate(descriptor, position)
            raise
        self.size += len(data)
        return position

    def read(self, position: int, size: int) -> bytes:
        """At most `size` bytes from `position` on; fewer where the file ends."""
        size = min(size, self.size - position)
        return os.pread(self._open(), size, position) if size > 0 else b""

    def truncate(self, size: int) -> None:
        """Cuts the file; what lay behind is gone."""
        os.ftruncate(self._open(), size)
        self.size = size

    def preallocate(self, size: int) -> None:
        """Lets the file take `size` bytes at least, zeros behind its content."""
        os.ftruncate(self._open(), max(size, self.size))

    def create(self) -> None:
        """Makes an empty file if there is none. Nothing else does: a file that was renamed does not come back."""
        self.path.touch()

    def flush(self) -> None:
        """Makes everything appended so far outlast a power cut."""
        os.fsync(self._open())

    def close(self) -> None:
        """Lets the file go; it is opened again at need."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _open(self) -> int:
        if self._file is None:
            self._file = FileIO(self.path, "r+")
        return self._file.fileno()


NO_TIMESTAMP = -1


class Indexing:
    """The two indexes of a segment while its batches pass by in order."""

    def __init__(self, base_offset: int, interval_bytes: int, offsets: EntryFile, times: EntryFile) -> None:
        """Goes on after the entries that are there; the distance to the last one indexed starts anew, as in Kafka."""
        self._base_offset = base_offset
        self._interval_bytes = interval_bytes
        self._offsets = offsets
        self._times = times
        self._bytes_since_entry = 0
        self._newest = last_time_entry(times, base_offset)

    @property
    def max_timestamp_ms(self) -> int:
        """The largest timestamp so far; -1 when there is none."""
        return self._newest[0]

    def add(self, batch: RecordBatch, position: int) -> None:
        """Tells of the next batch; `position` is where it lies in the segment's file."""
        self.note_timestamp(batch)
        if self._bytes_since_entry > self._interval_bytes:
            self._offsets.append(OFFSET_ENTRY.pack(batch.last_offset - self._base_offset, position))
            self.add_time_entry()
            self._bytes_since_entry = 0
        self._bytes_since_entry += batch.size

    def note_timestamp(self, batch: RecordBatch) -> None:
        """Tells of a batch that was passed before, for its timestamp alone."""
        if batch.max_timestamp > self._newest[0]:
            self._newest = (batch.max_timestamp, batch.last_offset)

    def add_time_entry(self) -> None:
        """Notes the largest timestamp if it is news: at each indexed batch, and when a segment ends."""
        timestamp_ms, offset = self._newest
        if timestamp_ms > last_time_entry(self._times, self._base_offset)[0]:
            self._times.append(TIME_ENTRY.pack(timestamp_ms, offset - self._base_offset))


def last_time_entry(times: EntryFile, base_offset: int) -> tuple[int, int]:
    """The last timestamp (ms) and offset of a time index; -1 and the base offset when it is empty."""
    if not len(times):
        return NO_TIMESTAMP, base_offset
    return time_entry(times.entries, len(times) - 1, base_offset)


@dataclass(frozen=True)
class Cut:
    """The tail of a file that was not good. `offset` is the next one that will be written there."""

    path: Path
    position: int
    size_bytes: int
    offset: int
    why: str


class Segment:
    """The files `N.log`, `N.index`, `N.timeindex` and `N.txnindex` of one base offset. One thread at a time."""

    def __init__(self, folder: Path, base_offset: int, settings: LogSettings, *, now_ms: int, suffix: str = "") -> None:
        """Creates or opens no file yet. `now_ms` counts as its time of creation, as in Kafka."""
        self.folder = folder
        self.base_offset = base_offset
        self.settings = settings
        self._created_ms = now_ms
        self._suffix = suffix
        self._open_files()

    def _open_files(self) -> None:
        self.log = LogFile(self.path(LOG))
        self.offset_index = EntryFile(self.path(INDEX), OFFSET_ENTRY.size)
        self.time_index = EntryFile(self.path(TIME_INDEX), TIME_ENTRY.size)
        self.transaction_index = TransactionIndex(self.path(TRANSACTION_INDEX))
        self._indexing: Indexing | None = None
        self._first_timestamp_ms: int | None = None
        self._last: RecordBatch | None = None

    def path(self, kind: str) -> Path:
        """The file of a kind, which may not exist."""
        return self.folder / str(NumberedFile(self.base_offset, kind, self._suffix))

    @property
    def size_bytes(self) -> int:
        return self.log.size

    @property
    def indexing(self) -> Indexing:
        """What the indexes have seen of the batches so far."""
        if self._indexing is None:
            interval = self.settings.index_interval_bytes
            self._indexing = Indexing(self.base_offset, interval, self.offset_index, self.time_index)
        return self._indexing

    @property
    def max_timestamp_ms(self) -> int:
        """The largest timestamp; -1 when no record has one."""
        return self.indexing.max_timestamp_ms

    @property
    def age_timestamp_ms(self) -> int:
        """What retention counts from: the largest timestamp, else when the file was last written."""
        largest = self.max_timestamp_ms
        return largest if largest >= 0 else self.written_ms

    @property
    def written_ms(self) -> int:
        """When the file was written last, in ms since the epoch. Raises OSError."""
        return self.path(LOG).stat().st_mtime_ns // 1_000_000

    def activate(self) -> None:
        """Gets the files ready for appends: indexes grow to their full size, so does a log to be preallocated."""
        self.log.create()
        if self.settings.preallocate:
            self.log.preallocate(self.settings.segment_bytes)
        self.offset_index.grow(self.settings.segment_index_bytes)
        self.time_index.grow(self.settings.segment_index_bytes)

    def deactivate(self) -> None:
        """Ends the segment: the closing time entry, and no zeros behind what is written."""
        self.indexing.add_time_entry()
        self.log.truncate(self.log.size)
        self.offset_index.trim()
        self.time_index.trim()

    def append(self, data: bytes | bytearray | memoryview, batches: Sequence[RecordBatch]) -> int:
        """Adds batches, whose positions count from the start of `data`. Returns where `data` lies in the file."""
        start = self.log.append(data)
        for batch in batches:
            self.indexing.add(batch, start + batch.position)
        self._last = msgspec.structs.replace(batches[-1], position=start + batches[-1].position)
        return start

    @property
    def last_appended(self) -> RecordBatch | None:
        """The last batch, if it was appended since the segment was opened or cut: what most readers wait for."""
        return self._last

    def as_active(self) -> ActiveSegment:
        """What the rule of rolling looks at."""
        if self._first_timestamp_ms is None and self.size_bytes:
            self._first_timestamp_ms = next(self.batches()).max_timestamp
        return ActiveSegment(
            self.base_offset,
            self.size_bytes,
            -1 if self._first_timestamp_ms is None else self._first_timestamp_ms,
            self._created_ms,
            len(self.offset_index),
            len(self.time_index),
        )

    def batches(self, position: int = 0, end: int | None = None) -> Iterator[RecordBatch]:
        """The batches from a position on, where one starts. Raises DamagedFileError where none can be read."""
        for found in scan(self.log, position, end):
            if isinstance(found, Damage):
                raise DamagedFileError(self.log.path, f"at byte {found.position:,}: {found.cause}")
            yield found

    def indexed_position(self, offset: int) -> int:
        """Where to start looking for an offset: at the last indexed batch that ends at it or before."""
        index = self.offset_index
        slot = floor_slot(index.entries, OFFSET_ENTRY, len(index), offset - self.base_offset)
        return offset_entry(index.entries, slot, self.base_offset).position if slot >= 0 else 0

    def indexed_position_before(self, position: int) -> int:
        """Where an indexed batch starts that ends at a position or before it, the last but one at worst; else 0."""
        index = self.offset_index
        slot = floor_slot(index.entries, OFFSET_ENTRY, len(index), position, field=1) - 1  # the last may end later
        return offset_entry(index.entries, slot, self.base_offset).position if slot >= 0 else 0

    def find_offset(self, offset: int) -> RecordBatch | None:
        """The first batch that ends at an offset or later; None when all end before it."""
        if self._last is not None and offset >= self._last.base_offset:
            return self._last if offset <= self._last.last_offset else None
        return next(
            (batch for batch in self.batches(self.indexed_position(offset)) if batch.last_offset >= offset), None
        )

    def find_timestamp(self, timestamp_ms: int, start_offset: int) -> RecordBatch | None:
        """The first batch from `start_offset` on with a timestamp that is not smaller; None when there is none."""
        index = self.time_index
        slot = floor_slot(index.entries, TIME_ENTRY, len(index), timestamp_ms)
        indexed = time_entry(index.entries, slot, self.base_offset).offset if slot >= 0 else self.base_offset
        position = self.indexed_position(max(indexed, start_offset))
        found = (batch for batch in self.batches(position) if batch.max_timestamp >= timestamp_ms)
        return next((batch for batch in found if batch.last_offset >= start_offset), None)

    def end_offset(self) -> int:
        """The offset after the last batch; the base offset when there is none."""
        ends = [batch.next_offset for batch in self.batches(self.indexed_position(INT64_MAX))]
        return ends[-1] if ends else self.base_offset

    def complaint(self) -> str | None:
        """Why the indexes of a closed segment are of no use; None when nothing speaks against them."""
        for index, entry in ((self.offset_index, OFFSET_ENTRY), (self.time_index, TIME_ENTRY)):
            if not index.path.exists():
                return f"there is no {index.path.name}"
            size = index.size_on_disk()
            first, last = index.ends() if size >= entry.size else (b"", b"")
            if why := ends_complaint(first, last, entry, size):
                return f"{index.path.name}: {why}"
        return self.transaction_index.complaint(self.base_offset)

    def rebuild(self, on_batch: Callable[[RecordBatch], None] = lambda batch: None) -> Cut | None:
        """Makes the indexes anew from the batches, and cuts the log before the first that is not whole and sound.

        `on_batch` hears of each good one; it may add to the transaction index, which is emptied before.
        """
        self.offset_index.replace(b"")
        self.time_index.replace(b"")
        self.transaction_index.reset()
        self._indexing = None
        self._last = None
        good_bytes, end_offset, why = 0, self.base_offset, ""
        for found in scan(self.log):
            why = self._unsound(found)
            if why or isinstance(found, Damage):
                break
            self.indexing.add(found, found.position)
            on_batch(found)
            good_bytes, end_offset = found.end, found.next_offset
        cut = Cut(self.log.path, good_bytes, self.log.size - good_bytes, end_offset, why) if why else None
        self.log.truncate(good_bytes)
        self.deactivate()
        return cut

    def _unsound(self, found: RecordBatch | Damage) -> str:
        if isinstance(found, Damage):
            return found.cause
        if not crc_holds(self.log, found):
            return "the CRC does not match the batch"
        if not 0 <= found.last_offset - self.base_offset <= LARGEST_RELATIVE_OFFSET:
            return f"offset {found.last_offset} has no place in a segment that starts at {self.base_offset}"
        return ""

    def truncate_to(self, offset: int) -> int:
        """Cuts the batch that holds an offset, and all behind it. Returns how many bytes went."""
        first = self.find_offset(offset)
        if first is None:
            return 0
        removed = self.size_bytes - first.position
        self._last = None
        self.log.truncate(first.position)
        for index, width in ((self.offset_index, OFFSET_ENTRY), (self.time_index, TIME_ENTRY)):
            field = 0 if width is OFFSET_ENTRY else 1
            offsets = (entry[field] for entry in width.iter_unpack(bytes(index.entries)))
            index.truncate(sum(relative < offset - self.base_offset for relative in offsets))
        self.transaction_index.truncate(offset)
        self._indexing = None
        for batch in self.batches(self.indexed_position(last_time_entry(self.time_index, self.base_offset)[1])):
            self.indexing.note_timestamp(batch)
        if self.size_bytes == 0:
            self._first_timestamp_ms = None
        return removed

    def flush(self) -> None:
        """Makes all of it outlast a power cut."""
        self.log.flush()
        self.offset_index.flush()
        self.time_index.flush()
        self.transaction_index.file.flush()

    def close(self) -> None:
        """Lets the files go; they are opened again at need."""
        self.log.close()
        for index in (self.offset_index, self.time_index, self.transaction_index.file):
            index.close()

    def files(self) -> list[Path]:
        return [path for kind in SEGMENT_KINDS if (path := self.path(kind)).exists()]

    def move_to(self, folder: Path) -> None:
        """Its files lie in another folder: theirs was renamed. What is open stays so."""
        self.folder = folder
        self.log.path = self.path(LOG)
        self.offset_index.path = self.path(INDEX)
        self.time_index.path = self.path(TIME_INDEX)
        self.transaction_index.file.path = self.path(TRANSACTION_INDEX)

    def change_suffix(self, suffix: str) -> list[Path]:
        """Renames all its files, the log first, and returns their new paths. Start-up mends a crash in between."""
        self.close()
        old = {kind: self.path(kind) for kind in SEGMENT_KINDS}
        self._suffix = suffix
        renamed: list[Path] = []
        for kind in SEGMENT_KINDS:
            if old[kind].exists():
                os.replace(old[kind], self.path(kind))
                renamed.append(self.path(kind))
        self._open_files()
        return renamed
