"""What the help texts of Kafka's admin tools of 1.1.1 and 3.9.1 offer, run on three brokers of ours, as a table.

`python -m tests.conformance.kafka.tool_examples` runs all examples and tells which passed; `--killed` kills a broker
with SIGKILL while each of them runs, and starts it again; `--real` has real brokers of 3.9.1 in the place of ours.
"""

from __future__ import annotations

import argparse
import json
import re
import shlex
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple, Protocol

from model.sandbox.java import java_environment
from tests.conformance.kafka.releases import RELEASES, Installation, install
from tests.conftest import start_zookeeper
from tests.harness.host_processes import LONG_SESSION, BrokerProcess
from tests.harness.kafka import Cluster

SETTINGS = """
auto.leader.rebalance.enable=false
num.partitions=3
default.replication.factor=2
"""
TIMEOUT_S = 120.0
KILL_AFTER_S = 0.7
"""From the start of a tool: its JVM is up by then, and it has not done yet."""


class Example(NamedTuple):
    """`words` follow the tool's name. `says` is a pattern of what it prints, `fails`: it ends with an error, as it
    does on real brokers. `until`: it is repeated until it says so. `short`: for every run of the suite.
    """

    tool: str
    words: str
    says: str = ""
    fails: bool = False
    until: bool = False
    short: bool = False


NEW = (
    Example("topics", "--create --topic foo --partitions 3 --replication-factor 2", "Created topic foo", short=True),
    Example("topics", "--create --topic foo --if-not-exists"),
    Example(
        "topics",
        "--create --topic test.topic --replica-assignment 1:2,2:3 --config retention.ms=3600000",
        "Created topic test.topic",
    ),
    Example("topics", "--create --topic foo", "already exists", fails=True),
    Example("topics", "--list", "foo"),
    Example("topics", "--list --exclude-internal", "foo"),
    Example("topics", "--describe", "Topic: foo"),
    Example("topics", r"--describe --topic test\\.topic", "retention.ms=3600000"),
    Example("topics", "--describe --topics-with-overrides", "test.topic"),
    Example("topics", "--describe --under-replicated-partitions"),
    Example("topics", "--describe --unavailable-partitions"),
    Example("topics", "--describe --under-min-isr-partitions"),
    Example("topics", "--describe --at-min-isr-partitions"),
    Example("topics", "--describe --topic foo --partition-size-limit-per-response 1", "PartitionCount: 3"),
    Example("topics", "--describe --topic nosuch --if-exists"),
    Example("topics", "--alter --topic foo --partitions 4", short=True),
    Example("topics", "--alter --topic nosuch --partitions 4 --if-exists"),
    Example("topics", "--delete --topic nosuch --if-exists"),
    Example(
        "configs",
        "--alter --topic foo --add-config retention.ms=3600000,cleanup.policy=[compact,delete]",
        "Completed updating config for topic foo",
        short=True,
    ),
    Example("configs", "--describe --topic foo", "cleanup.policy=compact,delete"),
    Example("configs", "--describe --topic foo --all", "DYNAMIC_TOPIC_CONFIG:retention.ms=3600000", short=True),
    Example("configs", "--describe --entity-type topics", "Dynamic configs for topic foo"),
    Example("configs", "--alter --topic foo --delete-config retention.ms,cleanup.policy", "Completed updating"),
    Example("configs", "--alter --topic foo --add-config retention.ms=soon", "Invalid", fails=True),
    Example("configs", "--alter --broker 1 --add-config log.cleaner.threads=2", "Completed updating", short=True),
    Example("configs", "--describe --broker 1", "log.cleaner.threads=2", until=True, short=True),
    Example("configs", "--describe --broker 1 --all", "DEFAULT_CONFIG:log.cleaner.threads=1"),
    Example("configs", "--alter --broker 1 --delete-config log.cleaner.threads", "Completed updating"),
    Example("configs", "--alter --broker 1 --add-config broker.rack=r", "Cannot update these configs", fails=True),
    Example("configs", "--alter --broker 2 --add-config-file {settings}", "Completed updating"),
    Example("configs", "--alter --broker-defaults --add-config max.connections.per.ip=100", "Completed updating"),
    Example("configs", "--describe --broker-defaults", "max.connections.per.ip=100", until=True),
    Example("configs", "--describe --entity-type brokers", "Dynamic configs for broker 1"),
    Example("configs", "--alter --broker-defaults --delete-config max.connections.per.ip", "Completed updating"),
    Example("configs", "--describe --broker-logger 1", "=INFO"),
    Example("configs", "--alter --broker-logger 1 --add-config root=DEBUG", "Completed updating"),
    Example("configs", "--alter --broker-logger 1 --add-config root=INFO", "Completed updating"),
    Example(
        "configs",
        "--alter --user alice --client app --add-config producer_byte_rate=1024,consumer_byte_rate=2048",
        "Completed updating",
        short=True,
    ),
    Example("configs", "--describe --user alice --client app", r"consumer_byte_rate=2048(\.0)?", short=True),
    Example("configs", "--describe --entity-type users --entity-type clients", "user-principal 'alice'"),
    Example("configs", "--describe --user alice"),
    Example("configs", "--alter --user-defaults --add-config request_percentage=50", "Completed updating"),
    Example("configs", "--describe --user-defaults", "request_percentage=50"),
    Example("configs", "--alter --client-defaults --add-config controller_mutation_rate=7", "Completed updating"),
    Example("configs", "--describe --entity-type clients --entity-default", "controller_mutation_rate=7"),
    Example("configs", "--alter --user-defaults --delete-config request_percentage", "Completed updating"),
    Example("configs", "--alter --client-defaults --delete-config controller_mutation_rate", "Completed updating"),
    Example("configs", "--alter --ip 127.0.0.1 --add-config connection_creation_rate=100", "Completed updating"),
    Example("configs", "--describe --ip 127.0.0.1", "connection_creation_rate=100"),
    Example("configs", "--alter --ip-defaults --add-config connection_creation_rate=200", "Completed updating"),
    Example("configs", "--describe --entity-type ips", "connection_creation_rate=200"),
    Example(
        "reassign", "--topics-to-move-json-file {topics} --broker-list 1,2,3 --generate", "Proposed partition reassign"
    ),
    Example(
        "reassign",
        "--reassignment-json-file {plan} --execute --throttle 50000000",
        "Successfully started partition reassignment for foo-1",
        short=True,
    ),
    Example("reassign", "--list"),
    Example("reassign", "--reassignment-json-file {plan} --execute --additional --throttle 70000000", "70000000 B/s"),
    Example(
        "reassign", "--reassignment-json-file {plan} --verify --preserve-throttles", "foo-1 is completed", until=True
    ),
    Example("configs", "--describe --broker 3", "follower.replication.throttled.rate=70000000"),
    Example(
        "reassign", "--reassignment-json-file {plan} --verify", "Clearing topic-level throttles", until=True, short=True
    ),
    Example("configs", "--describe --topic foo", "^((?!throttled).)*$", short=True),
    Example("reassign", "--reassignment-json-file {any} --execute", "Successfully started"),
    Example("reassign", "--reassignment-json-file {any} --cancel"),
    Example("elect", "--election-type PREFERRED --all-topic-partitions", short=True),
    Example("elect", "--election-type PREFERRED --topic foo --partition 1"),
    Example("elect", "--election-type PREFERRED --path-to-json-file {election}"),
    Example("elect", "--election-type UNCLEAN --topic foo --partition 0", "Valid replica already elected"),
    Example("log-dirs", "--describe", "Received log directory information from brokers", short=True),
    Example("log-dirs", "--describe --broker-list 1,2 --topic-list foo", '"partition":"foo-0"'),
    Example("topics", "--delete --topic test.topic"),
)
"""Of 3.9.1, in an order in which each finds what it needs."""

OLD = (
    Example("topics", "--create --topic old --partitions 3 --replication-factor 2", "Created topic", short=True),
    Example("topics", "--create --topic old --partitions 3 --replication-factor 2 --if-not-exists"),
    Example(
        "topics", "--create --topic older --replica-assignment 1:2,2:3 --config retention.ms=3600000", "Created topic"
    ),
    Example("topics", "--list", "older"),
    Example("topics", "--describe", "Topic:old"),
    Example("topics", "--describe --topics-with-overrides", "retention.ms=3600000"),
    Example("topics", "--describe --under-replicated-partitions"),
    Example("topics", "--describe --unavailable-partitions"),
    Example("topics", "--alter --topic old --partitions 4", "Adding partitions succeeded", short=True),
    Example("topics", "--alter --topic old --config flush.messages=7", "Updated config"),
    Example("topics", "--alter --topic old --delete-config flush.messages", "Updated config"),
    Example("configs", "{zk} --alter --entity-type topics --entity-name old --add-config retention.ms=7", "Completed"),
    Example("configs", "{zk} --describe --entity-type topics --entity-name old", "retention.ms=7"),
    Example("configs", "{zk} --alter --entity-type topics --entity-name old --delete-config retention.ms", "Completed"),
    Example(
        "configs",
        "{zk} --alter --entity-type users --entity-name bob --entity-type clients --entity-name app"
        " --add-config producer_byte_rate=1024",
        "Completed",
        short=True,
    ),
    Example("configs", "{zk} --describe --entity-type users --entity-type clients", "producer_byte_rate=1024"),
    Example(
        "configs", "{zk} --alter --entity-type clients --entity-default --add-config request_percentage=50", "Compl"
    ),
    Example(
        "configs", "{zk} --alter --entity-type clients --entity-default --delete-config request_percentage", "Compl"
    ),
    Example(
        "configs",
        "{brokers} --alter --entity-type brokers --entity-name 1 --add-config log.cleaner.threads=2",
        "Completed",
        short=True,
    ),
    Example(
        "configs", "{brokers} --describe --entity-type brokers --entity-name 1", "log.cleaner.threads=2", until=True
    ),
    Example(
        "configs",
        "{brokers} --alter --entity-type brokers --entity-name 1 --delete-config log.cleaner.threads",
        "Compl",
    ),
    Example(
        "configs", "{brokers} --alter --entity-type brokers --entity-default --add-config log.retention.ms=7", "Compl"
    ),
    Example("configs", "{brokers} --describe --entity-type brokers --entity-default", "log.retention.ms=7", until=True),
    Example(
        "configs", "{brokers} --alter --entity-type brokers --entity-default --delete-config log.retention.ms", "Compl"
    ),
    Example(
        "reassign", "{zk} --topics-to-move-json-file {topics} --broker-list 1,2,3 --generate", "Proposed partition"
    ),
    Example(
        "reassign",
        "{zk} --reassignment-json-file {plan} --execute --throttle 50000000",
        "Successfully started",
        short=True,
    ),
    Example(
        "reassign", "{zk} --reassignment-json-file {plan} --verify", "Throttle was removed", until=True, short=True
    ),
    Example("elect", "--path-to-json-file {election}", "Successfully started preferred replica election", short=True),
    Example("elect", "", "Successfully started preferred replica election"),
    Example("log-dirs", "--describe", "Received log directory information from brokers"),
    Example("log-dirs", "--describe --broker-list 1,2 --topic-list old", '"partition":"old-0"', short=True),
    Example("topics", "--delete --topic older", "is marked for deletion"),
)
"""Of 1.1.1, most of which writes to ZooKeeper by itself."""
EXAMPLES: Mapping[str, tuple[Example, ...]] = {"3.9.1": NEW, "1.1.1": OLD}
TOPICS = {"3.9.1": "foo", "1.1.1": "old"}
"""What the files are about."""


class Outcome(NamedTuple):
    """`note` is empty for an example that passed at once."""

    example: Example
    passed: bool
    note: str
    seconds: float


class Tried(Protocol):
    """The brokers that tools are tried on."""

    @property
    def bootstrap(self) -> str: ...

    @property
    def zookeeper(self) -> str: ...

    def kill(self, number: int) -> None: ...

    def restart(self, number: int) -> None: ...


class Ours:
    """Three brokers of ours, until `close`. Their addresses stay the same."""

    def __init__(self, zookeeper: str, folder: Path) -> None:
        self.zookeeper = zookeeper
        self.brokers = {
            number: BrokerProcess(folder, zookeeper, number, SETTINGS + LONG_SESSION) for number in (1, 2, 3)
        }
        for broker in self.brokers.values():
            broker.start()
        self._addresses = {number: broker.ready()["listeners"]["PLAINTEXT"] for number, broker in self.brokers.items()}
        self.bootstrap = ",".join(self._addresses.values())

    def kill(self, number: int) -> None:
        self.brokers[number].kill()

    def restart(self, number: int) -> None:
        """Its session of before ends by time: `--override` makes that soon."""
        address = self._addresses[number]
        self.brokers[number].start(f"listeners=PLAINTEXT://{address}", "zookeeper.session.timeout.ms=6000")
        self.brokers[number].ready()

    def close(self) -> None:
        for broker in self.brokers.values():
            broker.kill()


class Real:
    """Three real ones of 3.9.1."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self.bootstrap, self.zookeeper = cluster.bootstrap, cluster.zookeeper

    def kill(self, number: int) -> None:
        self._cluster.brokers[number].kill()

    def restart(self, number: int) -> None:
        self._cluster.brokers[number].start()
        self._cluster.await_serving(number)


class Tools:
    """The tools of one release, at these brokers. `folder` is for the files that they read."""

    def __init__(self, release: str, tried: Tried, folder: Path) -> None:
        self._kafka = install(RELEASES[release])
        self._tried = tried
        topic = TOPICS[release]
        self._places = {
            "zk": f"--zookeeper {tried.zookeeper}",
            "brokers": f"--bootstrap-server {tried.bootstrap}",
            **{name: str(folder / f"{release}-{name}") for name in _files(topic)},
        }
        for name, text in _files(topic).items():
            (folder / f"{release}-{name}").write_text(text)
        self._where = self._places["brokers"]
        self._old = release == "1.1.1"

    def command(self, example: Example) -> list[str]:
        words = re.sub(r"\{(\w+)\}", lambda found: self._places[found[1]], example.words)
        if "--zookeeper" not in words and "--bootstrap-server" not in words:
            by_zookeeper = self._old and example.tool != "log-dirs"
            words = f"{self._places['zk'] if by_zookeeper else self._where} {words}"
        return _java(self._kafka, example.tool, shlex.split(words))

    def run(self, example: Example, killed: int | None = None) -> Outcome:
        """Once, or as often as it takes; while a broker is killed, if one is named."""
        began_s = time.monotonic()
        killing = None
        if killed is not None:
            killing = threading.Timer(KILL_AFTER_S, self._tried.kill, (killed,))
            killing.start()
        note = ""
        try:
            said = self._once(example)
            while said and time.monotonic() < began_s + TIMEOUT_S and (example.until or killing):
                if killing is not None:
                    killing.join()
                    self._tried.restart(killed or 0)
                    killing, note = None, "once the broker was back"
                said = self._once(example)
        finally:
            if killing is not None:
                killing.join()
                self._tried.restart(killed or 0)
        return Outcome(example, not said, said or note, time.monotonic() - began_s)

    def _once(self, example: Example) -> str:
        """What is wrong; empty if nothing is."""
        done = subprocess.run(
            self.command(example),
            input="y\n",
            capture_output=True,
            text=True,
            check=False,
            timeout=TIMEOUT_S,
            env=java_environment(),
        )
        said = done.stdout + done.stderr
        failed = done.returncode != 0 or "Error while executing" in said or "Exception" in said
        if failed != example.fails or not re.search(example.says, done.stdout if not failed else said, re.DOTALL):
            return f"exit {done.returncode}: {said.strip()[-600:]}"
        return ""


_CLASSES = {
    "1.1.1": {"log-dirs": "kafka.admin.LogDirsCommand"},
    "3.9.1": {"log-dirs": "org.apache.kafka.tools.LogDirsCommand"},
}


def _java(kafka: Installation, tool: str, words: list[str]) -> list[str]:
    classes = {**kafka.release.classes, **_CLASSES[kafka.release.version]}
    return kafka.java(classes[tool], *words, heap_mb=128)


def _files(topic: str) -> dict[str, str]:
    def moves(**more: object) -> str:
        moved = {"topic": topic, "partition": 1, "replicas": [1, 2, 3], **more}
        return json.dumps({"version": 1, "partitions": [moved]})

    return {
        "topics": json.dumps({"version": 1, "topics": [{"topic": topic}]}),
        "plan": moves(),
        "any": moves(replicas=[3, 1], log_dirs=["any", "any"]),
        "election": json.dumps({"partitions": [{"topic": topic, "partition": 1}]}),
        "settings": "log.retention.ms=7200000\nmessage.max.bytes=2000000\n",
    }


@contextmanager
def brokers(*, real: bool = False) -> Iterator[tuple[Tried, Path]]:
    """Three of them under a ZooKeeper of their own, and a folder."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="tools-")))
        zookeeper = f"{stack.enter_context(start_zookeeper()).address}/tools"
        if real:
            kafka = install(RELEASES["3.9.1"])
            yield Real(stack.enter_context(Cluster(kafka, zookeeper, folder, settings=SETTINGS))), folder
            return
        ours = Ours(zookeeper, folder)
        stack.callback(ours.close)
        yield ours, folder


def main() -> int:
    """Exit code 1 where an example did not pass."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--killed", action="store_true", help="kill a broker while each example runs")
    parser.add_argument("--real", action="store_true", help="real brokers of 3.9.1 instead of ours")
    parser.add_argument("releases", nargs="*", help="of the tools; all unless some are named")
    given = parser.parse_args()
    missed = 0
    with brokers(real=given.real) as (tried, folder):
        for release in given.releases or list(EXAMPLES):
            tools = Tools(release, tried, folder)
            for number, example in enumerate(EXAMPLES[release]):
                outcome = tools.run(example, number % 3 + 1 if given.killed and number else None)
                missed += not outcome.passed
                mark = "passed" if outcome.passed else "MISSED"
                row = f"| {release} | kafka-{example.tool} {example.words} | {mark} | {outcome.seconds:.1f} s |"
                print(f"{row} {outcome.note} |".replace("\n", " "), flush=True)
    print(f"{missed} of the examples did not pass")
    return bool(missed)


if __name__ == "__main__":
    sys.exit(main())
