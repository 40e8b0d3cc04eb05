"""Cases of a target in child processes: one that crashes or hangs is a failure, and the rest go on."""

from __future__ import annotations

import itertools
import multiprocessing
import resource
import signal
import tempfile
from multiprocessing.connection import Connection
from multiprocessing.sharedctypes import Synchronized
from pathlib import Path

from tests.hostile_input.playing import Failed, Played, limit_memory, play
from tests.hostile_input.target import Target

MOST_MIB = 2_048
"""Address space for a child beyond what it begins with."""
_MEMORY = Path("/dev/shm")
"""Where a sync costs nothing."""
WARM_UP = 200
"""Cases that are played before memory is looked at: what is imported or cached at first stays."""


def play_in_processes(target: Target, seed: int, cases: int, processes: int) -> tuple[Played, float]:
    """All cases from number 0 on, and the CPU seconds that they took."""
    whole = Played(target.name)
    cpu_s = _children_s()
    running = [_Child(target, seed, range(start, cases, processes)) for start in range(min(processes, cases))]
    for child in running:
        whole.add(child.outcome())
    return whole, _children_s() - cpu_s


class _Child:
    """Plays its numbers; after a crash another process goes on with the next one."""

    def __init__(self, target: Target, seed: int, numbers: range) -> None:
        self._target, self._seed, self._numbers = target, seed, numbers
        self._context = multiprocessing.get_context("fork")
        self._start(numbers)

    def _start(self, numbers: range) -> None:
        self._at: Synchronized[int] = self._context.Value("q", numbers.start)
        self._pipe, theirs = self._context.Pipe(duplex=False)
        self._process = self._context.Process(
            target=_work, args=(self._target, self._seed, numbers, self._at, theirs), daemon=True
        )
        self._process.start()
        theirs.close()

    def outcome(self) -> Played:
        """Waits for the end."""
        whole = Played(self._target.name)
        while True:
            try:
                whole.add(self._pipe.recv())
            except EOFError:
                self._process.join()
            else:
                self._process.join()
                return whole
            at, code = self._at.value, self._process.exitcode or 0
            died = signal.Signals(-code).name if code < 0 else f"exit code {code}"
            before = (at - self._numbers.start) // self._numbers.step + 1
            whole.add(Played(self._target.name, before, [Failed(at, f"the process died: {died}")]))
            self._numbers = range(at + self._numbers.step, self._numbers.stop, self._numbers.step)
            if not self._numbers:
                return whole
            self._start(self._numbers)


def _work(target: Target, seed: int, numbers: range, at: Synchronized[int], pipe: Connection) -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    def begun(number: int) -> None:
        at.value = number

    with tempfile.TemporaryDirectory(prefix="kdrill-hostile-", dir=_MEMORY if _MEMORY.is_dir() else None) as folder:
        play(target, seed, itertools.islice(numbers, WARM_UP), Path(folder), begun)
        limit_memory(MOST_MIB)
        pipe.send(play(target, seed, numbers, Path(folder), begun))


def _children_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
