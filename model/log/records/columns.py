"""Headers and records of many entries as numpy columns: where each key and value lies, its offset, its time.

Record starts are found first, in lock-step: a step goes from the n-th to the next record in all runs at once, so the
numpy calls are as many as the longest run has records. Damaged lengths give wrong starts, never a wrong access or a
long loop. Then each field of all records is read at once. Batches whose records have headers, or do not fit their own
lengths, are left out: `records_of` reads those, and names the damage.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from model.log.records import layout
from model.log.records.batch import Buffer, ByteSource, RecordBatch, source_of
from model.log.records.codecs import StreamError, TooLargeError, decompress
from model.log.records.layout import Codec
from model.log.records.record import MAX_VARINT, MAX_VARLONG
from model.log.records.scan import LARGEST_WINDOW, BatchWindow

_BATCH = np.dtype(
    [
        ("base_offset", ">i8"),
        ("length", ">i4"),
        ("partition_leader_epoch", ">i4"),
        ("magic", "i1"),
        ("crc", ">u4"),
        ("attributes", ">i2"),
        ("last_offset_delta", ">i4"),
        ("base_timestamp", ">i8"),
        ("max_timestamp", ">i8"),
        ("producer_id", ">i8"),
        ("producer_epoch", ">i2"),
        ("base_sequence", ">i4"),
        ("count", ">i4"),
    ]
)
_MESSAGE = np.dtype(
    {
        "names": ["crc", "attributes", "timestamp"],
        "formats": [">u4", "u1", ">i8"],
        "offsets": [12, 17, layout.LEGACY.size],
        "itemsize": layout.BATCH_SIZE,
    }
)
_HEADER = np.dtype(f"V{layout.BATCH_SIZE}")

Int64s = NDArray[np.int64]


@dataclass(frozen=True)
class HeaderColumns:
    """A field of `RecordBatch` each, with its meaning for old messages too; timestamps in ms, sizes in bytes."""

    position: Int64s
    size: Int64s
    base_offset: Int64s
    last_offset: Int64s
    partition_leader_epoch: Int64s
    magic: Int64s
    crc: Int64s
    attributes: Int64s
    base_timestamp: Int64s
    max_timestamp: Int64s
    producer_id: Int64s
    producer_epoch: Int64s
    base_sequence: Int64s
    count: Int64s
    crc_valid: NDArray[np.bool_]

    def part(self, start: int, stop: int) -> "HeaderColumns":
        """The headers of some entries that follow each other."""
        return HeaderColumns(*(getattr(self, field.name)[start:stop] for field in fields(self)))


def window_columns(window: BatchWindow) -> HeaderColumns:
    """Columns of the headers of a window."""
    starts = np.array(window.starts[:-1], np.int64)
    # As if a header began at every byte; those that do are copied.
    anywhere = np.ndarray(len(window.data) - layout.BATCH_SIZE + 1, _HEADER, window.data, strides=(1,))
    return _columns(anywhere[starts], starts + window.position, window.crc_valid)


def header_columns(positions: Sequence[int], headers: Buffer, crc_valid: Buffer) -> HeaderColumns:
    """Columns of headers of 61 bytes each (`SegmentMap`)."""
    return _columns(np.frombuffer(headers, _HEADER), np.array(positions, np.int64), crc_valid)


def _columns(headers: NDArray[np.void], positions: Int64s, crc_valid: Buffer) -> HeaderColumns:
    batch = headers.view(_BATCH)
    columns = {name: batch[name].astype(np.int64) for name in _BATCH.names or ()}
    columns["attributes"] &= 0xFF
    old = np.flatnonzero(columns["magic"] < 2)
    if len(old):
        _read_messages(headers.view(_MESSAGE)[old], old, columns)
    return HeaderColumns(
        position=positions,
        size=columns.pop("length") + layout.LOG_OVERHEAD,
        last_offset=columns["base_offset"] + columns.pop("last_offset_delta"),
        crc_valid=np.frombuffer(crc_valid, np.bool_),
        **columns,
    )


def _read_messages(messages: NDArray[np.void], places: Int64s, columns: dict[str, Int64s]) -> None:
    """Gives the columns what v0 and v1 headers, which are at these places of theirs, say or stand for."""
    timestamps = np.where(columns["magic"][places] == 1, messages["timestamp"], layout.NO_TIMESTAMP)
    meanings = {
        "crc": messages["crc"],
        "attributes": messages["attributes"],
        "last_offset_delta": 0,
        "base_timestamp": timestamps,
        "max_timestamp": timestamps,
        "partition_leader_epoch": layout.NO_LEADER_EPOCH,
        "producer_id": layout.NO_PRODUCER_ID,
        "producer_epoch": -1,
        "base_sequence": layout.NO_SEQUENCE,
        "count": np.where(messages["attributes"] & layout.CODEC_MASK, -1, 1),
    }
    for name, values in meanings.items():
        columns[name][places] = values


Bytes = NDArray[np.uint8]


def record_starts(data: Bytes, begins: Int64s, counts: Int64s) -> Int64s:
    """The starts of `counts` records each in the runs that begin at `begins`, run after run. `data` is not empty."""
    if len(begins) < _FEW:
        view = data.data
        walked = (_walked(view, begin, count) for begin, count in zip(begins.tolist(), counts.tolist(), strict=True))
        return np.fromiter(chain.from_iterable(walked), np.int64, int(counts.sum()))
    first = np.cumsum(counts) - counts
    found = np.empty(int(counts.sum()), np.int64)
    longest_first = np.argsort(-counts, kind="stable")
    place, remaining = first[longest_first], counts[longest_first]
    at = begins[longest_first]
    for step in range(int(remaining[0]) if len(remaining) else 0):
        active = int(np.searchsorted(-remaining, -step))
        at, place = at[:active], place[:active]
        found[place + step] = at
        at = _after(data, at)
    return found


_FEW = 32
"""Runs for which a step of all of them together costs more than one after the other."""


def _walked(view: memoryview, at: int, count: int) -> Iterator[int]:
    """The same of one run: a number is read as `_after` reads it."""
    last = len(view) - 1
    for _ in range(count):
        yield at
        raw = view[min(at, last)]
        at += 1
        if raw >= 0x80:
            raw = raw & 0x7F | (second := view[min(at, last)] & 0xFF) << 7
            at += 1
            if second >= 0x80:
                raw = raw & 0x3FFF | view[min(at, last)] << 14
                at += 1
        at += raw >> 1


def _after(data: Bytes, at: Int64s) -> Int64s:
    """Where the records after those at `at` start."""
    low = data.take(at, mode="clip").astype(np.int64)
    after = at + 1 + (low >> 1)
    longer = np.flatnonzero(low >= 0x80)
    if len(longer):
        at, low = at[longer], low[longer] & 0x7F
        high = data.take(at + 1, mode="clip").astype(np.int64)
        third = data.take(at + 2, mode="clip").astype(np.int64)
        # Three bytes are lengths below a MiB; longer ones are left wrong, for the record by record path.
        is_third = high >= 0x80
        raw = low | (high & 0x7F) << 7 | np.where(is_third, third, 0) << 14
        after[longer] = at + 2 + is_third + (raw >> 1)
    return after


Flags = NDArray[np.bool_]


def read_varints(data: NDArray[np.uint8], at: Int64s, max_size: int = MAX_VARINT) -> tuple[Int64s, Int64s, Flags]:
    """The numbers at `at`, the places after them, and which of them fit `max_size` bytes and the data.

    Places outside the data are allowed. Numbers that do not fit mean nothing, nor do the places after them.
    """
    low = data.take(at, mode="clip")
    raw = low.astype(np.uint64)
    after = at + 1
    longer = np.flatnonzero(low >= 0x80)
    if len(longer):
        raw &= np.uint64(0x7F)
    for size in range(1, max_size):
        if not len(longer):
            break
        byte = data.take(after[longer], mode="clip")
        raw[longer] |= (byte & 0x7F).astype(np.uint64) << np.uint64(7 * size)
        after[longer] += 1
        longer = longer[byte >= 0x80]
    fits = after <= len(data)
    fits[longer] = False
    if max_size == MAX_VARINT:
        raw &= np.uint64(0xFFFFFFFF)
    number = (raw >> np.uint64(1)).astype(np.int64)
    negative = np.flatnonzero(raw & np.uint64(1))
    number[negative] = ~number[negative]
    return number, after, fits


_ENOUGH = 1 << 24
_MANY = 1 << 17
"""Decompressed bytes, and records, after which a group of batches is closed."""


@dataclass(frozen=True)
class RecordColumns:
    """Records in order. A key is `data[key_start : key_start + key_size]`, its size -1 for null; so are values."""

    data: bytes
    offset: Int64s
    timestamp: Int64s
    """In ms."""
    sequence: Int64s
    key_start: Int64s
    key_size: Int64s
    value_start: Int64s
    value_size: Int64s

    def __len__(self) -> int:
        return len(self.offset)


@dataclass(frozen=True)
class BatchGroup:
    """Batches of a window that follow each other, and their records."""

    start: int
    """The place of the first batch in the window."""
    headers: HeaderColumns
    counts: Int64s
    """By batch: how many of the records are its own; -1 where they were left out."""
    sizes: Int64s
    """By batch: bytes of its records, decompressed; 0 where they can't be."""
    records: RecordColumns


@dataclass(frozen=True)
class _Runs:
    """Decompressed records: of batch n in `data[begins[n] : ends[n]]`."""

    data: bytes
    begins: Int64s
    ends: Int64s


def batch_groups(window: BatchWindow, limit: int = _ENOUGH) -> Iterator[BatchGroup]:
    """The records of all batches of a window, in as many groups as keep memory small.

    Batches that decompress to more than `limit` bytes, or have more records than a group should, are left out.
    """
    headers = window_columns(window)
    is_compressed = bool((headers.attributes & layout.CODEC_MASK).any())
    start = 0
    for runs in _decompressed_runs(window, headers, limit) if is_compressed else _plain_runs(window, headers):
        stop = start + len(runs.begins)
        yield _group(start, runs, headers.part(start, stop))
        start = stop


def batch_columns(source: ByteSource | Buffer, batch: RecordBatch) -> RecordColumns | None:
    """All records of one v2 batch, which was scanned from `source`; None where `records_of` has to read them.

    That is where something is damaged, and where it saves nothing: a batch of few records, or of very many.
    """
    if batch.magic < 2 or batch.count < _FEW or batch.size > LARGEST_WINDOW:
        return None
    data = bytes(source_of(source).read(batch.position, batch.size))
    if len(data) < batch.size:
        return None
    group = next(batch_groups(BatchWindow(batch.position, data, [0, len(data)], b"\1")))
    return group.records if group.counts[0] == batch.count else None


def _plain_runs(window: BatchWindow, headers: HeaderColumns) -> Iterator[_Runs]:
    total = np.cumsum(np.clip(headers.count, 0, _MANY))
    stops = np.flatnonzero(np.diff(total // _MANY)) + 1
    starts = headers.position - window.position
    begins, ends = starts + layout.BATCH_SIZE, starts + headers.size
    for begin, end in zip(np.split(begins, stops), np.split(ends, stops), strict=True):
        yield _Runs(window.data, begin, end)


def _decompressed_runs(window: BatchWindow, headers: HeaderColumns, limit: int) -> Iterator[_Runs]:
    view = memoryview(window.data)
    codecs = (headers.attributes & layout.CODEC_MASK).tolist()
    pieces: list[bytes] = []
    ends: list[int] = [0]
    records = 0
    for index, (codec, count) in enumerate(zip(codecs, headers.count.tolist(), strict=True)):
        payload = view[window.starts[index] + layout.BATCH_SIZE : window.starts[index + 1]]
        pieces.append(_decompressed(codec, payload, limit))
        ends.append(ends[-1] + len(pieces[-1]))
        records += min(max(count, 0), _MANY)
        if ends[-1] >= _ENOUGH or records >= _MANY or index + 1 == len(window):
            yield _Runs(b"".join(pieces), np.array(ends[:-1], np.int64), np.array(ends[1:], np.int64))
            pieces, ends, records = [], [0], 0


def _decompressed(codec: int, payload: memoryview, limit: int) -> bytes:
    """The records, or nothing: then they cannot be as many as the header says, and are left out."""
    try:
        return bytes(decompress(Codec(codec), payload, 2, limit)) if codec <= Codec.ZSTD else b""
    except (StreamError, TooLargeError):
        return b""


def _group(start: int, runs: _Runs, headers: HeaderColumns) -> BatchGroup:
    sizes = runs.ends - runs.begins
    # A record takes seven bytes at least; a count that cannot be is not believed.
    fits = (headers.count >= 0) & (headers.count * 7 <= sizes) & ((headers.count > 0) | (sizes == 0))
    fits &= headers.count <= _MANY
    counts = np.where(fits, headers.count, 0)
    records, ends, fitting = _read_fields(runs, headers, counts)
    batch_of = np.repeat(np.arange(len(counts)), counts)
    fits[batch_of[~fitting]] = False
    filled = np.flatnonzero(counts)
    fits[filled[ends[np.cumsum(counts)[filled] - 1] != runs.ends[filled]]] = False
    if not bool(fits.all()):
        records = _only(records, fits[batch_of])
    return BatchGroup(start, headers, np.where(fits, counts, -1), sizes, records)


def _read_fields(runs: _Runs, headers: HeaderColumns, counts: Int64s) -> tuple[RecordColumns, Int64s, Flags]:
    """All records, where each ends, and which of them fit their own lengths and have no headers."""
    data = np.frombuffer(runs.data or b"\0", np.uint8)
    start = record_starts(data, runs.begins, counts)
    length, at, fitting = read_varints(data, start)
    end = at + length
    time_delta, at, fits = read_varints(data, at + 1, MAX_VARLONG)
    fitting &= fits
    offset_delta, at, fits = read_varints(data, at)
    fitting &= fits
    key_size, key_start, fits = read_varints(data, at)
    fitting &= fits
    key_size = np.maximum(key_size, -1)
    value_size, value_start, fits = read_varints(data, key_start + np.maximum(key_size, 0))
    fitting &= fits
    value_size = np.maximum(value_size, -1)
    at = value_start + np.maximum(value_size, 0)
    header_count = data.take(at, mode="clip")
    fitting &= (header_count == 0) & (at + 1 == end)

    columns = RecordColumns(
        data=runs.data,
        offset=np.repeat(headers.base_offset, counts) + offset_delta,
        timestamp=_timestamps(headers, counts, time_delta),
        sequence=_record_sequences(headers, counts, offset_delta),
        key_start=key_start,
        key_size=key_size,
        value_start=value_start,
        value_size=value_size,
    )
    return columns, end, fitting


def _timestamps(headers: HeaderColumns, counts: Int64s, time_delta: Int64s) -> Int64s:
    own = np.repeat(headers.base_timestamp, counts) + time_delta
    is_append_time = headers.attributes & layout.APPEND_TIME > 0
    if not bool(is_append_time.any()):
        return own
    return np.where(np.repeat(is_append_time, counts), np.repeat(headers.max_timestamp, counts), own)


def _record_sequences(headers: HeaderColumns, counts: Int64s, offset_delta: Int64s) -> Int64s:
    base = np.repeat(headers.base_sequence, counts)
    if not bool((headers.base_sequence >= 0).any()):
        return base
    total = base + offset_delta
    return np.where(base < 0, base, np.where(total > layout.INT32_MAX, total - layout.INT32_MAX - 1, total))


def _only(records: RecordColumns, wanted: Flags) -> RecordColumns:
    columns = {field.name: getattr(records, field.name)[wanted] for field in fields(records) if field.name != "data"}
    return RecordColumns(records.data, **columns)
