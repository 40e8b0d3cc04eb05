"""What znodes were: the values seen of each, oldest first, within bounds.

Kept without secrets: what is hidden on a screen is not here either. It reads nothing, and has one caller at a time.
"""

from collections import OrderedDict
from collections.abc import Sequence

import msgspec

from model.znodes.secrets import redact

PATH_VERSIONS = 64
"""Values kept of one path."""

PATH_BYTES = 2 * 1024 * 1024
"""Bytes kept of one path; the newest value is kept whatever its size."""

TOTAL_BYTES = 16 * 1024 * 1024
"""Bytes kept of all paths together."""

OVERHEAD_BYTES = 256
"""What a value is counted for besides its data."""


class Version(msgspec.Struct, frozen=True, gc=False):
    """A value of a znode. `at_ms` is when it was written, or when it was noticed that the znode is gone.

    `data` is None where it is gone; then the other numbers are those of the value before.
    """

    at_ms: int
    version: int
    """ZooKeeper's data version: grows by one with every write, and begins at 0."""
    mzxid: int
    czxid: int
    data: bytes | None

    @property
    def is_created(self) -> bool:
        """Whether the transaction that wrote this value created the znode."""
        return self.data is not None and self.mzxid == self.czxid

    @property
    def size(self) -> int:
        """What it is counted for, in bytes."""
        return OVERHEAD_BYTES + len(self.data or b"")


class ZnodeHistory:
    """Values by path. Where the bound in all is reached, the path that changed longest ago loses its oldest value."""

    def __init__(self, total_bytes: int = TOTAL_BYTES) -> None:
        self._total_bytes = total_bytes
        self._bytes = 0
        self._kept: OrderedDict[str, tuple[Version, ...]] = OrderedDict()

    def of(self, path: str) -> tuple[Version, ...]:
        """The values of a znode, oldest first; none where none was seen, or all had to make room."""
        return self._kept.get(path, ())

    @property
    def bytes(self) -> int:
        """What all values are counted for; never above the bound."""
        return self._bytes

    def has_room(self, path: str, data_bytes: int) -> bool:
        """Whether the next value of this path is the next of some, or pushes nothing out."""
        return path in self._kept or self._bytes + OVERHEAD_BYTES + data_bytes <= self._total_bytes

    def worth_seeing(self, paths: Sequence[str]) -> Sequence[int]:
        """Which of many paths, that only stand there, may have room: all, or in the end those that are known."""
        if self._bytes + OVERHEAD_BYTES + self._total_bytes // 64 <= self._total_bytes:
            return range(len(paths))
        return [row for row, path in enumerate(paths) if path in self._kept]

    def see(self, path: str, version: Version) -> None:
        """A value that is news, or was seen before, or is older than what is known; the last two change nothing."""
        kept = self._kept.get(path, ())
        if kept and version.mzxid <= kept[-1].mzxid:
            return
        self._append(path, kept, msgspec.structs.replace(version, data=redact(path, version.data or b"")))

    def miss(self, path: str, at_ms: int) -> None:
        """The znode is gone; nothing where nothing was known of it."""
        kept = self._kept.get(path, ())
        if kept and kept[-1].data is not None:
            self._append(path, kept, msgspec.structs.replace(kept[-1], at_ms=at_ms, data=None))

    def forget(self) -> None:
        """All of it: what comes is of another cluster, or of another life of this one."""
        self._kept.clear()
        self._bytes = 0

    def _append(self, path: str, kept: tuple[Version, ...], version: Version) -> None:
        self._kept[path] = (*kept, version)
        self._kept.move_to_end(path)
        self._bytes += version.size
        of_path = sum(one.size for one in self._kept[path])
        while len(self._kept[path]) > PATH_VERSIONS or (of_path > PATH_BYTES and len(self._kept[path]) > 1):
            of_path -= self._drop_oldest(path)
        while self._bytes > self._total_bytes:
            self._drop_oldest(next(iter(self._kept)))

    def _drop_oldest(self, path: str) -> int:
        first, *rest = self._kept[path]
        self._bytes -= first.size
        if rest:
            self._kept[path] = tuple(rest)
        else:
            del self._kept[path]
        return first.size
