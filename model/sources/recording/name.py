"""`DIR` and `DIR@TIME`: what names a recording, and a moment in it. Opens nothing."""

import os
from pathlib import Path

import msgspec

from model.recordings.times import parse_time, said
from model.sources.source import SourceError


class RecordingName(msgspec.Struct, frozen=True):
    """A recording's folder, or one cluster's folder in it; `at_ms` None: its end."""

    path: Path
    at_ms: int | None = None

    def __str__(self) -> str:
        if self.at_ms is None:
            return str(self.path)
        return f"{self.path}@{said(self.at_ms)}"


def parse_recording(name: str) -> RecordingName | None:
    """A folder, or a folder and a time; None where the name is neither. Raises SourceError for what is no time."""
    if os.path.isdir(name):
        return RecordingName(Path(name))
    folder, at, time = name.rpartition("@")
    if not at or not os.path.isdir(folder) or os.path.lexists(name):
        return None
    try:
        return RecordingName(Path(folder), parse_time(time))
    except (ValueError, OverflowError):
        raise SourceError(f"{name!r}: {time!r} is no time: write {folder}@2026-11-20T12:03:58Z") from None
