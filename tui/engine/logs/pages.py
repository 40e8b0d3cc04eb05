"""Every list and text of the logs screen by its name; what cannot be read is one line.

A look-up is told in Kafka's steps: which segments were compared, which index entries, how many bytes were scanned.
"""

import time
from collections.abc import Callable, Mapping

from model.analyses.scans.findings import BAD_INDEX, MEANINGS
from model.analyses.scans.folders import NothingToScanError
from model.cluster.whole_file import typed_path
from model.log.dump.salvage import header_damage
from model.log.lookup import OffsetIndexStep, OffsetLookup, ScanStep, TimeLookup
from model.log.records import DamageKind, Record, RecordBatch
from tui.engine.listing import Listing, Memory, window
from tui.engine.logs.reader import BadTarget, KeptAnswers, Log, LogReader, SegmentFacts, TooFar, batch_found, name_of
from tui.engine.logs.rows import ROLES, log_batches, log_partitions, log_records, log_segments, offsets_text
from tui.engine.logs.segments import (
    BadHeaders,
    Check,
    RecordPage,
    bytes_as_text,
    counted,
    key_of,
    listed,
    parts_of,
    path_key,
    size_text,
    tell_damage,
    tell_end,
    verdict,
    when,
    with_header,
)
from tui.engine.messages import ListQuery, TextAnswer, TextQuery
from tui.engine.rows import Row, Window, line
from tui.engine.sheets import Sheet, clock_text


def tell_lookup(sheet: Sheet, found: OffsetLookup | TimeLookup) -> None:
    """Step by step, and what was found."""
    if isinstance(found, TimeLookup):
        _tell_time(sheet, found)
        base, target = found.base_offset, f"{when(found.target_ms)}"
    else:
        _tell_segment(sheet, found)
        base, target = found.segment.base_offset, f"{found.target}"
    if base is None:
        return
    if found.index is not None:
        _tell_index(sheet, found.index, base)
    if found.scan is not None:
        _tell_scan(sheet, found.scan, found.segments_passed if isinstance(found, OffsetLookup) else ())
    _tell_end(sheet, found, target)


def _tell_segment(sheet: Sheet, found: OffsetLookup) -> None:
    step = found.segment
    compared = listed(f"{probe.value}" for probe in step.probes) or "no segments"
    chosen = "all are above it" if step.base_offset is None else f"{step.base_offset} is the last not above it"
    sheet.fact("offset", f"{found.target}", "strong")
    sheet.fact("1 segment", f"binary search of base offsets: {compared}; {chosen}")
    if step.base_offset is None:
        sheet.say("The offset lies before the log's first segment: retention deleted it, or it never was here.", "warn")


def _tell_time(sheet: Sheet, found: TimeLookup) -> None:
    sheet.fact("time", when(found.target_ms), "strong")
    passed = listed(str(base) for base in found.segments_passed)
    older = f"{passed} older as a whole, by the last entries of their time indexes; " if passed else ""
    chosen = "none is left" if found.base_offset is None else f"{found.base_offset} is looked into"
    sheet.fact("1 segment", f"{older}{chosen}")
    if found.base_offset is None:
        sheet.say("No record is that new.", "warn")
        return
    compared = listed(f"{clock_text(probe.value)} (slot {probe.slot})" for probe in found.time_probes)
    entry = found.time_entry
    start = f"{when(entry.timestamp_ms)} is reached by offset {entry.offset}" if entry else "none is before it"
    looked = f"{compared}; " if compared else ""
    sheet.fact("  times", f"{counted(found.time_entries, 'entry', 'entries')}: {looked}{start}")


def _tell_index(sheet: Sheet, step: OffsetIndexStep, base: int) -> None:
    compared = listed(f"{probe.value} (slot {probe.slot})" for probe in step.probes)
    looked = f"binary search of relative offsets: {compared}; " if compared else ""
    entry = step.entry
    start = f"{entry.offset - base} -> byte {entry.position:,}" if entry else "none not above it: from byte 0"
    sheet.fact("2 index", f"{counted(step.entries, 'entry', 'entries')}; {looked}{start}")


def _tell_scan(sheet: Sheet, step: ScanStep, passed: tuple[int, ...]) -> None:
    if passed:
        sheet.fact("  passed", f"nothing is left there: on in {listed(map(str, passed))}", "warn")
    batches = listed(map(offsets_text, step.batches), most=6)
    read = f"{counted(len(step.batches), 'batch', 'batches')}, {step.bytes_read:,} bytes"
    sheet.fact("3 scan", f"from byte {step.start:,}: {read}{f': {batches}' if batches else ''}")
    if step.damage is not None:
        tell_end(sheet, step.damage.position, step.damage.kind, step.damage.cause, is_active=False)


def _tell_end(sheet: Sheet, found: OffsetLookup | TimeLookup, target: str) -> None:
    if found.record is not None:
        _tell_record(sheet, found.record)
    elif found.batch is None:
        sheet.fact("found", f"nothing: the log ends before {target}", "warn")
    else:
        sheet.fact("found", f"batch {offsets_text(found.batch)}, but no such record in it", "warn")


def _tell_record(sheet: Sheet, record: Record) -> None:
    contents = f"key {bytes_as_text(record.key, 40)}, value {bytes_as_text(record.value, 80)}"
    sheet.fact("found", f"offset {record.offset} of {when(record.timestamp)}: {contents}", "ok")


MOST_TEXT = 4_000
"""Bytes of a key or value that are shown."""


def tell_partition(sheet: Sheet, log: Log) -> None:
    """A partition folder, and which of its segments are damaged."""
    found, folder = log.found, log.folder
    size = sum(each.bytes for each in log.segments)
    role = ROLES.get(found.role, "")
    sheet.fact("log", f"{path_key(name_of(found))}{f', {role}' if role else ''}", "strong")
    sheet.fact("segments", f"{counted(len(log.segments), 'segment')}, {size_text(size)}")
    newest = max((each.newest_ms for each in log.segments), default=-1)
    sheet.fact("times", _times(log.segments[0].first_ms if log.segments else -1, newest))
    offsets = {"high watermark": found.high_watermark, "recovery point": found.recovery_point}
    told = [f"{name} {offset:,}" for name, offset in offsets.items() if offset >= 0]
    sheet.fact("offsets", ", ".join(told) or "no checkpoint tells")
    if found.compacted:
        sheet.fact("compacted", "the log cleaner has been here")
    known = [each.check for each in log.segments if each.check is not None]
    _, (words, style) = verdict(known, len(log.segments))
    sheet.fact("state", words, style)
    for each in log.segments:
        if each.check is not None and each.check.is_damaged:
            sheet.fact("in", f"{each.base_offset:020d}.log", "strong")
            tell_damage(sheet, each.check, is_active=each.is_active)
    for path, cause in folder.damaged_checkpoints:
        sheet.fact("damage", f"{path_key(path)}: {cause}", "error")
    sheet.fact("folder", path_key(found.path), "dim")


def tell_segment(sheet: Sheet, log: Log, each: SegmentFacts) -> None:
    """One segment: its files, what they span, and whether it is whole."""
    active = ", the active segment" if each.is_active else ""
    sheet.fact("segment", f"{each.base_offset:020d}.log{active}", "strong")
    sheet.fact("size", f"{size_text(each.bytes)} ({each.bytes:,} bytes)")
    sheet.fact("times", _times(each.first_ms, each.newest_ms))
    sheet.fact("index", f"{each.index_entries:,} offsets, {each.time_entries:,} times")
    for complaint in each.complaints:
        sheet.fact("damage", complaint, "warn").say(MEANINGS[BAD_INDEX])
    tell_damage(sheet, each.check, is_active=each.is_active)


def tell_batch(sheet: Sheet, page: RecordPage) -> None:
    """The header of a batch, whether its CRC holds, and whether its records can be read."""
    batch = page.batch
    if batch is None:
        sheet.say("this batch is not there any more", "warn")
        return
    codec = "an unknown codec" if batch.codec is None else batch.codec.name.lower()
    kind = "control " if batch.is_control else "transactional " if batch.is_transactional else ""
    sheet.fact("batch", f"offsets {offsets_text(batch)}, {kind}format v{batch.magic}", "strong")
    sheet.fact("bytes", f"{batch.position:,} to {batch.end:,}, {size_text(batch.size)}, codec {codec}")
    records = "not told by its header" if batch.count < 0 else f"{batch.count:,} declared"
    span_of = batch.last_offset - batch.base_offset + 1
    gaps = f" of {span_of:,} offsets: compaction took the others" if 0 <= batch.count < span_of else ""
    sheet.fact("records", records + gaps)
    sheet.fact("times", f"{_times(batch.base_timestamp, batch.max_timestamp)}, {_clock(batch)}")
    if batch.partition_leader_epoch >= 0:
        sheet.fact("epoch", f"leader epoch {batch.partition_leader_epoch}")
    if batch.producer_id >= 0:
        sequences = f"sequences {batch.base_sequence} to {batch.last_sequence}"
        sheet.fact("producer", f"id {batch.producer_id}, epoch {batch.producer_epoch}, {sequences}")
    if page.crc_valid:
        sheet.fact("CRC", f"{batch.crc:#010x}, holds", "ok")
    headers: Mapping[DamageKind, BadHeaders] = {}
    for damage in header_damage(batch, page.crc_valid):
        headers = with_header(headers, batch, damage)
    if headers:
        tell_damage(sheet, Check((0, 0, 0), headers=headers), is_active=False)
    if page.damage is not None:
        tell_end(sheet, page.damage.position, page.damage.kind, page.damage.cause, is_active=False)


def tell_record(sheet: Sheet, page: RecordPage, offset: int) -> None:
    """One record, whole as far as it is not too long."""
    record = next((each for each in page.records if each.offset == offset), None)
    if record is None:
        sheet.say("this record is not among those that can be shown", "warn")
        return
    sheet.fact("record", f"offset {record.offset:,}", "strong").fact("time", when(record.timestamp))
    for name, data in (("key", record.key), ("value", record.value)):
        size = "" if data is None else f"{counted(len(data), 'byte')}: "
        sheet.fact(name, size + bytes_as_text(data, MOST_TEXT))
    for key, value in record.headers[:100]:
        sheet.fact("header", f"{bytes_as_text(key)} = {bytes_as_text(value)}")


def _clock(batch: RecordBatch) -> str:
    return batch.timestamp_type.name.lower().replace("_", " ")


def _times(first_ms: int, last_ms: int) -> str:
    if last_ms <= 0:
        return "not known" if first_ms <= 0 else f"from {when(first_ms)} on"
    return f"{when(first_ms)} to {when(last_ms)}"


NO_FOLDER = "logs are read on the machine that has them: :logs DIR, a broker's log folder (log.dirs) or one in it"
GONE = "choose a partition first"
NEAR = 1 << 20
"""Bytes before the batch that was found from which the list of batches may begin."""

_UNREADABLE = (NothingToScanError, OSError, TooFar, BadTarget)


class LogPages:
    """Used by one thread at a time."""

    def __init__(self, folder: str, clock: Callable[[], float] = time.monotonic) -> None:
        """`folder` as in `LazyLogs`; `clock` counts seconds."""
        self._folder = folder
        self._kept = KeptAnswers(clock)
        self._reader = LogReader(clock)
        self._memory = Memory()

    def window(self, query: ListQuery, now_ms: int) -> Window:
        """The rows asked for."""
        return self._kept.answer(query, lambda: self._window(query, now_ms))

    def _window(self, query: ListQuery, now_ms: int) -> Window:
        try:
            if query.list == "log-lookup":
                return self._found(query)
            listing = self._listing(query)
        except _UNREADABLE as error:
            return Window(0, 0, (), note=_why(error))
        if listing is None:
            return Window(0, 0, (), note=NO_FOLDER if query.list == "log-partitions" else GONE)
        return window(listing, query, self._memory, now_ms)

    def text(self, query: TextQuery) -> TextAnswer:
        """The text asked for."""
        return self._kept.answer(query, lambda: self._text(query))

    def _text(self, query: TextQuery) -> TextAnswer:
        sheet = Sheet("Log", query.width)
        try:
            self._tell(sheet, query)
        except _UNREADABLE as error:
            sheet.say(_why(error), "warn")
        return sheet.answer()

    def _listing(self, query: ListQuery) -> Listing | None:
        """None where what it is about is not chosen yet."""
        if query.list == "log-partitions":
            place = query.scope or self._folder
            names = (str(typed_path(place)),) if place else ()
            return log_partitions(self._reader, self._reader.partitions(names)) if names else None
        if query.list == "log-segments":
            path = query.scope
            return log_segments(self._reader.log(path), path, query.view, query.width) if path else None
        if (parts := parts_of(query.scope, 2)) is None:
            return None
        path, (base, position) = parts
        if query.list == "log-batches":
            return log_batches(self._reader.batches(path, base, position), path, base)
        return log_records(self._reader.records(path, base, position), path, base, position)

    def _found(self, query: ListQuery) -> Window:
        """Two rows for a look-up that found a batch: the scope of the list of batches to show, and the batch's key.

        `query.filter` is what is looked for, `offset N` or `time T`, in the partition folder `query.scope`.
        """
        batch = batch_found(self._reader.look_up(query.scope, query.filter)) if query.scope else None
        if batch is None:
            return Window(0, 0, (), note="" if query.scope else GONE)
        base, start, position = batch
        scope = key_of(query.scope, base, start if position - start < NEAR else position)
        rows = Row(scope, (line(),)), Row(key_of(query.scope, base, position), (line(),))
        return Window(0, len(rows), rows)

    def _tell(self, sheet: Sheet, query: TextQuery) -> None:
        match query.about:
            case "log-partition" if query.key:
                tell_partition(sheet, self._reader.log(query.key))
            case "log-segment" if parts := parts_of(query.key, 1):
                log = self._reader.log(parts[0])
                for each in log.segments:
                    if each.base_offset == parts[1][0]:
                        tell_segment(sheet, log, each)
            case "log-batch" if parts := parts_of(query.key, 2):
                tell_batch(sheet, self._reader.records(parts[0], *parts[1]))
            case "log-record" if parts := parts_of(query.key, 3):
                path, (base, position, offset) = parts
                tell_record(sheet, self._reader.records(path, base, position), offset)
            case "log-lookup":
                path, _, wanted = query.key.rpartition("\t")
                tell_lookup(sheet, self._reader.look_up(path, wanted))
            case _:
                sheet.say("enter opens a partition, a segment, a batch, a record; esc goes back.", "dim")
                sheet.say(":offset N and :time T look a record up, and tell how it was found.", "dim")


def _why(error: Exception) -> str:
    if isinstance(error, FileNotFoundError):
        return f"{error.filename}: not there any more (retention, a deletion); r looks again"
    if isinstance(error, OSError) and error.filename:
        return f"{error.filename}: {error.strerror}"
    return str(error.strerror) if isinstance(error, OSError) and error.strerror else str(error)
