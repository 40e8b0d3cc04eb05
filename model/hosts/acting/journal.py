"""Where a reassignment's state is kept, so that whoever comes after a crash goes on, or brings everything back.

One file a cluster, readable by its owner only and written whole or not at all; it stays when the run has ended, for the
rollback, until the next one takes its place. Who holds the journal may carry out; nobody else does meanwhile.
"""

import fcntl
import hashlib
import os
import re
import tempfile
from itertools import pairwise
from pathlib import Path
from typing import Self

import msgspec

from model.actions.proposal import ActionRefused
from model.actions.reassignment import RunState
from model.cluster.visible_json import visible_json
from model.cluster.whole_file import MOST_FACTS, read_whole
from model.log.durable_file import fsync_folder

FOLDER = "reassignments"


class Kept(msgspec.Struct, frozen=True):
    """The file."""

    format: str
    cluster: str
    state: RunState


FORMAT = "kdrill.reassignment-run/1"


class Journal:
    """Held from `open` to `close`, or to the end of the process, however it ends."""

    def __init__(self, folder: Path, cluster: str) -> None:
        """`cluster` is the cluster's id, or its address where it has none."""
        readable = re.sub(r"\W+", "-", cluster, flags=re.ASCII).strip("-")[-40:]
        name = f"{readable}-{hashlib.sha256(os.fsencode(cluster)).hexdigest()[:12]}"
        self._cluster = cluster
        self.file = folder / FOLDER / f"{name}.json"
        self._lock_file = self.file.with_suffix(".lock")
        self._lock: int | None = None

    def read(self) -> RunState | None:
        """The last run, None where there was none. Raises ActionRefused for a file that cannot be used."""
        try:
            kept = msgspec.json.decode(read_whole(self.file, MOST_FACTS, only_file=True), type=Kept)
        except FileNotFoundError:
            return None
        except (OSError, ValueError, RecursionError) as error:
            raise ActionRefused(f"{self.file} cannot be used: {error}; move it away if no reassignment runs") from None
        if (kept.format, kept.cluster) != (FORMAT, self._cluster):
            raise ActionRefused(f"{self.file} is of another cluster or another kdrill: move it away")
        if not _makes_sense(kept.state):
            raise ActionRefused(f"{self.file} cannot be used: it names batches that are not there; move it away")
        return kept.state

    def open(self) -> Self:
        """Raises ActionRefused while another process holds it."""
        try:
            self.file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            lock = os.open(self._lock_file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise ActionRefused(f"{self._lock_file} cannot be written: {error.strerror or error}") from None
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(lock)
            raise ActionRefused(
                "another kdrill carries out a reassignment of this cluster: end it there first, then go on here"
            ) from None
        self._lock = lock
        return self

    def write(self, state: RunState) -> None:
        """Before the step is done that it is about. Raises ActionRefused."""
        data = visible_json(msgspec.json.encode(Kept(FORMAT, self._cluster, state)))
        try:
            descriptor, beside = tempfile.mkstemp(prefix=".", suffix=".part", dir=self.file.parent)
            try:
                with open(descriptor, "wb") as file:
                    file.write(data)
                    file.flush()
                    os.fsync(file.fileno())
                os.replace(beside, self.file)
                fsync_folder(self.file.parent)
            except OSError:
                os.unlink(beside)
                raise
        except OSError as error:
            raise ActionRefused(f"{self.file} cannot be written: {error.strerror or error}; nothing goes on") from None

    def close(self) -> None:
        """Somebody else may go on."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def __enter__(self) -> Self:
        return self.open()

    def __exit__(self, *_: object) -> None:
        self.close()


def _makes_sense(state: RunState) -> bool:
    ends = state.run.ends
    rise = all(before < end for before, end in pairwise((0, *ends)))
    return rise and 0 <= state.batch < len(ends) and ends[-1] == len(state.run.moves)
