"""No room for files beyond a size, as on a full disk, for whoever has no right to mount a small one."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def room_in(file: Path, bytes_left: int) -> Iterator[None]:
    """So many more bytes can be written into the file by this process and its children, or into another as long."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (file.stat().st_size + bytes_left, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
