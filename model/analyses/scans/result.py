"""What a scan found, `kdrill.scan/1`, and how it follows from sums. Sizes in bytes, times in ms since the epoch."""

from collections import Counter
from collections.abc import Iterable

import msgspec

from model.analyses.scans.findings import SEVERITY, Severity
from model.analyses.scans.tally import BatchTally, CodecTally, Histogram
from model.log.dump.facts import CODEC_NAMES
from model.log.names import FolderRole


class Distribution(msgspec.Struct, frozen=True):
    """How large some numbers are; all 0 where there are none. The median is exact below 64, within 2 % above."""

    smallest: int = 0
    median: int = 0
    mean: float = 0
    largest: int = 0
    histogram: tuple[tuple[int, int], ...] = ()
    """(limit, how many): below a power of two, and not below the one before. Not told of single partitions."""


class CodecShare(msgspec.Struct, frozen=True):
    """Batches of one codec. The payload is all but headers."""

    codec: str
    batches: int
    bytes: int
    payload_bytes: int
    plain_bytes: int | None = None
    """The payload decompressed; of a deep scan."""
    ratio: float | None = None
    """Plain bytes for each byte of payload: 4.0 is four times smaller."""


class LogMeasures(msgspec.Struct, frozen=True):
    """Of a partition on one broker, or of several."""

    segments: int
    bytes: int
    """Of .log files."""
    other_bytes: int
    """What all other files beside them take on disk."""
    batches: int
    invalid_batches: int
    """Their CRC does not hold; apart from `batches` and `bytes` they count nowhere."""
    records: int
    uncounted_sets: int
    """Compressed v0 and v1 sets, whose records only a deep scan counts."""
    batch_bytes: Distribution
    batch_records: Distribution
    """Batch fill: control batches, and those that compaction has emptied, left out."""
    codecs: tuple[CodecShare, ...]
    """The most bytes first."""
    formats: dict[str, int]
    """`v0`, `v1`, `v2` → batches."""
    oldest_ms: int | None
    newest_ms: int | None
    late_batches: int
    """Their timestamp is smaller than one before them in their segment."""
    latest_by_ms: int
    """By how much, at most."""
    late_segments: int
    """Their newest timestamp is older than that of a segment before them."""
    future_batches: int
    untimed_batches: int
    transactional_batches: int
    control_batches: int
    producers: int
    """Distinct producer ids; at least so many where `more_producers` is set."""
    more_producers: bool
    gaps: int
    missing_offsets: int
    thinned_batches: int
    """Compaction took some of their records."""
    compression_ratio: float | None = None
    """Of all compressed batches; the rest is of a deep scan too."""
    keyless_records: int | None = None
    tombstones: int | None = None


class PartitionScan(msgspec.Struct, frozen=True):
    """One partition folder. Offsets and epochs are None where no batch tells them."""

    topic: str
    partition: int
    path: str
    log_folder: str
    broker: int | None
    role: FolderRole
    topic_id: str
    first_offset: int | None
    end_offset: int | None
    """The offset after the last one."""
    first_epoch: int | None
    last_epoch: int | None
    compacted: bool
    damage: int
    """Findings of severity damage, and of warning."""
    warnings: int
    measures: LogMeasures


class TopicScan(msgspec.Struct, frozen=True):
    """All folders of a topic."""

    topic: str
    partitions: int
    folders: int
    damage: int
    warnings: int
    measures: LogMeasures


class LogFolderScan(msgspec.Struct, frozen=True):
    """A broker's log folder."""

    path: str
    broker: int | None
    cluster_id: str
    clean_stop: bool
    partitions: int
    damage: int
    warnings: int
    measures: LogMeasures


class LogFinding(msgspec.Struct, frozen=True):
    """Something that is wrong, or should be known. `position` and `size` are in bytes, None where it has none."""

    severity: Severity
    kind: str
    topic: str
    partition: int
    broker: int | None
    path: str
    """Of the file, or of the folder."""
    position: int | None
    size: int | None
    cause: str


def worst(findings: Iterable[LogFinding], most: int) -> list[LogFinding]:
    """At most so many, the worst kinds first; no kind takes the room of another, as far as there is room for one."""
    order = {kind: place for place, kind in enumerate(SEVERITY)}
    in_order = sorted(findings, key=lambda each: (order[each.kind], each.path, each.position or 0))
    seen: Counter[str] = Counter()
    ranked: list[tuple[int, int]] = []
    for place, each in enumerate(in_order):
        ranked.append((seen[each.kind], place))
        seen[each.kind] += 1
    return [in_order[place] for place in sorted(place for _, place in sorted(ranked)[:most])]


class ScanResult(msgspec.Struct, frozen=True):
    """Totals first; partitions by topic and number; findings with the worst first."""

    totals: LogMeasures
    log_folders: tuple[LogFolderScan, ...]
    topics: tuple[TopicScan, ...]
    """The most bytes first."""
    partitions: tuple[PartitionScan, ...]
    findings: tuple[LogFinding, ...]
    findings_left_out: int
    counts: dict[str, int]
    """Kind → how often it was found, in all."""
    damage: int
    warnings: int
    unread_files: int
    """Files and folders that could not be read, and are counted nowhere else."""
    deep: bool
    now_ms: int
    format: str = "kdrill.scan/1"


class Sum(msgspec.Struct):
    """A tally of several segments, and what only several have."""

    tally: BatchTally = msgspec.field(default_factory=BatchTally)
    other_bytes: int = 0
    late_segments: int = 0
    damage: int = 0
    warnings: int = 0
    folders: int = 0

    def merge(self, other: "Sum") -> None:
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


def measures(whole: Sum, *, deep: bool, histograms: bool) -> LogMeasures:
    """What a sum says."""
    tally = whole.tally
    shares = [_share(number, codec, deep) for number, codec in tally.codecs.items()]
    compressed = [codec for number, codec in tally.codecs.items() if number]
    return LogMeasures(
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


def _spread(histogram: Histogram, in_full: bool) -> Distribution:
    if not histogram.count:
        return Distribution()
    mean = round(histogram.total / histogram.count, 1)
    powers = tuple(histogram.by_powers()) if in_full else ()
    return Distribution(histogram.smallest, histogram.median, mean, histogram.largest, powers)


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
