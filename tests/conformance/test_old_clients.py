"""Clients of 0.8.2.2 and 1.1.1, and kafka-python in the ways of 0.8.2, 0.9 and 0.10, at three brokers of ours.

All read every record once, whoever wrote it, while a broker is killed.
"""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import pytest
from kafka import KafkaConsumer, KafkaProducer
from kafka.structs import TopicPartition as Place

from model.sandbox.java import java_environment
from tests.conformance.java.answers import java_command
from tests.conformance.kafka.commands import Commands
from tests.conformance.kafka.releases import Installation, install_or_skip
from tests.harness.host_processes import ClusterOfThree
from tests.harness.logged_process import LoggedProcess
from tests.harness.waiting import eventually
from tests.harness.zookeeper import Znodes
from tests.model.hosts.live_broker.groups.members import PARTITIONS, TOPIC

pytestmark = [pytest.mark.conformance, pytest.mark.timeout(420)]

WAYS = {"0.8.2": (0, 8, 2), "0.9": (0, 9), "0.10": (0, 10)}
"""Of kafka-python: the releases that it takes the brokers for."""
CODECS = {"0.8.2": "gzip", "0.9": None, "0.10": "gzip"}
RELEASES = ("0.8.2.2", "1.1.1")
SETTINGS = """
zookeeper.session.timeout.ms=6000
auto.commit.interval.ms=200
session.timeout.ms=6000
"""
"""Each release takes what it knows of them."""
EACH = 20
"""Records that each producer writes at a time."""


class Target(NamedTuple):
    """Our brokers as clients of one release see them."""

    kafka: Installation
    folder: Path
    zookeeper: str
    bootstrap: str


class ConsoleConsumer(LoggedProcess):
    """A member of a group until it is killed: `words` say by whom it finds its partitions."""

    def __init__(self, target: Target, group: str, *words: str) -> None:
        properties = target.folder / f"{group}.properties"
        properties.write_text(f"group.id={group}\n{SETTINGS}")
        words = (*words, "--from-beginning", "--consumer.config", str(properties))
        command, log = Commands(target).java("consume", *words), target.folder / f"{group}.log"
        super().__init__(command, log, folder=target.folder, environment=java_environment())
        self.start()

    def printed(self, start: str) -> list[str]:
        """What it read; warnings are in the same file."""
        return [line for line in self.log.splitlines() if line.startswith(start)]


STREAMS = 3
"""Threads of the high-level consumer that has several."""


class JavaProgram(LoggedProcess):
    """A program of `java/` with consumers in threads of their own, which prints THREAD VALUE until it is killed."""

    def __init__(self, target: Target, name: str, *words: str) -> None:
        release, log = target.kafka.release.version, target.folder / f"{name}-{target.kafka.release.version}.log"
        command = [*java_command(name, release), *words]
        super().__init__(command, log, folder=target.folder, environment=java_environment())
        self.start()

    def printed(self, start: str) -> list[str]:
        return [value for _, value in self._by_thread() if value.startswith(start)]

    @property
    def threads(self) -> set[str]:
        """Those that read anything."""
        return {thread for thread, value in self._by_thread() if value.startswith("record ")}

    def _by_thread(self) -> list[tuple[str, str]]:
        lines = (line.partition(" ") for line in self.log.splitlines())
        return [(thread, value) for thread, _, value in lines if thread.isdecimal()]


class PythonConsumer:
    """kafka-python in a thread, from its making to `kill`."""

    def __init__(self, bootstrap: str, way: str) -> None:
        self._consumer = KafkaConsumer(
            bootstrap_servers=bootstrap.split(","),
            api_version=WAYS[way],
            group_id=None if way == "0.8.2" else f"python-{way}",
            auto_offset_reset="earliest",
            enable_auto_commit=way != "0.8.2",
        )
        if way == "0.8.2":  # there are no groups yet
            self._consumer.assign([Place(TOPIC, number) for number in range(PARTITIONS)])
        else:
            self._consumer.subscribe([TOPIC])
        self._read: list[str] = []
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        while not self._ended.is_set():
            for records in self._consumer.poll(200).values():
                self._read += [record.value.decode() for record in records]
        self._consumer.close()

    def printed(self, start: str) -> list[str]:
        return [value for value in self._read if value.startswith(start)]

    def kill(self) -> None:
        self._ended.set()
        self._thread.join()


def write_by_console(target: Target, name: str) -> list[str]:
    """ConsoleProducer; what it wrote, acknowledged by all in sync."""
    values = [f"record {name} {target.kafka.release.version} {number}" for number in range(EACH)]
    words = ("--broker-list", target.bootstrap, "--topic", TOPIC, "--request-required-acks", "-1")
    done = subprocess.run(
        Commands(target).java("produce", *words),
        input="".join(f"{value}\n" for value in values),
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env=java_environment(),
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return values


def write_by_python(bootstrap: str, way: str, name: str) -> list[str]:
    values = [f"record {name} python {way} {number}" for number in range(EACH)]
    producer = KafkaProducer(
        bootstrap_servers=bootstrap.split(","),
        api_version=WAYS[way],
        acks="all",
        compression_type=CODECS[way],
        linger_ms=50,
        enable_idempotence=False,
    )
    for written in [producer.send(TOPIC, value.encode()) for value in values]:
        written.get(60)
    producer.close()
    return values


def records_at(bootstrap: str) -> int:
    """By the ends of all partitions, which begin at 0."""
    consumer = KafkaConsumer(bootstrap_servers=bootstrap.split(","))
    try:
        return sum(consumer.end_offsets([Place(TOPIC, number) for number in range(PARTITIONS)]).values())
    finally:
        consumer.close()


@pytest.fixture(params=["3.9", "0.8.2"])
def targets(
    request: pytest.FixtureRequest, zookeeper: str, tmp_path: Path
) -> Iterator[tuple[ClusterOfThree, Sequence[Target]]]:
    """The brokers talk to each other, and store records, as those of that release."""
    kafka = [install_or_skip(version) for version in RELEASES]
    with ClusterOfThree(zookeeper, tmp_path, f"inter.broker.protocol.version={request.param}\n") as three:
        yield three, [Target(each, tmp_path, zookeeper, three.bootstrap) for each in kafka]


class Readers:
    """Consumers of all kinds, from their making to `kill`."""

    def __init__(self, bootstrap: str, oldest: Target, old: Target) -> None:
        by_zookeeper = ("--zookeeper", oldest.zookeeper, "--whitelist", TOPIC)
        self._bootstrap = bootstrap
        self.streams = JavaProgram(oldest, "Streams", oldest.zookeeper, "streams", TOPIC, str(STREAMS))
        simple = (bootstrap, TOPIC, str(PARTITIONS))
        self._readers = {
            "streams of 0.8.2.2": self.streams,
            "0.8.2.2": ConsoleConsumer(oldest, "oldest", *by_zookeeper),
            "SimpleConsumer of 0.8.2.2": JavaProgram(oldest, "Simple", *simple),
            "SimpleConsumer of 1.1.1": JavaProgram(old, "Simple", *simple),
            "1.1.1 by ZooKeeper": ConsoleConsumer(old, "old", *by_zookeeper),
            "1.1.1": ConsoleConsumer(old, "new", "--bootstrap-server", bootstrap, "--topic", TOPIC),
            **{way: PythonConsumer(bootstrap, way) for way in WAYS},
        }

    def kill(self) -> None:
        for reader in self._readers.values():
            reader.kill()

    def all_read(self, written: Sequence[str]) -> int:
        """How many there are: more than were written where a producer that heard nothing wrote once more."""
        count = records_at(self._bootstrap)
        for name, reader in self._readers.items():
            eventually(
                lambda reader=reader: len(reader.printed("record ")) >= count,
                f"{name} to read {count} records",
                standing=lambda reader=reader: len(reader.printed("record ")),
            )
        (read,) = {tuple(sorted(reader.printed("record "))) for reader in self._readers.values()}
        assert len(read) == count
        assert set(read) == set(written)
        return count


def write_by_all(bootstrap: str, targets: Sequence[Target], name: str) -> list[str]:
    """What producers of all kinds wrote."""
    by_console = [value for target in targets for value in write_by_console(target, name)]
    return by_console + [value for way in WAYS for value in write_by_python(bootstrap, way, name)]


def test_all_read_every_record_once_while_a_broker_is_killed(
    targets: tuple[ClusterOfThree, Sequence[Target]],
) -> None:
    three, (oldest, old) = targets
    with ExitStack() as running:
        readers = Readers(three.bootstrap, oldest, old)
        running.callback(readers.kill)
        znodes = running.enter_context(Znodes(oldest.zookeeper))
        written = write_by_all(three.bootstrap, (oldest, old), "first")
        assert readers.all_read(written) == len(written)

        leader = znodes.state(TOPIC, 0)["leader"]
        three.brokers[leader].kill()
        eventually(
            lambda: all(leader not in znodes.state(TOPIC, number)["isr"] for number in range(PARTITIONS)),
            "ISRs without the one that was killed",
        )
        written += write_by_all(three.bootstrap, (oldest, old), "second")
        count = readers.all_read(written)
        assert readers.streams.threads == {str(number) for number in range(min(STREAMS, PARTITIONS))}
        for group in ("oldest", "old", "streams"):
            path = f"/consumers/{group}/offsets/{TOPIC}"
            eventually(
                lambda path=path: sum(int(znodes.text(f"{path}/{n}") or 0) for n in range(PARTITIONS)) == count,
                f"{group} to commit all",
            )


def test_a_burst_shrinks_the_isr_by_messages_though_nobody_is_slow(zookeeper: str, tmp_path: Path) -> None:
    """The rule of 0.8, under a producer of that time: followers that are some messages behind for a moment leave."""
    kafka = install_or_skip(RELEASES[0])
    settings = "inter.broker.protocol.version=0.8.2\nreplica.lag.max.messages=10\nreplica.lag.time.max.ms=2000\n"
    with ExitStack() as running:
        three = running.enter_context(ClusterOfThree(zookeeper, tmp_path, settings))
        target = Target(kafka, tmp_path, zookeeper, three.bootstrap)
        words = ("--broker-list", three.bootstrap, "--topic", TOPIC, "--request-required-acks", "1")
        producer = subprocess.Popen(
            Commands(target).java("produce", *words), stdin=subprocess.PIPE, env=java_environment(), text=True
        )
        running.callback(producer.kill)
        assert producer.stdin is not None

        def burst() -> bool:
            print(*(f"message {number}" for number in range(2000)), sep="\n", file=producer.stdin, flush=True)
            logs = tmp_path.glob("broker-*/broker-*.log")
            return any("messages behind, it leaves the ISR" in log.read_text() for log in logs)

        eventually(burst, "a follower to leave")
        producer.stdin.close()
        assert producer.wait(120) == 0
        znodes = running.enter_context(Znodes(zookeeper))
        eventually(
            lambda: all(len(znodes.state(TOPIC, number)["isr"]) == 3 for number in range(PARTITIONS)),
            "all to be in sync again",
        )
