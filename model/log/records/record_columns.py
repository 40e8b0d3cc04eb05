"""The records of many batches as numpy columns: where each one's key and value lie, its offset, its time.

Record starts are found first, then each field of all records is read at once. Batches whose records have headers, or
do not fit their own lengths, are left out: `records_of` reads those, and names the damage.
"""

from collections.abc import Iterator
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from model.log.records import layout
from model.log.records.codecs import StreamError, TooLargeError, decompress
from model.log.records.header_columns import HeaderColumns, window_columns
from model.log.records.layout import Codec
from model.log.records.record_starts import record_starts
from model.log.records.varint import MAX_VARLONG
from model.log.records.varint_columns import read_varints
from model.log.records.windows import BatchWindow

Int64s = NDArray[np.int64]
Flags = NDArray[np.bool_]

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
        sequence=_sequences(headers, counts, offset_delta),
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


def _sequences(headers: HeaderColumns, counts: Int64s, offset_delta: Int64s) -> Int64s:
    base = np.repeat(headers.base_sequence, counts)
    if not bool((headers.base_sequence >= 0).any()):
        return base
    total = base + offset_delta
    return np.where(base < 0, base, np.where(total > layout.INT32_MAX, total - layout.INT32_MAX - 1, total))


def _only(records: RecordColumns, wanted: Flags) -> RecordColumns:
    columns = {field.name: getattr(records, field.name)[wanted] for field in fields(records) if field.name != "data"}
    return RecordColumns(records.data, **columns)
