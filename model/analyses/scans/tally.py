"""What is added up of batches, of a segment first, and the report of a unit, as the bytes in which it travels.

Sizes are counted by histograms: exact below 64, in classes at most 1/32 wide above. Adding up is exact.
"""

from collections.abc import Iterator, Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from model.analyses.analysis import Arrays
from model.analyses.scans.findings import FoundInFile
from model.log.records.layout import INT64_MAX

_EXACT_BITS = 5
_HALF = 1 << _EXACT_BITS


class Histogram(msgspec.Struct, omit_defaults=True):
    """Numbers from 0 on. `classes` is class → how many; the rest is exact."""

    count: int = 0
    total: int = 0
    smallest: int = 0
    largest: int = 0
    classes: dict[int, int] = {}

    def add(self, numbers: NDArray[np.int64]) -> None:
        """Counts these in; none may be negative."""
        if len(numbers):
            found, counts = np.unique(_class_of(numbers), return_counts=True)
            classes = dict(zip(found.tolist(), counts.tolist(), strict=True))
            extremes = int(numbers.min()), int(numbers.max())
            self.merge(Histogram(len(numbers), int(numbers.sum()), *extremes, classes))

    def merge(self, other: "Histogram") -> None:
        """Counts in what another has counted."""
        if not other.count:
            return
        self.smallest = min(self.smallest, other.smallest) if self.count else other.smallest
        self.largest = max(self.largest, other.largest)
        self.count += other.count
        self.total += other.total
        for number, count in other.classes.items():
            self.classes[number] = self.classes.get(number, 0) + count

    @property
    def median(self) -> int:
        """The middle of the class that the lower median lies in; 0 without numbers."""
        seen = 0
        for number in sorted(self.classes):
            seen += self.classes[number]
            if 2 * seen >= self.count:
                low, high = _lowest(number), _lowest(number + 1) - 1
                return min(max((low + high) // 2, self.smallest), self.largest)
        return 0

    def by_powers(self) -> list[tuple[int, int]]:
        """How many lie below each power of two, but not below the one before it; (limit, count), none of them empty."""
        powers: dict[int, int] = {}
        for number, count in self.classes.items():
            limit = 1 << _lowest(number).bit_length()
            powers[limit] = powers.get(limit, 0) + count
        return sorted(powers.items())


def _class_of(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    exponents = np.frexp(numbers.astype(np.float64))[1].astype(np.int64) - 1
    shift = np.maximum(exponents - _EXACT_BITS, 0)
    return (shift << _EXACT_BITS) + (numbers >> shift)


def _lowest(number: int) -> int:
    """The smallest number of a class."""
    if number < 2 * _HALF:
        return number
    shift = (number >> _EXACT_BITS) - 1
    return (number - (shift << _EXACT_BITS)) << shift


MOST_PRODUCERS = 1000
"""So many producer ids, the smallest, are kept to be counted; of more it is known that they are more."""


class CodecTally(msgspec.Struct, omit_defaults=True):
    """Batches of one codec. `payload_bytes` leaves the headers out; `plain_bytes` is the payload decompressed."""

    batches: int = 0
    bytes: int = 0
    payload_bytes: int = 0
    plain_bytes: int = 0

    def merge(self, other: "CodecTally") -> None:
        self.batches += other.batches
        self.bytes += other.bytes
        self.payload_bytes += other.payload_bytes
        self.plain_bytes += other.plain_bytes


class BatchTally(msgspec.Struct, omit_defaults=True):
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

    def merge(self, other: "BatchTally") -> None:
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
        if ids:
            together = sorted({*self.producers, *ids})
            self.more_producers |= more or len(together) > MOST_PRODUCERS
            self.producers = together[:MOST_PRODUCERS]


_SUMS = (
    *("segments", "bytes", "batches", "invalid_batches", "records", "uncounted_sets"),
    *("late_batches", "future_batches", "untimed_batches", "transactional_batches", "control_batches"),
    *("gaps", "missing_offsets", "thinned_batches", "read_records", "keyless_records", "tombstones"),
)


class Report(msgspec.Struct, frozen=True, omit_defaults=True):
    """Of a segment, or of a partition folder apart from its segments. -1 where nothing tells."""

    found: tuple[FoundInFile, ...] = ()
    counts: dict[str, int] = {}
    """Kind → how often it was found, in all."""
    tally: BatchTally = msgspec.field(default_factory=BatchTally)
    was_read: bool = True
    """False for a file that is gone, or can't be opened."""
    first_offset: int = -1
    last_offset: int = -1
    first_epoch: int = -1
    last_epoch: int = -1
    topic_id: str = ""


def encode_reports(units: Sequence[int], reports: Sequence[Report]) -> Arrays:
    """Reports one after another, with the unit of each."""
    encoded = [msgspec.msgpack.encode(report) for report in reports]
    return {
        "unit": np.array(units, np.int64),
        "end": np.cumsum([len(each) for each in encoded], dtype=np.int64),
        "report": np.frombuffer(b"".join(encoded), np.uint8),
    }


def decode_reports(batch: Arrays) -> Iterator[tuple[int, Report]]:
    """Units and their reports."""
    decoder = msgspec.msgpack.Decoder(Report)
    data, start = batch["report"].tobytes(), 0
    for unit, end in zip(batch["unit"].tolist(), batch["end"].tolist(), strict=True):
        yield unit, decoder.decode(data[start:end])
        start = end
