"""Files that are no part of a log any more: renamed at once, removed after file.delete.delay.ms.

Readers that have them open, here or in another program that copies the folder, get to their end.
"""

from collections.abc import Iterable
from pathlib import Path

from model.log.names import DELETED


class DoomedFiles:
    """Files called `.deleted` and when each may go. What is still there when a process ends goes at the next start."""

    def __init__(self) -> None:
        self._due: list[tuple[int, Path]] = []

    def doom(self, paths: Iterable[Path], due_ms: int) -> None:
        """Renames files; they may be removed from `due_ms` on."""
        for path in paths:
            target = path.with_name(path.name + DELETED)
            path.replace(target)
            self._due.append((due_ms, target))

    def remove_due(self, now_ms: int) -> list[Path]:
        """Removes those whose time has come, and says which."""
        gone = [path for due_ms, path in self._due if due_ms <= now_ms]
        self._due = [(due_ms, path) for due_ms, path in self._due if due_ms > now_ms]
        for path in gone:
            path.unlink(missing_ok=True)
        return gone
