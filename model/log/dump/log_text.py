"""A .log file as DumpLogSegments prints it."""

import os
from collections import deque
from collections.abc import Iterator

import numpy as np

from model.log.dump.batch_text import batch_lines, message_line
from model.log.dump.log_damage import damaged_headers, ends_quietly, header_damage, is_damaged
from model.log.dump.names import BATCH_TIME_NAMES
from model.log.dump.offset_gaps import OffsetGaps
from model.log.dump.parts import DumpOptions, Part
from model.log.dump.record_text import record_line, record_lines
from model.log.dump.rows import Choice
from model.log.dump.salvage import batch_windows_past_damage
from model.log.records import Damage, RecordBatch, Source, crc_holds, records_of, scan
from model.log.records.header_columns import header_columns, window_columns
from model.log.records.layout import APPEND_TIME, BATCH_SIZE, CONTROL
from model.log.records.record_columns import BatchGroup, batch_groups
from model.log.records.windows import BatchWindow

_WINDOW = 1 << 22


def log_text(source: Source, name: str, options: DumpOptions) -> Iterator[Part]:
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


def _parts(source: Source, options: DumpOptions) -> Iterator[Part]:
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


def _entry(source: Source, batch: RecordBatch, options: DumpOptions, gaps: OffsetGaps) -> Iterator[Part]:
    is_valid = crc_holds(source, batch)
    if batch.magic < 2:
        yield message_line(batch, is_valid)
    else:
        header = bytes(source.read(batch.position, BATCH_SIZE)).ljust(BATCH_SIZE, b"\0")  # it may be cut by now
        yield from batch_lines(header_columns([batch.position], header, bytes([is_valid])))
    yield from header_damage(batch, is_valid)
    if options.deep:
        yield from _records(source, batch, options, gaps)


def _records(source: Source, batch: RecordBatch, options: DumpOptions, gaps: OffsetGaps) -> Iterator[Part]:
    for record in records_of(source, batch):
        if isinstance(record, Damage):
            yield record
        else:
            yield record_line(record, batch, options.contents, options.show, options.decoder)
            gaps.see(record.offset)


def _group(
    source: Source, window: BatchWindow, group: BatchGroup, options: DumpOptions, gaps: OffsetGaps
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
