"""How Spark reads a recording: which files, columns and kinds of rows a task gets, and these rows as tables.

A task has whole sets, as many as come to some megabytes, so that no worker ever holds more. Which files are a set's,
and until when it holds, is known before: from their names and footers.
"""

from collections.abc import Iterable, Sequence
from os.path import basename
from pathlib import Path
from typing import Any

import msgspec

from model.analyses.errors import AnalysisError
from model.analyses.history.facts import KINDS, told_by
from model.analyses.history.results import FOREVER_MS, PART_BYTES, HistoryParameters, sets_of_day
from model.analyses.history.tables import HistoryTables, merged
from model.recordings.folder import PartSet, RecordingError
from model.recordings.format import REBALANCED
from model.recordings.part_file import COLUMNS, Rows, check_part, read_header, rows_by_file, set_of

FILE = "file_name"
"""The column with the name of the file that a row is from."""


class Scan(msgspec.Struct, frozen=True, kw_only=True):
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

    def check(self) -> "Scan":
        """The same, once no file claims more than it may. Raises AnalysisError."""
        try:
            for whole in self.sets:
                for part in whole.parts:
                    check_part(Path(part.path))
        except RecordingError as error:
            raise AnalysisError(str(error)) from None
        return self


def scans_of(parameters: HistoryParameters) -> Sequence[Scan]:
    """All of them, by cluster and time. Raises AnalysisError."""
    found: list[Scan] = []
    try:
        for day in parameters.days:
            for whole in sets_of_day(day):
                if whole.from_ms >= parameters.to_ms:
                    continue
                _put(
                    found,
                    Scan(
                        cluster=day.cluster, path=day.path, days=(day.day,), sets=(whole,), before_ms=parameters.to_ms
                    ),
                )
    except RecordingError as error:
        raise AnalysisError(str(error)) from None
    return found


def _put(found: list[Scan], scan: Scan) -> None:
    last = found[-1] if found else None
    if last is None or last.path != scan.path or _size(last) + _size(scan) > PART_BYTES:
        found.append(scan)
    else:
        days = tuple(dict.fromkeys((*last.days, *scan.days)))
        found[-1] = msgspec.structs.replace(last, days=days, sets=(*last.sets, *scan.sets))


def _size(scan: Scan) -> int:
    return sum(Path(part.path).stat().st_size for whole in scan.sets for part in whole.parts)


def told_by_rows(scan: Scan, batches: Iterable[Any], from_ms: int, to_ms: int) -> HistoryTables:
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
