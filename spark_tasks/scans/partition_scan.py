"""What the reports of one partition folder come to, and what only shows between its segments."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from model.log.names import LOG, NumberedFile
from spark_tasks.scans import findings
from spark_tasks.scans.findings import SEVERITY, Found, Gathered, Severity
from spark_tasks.scans.measuring import Sum, measures
from spark_tasks.scans.parameters import FoundLogFolder, FoundPartition, FoundSegment
from spark_tasks.scans.reports import Report
from spark_tasks.scans.result import PartitionScan

Segments = Sequence[tuple[FoundSegment, Report]]
"""By base offset; only those that were read."""


@dataclass(frozen=True)
class FoldedPartition:
    """A partition folder: what is told of it, its sums, what was found in it and how often."""

    scan: PartitionScan
    whole: Sum
    found: Sequence[Found]
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
