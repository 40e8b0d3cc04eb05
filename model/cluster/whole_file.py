"""Files that are written whole or not at all. Knows no document."""

import contextlib
import os
from pathlib import Path


def write_whole(path: Path, data: bytes) -> None:
    """Beside the file first, under another name, so that the file is the old one or the new one at any moment.

    Where a link leads is written to, and a pipe or a device as it is. Raises OSError.
    """
    if path.exists() and not path.is_file():
        path.write_bytes(data)
        return
    path = path.resolve()
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with beside.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    finally:
        with contextlib.suppress(OSError):
            beside.unlink(missing_ok=True)


def write_new(path: Path, text: str) -> None:
    """In UTF-8; nothing is there where it fails. Raises OSError, FileExistsError where something is there already."""
    with path.open("x", encoding="utf-8") as file:
        try:
            file.write(text)
            file.flush()
        except OSError:
            path.unlink()
            raise
