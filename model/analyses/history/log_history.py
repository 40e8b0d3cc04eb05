"""The history of a KRaft node's metadata log as an analysis: a unit is a stretch of the log, and tables come of it.

Workers read the log themselves, so its folder has to be where they can see it. What all records before a stretch made
of the cluster is an array, so that each begins where its stretch does: it records that into a folder of its own, which
is gone once it was read. The tables are those of a recording of the whole log, which is nowhere.
"""

import contextlib
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from model.analyses import AnalysisError
from model.analyses.analysis import Arrays, Unit
from model.analyses.history.history import day_told, with_drill
from model.analyses.history.results import HistoryResult, histories_of, parameters_of
from model.analyses.history.tables import HistoryTables, arrays_of, merged, tables_of
from model.recordings.folder import RecordingError, cluster_path
from model.sources.metadata_log.log_files import ALL, MetadataLog, Until
from model.sources.metadata_log.recorded import ALL_BYTES, STRETCH_BYTES, StretchToRecord, record_stretch
from model.sources.metadata_log.snapshots import MetadataLogError
from model.sources.metadata_log.stretches import LogStretch, stretches


class LogParameters(msgspec.Struct, frozen=True):
    """Which log, in which stretches, and the time within it: from `from_ms` to before `to_ms`."""

    log: str
    """The folder."""
    cluster: str
    size_bytes: int
    """Of all stretches together."""
    stretches: tuple[LogStretch, ...]
    """Without what was before each: that is an array, named by its number."""
    from_ms: int
    to_ms: int


class CutLog(msgspec.Struct, frozen=True):
    """A log's stretches, and what its reading met, a line each."""

    parameters: LogParameters
    arrays: Arrays
    remarks: tuple[str, ...]


def cut(
    log: Path, kept: Path, from_ms: int, to_ms: int, *, until: Until = ALL, stretch_bytes: int = STRETCH_BYTES
) -> CutLog:
    """Walks through it once. `kept`: a folder for what was before each stretch, as large as the cluster each time.

    Raises RecordingError.
    """
    found: list[LogStretch] = []
    arrays: dict[str, NDArray[np.generic]] = {}
    try:
        whole = MetadataLog(log, whole_bytes=ALL_BYTES)
        for each in stretches(whole, stretch_bytes, until):
            found.append(msgspec.structs.replace(each, since=b""))
            if each.since:
                file = kept / f"since-{each.number}"
                file.write_bytes(each.since)
                arrays[str(each.number)] = np.memmap(file, np.uint8, "r")
    except MetadataLogError as error:
        raise RecordingError(str(error)) from None
    except OSError as error:
        raise RecordingError(f"{kept}: cannot be written: {error.strerror or error}") from None
    cluster = whole.cluster_id or log.resolve().parent.name
    parameters = LogParameters(str(log.absolute()), cluster, whole.size, tuple(found), from_ms, to_ms)
    return CutLog(parameters, arrays, tuple(whole.remarks))


def _order(number: int, folder: Path, arrays: Arrays, parameters: LogParameters) -> StretchToRecord:
    stretch = parameters.stretches[number]
    since = arrays[str(number)].tobytes() if number else b""
    whole = msgspec.structs.replace(stretch, since=since)
    return StretchToRecord(Path(parameters.log), folder, parameters.cluster, whole)


class LogHistoryAnalysis:
    """The analysis."""

    name = "log-history"
    parameters_type = LogParameters
    result_type = HistoryTables

    def units(self, arrays: Arrays, parameters: LogParameters) -> Sequence[Unit]:
        """Stretches, which are of about the same size."""
        cost = parameters.size_bytes / len(parameters.stretches)
        return [Unit(number, cost) for number in range(len(parameters.stretches))]

    def kernel(self, units: Sequence[int], arrays: Arrays, parameters: LogParameters) -> Arrays:
        """The tables of these stretches."""
        return arrays_of(merged([_told(unit, arrays, parameters) for unit in units]))

    def combine(self, batches: Sequence[Arrays], arrays: Arrays, parameters: LogParameters) -> HistoryTables:
        """The tables of the log."""
        return merged([tables_of(batch) for batch in batches])


LOG_HISTORY: Final = LogHistoryAnalysis()


def _told(number: int, arrays: Arrays, parameters: LogParameters) -> HistoryTables:
    """Raises AnalysisError."""
    with TemporaryDirectory(prefix="kdrill-stretch-") as place:
        folder = Path(place)
        try:
            if not record_stretch(_order(number, folder, arrays, parameters)):
                return HistoryTables()
            days = parameters_of([folder]).days
        except (MetadataLogError, RecordingError) as error:
            raise AnalysisError(f"{parameters.log}: {error}") from None
        tables = merged([day_told(day, parameters.from_ms, parameters.to_ms) for day in days])
        own = str(cluster_path(folder, parameters.cluster))
    names = tuple(parameters.log if name == own else name for name in tables.names)
    return msgspec.structs.replace(tables, names=names)


def log_history_of(tables: HistoryTables, arrays: Arrays, parameters: LogParameters, *, drills: bool) -> HistoryResult:
    """What the tables tell, with a drill on the worst moment where one is wanted. Raises AnalysisError."""
    found = next(histories_of(tables, [(parameters.cluster, parameters.log)]), None)
    if found is None:
        raise AnalysisError(f"{parameters.log}: nothing is in the log of that time, or no record has one")
    if not drills or found.worst is None:
        return HistoryResult((found,))
    with TemporaryDirectory(prefix="kdrill-stretch-") as place:
        folder = Path(place)
        number = _stretch_at(found.worst.at_ms, parameters)
        with contextlib.suppress(MetadataLogError, RecordingError):
            record_stretch(_order(number, folder, arrays, parameters))
        recorded = f"{cluster_path(folder, parameters.cluster)}@{found.worst.source.rpartition('@')[2]}"
        there = msgspec.structs.replace(found, worst=msgspec.structs.replace(found.worst, source=recorded))
        drilled = with_drill(there)
    assert drilled.worst is not None
    worst = msgspec.structs.replace(drilled.worst, source=found.worst.source)
    return HistoryResult((msgspec.structs.replace(drilled, worst=worst),))


def _stretch_at(at_ms: int, parameters: LogParameters) -> int:
    for one, after in pairwise(parameters.stretches):
        if at_ms < after.times.at_ms:
            return one.number
    return parameters.stretches[-1].number
