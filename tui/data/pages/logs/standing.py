"""What there is to say of one partition folder, segment, batch or record."""

from collections.abc import Mapping

from model.log.dump.log_damage import header_damage
from model.log.records import DamageKind, RecordBatch
from spark_tasks.scans.findings import BAD_INDEX
from spark_tasks.scans.meanings import MEANINGS
from tui.data.logs.checks import BadHeaders, Check, with_header
from tui.data.logs.contents import RecordPage
from tui.data.logs.found_logs import name_of
from tui.data.logs.keys import path_key
from tui.data.logs.reader import Log, SegmentFacts
from tui.data.pages.logs.batches import offsets_text
from tui.data.pages.logs.partitions import ROLES
from tui.data.pages.logs.wording import bytes_as_text, counted, size_text, tell_damage, tell_end, verdict, when
from tui.data.pages.sheets import Sheet

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
