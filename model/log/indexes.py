"""The indexes beside a segment: offset, time and aborted transactions. Entries of fixed width, all numbers big-endian.

`org.apache.kafka.storage.internals.log.OffsetIndex`, `TimeIndex`, `AbstractIndex`, `TransactionIndex` and `AbortedTxn`
(3.9). Searches work on the bytes of a file. An `EntryFile` is kept in memory once read, written through, and grown with
zeros while it is active; it does not know what an entry means. A .txnindex file exists once there was an abort.
"""

import os
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from struct import Struct
from typing import NamedTuple

from model.cluster.whole_file import MOST_FACTS, read_whole
from model.log.names import DamagedFileError

Buffer = bytes | bytearray | memoryview

OFFSET_ENTRY = Struct(">ii")
"""Offset less the segment's base, position in the .log file."""
TIME_ENTRY = Struct(">qi")
"""Timestamp in ms, offset less the segment's base."""


class OffsetEntry(NamedTuple):
    """`position` is where the batch starts whose last offset `offset` is (first offset, in files from before 2.0)."""

    offset: int
    position: int


class TimeEntry(NamedTuple):
    """`timestamp_ms` is the largest up to here; `offset` the last one of the batch that first reached it."""

    timestamp_ms: int
    offset: int


class Probe(NamedTuple):
    """One look of a binary search: the slot, and the offset or timestamp (ms) found in it."""

    slot: int
    value: int


@dataclass(frozen=True)
class SlotSearch:
    """A binary search among entries. `slot` is the last entry not above the target, -1 when all are above it."""

    slot: int
    probes: tuple[Probe, ...]


def offset_entry(entries: Buffer, slot: int, base_offset: int) -> OffsetEntry:
    """The entry in a slot of an offset index."""
    relative, position = OFFSET_ENTRY.unpack_from(entries, slot * OFFSET_ENTRY.size)
    return OffsetEntry(base_offset + relative, position)


def time_entry(entries: Buffer, slot: int, base_offset: int) -> TimeEntry:
    """The entry in a slot of a time index."""
    timestamp_ms, relative = TIME_ENTRY.unpack_from(entries, slot * TIME_ENTRY.size)
    return TimeEntry(timestamp_ms, base_offset + relative)


def floor_slot(entries: Buffer, entry: Struct, count: int, target: int, field: int = 0) -> int:
    """The last of `count` entries whose field is not above `target`; -1 when all are above it.

    In an offset index field 0 is relative to the segment's base. All fields rise.
    """
    return bisect_right(range(count), target, key=lambda slot: entry.unpack_from(entries, slot * entry.size)[field]) - 1


def search_slots(entries: Buffer, entry: Struct, count: int, target: int) -> SlotSearch:
    """What `floor_slot` finds, with every slot it looked into."""
    probes: list[Probe] = []
    low, high = 0, count
    while low < high:
        middle = (low + high) // 2
        value = entry.unpack_from(entries, middle * entry.size)[0]
        probes.append(Probe(middle, value))
        if value > target:
            high = middle
        else:
            low = middle + 1
    return SlotSearch(low - 1, tuple(probes))


def written_entries(entries: Buffer, entry: Struct) -> int:
    """How many entries a file holds that may end in zeros, for its segment is (or was) active.

    As DumpLogSegments tells: an entry other than the first that points at the base offset is not one. A single entry
    of zeros is none either when more zeros follow, or a crash has left it alone.
    """
    relative = 0 if entry is OFFSET_ENTRY else 1
    capacity = len(entries) // entry.size
    # Entries rise strictly, so all that is written lies before the first zero of that field.
    low, high = min(1, capacity), capacity
    while low < high:
        middle = (low + high) // 2
        if entry.unpack_from(entries, middle * entry.size)[relative] == 0:
            high = middle
        else:
            low = middle + 1
    return 0 if low == 1 and not any(bytes(entries[: entry.size])) else low


def ends_complaint(first: bytes, last: bytes, entry: Struct, size: int) -> str | None:
    """What is wrong with the index of a closed segment, seen at its first and last entry; None when nothing is.

    What Kafka looked at in each start until 2.0 (sanityCheck); later releases take any index as it is.
    """
    if size % entry.size:
        return f"its {size} bytes are no whole number of entries of {entry.size} bytes"
    if not size:
        return None
    (oldest, _), (newest, second) = entry.unpack(first), entry.unpack(last)
    if newest < oldest or second < 0 or newest < 0 or (entry is OFFSET_ENTRY and newest == 0 and size > entry.size):
        return f"its last entry ({newest}, {second}) can't come after its first"
    return None


class EntryFile:
    """An index file. Kafka maps it into memory; here appends are written at their place, which looks the same on disk.

    A file that exists is taken to hold entries to its end: that is so for all but the active segment after a crash,
    whose indexes are rebuilt.
    """

    def __init__(self, path: Path, width: int) -> None:
        """Opens no file yet. `width` is the size of an entry in bytes."""
        self.path = path
        self._width = width
        self._entries: bytearray | None = None
        self._file: FileIO | None = None

    @property
    def entries(self) -> bytearray:
        """All entries; read from disk at first use, without a partial one at the end."""
        if self._entries is None:
            try:
                self._entries = bytearray(read_whole(self.path, MOST_FACTS, only_file=True))
            except FileNotFoundError:
                self._entries = bytearray()
            del self._entries[len(self) * self._width :]
        return self._entries

    def __len__(self) -> int:
        if self._entries is not None:
            return len(self._entries) // self._width
        return self.size_on_disk() // self._width

    def size_on_disk(self) -> int:
        """Bytes, the zeros at the end of an active one included; 0 when there is no file."""
        try:
            return self.path.stat().st_size
        except FileNotFoundError:
            return 0

    def ends(self) -> tuple[bytes, bytes]:
        """The first and the last entry on disk, without reading the rest. For a file that is not empty."""
        with self.path.open("rb") as file:
            first = file.read(self._width)
            file.seek((len(self) - 1) * self._width)
            return first, file.read(self._width)

    def append(self, entry: bytes) -> None:
        place = len(self.entries)
        os.pwrite(self._open(), entry, place)
        self.entries.extend(entry)

    def truncate(self, count: int) -> None:
        """Keeps the first `count` entries; the file gets as long as they are."""
        del self.entries[count * self._width :]
        self.trim()

    def replace(self, entries: bytes) -> None:
        """Puts other entries in the place of all there are."""
        self._entries = bytearray(entries)
        os.ftruncate(self._open(), 0)
        os.pwrite(self._open(), entries, 0)

    def grow(self, max_bytes: int) -> None:
        """Extends the file by zeros to the most entries that fit into `max_bytes`, for it is active now."""
        size = max(max_bytes // self._width * self._width, len(self.entries))
        os.ftruncate(self._open(), size)

    def trim(self) -> None:
        """Cuts the zeros, for nothing more will be added. Creates the file if there is none."""
        os.ftruncate(self._open(), len(self.entries))

    def flush(self) -> None:
        """Makes the entries outlast a power cut."""
        if self._file is not None or self.path.exists():
            os.fsync(self._open())

    def close(self) -> None:
        """Lets the file go; it is opened again at need. What is in memory is kept no longer."""
        if self._file is not None:
            self._file.close()
        self._file = None
        self._entries = None

    def _open(self) -> int:
        if self._file is None:
            self._file = FileIO(self.path, "r+", opener=_opened_or_made)
        return self._file.fileno()


def _opened_or_made(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_CREAT, 0o644)


_ENTRY = Struct(">hqqqq")
_VERSION = 0
WIDTH = _ENTRY.size


class AbortedTransaction(NamedTuple):
    """`last_offset` is the marker's. `last_stable_offset` is the log's once this transaction is over."""

    producer_id: int
    first_offset: int
    last_offset: int
    last_stable_offset: int


def encode_aborted(aborted: Iterable[AbortedTransaction]) -> bytes:
    """The content of a file."""
    return b"".join(_ENTRY.pack(_VERSION, *each) for each in aborted)


def decode_aborted(data: Buffer) -> list[AbortedTransaction]:
    """The transactions in a file; a partial entry at its end is none. Raises ValueError for a version not known."""
    aborted: list[AbortedTransaction] = []
    for version, *fields in _ENTRY.iter_unpack(data[: len(data) // WIDTH * WIDTH]):
        if version != _VERSION:
            raise ValueError(f"entry {len(aborted)} has version {version}, not {_VERSION}")
        aborted.append(AbortedTransaction(*fields))
    return aborted


class TransactionIndex:
    """The .txnindex file of one segment."""

    def __init__(self, path: Path) -> None:
        self.file = EntryFile(path, WIDTH)

    def aborted(self) -> list[AbortedTransaction]:
        """All of them, in the order of their markers. Raises DamagedFileError."""
        try:
            return decode_aborted(self.file.entries)
        except ValueError as error:
            raise DamagedFileError(self.file.path, str(error)) from None

    def append(self, transaction: AbortedTransaction) -> None:
        self.file.append(encode_aborted([transaction]))

    def truncate(self, end_offset: int) -> None:
        """Forgets those whose marker lies at `end_offset` or later."""
        if len(self.file):
            self.file.truncate(sum(each.last_offset < end_offset for each in self.aborted()))

    def reset(self) -> None:
        self.file.close()
        self.file.path.unlink(missing_ok=True)

    def complaint(self, base_offset: int) -> str | None:
        """What is wrong with the file, as Kafka checks it at each start; None when nothing is."""
        try:
            early = [each for each in self.aborted() if each.last_offset < base_offset]
        except DamagedFileError as error:
            return str(error)
        return f"a transaction ends at {early[0].last_offset}, before the segment begins" if early else None
