"""Every list and text of the logs screen; what cannot be read is one line.

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
from tui.engine.listing import AnswerMemo, Listing, Page, shown
from tui.engine.logs.reader import BadTarget, KeptAnswers, Log, LogReader, SegmentFacts, TooFar, batch_found, name_of
from tui.engine.logs.rows import ROLES, log_batches, log_partitions, log_records, log_segments, offsets_text
from tui.engine.logs.segments import (
    BadHeaders,
    RecordPage,
    SegmentCheck,
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
from tui.engine.messages import Answer, ListQuery, TextAnswer, TextQuery
from tui.engine.queries import (
    LogBatchList,
    LogBatchText,
    LogLookupList,
    LogLookupText,
    LogPartitionList,
    LogPartitionText,
    LogRecordList,
    LogRecordText,
    LogSegmentList,
    LogSegmentText,
)
from tui.engine.rows import Row, Window, line
from tui.engine.sheets import Sheet, clock_text, refusal


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
        tell_damage(sheet, SegmentCheck((0, 0, 0), headers=headers), is_active=False)
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
        self._kept = KeptAnswers(clock)
        self._reader = LogReader(clock, folder)
        self._memory = AnswerMemo()

    def answer(self, page: Page, query: ListQuery | TextQuery, now_ms: int) -> Answer:
        """What the page has to show, or one line that says why it cannot be read."""
        return self._kept.answer(query, lambda: self._answer(page, query, now_ms))

    def _answer(self, page: Page, query: ListQuery | TextQuery, now_ms: int) -> Answer:
        try:
            return shown(page, self._reader, query, now_ms, self._memory)
        except _UNREADABLE as error:
            return refusal(query, _why(error), "warn")


def partition_list(reader: LogReader, query: LogPartitionList, *_: object) -> Listing | Window:
    """Partition folders."""
    place = query.scope or reader.home
    if not place:
        return Window(0, 0, (), note=NO_FOLDER)
    return log_partitions(reader, reader.partitions((str(typed_path(place)),)))


def segment_list(reader: LogReader, query: LogSegmentList, *_: object) -> Listing | Window:
    """Segments of one."""
    path = query.scope
    return log_segments(reader.log(path), path, query.view, query.width) if path else _NOT_CHOSEN


def batch_list(reader: LogReader, query: LogBatchList, *_: object) -> Listing | Window:
    """Batches of a segment."""
    if (parts := parts_of(query.scope, 2)) is None:
        return _NOT_CHOSEN
    path, (base, position) = parts
    return log_batches(reader.batches(path, base, position), path, base)


def record_list(reader: LogReader, query: LogRecordList, *_: object) -> Listing | Window:
    """Records of a batch."""
    if (parts := parts_of(query.scope, 2)) is None:
        return _NOT_CHOSEN
    path, (base, position) = parts
    return log_records(reader.records(path, base, position), path, base, position)


def lookup_list(reader: LogReader, query: LogLookupList, *_: object) -> Window:
    """The batch that a look-up found."""
    if not query.scope:
        return _NOT_CHOSEN
    if (batch := batch_found(reader.look_up(query.scope, query.wanted))) is None:
        return Window(0, 0, ())
    base, start, position = batch
    scope = key_of(query.scope, base, start if position - start < NEAR else position)
    rows = Row(scope, (line(),)), Row(key_of(query.scope, base, position), (line(),))
    return Window(0, len(rows), rows)


_NOT_CHOSEN = Window(0, 0, (), note=GONE)


def partition_text(reader: LogReader, query: LogPartitionText, *_: object) -> TextAnswer:
    """A partition folder."""
    return _told(query, tell_partition, reader.log(query.key)) if query.key else _told(query, _tell_how)


def segment_text(reader: LogReader, query: LogSegmentText, *_: object) -> TextAnswer:
    """A segment."""
    if (parts := parts_of(query.key, 1)) is None:
        return _told(query, _tell_how)
    log = reader.log(parts[0])
    found = [each for each in log.segments if each.base_offset == parts[1][0]]
    return _told(query, tell_segment, log, found[0]) if found else Sheet("Log", query.width).answer()


def batch_text(reader: LogReader, query: LogBatchText, *_: object) -> TextAnswer:
    """A batch."""
    if (parts := parts_of(query.key, 2)) is None:
        return _told(query, _tell_how)
    return _told(query, tell_batch, reader.records(parts[0], *parts[1]))


def record_text(reader: LogReader, query: LogRecordText, *_: object) -> TextAnswer:
    """A record."""
    if (parts := parts_of(query.key, 3)) is None:
        return _told(query, _tell_how)
    path, (base, position, offset) = parts
    return _told(query, tell_record, reader.records(path, base, position), offset)


def lookup_text(reader: LogReader, query: LogLookupText, *_: object) -> TextAnswer:
    """How something was looked for."""
    return _told(query, tell_lookup, reader.look_up(query.key, query.wanted))


def _told(query: TextQuery, tell: Callable[..., object], *what: object) -> TextAnswer:
    sheet = Sheet("Log", query.width)
    tell(sheet, *what)
    return sheet.answer()


def _tell_how(sheet: Sheet) -> None:
    sheet.say("enter opens a partition, a segment, a batch, a record; esc goes back.", "dim")
    sheet.say(":offset N and :time T look a record up, and tell how it was found.", "dim")


def _why(error: Exception) -> str:
    if isinstance(error, FileNotFoundError):
        return f"{error.filename}: not there any more (retention, a deletion); r looks again"
    if isinstance(error, OSError) and error.filename:
        return f"{error.filename}: {error.strerror}"
    return str(error.strerror) if isinstance(error, OSError) and error.strerror else str(error)
