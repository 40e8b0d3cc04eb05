"""Scans of folders, in this process."""

from __future__ import annotations

from pathlib import Path

from model.analyses import analysis
from model.analyses.scans.combining import SCAN
from model.analyses.scans.folders import ScanParameters, find_logs
from model.analyses.scans.result import PartitionScan, ScanResult

NOW_MS = 1_900_000_000_000
"""Later than any record in the tests' files, but for one that is from the year 2262."""


def listed(*folders: Path, topics: tuple[str, ...] = (), deep: bool = False, now_ms: int = NOW_MS) -> ScanParameters:
    """What is to be scanned."""
    return ScanParameters(find_logs([str(folder) for folder in folders], topics), now_ms, deep=deep)


def scan(*folders: Path, topics: tuple[str, ...] = (), deep: bool = False, now_ms: int = NOW_MS) -> ScanResult:
    """What there is."""
    return analysis.run_here(SCAN, {}, listed(*folders, topics=topics, deep=deep, now_ms=now_ms))


def only_partition(folder: Path, *, deep: bool = False) -> PartitionScan:
    """Of a folder in which nothing is wrong."""
    result = scan(folder, deep=deep)
    assert result.counts == {}
    (partition,) = result.partitions
    return partition


def told(result: ScanResult) -> list[tuple[str, str, int | None]]:
    """Kind, file and position of each finding."""
    return [(each.kind, Path(each.path).name, each.position) for each in result.findings]
