"""Writes the moment looked at as a snapshot file, and says so in one line."""

from collections.abc import Callable
from pathlib import Path

from model.cluster.snapshot_file import SnapshotError, write_snapshot
from model.sources.feed import Moment
from tui.data.pages.ages import clock_text

SNAPSHOT = "snapshot"
"""The verb of the wish."""


def saved(moment: Moment, at_ms: int, name: str, ended: Callable[[], bool]) -> str:
    """What was written where, or why nothing was. No file is replaced; ended while it was written, none is left."""
    if not moment.image.provenance.complete:
        return "nothing was read yet: there is nothing to save"
    try:
        path = Path(name).expanduser()
        if path.exists():
            return f"{path} exists already: choose another name"
        write_snapshot(path, moment.image, moment.findings.found)
        if ended():
            path.unlink()
            return f"{path}: stopped, nothing is saved"
    except (SnapshotError, RuntimeError, ValueError, OSError) as error:
        return str(error).splitlines()[0]
    return f"{path}: the cluster at {clock_text(at_ms)}, {path.stat().st_size:,} bytes"
