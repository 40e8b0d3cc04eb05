"""A cached archive of the classes a server loads (Java's AppCDS), which shortens its start by a third.

Only a convenience: when anything about it fails, the server starts without it. One archive per Java and set of jars.
It does not run Java itself: the caller trains it (`build`).
"""

import fcntl
import hashlib
import os
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from model.sandbox.java import Java

UNUSED_AFTER_S = 60 * 24 * 3600


@dataclass(frozen=True)
class ClassArchive:
    """The place of one archive, whether it is there yet or not."""

    path: Path

    @classmethod
    def of(cls, java: Java, jars: Sequence[Path], folder: Path, server: str = "zookeeper") -> "ClassArchive":
        """Named by what it depends on: Java checks the jars' paths, sizes and times, and its own build."""
        told = [str(java.program.resolve()), java.version]
        for jar in jars:
            status = jar.stat()
            told += [str(jar), str(status.st_size), str(status.st_mtime_ns)]
        digest = hashlib.blake2b("\n".join(told).encode(errors="surrogateescape"), digest_size=8)
        return cls(folder / f"{server}-{digest.hexdigest()}.jsa")

    def is_built(self) -> bool:
        return self.path.exists()

    def flags(self) -> list[str]:
        """Java's flags to use the archive: none when it is absent. Java checks its sums and ignores a damaged one."""
        if not self.is_built():
            return []
        with suppress(OSError):
            os.utime(self.path)
        return [f"-XX:SharedArchiveFile={self.path}", "-XX:+VerifySharedSpaces"]

    def discard(self) -> None:
        """Remove an archive that did harm; the next start builds another."""
        with suppress(OSError):
            self.path.unlink(missing_ok=True)

    def build(self, train: Callable[[Path], None]) -> bool:
        """Whether the archive is there now. Raises nothing: False when another process builds it or it can't be built.

        `train` runs the server once with `-XX:ArchiveClassesAtExit` on the path it is given.
        """
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.with_suffix(".lock").open("w") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if not self.is_built():
                    self._remove_unused()
                    part = self.path.with_suffix(".part")
                    part.unlink(missing_ok=True)
                    train(part)
                    part.rename(self.path)
        except Exception:  # a cache must not stop what it serves
            return False
        return True

    def _remove_unused(self) -> None:
        oldest = time.time() - UNUSED_AFTER_S
        for file in self.path.parent.glob(f"{self.path.stem.partition('-')[0]}-*"):
            if file.stat().st_mtime < oldest:
                file.unlink()
