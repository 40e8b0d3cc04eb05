"""A look-up told in Kafka's steps: which segments were compared, which index entries, how many bytes were scanned."""

from model.log.lookup.find import OffsetIndexStep, OffsetLookup, ScanStep, TimeLookup
from model.log.records import Record
from tui.data.pages.ages import clock_text
from tui.data.pages.logs.batches import offsets_text
from tui.data.pages.logs.wording import bytes_as_text, counted, listed, tell_end, when
from tui.data.pages.sheets import Sheet


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
