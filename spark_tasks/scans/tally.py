"""What is added up of batches: of a segment first, then of partitions, topics, log folders, and of all."""

import msgspec

from model.log.records.layout import INT64_MAX
from spark_tasks.scans.histogram import Histogram

MOST_PRODUCERS = 1000
"""So many producer ids, the smallest, are kept to be counted; of more it is known that they are more."""


class CodecTally(msgspec.Struct, omit_defaults=True):
    """Batches of one codec. `payload_bytes` leaves the headers out; `plain_bytes` is the payload decompressed."""

    batches: int = 0
    bytes: int = 0
    payload_bytes: int = 0
    plain_bytes: int = 0

    def merge(self, other: "CodecTally") -> None:
        """Adds the other's."""
        self.batches += other.batches
        self.bytes += other.bytes
        self.payload_bytes += other.payload_bytes
        self.plain_bytes += other.plain_bytes


class Tally(msgspec.Struct, omit_defaults=True):
    """Sums. Times are ms, -1 where there is none."""

    segments: int = 0
    bytes: int = 0
    batches: int = 0
    invalid_batches: int = 0
    """Their CRC does not hold: they count as batches and bytes, and as nothing else."""
    records: int = 0
    uncounted_sets: int = 0
    """Compressed v0 and v1 sets, whose headers do not tell how many records they hold."""
    batch_bytes: Histogram = msgspec.field(default_factory=Histogram)
    """Of batches with data: neither control batches nor such as compaction has emptied."""
    batch_records: Histogram = msgspec.field(default_factory=Histogram)
    codecs: dict[int, CodecTally] = {}
    formats: dict[int, int] = {}
    """Magic → batches."""
    oldest_ms: int = -1
    newest_ms: int = -1
    late_batches: int = 0
    """Their timestamp is smaller than one before them in their segment."""
    latest_by_ms: int = 0
    """By how much, at most."""
    future_batches: int = 0
    untimed_batches: int = 0
    """Without a timestamp in a format that has one."""
    transactional_batches: int = 0
    control_batches: int = 0
    producers: list[int] = []
    """Ids, rising; at most MOST_PRODUCERS."""
    more_producers: bool = False
    gaps: int = 0
    missing_offsets: int = 0
    thinned_batches: int = 0
    """Compaction took some of their records."""
    read_records: int = 0
    """Of a deep scan: records that were read, those with a key of null and those with a value of null."""
    keyless_records: int = 0
    tombstones: int = 0

    def merge(self, other: "Tally") -> None:
        """Adds the other's."""
        for name in _SUMS:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.missing_offsets = min(self.missing_offsets, INT64_MAX)  # damaged offsets add up to anything
        self.batch_bytes.merge(other.batch_bytes)
        self.batch_records.merge(other.batch_records)
        for codec, tally in other.codecs.items():
            self.codecs.setdefault(codec, CodecTally()).merge(tally)
        for magic, count in other.formats.items():
            self.formats[magic] = self.formats.get(magic, 0) + count
        self.see_times(other.oldest_ms, other.newest_ms)
        self.latest_by_ms = max(self.latest_by_ms, other.latest_by_ms)
        self.see_producers(other.producers, other.more_producers)

    def see_times(self, oldest_ms: int, newest_ms: int) -> None:
        """Widens the time that is covered."""
        if oldest_ms >= 0:
            self.oldest_ms = oldest_ms if self.oldest_ms < 0 else min(self.oldest_ms, oldest_ms)
        self.newest_ms = max(self.newest_ms, newest_ms)

    def see_producers(self, ids: list[int], more: bool = False) -> None:
        """Counts producers in."""
        if ids:
            together = sorted({*self.producers, *ids})
            self.more_producers |= more or len(together) > MOST_PRODUCERS
            self.producers = together[:MOST_PRODUCERS]


_SUMS = (
    *("segments", "bytes", "batches", "invalid_batches", "records", "uncounted_sets"),
    *("late_batches", "future_batches", "untimed_batches", "transactional_batches", "control_batches"),
    *("gaps", "missing_offsets", "thinned_batches", "read_records", "keyless_records", "tombstones"),
)
