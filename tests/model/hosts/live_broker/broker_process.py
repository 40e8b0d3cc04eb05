"""Brokers of ours as child processes, as a sandbox or an expert would run them."""

from __future__ import annotations

import json
import re
import signal
import sys
from pathlib import Path
from typing import Any

from model.sandbox.processes import GuardedProcess
from tests.harness.waiting import eventually

ROOT = Path(__file__).parents[4]
PATIENCE_S = 60.0
SESSION_TIMEOUT_MS = 6_000
"""Short, for who is killed or stands still is missed only when its session ends."""
LONG_SESSION = "zookeeper.session.timeout.ms=30000"
"""For clusters in which nobody dies: a busy machine shall not look like a death."""
SETTINGS = f"""
zookeeper.session.timeout.ms={SESSION_TIMEOUT_MS}
zookeeper.connection.timeout.ms=60000
default.replication.factor=2
num.partitions=2
offsets.topic.num.partitions=1
offsets.topic.replication.factor=1
group.initial.rebalance.delay.ms=0
replica.fetch.wait.max.ms=100
auto.leader.rebalance.enable=false
"""


class BrokerProcess:
    """Runs from `start` on; it dies with the test run. `properties` is its file, `faults` its folder of faults."""

    def __init__(self, folder: Path, zookeeper: str, broker: int, more: str = "") -> None:
        self.id = broker
        self.folder = folder / f"broker-{broker}"
        self.faults = self.folder / "faults"
        self.faults.mkdir(parents=True)
        self.properties = self.folder / "server.properties"
        self.properties.write_text(
            f"broker.id={broker}\nlisteners=PLAINTEXT://127.0.0.1:0\nlog.dirs={self.folder / 'logs'}\n"
            f"zookeeper.connect={zookeeper}\nkdrill.fault.folder={self.faults}\n{SETTINGS}{more}\n"
        )
        self._log = self.folder / "broker.log"
        self._process: GuardedProcess | None = None
        self._starts = 0

    def start(self, *overrides: str, files: int | None = None) -> None:
        """Run it; the log goes on where it was. `files`: how many it may have open."""
        limited = [] if files is None else ["/bin/sh", "-c", f'ulimit -n {files}; exec "$@"', "sh"]
        command = [*limited, sys.executable, "-m", "model.hosts.live_broker", str(self.properties)]
        command += [word for each in overrides for word in ("--override", each)]
        self._starts += 1
        self._log = self.folder / f"broker-{self._starts}.log"
        self._process = GuardedProcess(command, folder=ROOT, log=self._log)

    @property
    def log(self) -> str:
        """What it has said since it was started last."""
        return self._log.read_text()

    def wait_for(self, pattern: str) -> str:
        """The first group (or all) of what matches in its log."""
        found = eventually(lambda: re.search(pattern, self.log, re.MULTILINE), f"{pattern!r} of broker {self.id}")
        return found[found.re.groups]

    def ready(self) -> dict[str, Any]:
        """What it says once it serves."""
        return json.loads(self.wait_for(r'^\{"broker_id".*\}$'))

    @property
    def address(self) -> str:
        """Where it listens, once it does."""
        return json.loads(self.wait_for(r'^\{"listening".*\}$'))["listening"]["PLAINTEXT"]

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def send(self, number: signal.Signals) -> None:
        assert self._process is not None
        self._process.send(number)

    def has_ended(self) -> bool:
        assert self._process is not None
        return self._process.exit_code() is not None

    def exit_code(self) -> int | None:
        """Once it has ended."""
        assert self._process is not None
        assert self._process.wait(PATIENCE_S), self.log
        return self._process.exit_code()

    def close(self) -> None:
        """SIGKILL."""
        if self._process is not None:
            self._process.close()
