"""The ZooKeeper consumer (kafka.consumer.ZookeeperConsumerConnector, gone with Kafka 2.0), run by ConsoleConsumer.

It writes a real /consumers tree: ids, owners and offsets.
"""

from __future__ import annotations

from model.sandbox.java import java_environment
from model.sandbox.processes import GuardedProcess
from tests.conformance.kafka.brokers import SESSION_TIMEOUT_MS, Cluster
from tests.conformance.kafka.commands import Commands

_SETTINGS = f"""
zookeeper.session.timeout.ms={SESSION_TIMEOUT_MS}
auto.commit.interval.ms=200
rebalance.backoff.ms=500
rebalance.max.retries=600
"""


class OldConsumer:
    """One member of a group, with one thread, from its creation to kill(). It dies with the test run.

    `topic` may be a regular expression: ConsoleConsumer subscribes by a white list in any case. `settings` are more
    lines for its configuration.
    """

    def __init__(self, cluster: Cluster, group: str, topic: str, name: str, *settings: str) -> None:
        self.member = f"{group}_{name}"
        """Its znode under /consumers/GROUP/ids; its thread in owners is `MEMBER-0`."""
        properties = cluster.folder / f"{self.member}.properties"
        properties.write_text("\n".join((f"group.id={group}", f"consumer.id={name}", *settings, _SETTINGS)))
        self._log = cluster.folder / f"{self.member}.log"
        self._process = GuardedProcess(
            Commands(cluster).java(
                "consume", "--zookeeper", cluster.zookeeper, "--whitelist", topic, "--consumer.config", str(properties)
            ),
            folder=cluster.folder,
            log=self._log,
            environment=java_environment(),
        )

    def printed(self, start: str) -> list[str]:
        """The values that it printed, as far as they start so; warnings are in the same file."""
        return [line for line in self._log.read_text().splitlines() if line.startswith(start)]

    def kill(self) -> None:
        """kill -9: its ephemeral znodes stay until the session ends."""
        self._process.close()
