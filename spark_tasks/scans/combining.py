"""All reports of a scan put together: partitions, then topics and log folders, then everything."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path

from model.log.names import FolderRole
from spark_tasks.scans import findings
from spark_tasks.scans.findings import SEVERITY, Severity
from spark_tasks.scans.measuring import measures, total
from spark_tasks.scans.parameters import FoundLogFolder, FoundPartition, ScanParameters
from spark_tasks.scans.partition_scan import FoldedPartition, fold
from spark_tasks.scans.reports import Report
from spark_tasks.scans.result import Finding, LogFolderScan, ScanResult, TopicScan, worst


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


def _of_partitions(folded: Iterable[FoldedPartition]) -> Iterator[Finding]:
    for each in folded:
        scan = each.scan
        for found in each.found:
            yield Finding(
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


def _of_log_folders(parameters: ScanParameters) -> Iterator[Finding]:
    kind = findings.BAD_CHECKPOINT
    for each in parameters.log_folders:
        for path, cause in each.damaged_checkpoints:
            yield Finding(SEVERITY[kind], kind, "", -1, each.broker, path, None, None, cause)


def _other_topic_ids(folded: Sequence[FoldedPartition]) -> Iterator[Finding]:
    """Partition folders of a topic whose id is not that of most: left from before the topic was created anew."""
    kind = findings.OTHER_TOPIC_ID
    for topic, of_topic in groupby(folded, key=lambda each: each.scan.topic):
        scans = [each.scan for each in of_topic if each.scan.topic_id and each.scan.role is FolderRole.CURRENT]
        ids = Counter(scan.topic_id for scan in scans)
        usual = max(sorted(ids), key=lambda each: ids[each], default="")
        for scan in scans:
            if scan.topic_id != usual:
                cause = f"topic id {scan.topic_id}, others of the topic have {usual}"
                yield Finding(SEVERITY[kind], kind, topic, scan.partition, scan.broker, scan.path, None, None, cause)


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
