"""Replaces small files so that a crash leaves the old or the new content, never a mixture."""

import os
from pathlib import Path


def fsync_folder(folder: Path) -> None:
    """Makes renames, creations and deletions in `folder` outlast a power cut."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_durably(path: Path, data: bytes, *, fsync: bool = True) -> None:
    """Writes `path.tmp` and renames it to `path`, as Kafka's CheckpointFile does.

    Without `fsync` the content outlasts the end of this process, but not that of the machine.
    """
    temporary = path.with_name(path.name + ".tmp")
    with temporary.open("wb") as file:
        file.write(data)
        file.flush()
        if fsync:
            os.fsync(file.fileno())
    temporary.replace(path)
    if fsync:
        fsync_folder(path.parent)
