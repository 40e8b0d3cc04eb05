"""The ZooKeeper consumer (kafka.consumer.ZookeeperConsumerConnector, gone with Kafka 2.0), run by ConsoleConsumer.

It writes a real /consumers tree: ids, owners and offsets.
"""

from __future__ import annotations

from model.sandbox.guarded_process import GuardedProcess
from model.sandbox.java import java_environment
from tests.conformance.kafka.brokers import SESSION_TIMEOUT_MS, Cluster
from tests.conformance.kafka.commands import Commands

_SETTINGS = f"""
zookeeper.session.timeout.ms={SESSION_TIMEOUT_MS}
auto.commit.interval.ms=200
rebalance.backoff.ms=500
"""


class OldConsumer:
    """One member of a group, with one thread, from its creation to kill(). It dies with the test run."""

    def __init__(self, cluster: Cluster, group: str, topic: str, name: str) -> None:
        self.member = f"{group}_{name}"
        """Its znode under /consumers/GROUP/ids; its thread in owners is `MEMBER-0`."""
        properties = cluster.folder / f"{self.member}.properties"
        properties.write_text(f"group.id={group}\nconsumer.id={name}\n{_SETTINGS}")
        self._process = GuardedProcess(
            Commands(cluster).java(
                "consume", "--zookeeper", cluster.zookeeper, "--topic", topic, "--consumer.config", str(properties)
            ),
            folder=cluster.folder,
            log=cluster.folder / f"{self.member}.log",
            environment=java_environment(),
        )

    def kill(self) -> None:
        """kill -9: its ephemeral znodes stay until the session ends."""
        self._process.close()
