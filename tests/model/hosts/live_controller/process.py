"""A live controller as a child process, as an expert would run it."""

from __future__ import annotations

import re
import signal
import sys
import time
from pathlib import Path

from model.sandbox.processes import GuardedProcess
from tests.harness.waiting import eventually

ROOT = Path(__file__).parents[4]
PATIENCE_S = 60.0


class ControllerProcess:
    """Runs from its making on; it dies with the test run."""

    def __init__(self, folder: Path, zookeeper: str, broker: int, *options: str) -> None:
        self._log = folder / f"controller-{broker}-{time.monotonic_ns()}.log"
        command = [sys.executable, "-m", "model.hosts.live_controller", "--zookeeper", zookeeper]
        command += ["--broker-id", str(broker), "--session-timeout-ms", "4000", *options]
        self.process = GuardedProcess(command, folder=ROOT, log=self._log)

    @property
    def log(self) -> str:
        return self._log.read_text()

    def port(self) -> int:
        """Where it listens, once it says so."""
        return int(self.wait_for(r"^listening on 127\.0\.0\.1:(\d+)$"))

    def wait_for(self, pattern: str) -> str:
        """The first group (or all) of what matches in its log."""
        found = eventually(lambda: re.search(pattern, self.log, re.MULTILINE), pattern, standing=lambda: self.log)
        return found[found.re.groups]

    def stop(self) -> int | None:
        """SIGTERM; its exit code."""
        self.process.send(signal.SIGTERM)
        assert self.process.wait(PATIENCE_S), self.log
        return self.process.exit_code()
