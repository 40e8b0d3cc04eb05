"""A ZooKeeper consumer of ours as a child process, as an expert would run it, and the lines it prints."""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from model.sandbox.processes import GuardedProcess

ROOT = Path(__file__).parents[4]
PATIENCE_S = 60.0
SESSION_TIMEOUT_MS = 4_000


class ConsumerProcess:
    """Runs from its making on; it dies with the test run. Quick to commit and to try again."""

    def __init__(self, folder: Path, zookeeper: str, group: str, name: str, *options: str) -> None:
        self.member = f"{group}_{name}"
        self._log = folder / f"ours-{self.member}.log"
        command = [sys.executable, "-m", "model.hosts.zookeeper_consumer", "--zookeeper", zookeeper, "--group", group]
        command += ["--consumer-id", name, "--session-timeout-ms", str(SESSION_TIMEOUT_MS), "--values"]
        command += ["--auto-commit-interval-ms", "200", "--rebalance-backoff-ms", "500"]
        command += ["--rebalance-max-retries", "600", *options]
        self.process = GuardedProcess(command, folder=ROOT, log=self._log)

    def lines(self, happening: str) -> Iterator[dict[str, Any]]:
        """What it said of one kind; the last line may still be on its way."""
        for line in self._log.read_text().splitlines():
            if line.startswith("{") and line.endswith("}"):
                told = json.loads(line)
                if told["happening"] == happening:
                    yield told

    @property
    def log(self) -> str:
        return self._log.read_text()

    def values(self) -> list[str]:
        """Every value it consumed."""
        return [value for line in self.lines("consumed") for *_, value in line["values"]]

    def kill(self) -> None:
        """SIGKILL: its znodes stay until the session ends."""
        self.process.close()

    def stop(self) -> int | None:
        """SIGTERM, which commits and leaves; its exit code."""
        self.process.send(signal.SIGTERM)
        assert self.process.wait(PATIENCE_S), self.log
        return self.process.exit_code()
