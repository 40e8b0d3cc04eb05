"""A .log file as DumpLogSegments 3.9 prints it (`printBatchLevel`, `printRecordLevel`), many rows at once.

What is the same in all rows is formatted once. Offsets that do not follow each other are usual in a compacted log and
suspicious in any other: they are counted.
"""

import os
from collections import deque
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from model.log.dump.decoders import Show, control_text, decoded_bytes
from model.log.dump.facts import BATCH_TIME_NAMES, CODEC_NAMES, FLAGS, TIME_NAMES, DumpOptions, Part, Remark
from model.log.dump.salvage import batch_windows_past_damage, damaged_headers, ends_quietly, header_damage, is_damaged
from model.log.records import ByteSource, Damage, Record, RecordBatch, crc_holds, records_of, scan
from model.log.records.columns import (
    BatchGroup,
    HeaderColumns,
    Int64s,
    RecordColumns,
    batch_groups,
    header_columns,
    window_columns,
)
from model.log.records.layout import (
    APPEND_TIME,
    BATCH_SIZE,
    CODEC_MASK,
    CONTROL,
    DELETE_HORIZON,
    INT32_MAX,
    NO_SEQUENCE,
    TRANSACTIONAL,
)
from model.log.records.scan import BatchWindow

Numbers = NDArray[np.int64]


class Choice:
    """A column whose values are few: row n shows `names[places[n]]`."""

    def __init__(self, names: Sequence[bytes], places: Numbers) -> None:
        self.names = names
        self.places = places

    def __len__(self) -> int:
        return len(self.places)


Column = Numbers | Choice | Sequence[bytes]


def rows(fields: Sequence[tuple[bytes, Column]]) -> list[bytes]:
    """A row of bytes for each place in the columns: each field's label, then its value. There is a row at least."""
    template = b""
    varying: list[Sequence[int] | Sequence[bytes]] = []
    for label, column in fields:
        template += label.replace(b"%", b"%%")
        if isinstance(column, Choice):
            is_same = _is_constant(column.places)
            template += column.names[int(column.places[0])].replace(b"%", b"%%") if is_same else b"%b"
            if not is_same:
                places: list[int] = column.places.tolist()
                varying.append([column.names[place] for place in places])
        elif isinstance(column, np.ndarray):
            is_same = _is_constant(column)
            template += b"%d" % int(column[0]) if is_same else b"%d"
            if not is_same:
                numbers: list[int] = column.tolist()
                varying.append(numbers)
        else:
            template += b"%b"
            varying.append(column)
    if varying:
        return [template % row for row in zip(*varying, strict=True)]
    return [template % ()] * len(fields[0][1])


def _is_constant(numbers: Numbers) -> bool:
    return bool((numbers == numbers[0]).all())


class OffsetGaps:
    """Counts places where a record's offset is not the one after the record before (DumpLogSegments does the same)."""

    def __init__(self) -> None:
        self._last = -1
        self._count = 0
        self._first = ""

    def see(self, offset: int) -> None:
        if self._last not in (-1, offset - 1):
            self._first = self._first or f"{self._last} is followed by {offset}"
            self._count += 1
        self._last = offset

    def see_all(self, offsets: Int64s) -> None:
        if not len(offsets):
            return
        self.see(int(offsets[0]))
        broken = np.flatnonzero(np.diff(offsets) != 1)
        if len(broken):
            place = int(broken[0])
            self._first = self._first or f"{offsets[place]} is followed by {offsets[place + 1]}"
            self._count += len(broken)
        self._last = int(offsets[-1])

    def remarks(self) -> Iterator[Remark]:
        """One for all gaps, so that a compacted log does not drown its reader."""
        if self._count == 1:
            yield Remark(0, f"non-consecutive offsets: {self._first}")
        elif self._count:
            yield Remark(0, f"non-consecutive offsets in {self._count:,} places, the first: {self._first}")


_MESSAGE_LINE = b"offset: %d position: %d %b: %d size: %d magic: %d compresscodec: %b crc: %d isvalid: %b\n"


def message_line(message: RecordBatch, crc_valid: bool) -> bytes:
    """The line of a v0 or v1 entry."""
    return _MESSAGE_LINE % (
        message.base_offset,
        message.position,
        TIME_NAMES[message.timestamp_type],
        message.max_timestamp,
        message.size,
        message.magic,
        CODEC_NAMES[message.attributes & CODEC_MASK],
        message.crc,
        FLAGS[crc_valid],
    )


def batch_lines(headers: HeaderColumns) -> list[bytes]:
    """The lines of v2 entries, one at least."""

    def flag(mask: int) -> Choice:
        return Choice(FLAGS, (headers.attributes & mask > 0).astype(np.int64))

    append_time = (headers.attributes & APPEND_TIME > 0).astype(np.int64)
    return rows(
        [
            (b"baseOffset: ", headers.base_offset),
            (b" lastOffset: ", headers.last_offset),
            (b" count: ", headers.count),
            (b" baseSequence: ", headers.base_sequence),
            (b" lastSequence: ", _last_sequences(headers)),
            (b" producerId: ", headers.producer_id),
            (b" producerEpoch: ", headers.producer_epoch),
            (b" partitionLeaderEpoch: ", headers.partition_leader_epoch),
            (b" isTransactional: ", flag(TRANSACTIONAL)),
            (b" isControl: ", flag(CONTROL)),
            (b" deleteHorizonMs: ", _horizons(headers)),
            (b" position: ", headers.position),
            (b" ", Choice(BATCH_TIME_NAMES, append_time)),
            (b": ", headers.max_timestamp),
            (b" size: ", headers.size),
            (b" magic: ", headers.magic),
            (b" compresscodec: ", Choice(CODEC_NAMES, headers.attributes & CODEC_MASK)),
            (b" crc: ", headers.crc),
            (b" isvalid: ", Choice(FLAGS, headers.crc_valid.astype(np.int64))),
            (b"\n", Choice((b"",), np.zeros(len(headers.position), np.int64))),
        ]
    )


def _last_sequences(headers: HeaderColumns) -> Column:
    total = headers.base_sequence + headers.last_offset - headers.base_offset
    total = np.where(total > INT32_MAX, total - INT32_MAX - 1, total)
    return np.where(headers.base_sequence == NO_SEQUENCE, NO_SEQUENCE, total)


def _horizons(headers: HeaderColumns) -> Column:
    is_set = headers.attributes & DELETE_HORIZON > 0
    if not bool(is_set.any()):
        return Choice((b"OptionalLong.empty",), np.zeros(len(is_set), np.int64))
    pairs = zip(is_set.tolist(), headers.base_timestamp.tolist(), strict=True)
    return [b"OptionalLong[%d]" % horizon if given else b"OptionalLong.empty" for given, horizon in pairs]


def record_line(record: Record, batch: RecordBatch, options: DumpOptions) -> bytes:
    """The line of one record. `contents` adds key and payload, though not those of control records."""
    key, value = record.key, record.value
    contents, show, decoder = options.contents, options.show, options.decoder
    line = b"| offset: %d %b: %d keySize: %d valueSize: %d" % (
        record.offset,
        TIME_NAMES[batch.timestamp_type],
        record.timestamp,
        -1 if key is None else len(key),
        -1 if value is None else len(value),
    )
    if batch.magic >= 2:
        keys = b",".join(show(name) for name, _ in record.headers)
        line += b" sequence: %d headerKeys: [%b]" % (record.sequence, keys)
    else:
        line += b" isValid: %b crc: %d}" % (FLAGS[record.crc_valid], record.crc or 0)  # with its stray brace
    if batch.is_control:
        return line + b" " + control_text(record, options.release).encode() + b"\n"
    if contents and decoder is not None:
        key, value = decoded_bytes(decoder, record)
    shown_key = (b" key: ", show(key)) if contents and key is not None else ()
    shown_value = (b" payload: ", show(value)) if contents and value is not None else ()
    return b"".join((line, *shown_key, *shown_value, b"\n"))  # in one go: a value may be large


def record_lines(records: RecordColumns, time_names: Choice, contents: bool, show: Show) -> list[bytes]:
    """The lines of records of v2 batches without headers, none of them control records."""
    if not len(records):
        return []
    nothing = Choice((b"",), np.zeros(len(records), np.int64))
    key, value = (b"", nothing), (b"", nothing)
    if contents:
        key = _field(records.data, b" key: ", records.key_start, records.key_size, show)
        value = _field(records.data, b" payload: ", records.value_start, records.value_size, show)
    return rows(
        [
            (b"| offset: ", records.offset),
            (b" ", time_names),
            (b": ", records.timestamp),
            (b" keySize: ", records.key_size),
            (b" valueSize: ", records.value_size),
            (b" sequence: ", records.sequence),
            (b" headerKeys: []", nothing),
            key,
            value,
            (b"\n", nothing),
        ]
    )


def _field(data: bytes, label: bytes, starts: Numbers, sizes: Numbers, show: Show) -> tuple[bytes, Column]:
    """A field's label and its shown bytes; of a null neither."""
    places = zip(starts.tolist(), (starts + sizes).tolist(), strict=True)
    if bool((sizes < 0).any()):
        return b"", [label + show(data[start:end]) if end >= start else b"" for start, end in places]
    pieces = [data[start:end] for start, end in places]
    joined = b"".join(pieces)
    if joined.isascii() and show(joined) == joined:  # so it is of every piece, and needs not be asked again
        return label, pieces
    return label, [show(piece) for piece in pieces]


_WINDOW = 1 << 22


def log_text(source: ByteSource, name: str, options: DumpOptions) -> Iterator[Part]:
    """Lines of batches, with `deep` of records. `name` is what the file is called in the line about its end.

    DumpLogSegments 3.9 stops at a length that leads past the end, and says so: here that is the last line, though sound
    batches behind it are shown.
    """
    is_damaged = False
    for part in _parts(source, options):
        yield part
        is_damaged |= isinstance(part, Damage)
    if is_damaged:
        last = deque(scan(source), maxlen=1).pop()
        if isinstance(last, Damage) and ends_quietly(last, source.size):
            yield b"Found %d invalid bytes at the end of %b\n" % (last.size, options.show(os.fsencode(name)))


def _parts(source: ByteSource, options: DumpOptions) -> Iterator[Part]:
    gaps = OffsetGaps()
    for part in batch_windows_past_damage(source, _WINDOW):
        if isinstance(part, Damage):
            yield part
        elif isinstance(part, RecordBatch):
            yield from _entry(source, part, options, gaps)
        elif options.deep:
            for group in batch_groups(part):
                yield from _group(source, part, group, options, gaps)
        else:
            headers = window_columns(part)
            yield b"".join(batch_lines(headers))
            for _, damage in damaged_headers(source, part):
                yield damage
    yield from gaps.remarks()


def _entry(source: ByteSource, batch: RecordBatch, options: DumpOptions, gaps: OffsetGaps) -> Iterator[Part]:
    is_valid = crc_holds(source, batch)
    if batch.magic < 2:
        yield message_line(batch, is_valid)
    else:
        header = bytes(source.read(batch.position, BATCH_SIZE)).ljust(BATCH_SIZE, b"\0")  # it may be cut by now
        yield from batch_lines(header_columns([batch.position], header, bytes([is_valid])))
    yield from header_damage(batch, is_valid)
    if options.deep:
        yield from _records(source, batch, options, gaps)


def _records(source: ByteSource, batch: RecordBatch, options: DumpOptions, gaps: OffsetGaps) -> Iterator[Part]:
    for record in records_of(source, batch):
        if isinstance(record, Damage):
            yield record
        else:
            yield record_line(record, batch, options)
            gaps.see(record.offset)


def _group(
    source: ByteSource, window: BatchWindow, group: BatchGroup, options: DumpOptions, gaps: OffsetGaps
) -> Iterator[Part]:
    """Runs of batches whose records were read at once; between them, one by one, those that need a closer look."""
    headers, counts = group.headers, np.maximum(group.counts, 0)
    append_time = (headers.attributes & APPEND_TIME > 0).astype(np.int64)
    names = Choice(BATCH_TIME_NAMES, np.repeat(append_time, counts))
    titles = batch_lines(headers)
    lines = record_lines(group.records, names, options.contents, options.show)
    first = [0, *np.cumsum(counts).tolist()]
    is_odd = (group.counts < 0) | (headers.attributes & CONTROL > 0) | is_damaged(headers) | bool(options.decoder)
    start = 0
    for odd in (*np.flatnonzero(is_odd).tolist(), len(titles)):
        yield b"".join(_interleaved(titles, lines, first, start, odd))
        gaps.see_all(group.records.offset[first[start] : first[odd]])
        if odd < len(titles):
            batch = window.batch(group.start + odd)
            yield titles[odd]
            yield from header_damage(batch, bool(headers.crc_valid[odd]))
            yield from _records(source, batch, options, gaps)
        start = odd + 1


def _interleaved(titles: list[bytes], lines: list[bytes], first: list[int], start: int, stop: int) -> list[bytes]:
    """The lines of some batches, each followed by those of its records."""
    woven: list[bytes] = []
    for title, begin, end in zip(titles[start:stop], first[start:stop], first[start + 1 :], strict=False):
        woven.append(title)
        woven += lines[begin:end]
    return woven
