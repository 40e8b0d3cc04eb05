"""The entries of an offset or time index, with what DumpLogSegments 3.9 checks of them, and more."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from model.log.dump.facts import Fact, OffsetIndexEntry, Said, TimeIndexEntry
from model.log.dump.index_checks import checked_offset_index, checked_time_index
from model.log.dump.index_files import bad_entry, offset_index_entries, time_index_entries
from model.log.dump.kinds import FileName, Kind
from model.log.dump.parts import DumpOptions, Remark
from model.log.indexes.entries import OFFSET_ENTRY
from model.log.records import Damage, SegmentFile, Source

Parts = Iterator[Fact | Damage | Remark]


def index_facts(source: Source, path: str, name: FileName, options: DumpOptions) -> Parts:
    """The entries and what is wrong with them; `index_sanity_check` and `verify_index_only` show no entries."""
    if name.kind is Kind.OFFSET_INDEX and source.size < OFFSET_ENTRY.size:
        yield Said(f"{path} is empty.")
    elif options.index_sanity_check:
        yield from _sanity(_entries(source, name), path, name)
        return
    for part in _checked(source, path, name):
        if not (options.verify_index_only and isinstance(part, Fact)):
            yield part


def _entries(source: Source, name: FileName) -> Parts:
    read = offset_index_entries if name.kind is Kind.OFFSET_INDEX else time_index_entries
    return read(source, name.base_offset or 0)


def _checked(source: Source, path: str, name: FileName) -> Parts:
    """The entries; checked, where the log is beside the index, under the same mark of what is to be done with it."""
    beside = Path(path)
    number, _, ends = beside.name.partition(".")
    mark = "".join(f".{end}" for end in ends.split(".")[1:])
    try:
        log = SegmentFile(beside.with_name(f"{number}.log{mark}"))
    except OSError as error:
        yield from _entries(source, name)
        yield Remark(0, f"the entries are not checked: {error.filename}: {error.strerror}")
        return
    base_offset = name.base_offset or 0
    with log:
        if name.kind is Kind.OFFSET_INDEX:
            yield from checked_offset_index(offset_index_entries(source, base_offset), log)
        else:
            yield from checked_time_index(time_index_entries(source, base_offset), log)


def _sanity(parts: Iterable[Fact | Damage | Remark], path: str, name: FileName) -> Parts:
    """What Kafka looks at when it opens an index: its size, and that its last entry can be its last."""
    lowest = name.base_offset or 0
    last: Fact | None = None
    damaged = False
    for part in parts:
        if isinstance(part, TimeIndexEntry) and last is None:
            lowest = part.timestamp_ms
        if isinstance(part, Fact):
            last = part
        else:
            damaged |= isinstance(part, Damage)
            yield part
    value = last.offset if isinstance(last, OffsetIndexEntry) else getattr(last, "timestamp_ms", lowest)
    if value < lowest:
        damaged = True
        yield bad_entry(0, 0, f"the last entry is for {value}, less than {lowest}")
    if not damaged:
        yield Said(f"{path} passed sanity check.")
