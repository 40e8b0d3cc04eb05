"""A folder in which kernels of `sums` wait, seen from the test."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

DEADLINE_S = 120.0


class HeldJob:
    """In an empty folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def workers(self, units: int = 1) -> dict[int, int]:
        """Waits until so many units wait; the process of each."""
        deadline = time.monotonic() + DEADLINE_S
        while len(found := [file.name.split("-") for file in self.folder.glob("at-*")]) < units:
            assert time.monotonic() < deadline, f"no {units} units were reached within {DEADLINE_S:g} s"
            time.sleep(0.005)
        return {int(unit): int(pid) for _, unit, pid in found}

    def let_go(self, unit: int | None = None) -> None:
        """One unit, or all."""
        (self.folder / ("go" if unit is None else f"go-{unit}")).touch()


def parent_of(pid: int) -> int:
    """The process that started it."""
    return int(subprocess.run(["ps", "-o", "ppid=", "-p", str(pid)], capture_output=True, check=True).stdout)
