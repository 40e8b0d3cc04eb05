"""The ZooKeeper consumer (kafka.consumer.ZookeeperConsumerConnector, gone with Kafka 2.0), run by ConsoleConsumer.

It writes a real /consumers tree: ids, owners and offsets.
"""

from __future__ import annotations

from model.sandbox.java import java_environment
from tests.conformance.kafka.commands import Commands
from tests.harness.kafka import SESSION_TIMEOUT_MS, Cluster
from tests.harness.logged_process import LoggedProcess

_SETTINGS = f"""
zookeeper.session.timeout.ms={SESSION_TIMEOUT_MS}
auto.commit.interval.ms=200
rebalance.backoff.ms=500
rebalance.max.retries=600
"""


class OldConsumer(LoggedProcess):
    """One member of a group, with one thread, from its creation to kill(). It dies with the test run.

    `topic` may be a regular expression: ConsoleConsumer subscribes by a white list in any case. `settings` are more
    lines for its configuration.
    """

    def __init__(self, cluster: Cluster, group: str, topic: str, name: str, *settings: str) -> None:
        self.member = f"{group}_{name}"
        """Its znode under /consumers/GROUP/ids; its thread in owners is `MEMBER-0`."""
        properties = cluster.folder / f"{self.member}.properties"
        properties.write_text("\n".join((f"group.id={group}", f"consumer.id={name}", *settings, _SETTINGS)))
        words = ("--zookeeper", cluster.zookeeper, "--whitelist", topic, "--consumer.config", str(properties))
        command, log = Commands(cluster).java("consume", *words), cluster.folder / f"{self.member}.log"
        super().__init__(command, log, folder=cluster.folder, environment=java_environment())
        self.start()

    def printed(self, start: str) -> list[str]:
        """The values that it printed, as far as they start so; warnings are in the same file."""
        return [line for line in self.log.splitlines() if line.startswith(start)]
