"""Whether the entries of an index fit the log beside it: one walk over the headers of the log for all entries."""

from collections.abc import Iterable, Iterator
from itertools import chain, tee
from typing import TypeVar

from model.log.dump.facts import OffsetIndexEntry, TimeIndexEntry
from model.log.dump.index_files import bad_entry
from model.log.dump.parts import OlderRule, Remark
from model.log.dump.salvage import batches_past_damage
from model.log.indexes.entries import OFFSET_ENTRY, TIME_ENTRY
from model.log.records import Damage, RecordBatch, Source
from model.log.records.layout import CODEC_MASK

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

    def __init__(self, log: Source) -> None:
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
    parts: Iterable[OffsetIndexEntry | Damage | Remark], log: Source
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
    parts: Iterable[TimeIndexEntry | Damage | Remark], log: Source
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
