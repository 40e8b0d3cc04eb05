"""History as an analysis: a unit is a day of a cluster, and what comes of it are tables that can be put together.

Of a cluster's worst moment it says what a drill says: the image of then, and each broker in turn that dies too.
"""

from collections.abc import Sequence

import msgspec
import numpy as np

from model.analyses import analysis
from model.analyses.analysis import Arrays, Unit
from model.analyses.drills.results import DrillParameters
from model.analyses.drills.sweep import DRILLS
from model.analyses.errors import AnalysisError
from model.analyses.history.facts import NAMED, WIDTHS, Facts, facts_of_sets
from model.analyses.history.results import (
    ClusterHistory,
    HistoryParameters,
    HistoryResult,
    WorstDrill,
    folder_of,
    histories_of,
)
from model.analyses.image_arrays import arrays_of, racks_of
from model.recordings.folder import ClusterFolder, RecordingError
from model.recordings.part_file import Numbers, SetColumns
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
        played = analysis.run_here(DRILLS, arrays_of(image), parameters)
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
    result_type = HistoryResult

    def units(self, arrays: Arrays, parameters: HistoryParameters) -> Sequence[Unit]:
        """Days by the size of their files."""
        return [Unit(number, day.size_bytes) for number, day in enumerate(parameters.days)]

    def kernel(self, units: Sequence[int], arrays: Arrays, parameters: HistoryParameters) -> Arrays:
        """The tables of `WIDTHS`, each with the number of the cluster's folder before it, and the names as JSON."""
        gathered, clusters = _Gathered(), clusters_of(parameters)
        for day in (parameters.days[unit] for unit in units):
            cluster = clusters.index((day.cluster, day.path))
            try:
                for of, facts in facts_of_sets(folder_of(day).sets([day.day]), parameters.from_ms, parameters.to_ms):
                    gathered.add(cluster, of, facts)
            except RecordingError as error:
                raise AnalysisError(str(error)) from None
        return gathered.arrays()

    def combine(self, batches: Sequence[Arrays], arrays: Arrays, parameters: HistoryParameters) -> HistoryResult:
        """Outages that touch are one, whichever day, set or batch they come from."""
        clusters = clusters_of(parameters)
        found = histories_of(batches, clusters)
        return HistoryResult(tuple(map(with_drill, found)) if parameters.drills else tuple(found))


HISTORY = History()


def clusters_of(parameters: HistoryParameters) -> list[tuple[str, str]]:
    """(name, folder) of each cluster, in order."""
    return sorted({(day.cluster, day.path) for day in parameters.days})


class _Gathered:
    """Tables of many sets; names get numbers that hold for all of them."""

    def __init__(self) -> None:
        self._tables: dict[str, list[Numbers]] = {
            name: [np.empty((0, 1 + width), np.int64)] for name, width in WIDTHS.items()
        }
        self._numbers: dict[str, int] = {}

    def add(self, cluster: int, of: SetColumns, facts: Facts) -> None:
        """What one set tells, its cluster's number put before."""
        for table, rows in facts.items():
            if table in NAMED and len(rows):
                names: Sequence[str] = getattr(of, NAMED[table])
                numbers = np.array([self._numbers.setdefault(name, len(self._numbers)) for name in names])
                rows = np.column_stack([numbers[rows[:, 0]], rows[:, 1:]])  # noqa: PLW2901 - the same rows
            self._tables[table].append(np.column_stack([np.full(len(rows), cluster), rows]))

    def arrays(self) -> Arrays:
        names = np.frombuffer(msgspec.json.encode(list(self._numbers)), np.uint8)
        return {"names": names, **{name: np.concatenate(tables) for name, tables in self._tables.items()}}
