"""What is read: a file, or bytes in memory. Reads happen in pieces, so no file is ever in memory as a whole.

Files are read by position rather than mapped: a mapped file that another process cuts ends the reader by a signal.
"""

import errno
import os
import stat
from types import TracebackType
from typing import Protocol, Self

from model.log.records.batch import Buffer


class Source(Protocol):
    """Bytes at positions."""

    @property
    def size(self) -> int:
        """Bytes there are to read."""
        ...

    def read(self, position: int, size: int) -> Buffer:
        """At most `size` bytes from `position` on; fewer only where the source ends."""
        ...


class SegmentFile:
    """A file, open to be read only. Its size is the one at opening: what a broker appends later is not seen.

    Raises OSError when opened or read, and for what is no regular file.
    """

    def __init__(self, path: os.PathLike[str] | str) -> None:
        self._descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)  # or a pipe would hold us up
        status = os.fstat(self._descriptor)
        if not stat.S_ISREG(status.st_mode):
            self.close()
            raise OSError(errno.EINVAL, "not a regular file", str(path))
        self.size = status.st_size

    def read(self, position: int, size: int) -> bytes:
        """At most `size` bytes from `position` on; fewer where the file ends or was cut meanwhile."""
        return os.pread(self._descriptor, max(min(size, self.size - position), 0), position)

    def next_data(self, position: int) -> int:
        """The first position from there on that lies in no hole; the size where only a hole follows."""
        try:
            return os.lseek(self._descriptor, position, os.SEEK_DATA)
        except OSError as error:
            return self.size if error.errno == errno.ENXIO else position  # not each file system tells

    def close(self) -> None:
        """Gives the file back."""
        os.close(self._descriptor)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class InMemory:
    """Bytes in memory; nothing is copied."""

    def __init__(self, data: Buffer) -> None:
        self._view = memoryview(data)
        self.size = len(self._view)

    def read(self, position: int, size: int) -> memoryview:
        """A view on at most `size` bytes from `position` on."""
        return self._view[position : position + size]


def source_of(data: Source | Buffer) -> Source:
    """Bytes as a source; a source as it is."""
    return InMemory(data) if isinstance(data, bytes | bytearray | memoryview) else data
