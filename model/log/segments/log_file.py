"""The .log file of a segment: appended at its end, read by position. It knows nothing of what is in it."""

import os
from io import FileIO
from pathlib import Path


class LogFile:
    """A file of batches, opened at first use. `size` is in bytes, without the zeros of a preallocated file."""

    def __init__(self, path: Path) -> None:
        """A file that exists is taken as it is, to its end."""
        self.path = path
        self.size = path.stat().st_size if path.exists() else 0
        self._file: FileIO | None = None

    def append(self, data: bytes | bytearray | memoryview) -> int:
        """Adds bytes and returns their position. Raises OSError when the disk takes them not; then none are there."""
        position = self.size
        descriptor = self._open()
        try:
            written = 0
            while written < len(data):
                written += os.pwrite(descriptor, memoryview(data)[written:], position + written)
        except OSError:
            os.ftruncate(descriptor, position)
            raise
        self.size += len(data)
        return position

    def read(self, position: int, size: int) -> bytes:
        """At most `size` bytes from `position` on; fewer where the file ends."""
        size = min(size, self.size - position)
        return os.pread(self._open(), size, position) if size > 0 else b""

    def truncate(self, size: int) -> None:
        """Cuts the file; what lay behind is gone."""
        os.ftruncate(self._open(), size)
        self.size = size

    def preallocate(self, size: int) -> None:
        """Lets the file take `size` bytes at least, zeros behind its content."""
        os.ftruncate(self._open(), max(size, self.size))

    def create(self) -> None:
        """Makes an empty file if there is none. Nothing else does: a file that was renamed does not come back."""
        self.path.touch()

    def flush(self) -> None:
        """Makes everything appended so far outlast a power cut."""
        os.fsync(self._open())

    def close(self) -> None:
        """Lets the file go; it is opened again at need."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _open(self) -> int:
        if self._file is None:
            self._file = FileIO(self.path, "r+")
        return self._file.fileno()
