"""Our hosts as child processes, as a sandbox or an expert runs them: brokers, controllers and ZooKeeper consumers."""

from __future__ import annotations

import itertools
import json
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Self

from confluent_kafka import KafkaException, Producer
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from tests.harness.logged_process import LoggedProcess
from tests.harness.waiting import PATIENCE_S, eventually
from tests.model.hosts.live_broker.groups.members import PARTITIONS, TOPIC

SHORT_SESSION_MS = 4_000
BROKERS_SESSION_MS = 6_000
"""Short, for who is killed or stands still is missed only when its session ends."""
LONG_SESSION = "zookeeper.session.timeout.ms=30000"
"""For clusters in which nobody dies: a busy machine shall not look like a death."""
SETTINGS = f"""
zookeeper.session.timeout.ms={BROKERS_SESSION_MS}
zookeeper.connection.timeout.ms=60000
default.replication.factor=2
num.partitions=2
offsets.topic.num.partitions=1
offsets.topic.replication.factor=1
group.initial.rebalance.delay.ms=0
replica.fetch.wait.max.ms=100
auto.leader.rebalance.enable=false
"""


def host(name: str, *arguments: str) -> list[str]:
    """The command that runs a host of ours."""
    return [sys.executable, "-m", f"model.hosts.{name}", *arguments]


class BrokerProcess(LoggedProcess):
    """`properties` is its file, `faults` its folder of faults; each start has a log of its own."""

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
        super().__init__(host("live_broker", str(self.properties)), self.folder / "broker.log")
        self._starts = 0

    def start(self, *overrides: str, files: int | None = None) -> None:
        """`files`: how many it may have open."""
        limited = [] if files is None else ["/bin/sh", "-c", f'ulimit -n {files}; exec "$@"', "sh"]
        options = [word for each in overrides for word in ("--override", each)]
        self.command = [*limited, *host("live_broker", str(self.properties)), *options]
        self._starts += 1
        self._log = self.folder / f"broker-{self._starts}.log"
        super().start()

    def ready(self) -> dict[str, Any]:
        """What it says once it serves."""
        return json.loads(self.wait_for(r'^\{"broker_id".*\}$'))

    @property
    def address(self) -> str:
        """Where it listens, once it does."""
        return json.loads(self.wait_for(r'^\{"listening".*\}$'))["listening"]["PLAINTEXT"]


class ControllerProcess(LoggedProcess):
    """Runs from its making on."""

    def __init__(self, folder: Path, zookeeper: str, broker: int, *options: str) -> None:
        self.id = broker
        words = ("--zookeeper", zookeeper, "--broker-id", str(broker), "--session-timeout-ms", str(SHORT_SESSION_MS))
        log = folder / f"controller-{broker}-{time.monotonic_ns()}.log"
        super().__init__(host("live_controller", *words, *options), log)
        self.start()

    def port(self) -> int:
        """Where it listens, once it says so."""
        return int(self.wait_for(r"^listening on 127\.0\.0\.1:(\d+)$"))


class ConsumerProcess(LoggedProcess):
    """A ZooKeeper consumer that runs from its making on. Quick to commit and to try again."""

    def __init__(self, folder: Path, zookeeper: str, group: str, name: str, *options: str) -> None:
        self.member = f"{group}_{name}"
        words = ["--zookeeper", zookeeper, "--group", group, "--consumer-id", name, "--values"]
        words += ["--session-timeout-ms", str(SHORT_SESSION_MS), "--auto-commit-interval-ms", "200"]
        words += ["--rebalance-backoff-ms", "500", "--rebalance-max-retries", "600", *options]
        super().__init__(host("zookeeper_consumer", *words), folder / f"ours-{self.member}.log")
        self.start()

    def lines(self, happening: str) -> Iterator[dict[str, Any]]:
        """What it said of one kind; the last line may still be on its way."""
        for line in self.log.splitlines():
            if line.startswith("{") and line.endswith("}"):
                told = json.loads(line)
                if told["happening"] == happening:
                    yield told

    def values(self) -> list[str]:
        """Every value it consumed."""
        return [value for line in self.lines("consumed") for *_, value in line["values"]]


def make_topic(bootstrap: str, topic: NewTopic) -> AdminClient:
    """By a client that waits for a controller: told too early that there is none, it asks again only minutes later.

    The client, which has connections.
    """
    admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})
    eventually(lambda: admin.list_topics(timeout=PATIENCE_S).controller_id >= 0, "a controller")
    made = admin.create_topics([topic], request_timeout=PATIENCE_S, operation_timeout=PATIENCE_S)
    made[topic.topic].result(PATIENCE_S)
    return admin


SETTINGS_OF_THREE = """
offsets.topic.replication.factor=3
group.initial.rebalance.delay.ms=500
"""


class ClusterOfThree:
    """Runs while it is entered. `more` are lines for server.properties."""

    def __init__(self, zookeeper: str, folder: Path, more: str = "") -> None:
        self.folder = folder
        settings = SETTINGS_OF_THREE + more
        self.brokers = {number: BrokerProcess(folder, zookeeper, number, settings) for number in (1, 2, 3)}
        self._values = itertools.count()

    def __enter__(self) -> Self:
        for broker in self.brokers.values():
            broker.start()
        self.bootstrap = ",".join(broker.ready()["listeners"]["PLAINTEXT"] for broker in self.brokers.values())
        make_topic(self.bootstrap, NewTopic(TOPIC, PARTITIONS, 3))
        self._producer = Producer({"bootstrap.servers": self.bootstrap, "acks": "all", "log_level": 0})
        return self

    def __exit__(self, *error: object) -> None:
        for broker in self.brokers.values():
            broker.kill()

    def produce(self, count: int) -> Sequence[str]:
        """So many records, acknowledged by all in sync; their values."""
        values = [str(next(self._values)) for _ in range(count)]
        for value in values:
            self._producer.produce(TOPIC, key=value, value=value)
        assert eventually(lambda: self._producer.flush(1) == 0, "all records to be acknowledged")
        return values

    def coordinator(self) -> int:
        """The broker that coordinates all groups, once it is known."""
        return eventually(lambda: self._leader_of_offsets() or None, "a coordinator")

    def kill_coordinator(self) -> int:
        """kill -9; who it was, once somebody else is."""
        killed = self.coordinator()
        self.brokers[killed].kill()
        eventually(lambda: self._leader_of_offsets() not in (0, killed), "another coordinator")
        return killed

    def _leader_of_offsets(self) -> int:
        try:
            # Anew each time: a client that heard of no controller asks again only minutes later.
            topics = AdminClient({"bootstrap.servers": self.bootstrap, "log_level": 0}).list_topics(timeout=10).topics
        except KafkaException:
            return 0
        offsets = topics.get("__consumer_offsets")
        leader = offsets.partitions[0].leader if offsets is not None and offsets.partitions else -1
        return max(leader, 0)
