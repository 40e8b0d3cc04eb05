"""The scan as an analysis: a unit is a segment, or a partition folder apart from its segments; nothing is in arrays."""

from collections.abc import Sequence
from typing import Any

from model.analyses.analysis import Arrays, Unit
from model.analyses.scans.combining import combined, units_of
from model.analyses.scans.folders import ScanParameters, folder_report
from model.analyses.scans.result import ScanResult
from model.analyses.scans.segment_scan import SegmentScan
from model.analyses.scans.tally import Report, decode_reports, encode_reports

OPENING_COST = 1 << 21
"""What opening files and looking at them costs, in bytes of a segment that are scanned meanwhile."""


class Scan:
    """What log folders hold. Files are opened to be read only, wherever the kernel runs."""

    @property
    def name(self) -> str:
        """As the registry calls it."""
        return "scan"

    @property
    def parameters_type(self) -> type[Any]:
        """The listing, and what to do with it."""
        return ScanParameters

    @property
    def result_type(self) -> type[Any]:
        """`kdrill.scan/1`."""
        return ScanResult

    def units(self, arrays: Arrays, parameters: ScanParameters) -> Sequence[Unit]:
        """By size: a segment is never split."""
        return [
            Unit(number, OPENING_COST + (folder.segments[place].bytes if place >= 0 else 0))
            for number, (_, folder, place) in enumerate(units_of(parameters))
        ]

    def kernel(self, units: Sequence[int], arrays: Arrays, parameters: ScanParameters) -> Arrays:
        """A report of each."""
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


SCAN = Scan()
