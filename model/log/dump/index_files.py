"""Entries of .index, .timeindex and .txnindex files, what is wrong with each, and whether they fit the log beside them.

With what DumpLogSegments 3.9 checks, and more: one walk over the headers of the log serves all entries. Entries end at
the first that is all zeros, as for DumpLogSegments: an active segment's index is a file of full size, zero from its
last entry on.
"""

from collections.abc import Iterable, Iterator
from itertools import chain, tee
from pathlib import Path
from struct import Struct
from typing import TypeVar

from model.log.dump.facts import (
    AbortedTransaction,
    DumpOptions,
    Fact,
    FileKind,
    FileName,
    OffsetIndexEntry,
    OlderRule,
    Remark,
    TextLine,
    TimeIndexEntry,
)
from model.log.dump.salvage import batches_past_damage
from model.log.indexes import OFFSET_ENTRY, TIME_ENTRY
from model.log.records import ByteSource, Damage, DamageKind, RecordBatch, SegmentFile
from model.log.records.layout import CODEC_MASK, int64

_TRANSACTION = Struct(">bxqqqq")
"""The version takes two bytes, of which DumpLogSegments reads the first (`AbortedTxn`)."""
_ENTRIES_AT_ONCE = 4096


def offset_index_entries(source: ByteSource, base_offset: int) -> Iterator[OffsetIndexEntry | Damage | Remark]:
    """Entries of an offset index; `base_offset` is in the file's name."""
    for at, (relative, position) in _entries(source, OFFSET_ENTRY):
        if relative == 0 and at > 0:
            yield _rest(source, at)
            break
        yield OffsetIndexEntry(int64(base_offset + relative), position)
    yield from _partial(source, OFFSET_ENTRY.size)


def time_index_entries(source: ByteSource, base_offset: int) -> Iterator[TimeIndexEntry | Damage | Remark]:
    """Entries of a time index; `base_offset` is in the file's name."""
    for at, (timestamp, relative) in _entries(source, TIME_ENTRY):
        if relative == 0 and at > 0:
            yield _rest(source, at)
            break
        yield TimeIndexEntry(timestamp, int64(base_offset + relative))
    yield from _partial(source, TIME_ENTRY.size)


def transaction_index_entries(source: ByteSource) -> Iterator[AbortedTransaction | Damage | Remark]:
    """Entries of a transaction index, in the order of their last offsets."""
    last_offset = -1
    for at, (version, producer_id, first, last, stable) in _entries(source, _TRANSACTION):
        yield AbortedTransaction(version, producer_id, first, last, stable)
        if version != 0:
            yield bad_entry(at, _TRANSACTION.size, f"version {version}, only 0 is known")
        if not first <= last or last <= last_offset:
            yield bad_entry(at, _TRANSACTION.size, f"offsets {first} to {last} after a transaction up to {last_offset}")
        last_offset = last
    yield from _partial(source, _TRANSACTION.size)


def bad_entry(position: int, size: int, cause: str) -> Damage:
    """An entry that cannot be right."""
    return Damage(position, size, DamageKind.BAD_ENTRY, cause)


def _entries(source: ByteSource, layout: Struct) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Whole entries and where they are."""
    at = 0
    while piece := source.read(at, _ENTRIES_AT_ONCE * layout.size):
        for entry in layout.iter_unpack(piece[: len(piece) // layout.size * layout.size]):
            yield at, entry
            at += layout.size
        if len(piece) % layout.size:
            return


def _partial(source: ByteSource, width: int) -> Iterator[Damage]:
    left = source.size % width
    if left:
        cause = f"a file of {source.size:,} bytes, not a multiple of {width}"
        yield Damage(source.size - left, left, DamageKind.TORN, cause)


def _rest(source: ByteSource, at: int) -> Damage | Remark:
    """What is after the entries: zeros if all is well."""
    position = at
    while piece := source.read(position, 1 << 20):
        if any(piece):
            cause = "an entry for the base offset that is not the first, and not zeros up to the end"
            return Damage(at, source.size - at, DamageKind.BAD_ENTRY, cause)
        position += len(piece)
    return Remark(at, f"{source.size - at:,} zero bytes up to the end: room for entries of an active segment")


Part = TypeVar("Part")


def by_older_rule(entries: int) -> str:
    """What is said of so many entries."""
    return f"entries by the rule of an older release, not with the last offset of the batch they point to: {entries:,}"


def _with_next(parts: Iterable[Part]) -> Iterator[tuple[Part, Part | None]]:
    """Each part with the one after it."""
    ours, theirs = tee(parts)
    next(theirs, None)
    return zip(ours, chain(theirs, (None,)), strict=False)


class _Walk:
    """The batches of a log, one at a time, forward only; past damage too."""

    def __init__(self, log: ByteSource) -> None:
        self._batches = batches_past_damage(log)
        self.before = -1
        """The last offset before the current batch."""
        self.max_timestamp = -1
        """The largest in ms, up to the current batch, of those that can be believed."""
        self.is_lossy = False
        """Whether up to the current batch there is damage, which may hide a larger timestamp."""
        self.batch: RecordBatch | None = None
        self.step()

    def step(self) -> None:
        """To the next batch: None after the last."""
        if self.batch is not None:
            self.before = self.batch.last_offset
        self.batch = None
        for part in self._batches:
            if isinstance(part, Damage):
                self.is_lossy = True
                continue
            self.batch, is_valid = part
            self.is_lossy |= not is_valid
            if is_valid:
                self.max_timestamp = max(self.max_timestamp, self.batch.max_timestamp)
            return

    def first_offset(self, batch: RecordBatch) -> int:
        """The current batch's first offset, or for a compressed old set the first that it can have."""
        return self.before + 1 if batch.magic < 2 and batch.attributes & CODEC_MASK else batch.base_offset


def checked_offset_index(
    parts: Iterable[OffsetIndexEntry | Damage | Remark], log: ByteSource
) -> Iterator[OffsetIndexEntry | Damage | Remark]:
    """The parts, each bad entry followed by what is wrong with it.

    An entry points to where a batch starts. From 2.0 on it holds the last offset of what was appended with that batch,
    which is the batch's own last offset but on followers before 3.9.1; up to 1.1 it held the first.
    """
    walk, last, at, older = _Walk(log), OffsetIndexEntry(-1, -1), 0, 0
    for entry, following in _with_next(parts):
        yield entry
        if not isinstance(entry, OffsetIndexEntry) or (entry.position == 0 and isinstance(following, Remark)):
            continue
        cause = ""
        if entry.offset <= last.offset or entry.position <= last.position:
            cause = f"offset {entry.offset} at {entry.position} comes after offset {last.offset} at {last.position}"
        elif not 0 <= entry.position < log.size:
            cause = f"offset {entry.offset} is said to be at {entry.position}, the log has {log.size:,} bytes"
        else:
            until = following.position if isinstance(following, OffsetIndexEntry) else log.size
            rule, cause = _position_rule(walk, entry, until)
            older += rule == "older"
        if cause:
            yield bad_entry(at, OFFSET_ENTRY.size, cause)
        last, at = entry, at + OFFSET_ENTRY.size
    if older:
        yield OlderRule(0, by_older_rule(older))


def _position_rule(walk: _Walk, entry: OffsetIndexEntry, until: int) -> tuple[str, str]:
    """By which rule the entry points to its batch, or why by none. `until` is where the next entry points to."""
    while walk.batch is not None and walk.batch.position < entry.position:
        walk.step()
    batch = walk.batch
    if batch is None or batch.position != entry.position:
        return "", f"offset {entry.offset} at {entry.position}: no batch starts there"
    if entry.offset == batch.last_offset:
        return "newest", ""
    is_old_set = batch.magic < 2 and walk.first_offset(batch) <= entry.offset < batch.last_offset
    if entry.offset == batch.base_offset or is_old_set:
        return "older", ""
    while walk.batch is not None and walk.batch.position < until and walk.batch.last_offset < entry.offset:
        walk.step()
    if walk.batch is not None and walk.batch.position < until and walk.batch.last_offset == entry.offset:
        return "older", ""
    return (
        "",
        f"offset {entry.offset} at {entry.position}: the batch there holds {batch.base_offset} to {batch.last_offset}",
    )


def checked_time_index(
    parts: Iterable[TimeIndexEntry | Damage | Remark], log: ByteSource
) -> Iterator[TimeIndexEntry | Damage | Remark]:
    """The parts, each bad entry followed by what is wrong with it.

    An entry says that the largest timestamp up to the batch with that offset is the entry's.
    """
    walk, last, at, older = _Walk(log), TimeIndexEntry(-1, -1), 0, 0
    for entry, following in _with_next(parts):
        yield entry
        if not isinstance(entry, TimeIndexEntry) or (entry.timestamp_ms == 0 and isinstance(following, Remark)):
            continue
        if entry.offset <= last.offset or entry.timestamp_ms <= last.timestamp_ms:
            cause = f"{entry.timestamp_ms} at offset {entry.offset} comes after {last.timestamp_ms} at {last.offset}"
        else:
            cause = _time_cause(walk, entry)
            older += not cause and walk.batch is not None and walk.batch.last_offset != entry.offset
        if cause:
            yield bad_entry(at, TIME_ENTRY.size, cause)
        last, at = entry, at + TIME_ENTRY.size
    if older:
        yield OlderRule(0, by_older_rule(older))


def _time_cause(walk: _Walk, entry: TimeIndexEntry) -> str:
    while walk.batch is not None and walk.batch.last_offset < entry.offset:
        walk.step()
    batch = walk.batch
    if batch is None or entry.offset < walk.first_offset(batch):
        return f"{entry.timestamp_ms} at offset {entry.offset}: the log has no such offset"
    if entry.timestamp_ms < walk.max_timestamp or (entry.timestamp_ms > walk.max_timestamp and not walk.is_lossy):
        return f"{entry.timestamp_ms} at offset {entry.offset}: up to there the largest is {walk.max_timestamp}"
    return ""


Parts = Iterator[Fact | Damage | Remark]


def index_facts(source: ByteSource, path: str, name: FileName, options: DumpOptions) -> Parts:
    """The entries and what is wrong with them; `index_sanity_check` and `verify_index_only` show no entries."""
    if name.kind is FileKind.OFFSET_INDEX and source.size < OFFSET_ENTRY.size:
        yield TextLine(f"{path} is empty.")
    elif options.index_sanity_check:
        yield from _sanity(_entries_of(source, name), path, name)
        return
    for part in _checked(source, path, name):
        if not (options.verify_index_only and isinstance(part, Fact)):
            yield part


def _entries_of(source: ByteSource, name: FileName) -> Parts:
    read = offset_index_entries if name.kind is FileKind.OFFSET_INDEX else time_index_entries
    return read(source, name.base_offset or 0)


def _checked(source: ByteSource, path: str, name: FileName) -> Parts:
    """The entries; checked, where the log is beside the index, under the same mark of what is to be done with it."""
    beside = Path(path)
    number, _, ends = beside.name.partition(".")
    mark = "".join(f".{end}" for end in ends.split(".")[1:])
    try:
        log = SegmentFile(beside.with_name(f"{number}.log{mark}"))
    except OSError as error:
        yield from _entries_of(source, name)
        yield Remark(0, f"the entries are not checked: {error.filename}: {error.strerror}")
        return
    base_offset = name.base_offset or 0
    with log:
        if name.kind is FileKind.OFFSET_INDEX:
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
        yield TextLine(f"{path} passed sanity check.")
