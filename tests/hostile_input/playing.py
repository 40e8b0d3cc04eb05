"""Plays cases of one target in this process, within bounds of time and memory, and tells what failed."""

from __future__ import annotations

import resource
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterable
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import msgspec

from tests.hostile_input.target import Target

MOST_CPU_S = 20.0
"""Of a case: none needs a tenth of it on a slow machine."""
STUCK_S = 300
"""By the clock: the system ends a process that does not even hear of its time being over."""
MOST_MIB = 256
"""What a case may take on top of what was in use; cases are a few hundred KiB at most, and claim anything."""
_MIB = 1 << 20


class Took(BaseException):
    """More time than a case may take. No `Exception`: whoever catches all of these must not hide it."""


class Failed(msgspec.Struct, frozen=True):
    """A case that did what no input may do."""

    number: int
    why: str


class Played(msgspec.Struct):
    """What became of some cases of one target."""

    target: str
    cases: int = 0
    failures: list[Failed] = []
    slowest_s: float = 0.0
    slowest: int = -1
    most_mib: float = 0.0
    """The most that one case took on top of what was in use."""

    def add(self, other: Played) -> None:
        """Those of another process, too."""
        self.cases += other.cases
        self.failures = sorted([*self.failures, *other.failures], key=lambda failed: failed.number)
        self.most_mib = max(self.most_mib, other.most_mib)
        if other.slowest_s > self.slowest_s:
            self.slowest_s, self.slowest = other.slowest_s, other.slowest


def play(
    target: Target, seed: int, numbers: Iterable[int], folder: Path, begun: Callable[[int], object] = lambda _: None
) -> Played:
    """The cases of these numbers; `begun` hears of each before it is played."""
    played = Played(target.name)
    for number in numbers:
        begun(number)
        case = target.case(seed, number)
        peak_mib, began_s = _peak_mib(), time.process_time()
        try:
            with _bounded():
                target.judge(case, folder)
            more_mib = _peak_mib() - peak_mib
            assert more_mib < MOST_MIB, f"took {more_mib:.0f} MiB for {len(case):,} bytes"
        except (Exception, Took) as error:
            played.failures.append(Failed(number, _why(error)))
        took_s = time.process_time() - began_s
        if took_s > played.slowest_s:
            played.slowest_s, played.slowest = took_s, number
        played.most_mib = max(played.most_mib, _peak_mib() - peak_mib)
        played.cases += 1
    return played


def limit_memory(mib: int) -> None:
    """What this process may take beyond what it has: a huge allocation becomes a MemoryError."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * resource.getpagesize() + mib * _MIB
    resource.setrlimit(resource.RLIMIT_AS, (most, resource.getrlimit(resource.RLIMIT_AS)[1]))


@contextmanager
def _bounded() -> Any:
    def over(_number: int, _frame: FrameType | None) -> None:
        raise Took(f"more than {MOST_CPU_S:g} s of CPU time")

    before = signal.signal(signal.SIGPROF, over)
    signal.setitimer(signal.ITIMER_PROF, MOST_CPU_S)
    signal.alarm(STUCK_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.alarm(0)
        signal.signal(signal.SIGPROF, before)


def _peak_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (_MIB if sys.platform == "darwin" else 1024)


def _why(error: BaseException) -> str:
    """The error, and where in the program it came from."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "/site-packages/" not in frame.filename]
    places = " < ".join(f"{Path(frame.filename).name}:{frame.lineno}" for frame in reversed(ours[-5:]))
    return f"{type(error).__name__}: {' '.join(str(error).split())[:300]} ({places})"
