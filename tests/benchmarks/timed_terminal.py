"""A program in a pseudo-terminal whose answers are timed: from a key's byte to the last byte of what it had to show.

It looks for that in the bytes: a terminal emulator in between would take longer than the program.
"""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Self

SIZE = (200, 60)
PATIENCE_S = 120.0
ESCAPES = rb"(?:\x1b\[[\d;]*m)"


def seen(text: str) -> re.Pattern[bytes]:
    """The text, in one piece and in whatever colours, and nothing that goes on as a number."""
    return re.compile(re.escape(text.encode()) + rb"(?!\d)")


def chosen(name: str) -> re.Pattern[bytes]:
    """A row with the cursor's sign before it: little but colours, marks and blanks stands between."""
    between = rb"(?:%b|[^\w\x1b]|v ){1,30}?" % ESCAPES
    return re.compile(rb">%b%b(?!\d)" % (between, re.escape(name.encode())))


class TimedTerminal:
    """The program runs until the context ends. For one thread."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        """Starts it, on a screen of 200 x 60 that knows all colours."""
        self.began_s = time.perf_counter()
        self.pid, self._master = pty.fork()
        if self.pid == 0:
            columns, rows = SIZE
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
            term = {"TERM": "xterm-256color", "COLORTERM": "truecolor", "LANG": "C.UTF-8"}
            os.execve(command[0], list(command), {**os.environ, **term, **environment})

    def type(self, keys: str, *until: re.Pattern[bytes]) -> float:
        """Types, and waits until all of these were written; seconds."""
        begun_s = time.perf_counter()
        os.write(self._master, keys.encode())
        return self.shows(*until) - begun_s

    def shows(self, *until: re.Pattern[bytes]) -> float:
        """Waits until all of these were written, in what comes from now on; the moment of the read that ended it."""
        return max(self.moments(*until))

    def moments(self, *until: re.Pattern[bytes]) -> list[float]:
        """Waits for all of these as `shows` does; when each was read, the same moment where one read brought several.

        Two calls would not do for things that may be written at once: the second looks only at what comes after.
        """
        written, read_s = b"", dict[re.Pattern[bytes], float]()
        deadline_s = time.monotonic() + PATIENCE_S
        while waiting := [each for each in until if each not in read_s]:
            if not select.select([self._master], [], [], max(deadline_s - time.monotonic(), 0))[0]:
                raise TimeoutError(f"{[each.pattern for each in waiting]} did not appear; last: {written[-2000:]!r}")
            written += os.read(self._master, 1 << 16)
            read_s |= {each: time.perf_counter() for each in waiting if each.search(written)}
        return [read_s[each] for each in until]

    def rest(self, quiet_s: float) -> None:
        """Reads on, and looks at nothing, for so long."""
        deadline_s = time.monotonic() + quiet_s
        while (left_s := deadline_s - time.monotonic()) > 0:
            if select.select([self._master], [], [], left_s)[0]:
                os.read(self._master, 1 << 16)

    def cpu_s(self) -> tuple[float, float]:
        """Processor time of the program itself, and of all processes it has started that still run."""
        own, *others = map(_cpu_s, _family(self.pid))
        return own, sum(others)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self._master)


def _family(pid: int) -> list[int]:
    tasks = Path(f"/proc/{pid}/task").iterdir()
    children = [int(child) for task in tasks for child in (task / "children").read_text().split()]
    return [pid, *(each for child in children for each in _family(child))]


def _cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")
