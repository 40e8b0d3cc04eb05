"""A broker of ours as a process beside real ones, in the place of a Java broker of the same cluster."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.conformance.kafka.brokers import Broker, Cluster

ROOT = Path(__file__).parents[3]


class OurBroker(Broker):
    """Started, stopped and killed like the others; its settings are theirs."""

    def __init__(self, broker_id: int, cluster: Cluster, settings: str = "") -> None:
        self._home = cluster.folder / f"broker-{broker_id}"
        super().__init__(broker_id, cluster.kafka, cluster.zookeeper, self._home, settings)
        self._command = [sys.executable, "-m", "model.hosts.live_broker", str(self._home / "server.properties")]

    @property
    def log(self) -> str:
        """What it said so far, one line an event."""
        return (self._home / "broker.log").read_text()
