"""Snapshots of the metadata log on disk: `<offset>-<epoch>.checkpoint`, each whole or not there.

While one is written, or read from the leader, it has another name, and is forgotten if the process ends meanwhile.
Source: `org.apache.kafka.snapshot.Snapshots`, `FileRawSnapshotWriter` (4.3).
"""

import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from model.cluster.whole_file import read_whole
from model.hosts.quorum.control_batches import snapshot_time, voters_of_snapshot
from model.hosts.wire.names import MalformedError
from model.log.checkpoints import fsync_folder
from model.observer.messages import LogPosition
from model.raft.raft_log import VoterSet
from model.raft.retention import SnapshotFile

_NAME: Final = re.compile(r"(\d{20})-(\d{10})\.checkpoint")
_BEING_READ, _BEING_MADE = ".part", ".made.part"
_AT_ONCE: Final = 1 << 20
_HEAD: Final = 1 << 16
"""Enough for the first batch."""
_MOST: Final = 1 << 30
_READ_ONLY: Final = 0o400


class SnapshotFiles:
    """Those of one folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._asked_ms: dict[LogPosition, int] = {}

    def forget_parts(self) -> None:
        """Whatever did not get its name before the process ended."""
        for left in self._folder.glob(f"*.checkpoint*{_BEING_READ}"):
            left.unlink()

    def ids(self) -> tuple[LogPosition, ...]:
        """Of the whole ones, ascending."""
        named = (_NAME.fullmatch(path.name) for path in self._folder.iterdir())
        return tuple(sorted(LogPosition(int(each[1]), int(each[2])) for each in named if each is not None))

    def files(self) -> tuple[SnapshotFile, ...]:
        """As they lie on disk, ascending."""
        return tuple(self._file(each) for each in self.ids())

    def _file(self, snapshot: LogPosition) -> SnapshotFile:
        with self.path(snapshot).open("rb") as file:
            size, asked_ms = os.fstat(file.fileno()).st_size, self._asked_ms.get(snapshot)
            return SnapshotFile(snapshot, size, snapshot_time(file.read(_HEAD)), asked_ms)

    def path(self, snapshot: LogPosition) -> Path:
        return self._folder / f"{snapshot.offset:020d}-{snapshot.epoch:010d}.checkpoint"

    def asked_for(self, snapshot: LogPosition, now_ms: int) -> None:
        """A follower is told to read it, or reads it."""
        self._asked_ms[snapshot] = now_ms

    def piece(self, snapshot: LogPosition, position: int) -> tuple[int, bytes]:
        """Its size, and bytes of it from `position` on."""
        with self.path(snapshot).open("rb") as file:
            file.seek(position)
            return os.fstat(file.fileno()).st_size, file.read(_AT_ONCE)

    def whole(self, snapshot: LogPosition) -> bytes:
        """All of it."""
        return read_whole(self.path(snapshot), _MOST)

    def voters(self, snapshot: LogPosition) -> VoterSet | None:
        """Who votes by it; None where it does not say. Raises MalformedError for one that is not whole."""
        return voters_of_snapshot(self.whole(snapshot))

    # What is written is on disk when the call returns.

    def write(self, snapshot: LogPosition, parts: Iterable[bytes]) -> None:
        """A whole one; a thread may do it beside everything else."""
        path = self.path(snapshot)
        part = path.with_name(f"{path.name}{_BEING_MADE}")
        with part.open("wb") as file:
            file.writelines(parts)
            file.flush()
            os.fsync(file.fileno())
        self._name(part, path)

    def store(self, snapshot: LogPosition, position: int, data: bytes, *, is_last: bool) -> None:
        """A piece of one that is being read from the leader; with the last it gets its name.

        Raises MalformedError where that is no whole snapshot; it is forgotten then.
        """
        path = self.path(snapshot)
        part = path.with_name(f"{path.name}{_BEING_READ}")
        with part.open("r+b" if position else "wb") as file:
            file.seek(position)
            file.write(data)
            file.truncate()
            if is_last:
                file.flush()
                os.fsync(file.fileno())
        if is_last:
            try:
                voters_of_snapshot(read_whole(part, _MOST))
            except MalformedError:
                part.unlink()
                raise
            self._name(part, path)

    def _name(self, part: Path, path: Path) -> None:
        part.chmod(_READ_ONLY)
        part.replace(path)
        fsync_folder(self._folder)

    def delete_before(self, snapshot: LogPosition) -> None:
        """Older ones."""
        for older in self.ids():
            if older < snapshot:
                self.path(older).unlink()
                self._asked_ms.pop(older, None)
