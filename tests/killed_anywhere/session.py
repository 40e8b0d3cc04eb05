"""One run of the program: started in folders of its own, its processes found by a mark in their environment."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
import uuid
from contextlib import suppress
from pathlib import Path
from typing import IO, Self

from model.sandbox.processes import listening_ports
from tests.harness.command import KDRILL, NO_CONFIG
from tests.killed_anywhere.programs import Program, kind_of
from tests.pseudo_terminal import Terminal

MARK = "TESTS_KILLED_ANYWHERE"
ENTERS_SCREEN, LEAVES_SCREEN = b"\x1b[?1006h", b"\x1b[?1006l"
PATIENCE_S = 240.0
LOOK_S = 0.02
JAVAS_OWN = Path("/tmp")
"""Where Java keeps what it tells other tools, whatever it is told of temporary folders."""


class Session:
    """From its start until everything of it is gone, which the end of the `with` block sees to by force."""

    def __init__(self, program: Program, folder: Path) -> None:
        """`folder` is what sessions one after the other share: state, caches, a sandbox's own folder."""
        self.program = program
        self._mark = uuid.uuid4().hex
        self._folder = folder
        self.temporary = folder / "tmp"
        self.dir = folder / "dir"
        self.temporary.mkdir(parents=True, exist_ok=True)
        self._said: IO[bytes] = (folder / "said").open("w+b")
        arguments = [str(self.dir) if each == "DIR" else each for each in program.arguments]
        self.terminal: Terminal | None = None
        """None for a program without one."""
        if program.in_terminal:
            environment = {**self._environment(), "PYTHONWARNINGS": None}
            self.terminal = Terminal([*KDRILL, *arguments], columns=200, rows=40, environment=environment)
            self.pid = self.terminal.pid
        else:
            self._process = subprocess.Popen(
                [*KDRILL, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=self._said,
                stderr=self._said,
                env={**os.environ, **self._environment()},
                start_new_session=True,
            )
            self.pid = self._process.pid
        self.ports: set[int] = set()
        """Where one of its processes ever listened, as far as was seen."""
        self.java: set[int] = set()
        """Its processes that were Java."""

    def _environment(self) -> dict[str, str]:
        home = {name: str(self._folder / name) for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME")}
        return {MARK: self._mark, "TMPDIR": str(self.temporary), **NO_CONFIG, **home} | dict(self.program.environment)

    @property
    def text(self) -> str:
        """What it shows, or has said; and what it said after the screen was given back."""
        if self.terminal is None:
            return (self._folder / "said").read_text(errors="replace")
        return f"{self.terminal.text}\n{self.last_words}"

    @property
    def last_words(self) -> str:
        """What it said outside of its screen."""
        if self.terminal is None:
            return self.text
        sent = bytes(self.terminal.sent)
        _, left, words = sent.rpartition(LEAVES_SCREEN)
        return words.decode(errors="replace") if left or ENTERS_SCREEN not in sent else ""

    @property
    def said_in_all(self) -> bytes:
        """Every byte."""
        return self.text.encode() if self.terminal is None else bytes(self.terminal.sent)

    def processes(self) -> dict[int, str]:
        """Process id → kind, of all that carry the mark."""
        found: dict[int, str] = {}
        wanted = f"{MARK}={self._mark}".encode()
        for entry in os.scandir("/proc"):
            if not entry.name.isdigit():
                continue
            with suppress(OSError):
                place = Path(entry.path)
                if wanted in place.joinpath("environ").read_bytes().split(b"\0"):
                    command = place.joinpath("cmdline").read_bytes().decode(errors="replace").split("\0")
                    found[int(entry.name)] = kind_of(tuple(command))
        for pid, kind in found.items():
            self.ports |= listening_ports(pid)
            if kind in ("ZooKeeper", "Spark's Java", "archive builder", "java"):
                self.java.add(pid)
        return found

    def has_ended(self) -> bool:
        """Whether the program itself has."""
        if self.terminal is None:
            return self._process.poll() is not None
        return self.terminal.has_ended()

    def exit_code(self) -> int:
        """Waits for the program's end."""
        return self._process.wait(PATIENCE_S) if self.terminal is None else self.terminal.exit_code()

    def end_in_order(self, way: str) -> None:
        """Tells it to end: `SIGTERM`, `hang up` (a terminal only, SIGTERM else) or `Q` (likewise)."""
        if self.terminal is not None and way == "hang up":
            self.terminal.hang_up()
        elif self.terminal is not None and way == "Q":
            with suppress(OSError):  # it has ended
                self.terminal.press("Q")
        else:
            self.kill(self.pid, signal.SIGTERM)

    def kill(self, pid: int, number: signal.Signals = signal.SIGKILL) -> None:
        """A signal for one of its processes, which may have ended."""
        with suppress(ProcessLookupError):
            os.kill(pid, number)

    def kill_group(self) -> None:
        """SIGKILL for the program's process group, as a shell's `kill -9 %1` sends it."""
        with suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)

    def left(self) -> list[str]:
        """What is left, in words; nothing when all is as it should be."""
        processes = [f"process {pid}: {kind}" for pid, kind in self.processes().items()]
        if not self.has_ended():
            processes.append("the program")
        ports = [f"port {port}" for port in sorted(self.ports) if _is_open(port)]
        files = [f"file {each.relative_to(self._folder)}" for each in sorted(self.temporary.iterdir())]
        files += [f"folder {self.dir}"] if self.dir.exists() else []
        javas = [f"file {each}" for pid in self.java for each in JAVAS_OWN.glob(f"hsperfdata_*/{pid}")]
        return [*processes, *ports, *files, *javas]

    def until_nothing_is_left(self) -> list[str]:
        """Waits; what is left after all."""
        deadline = time.monotonic() + PATIENCE_S
        while (left := self.left()) and time.monotonic() < deadline:
            time.sleep(LOOK_S)
        return left

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        while processes := self.processes():
            for pid in processes:
                self.kill(pid)
            time.sleep(LOOK_S)
        if self.terminal is not None:
            with suppress(OSError):
                self.terminal.close()
        else:
            self._process.wait()
        self._said.close()


def _is_open(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
