"""A program in a pseudo-terminal of its own: what it shows, what it sent, how it ends. Knows nothing of kdrill."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

import pyte

from tests.harness.waiting import eventually

UNKNOWN_TO_PYTE = re.compile(rb"\x1b\[[<>=][\d;]*[a-zA-Z]|\x1b\[\?[\d;]*\$p|\x1b\[\d*[tq]")
"""Kitty's keyboard protocol, questions about modes: pyte would print them."""


class Terminal:
    """The program runs until `close`. Waiting fails after 30 s, and shows the screen."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        columns: int = 100,
        rows: int = 30,
        environment: Mapping[str, str | None] | None = None,
    ) -> None:
        """`environment` is laid over this process's own; None takes a variable away."""
        self._screen = pyte.Screen(columns, rows)
        self._stream = pyte.ByteStream(self._screen)
        self._lock = threading.Lock()
        self._lines: list[str] | None = None
        """As they were asked for last; None since then something was written."""
        self._code: int | None = None
        self._is_open = True
        self.sent = bytearray()
        """Every byte the program wrote."""
        self.modes_before: list[object] = []
        given = {"TERM": "xterm-256color", "LANG": "C.UTF-8", "COLORTERM": None, "NO_COLOR": None, "LC_ALL": None}
        whole = {**os.environ, **given, **(environment or {})}
        self.pid, self._master = pty.fork()
        if self.pid == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
            os.execve(command[0], list(command), {name: value for name, value in whole.items() if value is not None})
        self.modes_before = termios.tcgetattr(self._master)
        self._closing, self._close = os.pipe()
        self._reading = threading.Thread(target=self._read, daemon=True)
        self._reading.start()

    @property
    def lines(self) -> list[str]:
        """The screen's lines."""
        with self._lock:
            if self._lines is None:
                self._lines = [line.rstrip() for line in self._screen.display]
            return self._lines

    @property
    def text(self) -> str:
        """The screen."""
        return "\n".join(self.lines)

    @property
    def modes(self) -> list[object]:
        """The terminal's modes now: echo, line editing, signals by keys."""
        return termios.tcgetattr(self._master)

    def press(self, keys: str) -> None:
        """Types."""
        os.write(self._master, keys.encode())

    def resize(self, columns: int, rows: int) -> None:
        """The window has another size."""
        with self._lock:
            self._screen.resize(rows, columns)
            self._lines = None
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def send(self, number: signal.Signals) -> None:
        """Sends the program a signal."""
        os.kill(self.pid, number)

    def shows(self, *texts: str) -> None:
        """Waits until the screen holds all of these."""
        self.until(lambda: all(text in self.text for text in texts), f"{texts} did not appear")

    def until(self, condition: Callable[[], object], otherwise: str = "this did not become true") -> None:
        """Waits."""
        eventually(
            condition,
            standing=lambda: f"({otherwise}); exit code {self._code}; on the screen:\n{self.text}",
        )

    def exit_code(self) -> int:
        """Waits for the end; the exit code, negative for the signal that ended it."""
        self.until(self.has_ended, "it did not end")
        self.until(self.is_read, "it went on writing after its end")
        assert self._code is not None
        return self._code

    def is_stopped(self) -> bool:
        """Whether it was stopped since this was asked last."""
        _, status = os.waitpid(self.pid, os.WNOHANG | os.WUNTRACED)
        return os.WIFSTOPPED(status)

    def hang_up(self) -> None:
        """The terminal goes away, as when its window is closed.

        The reader ends first: a descriptor that is being read stays open behind its back, and a program that
        writes nothing would never hear of it.
        """
        self._is_open = False
        os.close(self._close)
        self._reading.join()
        os.close(self._closing)
        os.close(self._master)

    def close(self) -> None:
        """Ends it at once."""
        if not self.has_ended():
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        self._reading.join(1)
        if self._is_open:
            self.hang_up()

    def has_ended(self) -> bool:
        """Whether the program has."""
        if self._code is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            self._code = os.waitstatus_to_exitcode(status) if pid else None
        return self._code is not None

    def is_read(self) -> bool:
        """Whether all that was written until now is in `sent`: the reader may be far behind on a slow machine."""
        with self._lock:
            return not self._reading.is_alive() or not select.select([self._master], [], [], 0)[0]

    def _read(self) -> None:
        with suppress(OSError):  # the other side has closed
            while self._closing not in select.select([self._master, self._closing], [], [])[0]:
                with self._lock:
                    if not (data := os.read(self._master, 65536)):
                        break
                    self.sent += data
                    self._stream.feed(UNKNOWN_TO_PYTE.sub(b"", data))
                    self._lines = None
