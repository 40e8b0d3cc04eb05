"""A disk that fills up, for drills: appends beyond a number of bytes fail as on a full disk.

The number stands in `log.dir.bytes.limit` in `kdrill.fault.folder`, and may come and go while the broker runs.
"""

import errno
import os
import time
from collections.abc import Callable
from pathlib import Path

from model.broker.settings.fault_keys import LOG_DIR_LIMIT_FILE

LOOK_EVERY_S = 0.5


class SpaceLimit:
    """`used` counts the bytes of all logs; it is asked when a limit is set, and what is appended is added."""

    def __init__(self, folder: str | None, used: Callable[[], int]) -> None:
        self._file = None if folder is None else Path(folder) / LOG_DIR_LIMIT_FILE
        self._used = used
        self._look_at_s = 0.0
        self._modified_ns: int | None = None
        self._left: int | None = None

    def take(self, count: int) -> None:
        """Before so many bytes are written. Raises OSError ENOSPC where they do not fit."""
        if self._file is None:
            return
        if time.monotonic() >= self._look_at_s:
            self._look_at_s = time.monotonic() + LOOK_EVERY_S
            self._look(self._file)
        if self._left is None:
            return
        if count > self._left:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self._left -= count

    def _look(self, file: Path) -> None:
        try:
            modified_ns = file.stat().st_mtime_ns
            if modified_ns != self._modified_ns:
                self._left = int(file.read_text()) - self._used()
                self._modified_ns = modified_ns
        except (OSError, ValueError):
            self._modified_ns = self._left = None
