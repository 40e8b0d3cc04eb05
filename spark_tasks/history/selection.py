"""Folders, clusters and times → the days to look at. Lists folders, opens no recording."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from model.recordings.errors import RecordingError
from model.recordings.folder import DAY_MS, ClusterFolder, clusters_in
from spark_tasks.history.results import ClusterDay, HistoryParameters

FOREVER_MS = 2**62


def parameters_of(
    folders: Sequence[Path], clusters: Sequence[str] = (), from_ms: int = 0, to_ms: int = FOREVER_MS
) -> HistoryParameters:
    """The days recorded in these folders, of all clusters or those named. Raises RecordingError where there is none."""
    found = [each for folder in folders for each in clusters_in(folder)]
    unknown = [name for name in clusters if name not in {each.name for each in found}]
    if unknown:
        known = ", ".join(sorted(each.name for each in found))
        raise RecordingError(f"no recording of cluster {unknown[0]!r}; there are: {known}")
    chosen = [each for each in found if not clusters or each.name in clusters]
    days = [
        ClusterDay(each.name, each.path, day, sum(Path(file.path).stat().st_size for file in each.files(day)))
        for each in chosen
        for day in each.days()
        if _begin_ms(day) < to_ms and _begin_ms(day) + DAY_MS > from_ms
    ]
    if not days:
        raise RecordingError(f"{', '.join(map(str, folders))}: nothing is recorded of that time")
    return HistoryParameters(tuple(days), from_ms, to_ms)


def folder_of(day: ClusterDay) -> ClusterFolder:
    """Where a day's files are."""
    return ClusterFolder(day.cluster, day.path)


def _begin_ms(day: str) -> int:
    try:
        return round(datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp() * 1000)
    except ValueError:
        raise RecordingError(f"day={day}: no day of a recording; remove it to read the rest") from None
