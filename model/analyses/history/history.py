"""History as an analysis: a unit is a day of a cluster, and what comes of it are tables that can be put together.

Of a cluster's worst moment it says what a drill says: the image of then, and each broker in turn that dies too.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from model.analyses import analysis
from model.analyses.analysis import Arrays, Unit
from model.analyses.drills.results import DrillParameters
from model.analyses.drills.sweep import DRILLS
from model.analyses.errors import AnalysisError
from model.analyses.history.facts import told_by
from model.analyses.history.reading import Scan, scans_of, told_by_rows
from model.analyses.history.results import (
    ClusterDay,
    ClusterHistory,
    HistoryParameters,
    HistoryResult,
    WorstDrill,
    histories_of,
    sets_of_day,
)
from model.analyses.history.tables import HistoryTables, arrays_of, merged, tables_of
from model.analyses.image_arrays import arrays_of as image_arrays
from model.analyses.image_arrays import racks_of
from model.recordings.folder import ClusterFolder, RecordingError
from model.recordings.part_file import read_set
from model.recordings.playback import image_at


def with_drill(history: ClusterHistory) -> ClusterHistory:
    """The history, its worst moment drilled. Raises AnalysisError where the recording cannot be read any more."""
    if history.worst is None:
        return history
    folder = ClusterFolder(history.cluster, history.worst.source.rpartition("@")[0])
    drill = _drill(folder, history.worst.at_ms)
    return msgspec.structs.replace(history, worst=msgspec.structs.replace(history.worst, drill=drill))


def _drill(folder: ClusterFolder, at_ms: int) -> WorstDrill:
    try:
        image = image_at(folder, at_ms)
    except RecordingError as error:
        raise AnalysisError(str(error)) from None
    parameters = DrillParameters(kind="brokers", racks=racks_of(image), listed=1, detailed=0)
    try:
        played = analysis.run_here(DRILLS, image_arrays(image), parameters)
    except AnalysisError as error:
        return WorstDrill(0, 0, note=str(error))
    if not played.hurting:
        return WorstDrill(played.scenarios, 0)
    worst = played.listed[0]
    counts = worst.counts
    return WorstDrill(played.scenarios, played.hurting, worst.kill[0], counts.newly_offline, counts.newly_under_min_isr)


class History:
    """The analysis. Workers read the files themselves: the folders have to be where they can see them."""

    name = "history"
    parameters_type = HistoryParameters
    result_type = HistoryTables

    def units(self, arrays: Arrays, parameters: HistoryParameters) -> Sequence[Unit]:
        """Days by the size of their files."""
        return [Unit(number, day.size_bytes) for number, day in enumerate(parameters.days)]

    def kernel(self, units: Sequence[int], arrays: Arrays, parameters: HistoryParameters) -> Arrays:
        """The tables of these days."""
        days = [day_told(parameters.days[unit], parameters.from_ms, parameters.to_ms) for unit in units]
        return arrays_of(merged(days))

    def combine(self, batches: Sequence[Arrays], arrays: Arrays, parameters: HistoryParameters) -> HistoryTables:
        """The tables of all days: what `history_of` tells of, and what can be merged with those of other days."""
        return merged([tables_of(batch) for batch in batches])

    # How Spark reads the files, and what a task does with their rows

    def scans(self, parameters: HistoryParameters, units: Sequence[int] | None = None) -> Sequence[Scan]:
        """The work, as files of about the same size together."""
        if units is None:
            return scans_of(parameters)
        return scans_of(
            msgspec.structs.replace(parameters, days=tuple(parameters.days[unit] for unit in sorted(units)))
        )

    def kernel_of_rows(self, scan: Scan, batches: Iterable[Any], parameters: HistoryParameters) -> Arrays:
        """The tables of a scan's rows."""
        return arrays_of(told_by_rows(scan, batches, parameters.from_ms, parameters.to_ms))


HISTORY = History()


def day_told(day: ClusterDay, from_ms: int, to_ms: int) -> HistoryTables:
    """What a day's files tell. Raises AnalysisError."""
    try:
        sets = [whole for whole in sets_of_day(day) if whole.from_ms < to_ms]
        return merged([told_by(whole.parts[0].path, read_set(whole), from_ms, to_ms) for whole in sets])
    except RecordingError as error:
        raise AnalysisError(str(error)) from None


def history_of(tables: HistoryTables, parameters: HistoryParameters) -> HistoryResult:
    """What the tables tell of each cluster; with a drill where one is wanted. Raises AnalysisError."""
    found = histories_of(tables, sorted({(day.cluster, day.path) for day in parameters.days}))
    return HistoryResult(tuple(map(with_drill, found)) if parameters.drills else tuple(found))
