"""How much memory and processor time processes take while something runs, as Linux says it in /proc."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

LOOK_EVERY_S = 0.1
SPARKS = {
    "driver": "-m spark_tasks",
    "workers": "pyspark.daemon",
    "executors' Java": "CoarseGrainedExecutorBackend",
    "driver's Java": "SparkSubmit",
}
"""The processes of a Spark by what their command lines have."""
TICKS = os.sysconf("SC_CLK_TCK")
KIB_A_MIB = 1024


@dataclass
class Taken:
    """By one kind of process, MiB, at most: by the largest of them alone, and by all at a time.

    `own_mib` is a process's own memory; `mapped_mib` are pages of files, which all that map them share.
    """

    count: int = 0
    own_mib: float = 0.0
    mapped_mib: float = 0.0
    all_own_mib: float = 0.0

    def __str__(self) -> str:
        several = f" x {self.count}, {self.all_own_mib:,.0f} MiB in all" if self.count > 1 else ""
        return f"{self.own_mib:,.0f} MiB{several} (+ {self.mapped_mib:,.0f} mapped)"


@dataclass
class MemoryWatch:
    """Looks at the descendants of this process again and again, inside the context. `kinds`: name → part of the
    command line; the first that fits counts, and who fits none is not looked at.
    """

    kinds: Mapping[str, str] = field(default_factory=lambda: SPARKS)
    taken: dict[str, Taken] = field(default_factory=dict[str, Taken])
    cpu_s: float = 0.0
    """Of those looked at, for as long as they lived."""
    _cpu: dict[tuple[str, int], tuple[float, float]] = field(default_factory=dict[tuple[str, int], tuple[float, float]])
    _ended: threading.Event = field(default_factory=threading.Event)

    def __enter__(self) -> Self:
        self._look()
        self._thread = threading.Thread(target=self._go_on, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._ended.set()
        self._thread.join()
        self._look()
        self.cpu_s = sum(last - first for first, last in self._cpu.values())

    def __str__(self) -> str:
        return "; ".join(f"{kind} {taken}" for kind, taken in self.taken.items())

    def _go_on(self) -> None:
        while not self._ended.wait(LOOK_EVERY_S):
            self._look()

    def _look(self) -> None:
        now: dict[str, list[tuple[float, float]]] = {}
        for pid in descendants(os.getpid()):
            with suppress(OSError):  # it has ended
                command = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                kind = next((kind for kind, part in self.kinds.items() if part in command), "")
                if kind:
                    now.setdefault(kind, []).append(_memory(pid))
                    spent_s = _cpu_s(pid)
                    self._cpu[kind, pid] = (self._cpu.get((kind, pid), (spent_s, 0.0))[0], spent_s)
        for kind, memories in now.items():
            taken = self.taken.setdefault(kind, Taken())
            taken.count = max(taken.count, len(memories))
            taken.own_mib = max(taken.own_mib, *(own for own, _ in memories))
            taken.mapped_mib = max(taken.mapped_mib, *(mapped for _, mapped in memories))
            taken.all_own_mib = max(taken.all_own_mib, sum(own for own, _ in memories))


def descendants(pid: int) -> Iterator[int]:
    with suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in map(int, (task / "children").read_text().split()):
                yield child
                yield from descendants(child)


def own_mib(pid: int) -> float:
    """A process's own memory just now, without what it maps of files."""
    return _memory(pid)[0]


def _memory(pid: int) -> tuple[float, float]:
    facts = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines() if ":" in line)
    own, mapped = (int(facts.get(name, "0 kB").split()[0]) / KIB_A_MIB for name in ("RssAnon", "RssFile"))
    return own, mapped


def _cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(") ")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS
