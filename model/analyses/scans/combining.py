"""All reports of a scan put together: segments to partitions, then topics and log folders, then everything.

Some things only show between the segments of a partition, or between partitions of a topic. As an analysis, a scan has
a unit for each segment, and one for a partition folder apart from its segments; nothing is in arrays.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from pathlib import Path

from model.analyses.analysis import Arrays, Unit
from model.analyses.scans import findings
from model.analyses.scans.findings import SEVERITY, FoundInFile, Gathered, Severity
from model.analyses.scans.folders import FoundLogFolder, FoundPartition, FoundSegment, ScanParameters, folder_report
from model.analyses.scans.result import (
    LogFinding,
    LogFolderScan,
    PartitionScan,
    ScanResult,
    Sum,
    TopicScan,
    measures,
    total,
    worst,
)
from model.analyses.scans.segment_scan import SegmentScan
from model.analyses.scans.tally import Report, decode_reports, encode_reports
from model.log.names import LOG, FolderRole, NumberedFile

Segments = Sequence[tuple[FoundSegment, Report]]
"""By base offset; only those that were read."""


@dataclass(frozen=True)
class FoldedPartition:
    """A partition folder: what is told of it, its sums, what was found in it and how often."""

    scan: PartitionScan
    whole: Sum
    found: Sequence[FoundInFile]
    counts: dict[str, int]


def fold(
    log_folder: FoundLogFolder, folder: FoundPartition, own: Report, reports: Sequence[Report], *, deep: bool
) -> FoldedPartition:
    """`own` is the report of the folder, `reports` are those of its segments."""
    whole = Sum(other_bytes=folder.other_bytes, folders=1)
    for report in reports:
        whole.tally.merge(report.tally)
    read = [pair for pair in zip(folder.segments, reports, strict=True) if pair[1].was_read]
    between = Gathered()
    whole.late_segments = _see_edges(read, whole, between)
    _see_end(folder, read, between)
    compacted = folder.compacted if folder.compacted is not None else whole.tally.thinned_batches > 0
    unexpected = [kind for kind in SEVERITY if not (compacted and kind == findings.GAP)]
    told = [(own.found, own.counts), *((each.found, each.counts) for each in reports), (between.kept, between.counts)]
    found = [each for some, _ in told for each in some if each.kind in unexpected]
    sums = {kind: sum(counts.get(kind, 0) for _, counts in told) for kind in unexpected}
    counts = {kind: number for kind, number in sums.items() if number}
    whole.damage = sum(number for kind, number in counts.items() if SEVERITY[kind] is Severity.DAMAGE)
    whole.warnings = sum(number for kind, number in counts.items() if SEVERITY[kind] is Severity.WARNING)
    first, end = _offsets(read)
    epochs = [epoch for _, each in read for epoch in (each.first_epoch, each.last_epoch) if epoch >= 0]
    scan = PartitionScan(
        topic=folder.topic,
        partition=folder.partition,
        path=folder.path,
        log_folder=log_folder.path,
        broker=log_folder.broker,
        role=folder.role,
        topic_id=own.topic_id,
        first_offset=first,
        end_offset=end,
        first_epoch=epochs[0] if epochs else None,
        last_epoch=max(epochs, default=None),
        compacted=compacted,
        damage=whole.damage,
        warnings=whole.warnings,
        measures=measures(whole, deep=deep, histograms=False),
    )
    return FoldedPartition(scan, whole, found, counts)


def _offsets(segments: Segments) -> tuple[int | None, int | None]:
    """The first offset that a batch tells, and the one after the last."""
    first = next((each.first_offset for _, each in segments if each.first_offset >= 0), None)
    return first, segments[-1][1].last_offset + 1 if segments else None


def _see_edges(segments: Segments, whole: Sum, between: Gathered) -> int:
    """Where one segment ends and the next begins; how many are older than one before them."""
    late, newest = 0, -1
    for _, each in segments:
        late += 0 <= each.tally.newest_ms < newest
        newest = max(newest, each.tally.newest_ms)
    for (_, before), (segment, report) in pairwise(segments):
        end, name = before.last_offset + 1, str(NumberedFile(segment.base_offset, LOG))
        if segment.base_offset > end:
            whole.tally.gaps += 1
            whole.tally.missing_offsets += segment.base_offset - end
            between.add(findings.GAP, findings.missing(end, segment.base_offset), 0, file=name)
        elif 0 <= report.first_offset < end:
            cause = f"it begins with offset {report.first_offset}, the segment before it ends with {end - 1}"
            between.add(findings.OFFSETS_BACK, cause, 0, file=name)
    return late


def _see_end(folder: FoundPartition, segments: Segments, between: Gathered) -> None:
    """Whether there is all that the checkpoints speak of."""
    if not segments or segments[-1][0] != folder.segments[-1]:
        return
    end, name = segments[-1][1].last_offset + 1, str(NumberedFile(segments[-1][0].base_offset, LOG))
    if end < folder.high_watermark:
        cause = f"the log ends at offset {end}, its high watermark was {folder.high_watermark}: records are missing"
        between.add(findings.BELOW_HIGH_WATERMARK, cause, file=name)
    elif end < folder.recovery_point:
        cause = f"the log ends at offset {end}, it was flushed up to {folder.recovery_point}: records are missing"
        between.add(findings.BELOW_HIGH_WATERMARK, cause, file=name)


def units_of(parameters: ScanParameters) -> Iterator[tuple[FoundLogFolder, FoundPartition, int]]:
    """The work, unit by unit: each partition folder by itself (-1), then each of its segments by its place."""
    for log_folder in parameters.log_folders:
        for folder in log_folder.partitions:
            yield log_folder, folder, -1
            for place in range(len(folder.segments)):
                yield log_folder, folder, place


def combined(reports: Mapping[int, Report], parameters: ScanParameters) -> ScanResult:
    """The result of the reports by unit."""
    deep = parameters.deep
    folded: list[FoldedPartition] = []
    unit = 0
    for log_folder in parameters.log_folders:
        for folder in log_folder.partitions:
            segments = [reports[unit + 1 + place] for place in range(len(folder.segments))]
            folded.append(fold(log_folder, folder, reports[unit], segments, deep=deep))
            unit += 1 + len(segments)
    folded.sort(key=lambda each: (each.scan.topic, each.scan.partition, each.scan.path))
    whole = total(each.whole for each in folded)
    of_others = [*_of_log_folders(parameters), *_other_topic_ids(folded)]
    shown = worst([*of_others, *_of_partitions(folded)], parameters.most_findings)
    counts = _counts([*(each.counts for each in folded), *({each.kind: 1} for each in of_others)])
    return ScanResult(
        totals=measures(whole, deep=deep, histograms=True),
        log_folders=tuple(_log_folder(each, folded, deep) for each in parameters.log_folders),
        topics=tuple(sorted(_topics(folded, deep), key=lambda each: (-each.measures.bytes, each.topic))),
        partitions=tuple(each.scan for each in folded),
        findings=tuple(shown),
        findings_left_out=sum(counts.values()) - len(shown),
        counts=counts,
        damage=_of_severity(counts, Severity.DAMAGE),
        warnings=_of_severity(counts, Severity.WARNING),
        unread_files=counts.get(findings.UNREADABLE, 0),
        deep=deep,
        now_ms=parameters.now_ms,
    )


def _counts(some: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """Together, in the order of kinds."""
    sums = dict.fromkeys(SEVERITY, 0)
    for counts in some:
        for kind, number in counts.items():
            sums[kind] += number
    return {kind: number for kind, number in sums.items() if number}


def _of_severity(counts: Mapping[str, int], severity: Severity) -> int:
    return sum(number for kind, number in counts.items() if SEVERITY[kind] is severity)


def _of_partitions(folded: Iterable[FoldedPartition]) -> Iterator[LogFinding]:
    for each in folded:
        scan = each.scan
        for found in each.found:
            yield LogFinding(
                severity=SEVERITY[found.kind],
                kind=found.kind,
                topic=scan.topic,
                partition=scan.partition,
                broker=scan.broker,
                path=str(Path(scan.path, found.file)),
                position=found.position if found.position >= 0 else None,
                size=found.size if found.size >= 0 else None,
                cause=found.cause,
            )


def _of_log_folders(parameters: ScanParameters) -> Iterator[LogFinding]:
    kind = findings.BAD_CHECKPOINT
    for each in parameters.log_folders:
        for path, cause in each.damaged_checkpoints:
            yield LogFinding(SEVERITY[kind], kind, "", -1, each.broker, path, None, None, cause)


def _other_topic_ids(folded: Sequence[FoldedPartition]) -> Iterator[LogFinding]:
    """Partition folders of a topic whose id is not that of most: left from before the topic was created anew."""
    kind = findings.OTHER_TOPIC_ID
    for topic, of_topic in groupby(folded, key=lambda each: each.scan.topic):
        scans = [each.scan for each in of_topic if each.scan.topic_id and each.scan.role is FolderRole.CURRENT]
        ids = Counter(scan.topic_id for scan in scans)
        usual = max(sorted(ids), key=lambda each: ids[each], default="")
        for scan in scans:
            if scan.topic_id != usual:
                cause = f"topic id {scan.topic_id}, others of the topic have {usual}"
                yield LogFinding(SEVERITY[kind], kind, topic, scan.partition, scan.broker, scan.path, None, None, cause)


def _topics(folded: Sequence[FoldedPartition], deep: bool) -> Iterator[TopicScan]:
    for topic, of_topic in groupby(folded, key=lambda each: each.scan.topic):
        some = list(of_topic)
        whole = total(each.whole for each in some)
        yield TopicScan(
            topic=topic,
            partitions=len({each.scan.partition for each in some}),
            folders=len(some),
            damage=whole.damage,
            warnings=whole.warnings,
            measures=measures(whole, deep=deep, histograms=True),
        )


def _log_folder(log_folder: FoundLogFolder, folded: Sequence[FoldedPartition], deep: bool) -> LogFolderScan:
    whole = total(each.whole for each in folded if each.scan.log_folder == log_folder.path)
    return LogFolderScan(
        path=log_folder.path,
        broker=log_folder.broker,
        cluster_id=log_folder.cluster_id,
        clean_stop=log_folder.clean_stop,
        partitions=len(log_folder.partitions),
        damage=whole.damage + len(log_folder.damaged_checkpoints),
        warnings=whole.warnings,
        measures=measures(whole, deep=deep, histograms=True),
    )


OPENING_COST = 1 << 21
"""What opening files and looking at them costs, in bytes of a segment that are scanned meanwhile."""


class LogScan:
    """What log folders hold. Files are opened to be read only, wherever the kernel runs."""

    name = "scan"
    parameters_type = ScanParameters
    result_type = ScanResult

    def units(self, arrays: Arrays, parameters: ScanParameters) -> Sequence[Unit]:
        """By size: a segment is never split."""
        return [
            Unit(number, OPENING_COST + (folder.segments[place].bytes if place >= 0 else 0))
            for number, (_, folder, place) in enumerate(units_of(parameters))
        ]

    def kernel(self, units: Sequence[int], arrays: Arrays, parameters: ScanParameters) -> Arrays:
        wanted = set(units)
        reports: dict[int, Report] = {}
        for number, (_, folder, place) in enumerate(units_of(parameters)):
            if number in wanted:
                reports[number] = (
                    SegmentScan(folder, place, parameters).report() if place >= 0 else folder_report(folder)
                )
        return encode_reports(list(reports), list(reports.values()))

    def combine(self, batches: Sequence[Arrays], arrays: Arrays, parameters: ScanParameters) -> ScanResult:
        """Everything, by partition, topic and log folder."""
        return combined(dict(pair for batch in batches for pair in decode_reports(batch)), parameters)


SCAN = LogScan()
