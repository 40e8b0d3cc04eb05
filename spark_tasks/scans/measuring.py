"""From sums to what is told of them."""

from collections.abc import Iterable

import msgspec

from model.log.dump.names import CODEC_NAMES
from spark_tasks.scans.histogram import Histogram
from spark_tasks.scans.result import CodecShare, Measures, Spread
from spark_tasks.scans.tally import CodecTally, Tally


class Sum(msgspec.Struct):
    """A tally of several segments, and what only several have."""

    tally: Tally = msgspec.field(default_factory=Tally)
    other_bytes: int = 0
    late_segments: int = 0
    damage: int = 0
    warnings: int = 0
    folders: int = 0

    def merge(self, other: "Sum") -> None:
        """Adds the other's."""
        self.tally.merge(other.tally)
        self.other_bytes += other.other_bytes
        self.late_segments += other.late_segments
        self.damage += other.damage
        self.warnings += other.warnings
        self.folders += other.folders


def total(sums: Iterable[Sum]) -> Sum:
    """All of them together."""
    whole = Sum()
    for each in sums:
        whole.merge(each)
    return whole


def measures(whole: Sum, *, deep: bool, histograms: bool) -> Measures:
    """What a sum says."""
    tally = whole.tally
    shares = [_share(number, codec, deep) for number, codec in tally.codecs.items()]
    compressed = [codec for number, codec in tally.codecs.items() if number]
    return Measures(
        segments=tally.segments,
        bytes=tally.bytes,
        other_bytes=whole.other_bytes,
        batches=tally.batches,
        invalid_batches=tally.invalid_batches,
        records=tally.records,
        uncounted_sets=tally.uncounted_sets,
        batch_bytes=_spread(tally.batch_bytes, histograms),
        batch_records=_spread(tally.batch_records, histograms),
        codecs=tuple(sorted(shares, key=lambda share: (-share.bytes, share.codec))),
        formats={f"v{magic}": batches for magic, batches in sorted(tally.formats.items())},
        oldest_ms=_known(tally.oldest_ms),
        newest_ms=_known(tally.newest_ms),
        late_batches=tally.late_batches,
        latest_by_ms=tally.latest_by_ms,
        late_segments=whole.late_segments,
        future_batches=tally.future_batches,
        untimed_batches=tally.untimed_batches,
        transactional_batches=tally.transactional_batches,
        control_batches=tally.control_batches,
        producers=len(tally.producers),
        more_producers=tally.more_producers,
        gaps=tally.gaps,
        missing_offsets=tally.missing_offsets,
        thinned_batches=tally.thinned_batches,
        compression_ratio=_ratio(compressed) if deep else None,
        keyless_records=tally.keyless_records if deep else None,
        tombstones=tally.tombstones if deep else None,
    )


def _spread(histogram: Histogram, in_full: bool) -> Spread:
    if not histogram.count:
        return Spread()
    mean = round(histogram.total / histogram.count, 1)
    powers = tuple(histogram.by_powers()) if in_full else ()
    return Spread(histogram.smallest, histogram.median, mean, histogram.largest, powers)


def _share(number: int, codec: CodecTally, deep: bool) -> CodecShare:
    return CodecShare(
        codec=CODEC_NAMES[number].decode(),
        batches=codec.batches,
        bytes=codec.bytes,
        payload_bytes=codec.payload_bytes,
        plain_bytes=codec.plain_bytes if deep else None,
        ratio=_ratio([codec]) if deep and number else None,
    )


def _ratio(codecs: Iterable[CodecTally]) -> float | None:
    payload, plain = 0, 0
    for codec in codecs:
        payload += codec.payload_bytes
        plain += codec.plain_bytes
    return round(plain / payload, 3) if payload else None


def _known(time_ms: int) -> int | None:
    return time_ms if time_ms >= 0 else None
