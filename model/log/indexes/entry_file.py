"""A file of entries of one width: kept in memory once read, written through, grown with zeros while it is active.

It knows nothing of what an entry means.
"""

import os
from io import FileIO
from pathlib import Path

from model.cluster.whole_file import MOST_FACTS, read_whole


class EntryFile:
    """An index file. Kafka maps it into memory; here appends are written at their place, which looks the same on disk.

    A file that exists is taken to hold entries to its end: that is so for all but the active segment after a crash,
    whose indexes are rebuilt.
    """

    def __init__(self, path: Path, width: int) -> None:
        """Opens no file yet. `width` is the size of an entry in bytes."""
        self.path = path
        self._width = width
        self._entries: bytearray | None = None
        self._file: FileIO | None = None

    @property
    def entries(self) -> bytearray:
        """All entries; read from disk at first use, without a partial one at the end."""
        if self._entries is None:
            try:
                self._entries = bytearray(read_whole(self.path, MOST_FACTS, only_file=True))
            except FileNotFoundError:
                self._entries = bytearray()
            del self._entries[len(self) * self._width :]
        return self._entries

    def __len__(self) -> int:
        """How many entries there are."""
        if self._entries is not None:
            return len(self._entries) // self._width
        return self.size_on_disk() // self._width

    def size_on_disk(self) -> int:
        """Bytes, the zeros at the end of an active one included; 0 when there is no file."""
        try:
            return self.path.stat().st_size
        except FileNotFoundError:
            return 0

    def ends(self) -> tuple[bytes, bytes]:
        """The first and the last entry on disk, without reading the rest. For a file that is not empty."""
        with self.path.open("rb") as file:
            first = file.read(self._width)
            file.seek((len(self) - 1) * self._width)
            return first, file.read(self._width)

    def append(self, entry: bytes) -> None:
        """Adds one entry."""
        place = len(self.entries)
        os.pwrite(self._open(), entry, place)
        self.entries.extend(entry)

    def truncate(self, count: int) -> None:
        """Keeps the first `count` entries; the file gets as long as they are."""
        del self.entries[count * self._width :]
        self.trim()

    def replace(self, entries: bytes) -> None:
        """Puts other entries in the place of all there are."""
        self._entries = bytearray(entries)
        os.ftruncate(self._open(), 0)
        os.pwrite(self._open(), entries, 0)

    def grow(self, max_bytes: int) -> None:
        """Extends the file by zeros to the most entries that fit into `max_bytes`, for it is active now."""
        size = max(max_bytes // self._width * self._width, len(self.entries))
        os.ftruncate(self._open(), size)

    def trim(self) -> None:
        """Cuts the zeros, for nothing more will be added. Creates the file if there is none."""
        os.ftruncate(self._open(), len(self.entries))

    def flush(self) -> None:
        """Makes the entries outlast a power cut."""
        if self._file is not None or self.path.exists():
            os.fsync(self._open())

    def close(self) -> None:
        """Lets the file go; it is opened again at need. What is in memory is kept no longer."""
        if self._file is not None:
            self._file.close()
        self._file = None
        self._entries = None

    def _open(self) -> int:
        if self._file is None:
            self._file = FileIO(self.path, "r+", opener=_opened_or_made)
        return self._file.fileno()


def _opened_or_made(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_CREAT, 0o644)
