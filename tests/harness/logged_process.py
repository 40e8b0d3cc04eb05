"""A child process of a test: it writes a log, may be started again, and dies with the test run."""

from __future__ import annotations

import re
import signal
from collections.abc import Mapping, Sequence
from pathlib import Path

from model.sandbox.processes import GuardedProcess
from tests.harness.waiting import PATIENCE_S, eventually

ROOT = Path(__file__).parents[2]
LAST_WORDS_S = 60.0
"""So long may it take to end in order."""


class LoggedProcess:
    """Runs from `start` on, which may be called again once it has ended; the log goes on where it was."""

    def __init__(
        self,
        command: Sequence[str],
        log: Path,
        *,
        folder: Path = ROOT,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.command = [*command]
        self._log = log
        self._folder = folder
        self._environment = environment
        self._process: GuardedProcess | None = None

    def start(self) -> None:
        """It is of use once it says so, or serves."""
        self._process = GuardedProcess(self.command, folder=self._folder, log=self._log, environment=self._environment)

    @property
    def _started(self) -> GuardedProcess:
        assert self._process is not None, "it was never started"
        return self._process

    @property
    def pid(self) -> int:
        return self._started.pid

    @property
    def log(self) -> str:
        """What it said so far."""
        return self._log.read_text(errors="replace")

    def wait_for(self, pattern: str) -> str:
        """The first group (or all) of what matches in its log."""
        found = eventually(
            lambda: re.search(pattern, self.log, re.MULTILINE), repr(pattern), standing=lambda: f"in:\n{self.log}"
        )
        return found[found.re.groups]

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.exit_code() is None

    def send(self, number: signal.Signals) -> None:
        """SIGCONT ends a pause."""
        self._started.send(number)

    def pause(self) -> None:
        """SIGSTOP: it has stopped when this returns."""
        self._started.pause()

    def resume(self) -> None:
        """SIGCONT."""
        self.send(signal.SIGCONT)

    def exit_code(self) -> int | None:
        """Once it has ended."""
        assert self._started.wait(PATIENCE_S), self.log
        return self._started.exit_code()

    def stop(self) -> int | None:
        """SIGTERM, which asks it to end in order, and SIGKILL if that does not end it; its exit code."""
        self.send(signal.SIGTERM)
        self._started.wait(LAST_WORDS_S)
        self.kill()
        return self._started.exit_code()

    def kill(self) -> None:
        """SIGKILL: its session stays until it ends by itself. Nothing happens to one that does not run."""
        if self._process is not None:
            self._process.close()
