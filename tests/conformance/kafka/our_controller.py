"""A controller of ours as a process of its own beside real brokers, and how it comes to rule them."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from model.sandbox.processes import GuardedProcess
from tests.conformance.kafka.brokers import SESSION_TIMEOUT_MS, Cluster
from tests.harness.waiting import eventually

ROOT = Path(__file__).parents[3]


class OurController:
    """Registered as a broker from `start` on; it dies with the test run."""

    def __init__(self, cluster: Cluster, broker_id: int = 9) -> None:
        self.id = broker_id
        self._cluster = cluster
        self._log = cluster.folder / f"controller-{broker_id}-{time.monotonic_ns()}.log"
        command = [sys.executable, "-m", "model.hosts.live_controller", "--zookeeper", cluster.zookeeper]
        command += ["--broker-id", str(broker_id), "--rack", f"r{broker_id}", "--no-auto-rebalance"]
        command += ["--session-timeout-ms", str(SESSION_TIMEOUT_MS)]
        self._process = GuardedProcess(command, folder=ROOT, log=self._log)
        eventually(self._is_registered, "our controller to register")

    def kill(self) -> None:
        """SIGKILL: /controller stays until the session ends."""
        self._process.close()

    @property
    def log(self) -> str:
        """What it said so far: its reasons, one line each."""
        return self._log.read_text()

    def take_office(self) -> int:
        """Be the controller: /controller is deleted while no broker can react. Returns the controller epoch."""
        with paused(self._cluster):
            self._cluster.delete("/controller")
            eventually(
                lambda: self._cluster.controller() == self.id, "our controller to be elected", SESSION_TIMEOUT_MS / 1000
            )
        return int(self._cluster.text("/controller_epoch"))

    def _is_registered(self) -> bool:
        if self._process.exit_code() is not None:
            raise RuntimeError(f"our controller ended:\n{self.log[-2000:]}")
        return self.id in self._cluster.registered()


@contextmanager
def paused(cluster: Cluster) -> Iterator[None]:
    """All brokers stand still."""
    try:
        for broker in cluster.brokers.values():
            broker.pause()
        yield
    finally:
        for broker in cluster.brokers.values():
            broker.resume()
