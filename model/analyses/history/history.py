"""History as an analysis: a unit is a day of a cluster, and what comes of it are tables that can be put together.

Spark reads the files itself: what a scan says, and no more. A task has whole sets, as many as come to some megabytes,
so that no worker ever holds more; which files are a set's, and until when it holds, their names and footers say. Of a
cluster's worst moment it says what a drill says: the image of then, and each broker in turn that dies too.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from os.path import basename
from pathlib import Path
from typing import Any

import msgspec

from model.analyses import AnalysisError, analysis
from model.analyses.analysis import Arrays, Unit, Wave, stretches
from model.analyses.drills.results import DrillParameters
from model.analyses.drills.sweep import DRILLS
from model.analyses.history.facts import KINDS, told_by
from model.analyses.history.results import (
    FOREVER_MS,
    PART_BYTES,
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
from model.recordings.folder import ClusterFolder, PartSet, RecordingError
from model.recordings.format import REBALANCED
from model.recordings.part_file import COLUMNS, Rows, check_part, read_header, read_set, rows_by_file, set_of
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


FILE = "file_name"
"""The column with the name of the file that a row is from."""


class HistoryTask(msgspec.Struct, frozen=True, kw_only=True):
    """What one task reads of these files of a cluster's folder: `columns` of the rows that are of one of `kinds`, and
    earlier than `before_ms` or of the kind `whenever`."""

    cluster: str
    path: str
    days: tuple[str, ...]
    sets: tuple[PartSet, ...]
    before_ms: int
    columns: tuple[str, ...] = COLUMNS
    kinds: tuple[str, ...] = KINDS
    whenever: str = REBALANCED
    """They are told later than they happened."""

    @property
    def is_limited(self) -> bool:
        """Whether any row may be too late."""
        return self.before_ms < FOREVER_MS

    @property
    def files(self) -> tuple[str, ...]:
        """Their names."""
        return tuple(basename(part.path) for whole in self.sets for part in whole.parts)

    def check(self) -> "HistoryTask":
        """The same, once no file claims more than it may. Raises AnalysisError."""
        try:
            for whole in self.sets:
                for part in whole.parts:
                    check_part(Path(part.path))
        except RecordingError as error:
            raise AnalysisError(str(error)) from None
        return self


def scans_of(parameters: HistoryParameters) -> Sequence[HistoryTask]:
    """All of them, by cluster and time. Raises AnalysisError."""
    found: list[HistoryTask] = []
    try:
        for day in parameters.days:
            for whole in sets_of_day(day):
                if whole.from_ms >= parameters.to_ms:
                    continue
                _put(
                    found,
                    HistoryTask(
                        cluster=day.cluster, path=day.path, days=(day.day,), sets=(whole,), before_ms=parameters.to_ms
                    ),
                )
    except RecordingError as error:
        raise AnalysisError(str(error)) from None
    return found


def _put(found: list[HistoryTask], scan: HistoryTask) -> None:
    last = found[-1] if found else None
    if last is None or last.path != scan.path or _size(last) + _size(scan) > PART_BYTES:
        found.append(scan)
    else:
        days = tuple(dict.fromkeys((*last.days, *scan.days)))
        found[-1] = msgspec.structs.replace(last, days=days, sets=(*last.sets, *scan.sets))


def _size(scan: HistoryTask) -> int:
    return sum(Path(part.path).stat().st_size for whole in scan.sets for part in whole.parts)


def told_by_rows(scan: HistoryTask, batches: Iterable[Any], from_ms: int, to_ms: int) -> HistoryTables:
    """What rows tell that came by file, as Arrow's record batches. Raises AnalysisError."""
    by_file = rows_by_file(batches, FILE)
    try:
        return merged([_told(whole, by_file, from_ms, to_ms) for whole in scan.sets])
    except RecordingError as error:
        raise AnalysisError(str(error)) from None


def _told(whole: PartSet, by_file: dict[str, Rows], from_ms: int, to_ms: int) -> HistoryTables:
    until_ms = read_header(Path(whole.parts[-1].path)).until_ms
    names = (basename(part.path) for part in whole.parts)
    parts = [by_file.pop(name) for name in names if name in by_file]
    if not parts:
        return HistoryTables()
    return told_by(whole.parts[0].path, set_of(whole.from_ms, until_ms, parts), from_ms, to_ms)


class HistoryAnalysis:
    """The analysis. Workers read the files themselves: the folders have to be where they can see them."""

    name = "history"
    piece_s = 0.1
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

    def scans(self, parameters: HistoryParameters, units: Sequence[int] | None = None) -> Sequence[HistoryTask]:
        """The work, as files of about the same size together."""
        if units is None:
            return scans_of(parameters)
        return scans_of(
            msgspec.structs.replace(parameters, days=tuple(parameters.days[unit] for unit in sorted(units)))
        )

    def kernel_of_rows(self, scan: HistoryTask, batches: Iterable[Any], parameters: HistoryParameters) -> Arrays:
        """The tables of a scan's rows."""
        return arrays_of(told_by_rows(scan, batches, parameters.from_ms, parameters.to_ms))


HISTORY = HistoryAnalysis()


def waves(parameters: HistoryParameters, most: Callable[[], float]) -> Iterator[Wave]:
    """Days of as many bytes as `most()`, the newest first."""
    days = sorted(parameters.days, key=lambda day: (day.day, day.first_set, day.cluster), reverse=True)
    for some, size, left in stretches([day.size_bytes for day in days], most):
        yield Wave(msgspec.structs.replace(parameters, days=tuple(days[some.start : some.stop])), size, left)


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
