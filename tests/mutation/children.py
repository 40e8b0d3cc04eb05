"""Forked children, one for each piece of work: at most so many at once, and none outlives its time."""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import time
from collections.abc import Callable, Iterator

MEMORY_MORE = 2 << 30
"""Bytes that a mutant may take beyond what was there before; one that appends for ever ends in a MemoryError."""

WALL_S = 120
"""Whoever waits takes no processor time, and is ended by this."""

LOOK_S = 0.003

Ended = tuple[int, int]
"""A piece of work, and how it ended."""


PR_SET_PDEATHSIG = 1


def in_children(work: Callable[[int], int], count: int, processes: int, wall_s: float = WALL_S) -> Iterator[Ended]:
    """What each of so many pieces of work returned, as they end; the signal's number, negative, where one ended it."""
    living: dict[int, tuple[int, float]] = {}
    begun = 0
    while begun < count or living:
        while begun < count and len(living) < processes:
            living[_fork(work, begun)] = begun, time.monotonic() + wall_s
            begun += 1
        for pid, (number, until_s) in list(living.items()):
            done, status = os.waitpid(pid, os.WNOHANG)
            if done:
                del living[pid]
                yield number, os.waitstatus_to_exitcode(status)
            elif time.monotonic() > until_s:
                os.kill(pid, signal.SIGKILL)
        time.sleep(LOOK_S)


def _fork(work: Callable[[int], int], number: int) -> int:
    if pid := os.fork():
        return pid
    status = 1
    try:
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)  # nobody waits for what it would find
        status = work(number)
    finally:
        os._exit(status)


def hushed(*streams: int) -> None:
    """Nothing more is seen of what this process writes there."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in streams:
        os.dup2(nowhere, stream)
    os.close(nowhere)


def bound_memory() -> None:
    """This process may take so much more, and no more."""
    with open("/proc/self/statm", encoding="ascii") as file:
        most = int(file.read().split()[0]) * resource.getpagesize() + MEMORY_MORE
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


def bound_time(cpu_s: float) -> None:
    """Ends this process when it has worked that long from now on, unless another bound is set before."""
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_PROF, cpu_s)
