"""A folder in which kernels of `sums` wait, seen from the test."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.harness.waiting import eventually

DEADLINE_S = 120.0


class HeldJob:
    """In an empty folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def workers(self, units: int = 1) -> dict[int, int]:
        """Waits until so many units wait; the process of each."""
        waiting = eventually(lambda: self._waiting(units), f"{units} units to be reached", DEADLINE_S)
        return {int(unit): int(pid) for _, unit, pid in waiting}

    def _waiting(self, units: int) -> list[list[str]]:
        found = [file.name.split("-") for file in self.folder.glob("at-*")]
        return found if len(found) >= units else []

    def let_go(self, unit: int | None = None) -> None:
        """One unit, or all."""
        (self.folder / ("go" if unit is None else f"go-{unit}")).touch()


def parent_of(pid: int) -> int:
    """The process that started it."""
    return int(subprocess.run(["ps", "-o", "ppid=", "-p", str(pid)], capture_output=True, check=True).stdout)
