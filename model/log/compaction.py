"""One compaction of a log, which keeps the newest record of each key: reads closed segments, replaces them by new ones.

New segments are written as `.cleaned` and then put into their place. What stays is decided in `compaction_rules`.
Kafka 3.9 `kafka.log.LogCleaner` and `Cleaner`, with a map of whole keys instead of their digests.
"""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from model.log.appending import marker_of
from model.log.compaction_rules import (
    Cleanable,
    CompactableSegment,
    CompactionRules,
    TransactionsSeen,
    cleanable,
    grouped,
    kept_of_data,
    kept_of_marker,
)
from model.log.indexes import AbortedTransaction
from model.log.names import CLEANED, LOG, SEGMENT_KINDS, DamagedFileError, NumberedFile
from model.log.partition_log import PartitionLog
from model.log.records import Damage, Record, RecordBatch, records_of, scan
from model.log.segment import Segment
from model.log.segment_list import aborted_transactions

MOST_KEYS = 5_000_000
"""What Kafka's default of 128 MiB for one cleaner thread holds, 24 bytes a key, filled to nine tenths."""


@dataclass(frozen=True)
class Compacted:
    """What a compaction did."""

    cleaned_to: int
    """The first offset that has not been compacted: the cleaner's next checkpoint."""
    bytes_before: int = 0
    bytes_after: int = 0
    segments_before: int = 0
    segments_after: int = 0


def cleanable_of(log: PartitionLog, cleaned_to: int | None, now_ms: int) -> Cleanable:
    """The dirty range of an open log."""
    return cleanable(
        [_facts(log, segment) for segment in log.segments],
        cleaned_to=cleaned_to,
        start_offset=log.start_offset,
        last_stable_offset=log.last_stable_offset,
        settings=log.settings,
        now_ms=now_ms,
    )


class Compaction:
    """A pass over the dirty range of a log.

    `pieces` does the work, a piece at each step, so that the log can be used in between; `compacted` then tells.
    """

    def __init__(self, log: PartitionLog, cleaned_to: int | None, *, now_ms: int, most_keys: int = MOST_KEYS) -> None:
        """`cleaned_to` is the cleaner's checkpoint, None without one."""
        self._log = log
        self._now_ms = now_ms
        self._most_keys = most_keys
        self._range = cleanable_of(log, cleaned_to, now_ms)
        self._newest: dict[bytes, int] = {}
        self._cleaned: Segment | None = None
        self.compacted = Compacted(self._range.first_dirty)

    def run(self) -> Compacted:
        """Does all of it at once. Raises DamagedFileError for a batch that can't be read; its segment then stays."""
        for _ in self.pieces():
            pass
        return self.compacted

    def pieces(self) -> Iterator[None]:
        """Does the work. When something of the log is truncated or deleted meanwhile, what is not done yet is not."""
        removals = self._log.removals
        for _ in self._work():
            yield
            if self._log.removals != removals:
                self._discard()
                return

    def _work(self) -> Iterator[None]:
        first_dirty, end = self._range.first_dirty, self._range.end
        sources = [each for each in self._log.segments if each.base_offset < end]
        aborted = aborted_transactions(self._log.segments, self._log.segments.first.base_offset, end)
        map_end = first_dirty
        for reached in self._map_keys(sources, TransactionsSeen(aborted)):
            map_end = reached
            yield
        if map_end == first_dirty:
            return
        rules = CompactionRules(
            self._newest,
            map_end,
            self._now_ms,
            self._log.settings.delete_retention_ms,
            {number: producer.last_data_offset for number, producer in self._log.producers.by_id.items()},
        )
        legacy_horizon_ms = self._legacy_horizon_ms(sources)
        seen = TransactionsSeen(aborted)
        facts = [_facts(self._log, each) for each in sources if each.base_offset < map_end]
        for group in grouped(facts, self._log.settings):
            members = [each for each in sources if group[0].base_offset <= each.base_offset < group[-1].end_offset]
            self._cleaned = self._cleaned_segment(members[0])
            for segment in members:
                keep = _modified_ms(segment) > legacy_horizon_ms
                yield from _filter(segment, self._cleaned, seen, replace(rules, keep_legacy_tombstones=keep))
            self._put_into_place(self._cleaned, members)
        self.compacted = replace(self.compacted, cleaned_to=map_end)

    def _discard(self) -> None:
        if self._cleaned is not None:
            self._cleaned.close()
            for path in self._cleaned.files():
                path.unlink()

    def _legacy_horizon_ms(self, sources: Sequence[Segment]) -> int:
        ends = ((each, self._log.segments.end_of(each, self._log.end_offset)) for each in sources)
        clean = [segment for segment, end in ends if end <= self._range.first_dirty]
        return _modified_ms(clean[-1]) - self._log.settings.delete_retention_ms if clean else 0

    def _cleaned_segment(self, first: Segment) -> Segment:
        for kind in SEGMENT_KINDS:
            (first.folder / str(NumberedFile(first.base_offset, kind, CLEANED))).unlink(missing_ok=True)
        cleaned = Segment(first.folder, first.base_offset, self._log.settings, now_ms=self._now_ms, suffix=CLEANED)
        cleaned.log.create()
        return cleaned

    def _put_into_place(self, cleaned: Segment, members: Sequence[Segment]) -> None:
        cleaned.deactivate()
        cleaned.flush()
        newest = members[-1].path(LOG).stat().st_mtime_ns
        os.utime(cleaned.path(LOG), ns=(newest, newest))
        before = sum(segment.size_bytes for segment in members)
        self._log.replace_segments(cleaned, members, now_ms=self._now_ms)
        self._cleaned = None
        self.compacted = Compacted(
            self.compacted.cleaned_to,
            self.compacted.bytes_before + before,
            self.compacted.bytes_after + cleaned.size_bytes,
            self.compacted.segments_before + len(members),
            self.compacted.segments_after + 1,
        )

    def _map_keys(self, sources: Sequence[Segment], seen: TransactionsSeen) -> Iterator[int]:
        """Notes the last offset of each key, and yields up to where; ends early when there are too many keys."""
        first_dirty = self._range.first_dirty
        for segment in sources:
            if self._log.segments.end_of(segment, self._log.end_offset) <= first_dirty:
                continue
            for batch in segment.batches():
                if len(self._newest) >= self._most_keys:
                    return
                if batch.is_control:
                    if marker := marker_of(segment.log, batch):
                        seen.end(batch, marker)
                elif not seen.is_aborted(batch):
                    for record in _records(segment, batch):
                        if record.key is not None and record.offset >= first_dirty:
                            self._newest[record.key] = record.offset
                yield max(batch.next_offset, first_dirty)
            yield max(self._log.segments.end_of(segment, self._log.end_offset), first_dirty)


def _filter(segment: Segment, cleaned: Segment, seen: TransactionsSeen, rules: CompactionRules) -> Iterator[None]:
    for batch in segment.batches():
        kept, aborted = _kept(segment, batch, seen, rules)
        if kept:
            cleaned.append(kept, [each for each in scan(kept) if isinstance(each, RecordBatch)])
        if aborted:
            cleaned.transaction_index.append(aborted)
        yield


def _kept(
    segment: Segment, batch: RecordBatch, seen: TransactionsSeen, rules: CompactionRules
) -> tuple[bytes, AbortedTransaction | None]:
    entry = segment.log.read(batch.position, batch.size)
    records = _records(segment, batch)
    if not batch.is_control:
        return kept_of_data(entry, batch, records, rules, aborted=seen.is_aborted(batch)), None
    marker = marker_of(segment.log, batch)
    if marker is None:
        return (entry if records or rules.is_last_of_producer(batch) else b""), None
    without_data, aborted = seen.end(batch, marker)
    return kept_of_marker(entry, batch, records, rules, without_data=without_data), aborted


def _modified_ms(segment: Segment) -> int:
    return segment.path(LOG).stat().st_mtime_ns // 1_000_000


def _facts(log: PartitionLog, segment: Segment) -> CompactableSegment:
    return CompactableSegment(
        segment.base_offset,
        log.segments.end_of(segment, log.end_offset),
        segment.size_bytes,
        max(len(segment.offset_index.entries), len(segment.time_index.entries)),
        segment.as_active().first_timestamp_ms,
        segment.max_timestamp_ms,
    )


def _records(segment: Segment, batch: RecordBatch) -> list[Record]:
    records: list[Record] = []
    for record in records_of(segment.log, batch):
        if isinstance(record, Damage):
            raise DamagedFileError(segment.log.path, f"at byte {record.position:,}: {record.cause}")
        records.append(record)
    return records
