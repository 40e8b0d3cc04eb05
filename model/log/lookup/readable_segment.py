"""The segments of a folder as they lie there now, open to be read only."""

from dataclasses import dataclass
from pathlib import Path
from struct import Struct

from model.cluster.whole_file import MOST_FACTS, read_whole
from model.log.indexes.entries import OFFSET_ENTRY, TIME_ENTRY, written_entries
from model.log.names import INDEX, LOG, TIME_INDEX, NumberedFile, numbered_file
from model.log.records import SegmentFile


@dataclass(frozen=True)
class ReadableSegment:
    """One segment; its indexes are read when they are asked for."""

    folder: Path
    base_offset: int

    def path(self, kind: str) -> Path:
        """The file of a kind, which may not exist."""
        return self.folder / str(NumberedFile(self.base_offset, kind))

    def open_log(self) -> SegmentFile:
        """The log as long as it is now. Raises OSError; FileNotFoundError when retention was quicker."""
        return SegmentFile(self.path(LOG))

    def offset_entries(self) -> bytes:
        """What is written of the offset index, without the zeros of an active one; empty without such a file."""
        return _written(self.path(INDEX), OFFSET_ENTRY)

    def time_entries(self) -> bytes:
        """What is written of the time index."""
        return _written(self.path(TIME_INDEX), TIME_ENTRY)


def readable_segments(folder: Path) -> list[ReadableSegment]:
    """The segments of a partition's folder by base offset. Raises OSError when the folder can't be read."""
    files = (numbered_file(path.name) for path in folder.iterdir())
    bases = sorted(file.offset for file in files if file and file.kind == LOG and not file.suffix)
    return [ReadableSegment(folder, base) for base in bases]


def _written(path: Path, entry: Struct) -> bytes:
    try:
        data = read_whole(path, MOST_FACTS, only_file=True)
    except FileNotFoundError:
        return b""
    return data[: written_entries(data, entry) * entry.size]
