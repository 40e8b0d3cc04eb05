"""What the help texts of Kafka's admin tools of 1.1.1 and 3.9.1 offer, run on three brokers of ours, as a table.

`python -m tests.conformance.kafka.tool_examples` runs all examples and tells which passed; `--killed` kills a broker
with SIGKILL while each of them runs, and starts it again at once; `--real` has real brokers of 3.9.1 instead of ours.
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
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple, Protocol

from model.sandbox.java import java_environment
from tests.conformance.kafka.releases import RELEASES, Installation, install
from tests.conftest import start_zookeeper
from tests.harness.host_processes import BrokerProcess
from tests.harness.kafka import Cluster
from tests.harness.waiting import eventually

SETTINGS = """
auto.leader.rebalance.enable=false
num.partitions=3
default.replication.factor=2
replica.fetch.max.bytes=65536
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


RELEASES_TRIED = ("3.9.1", "1.1.1")


def examples(release: str) -> Iterator[Example]:
    """Those of a release, in an order in which each finds what it needs; most tools of 1.1.1 ask ZooKeeper."""
    text = (Path(__file__).parents[2] / f"data/kafka-tools/examples-{release}.txt").read_text()
    for row in text.splitlines():
        if row.startswith("#"):
            continue
        marks, command, says = (part.strip() for part in row.split("|"))
        tool, _, words = command.removeprefix("kafka-").partition(" ")
        yield Example(tool, words, says, fails="f" in marks, until="u" in marks, short="s" in marks)


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
        self.brokers = {number: BrokerProcess(folder, zookeeper, number, SETTINGS) for number in (1, 2, 3)}
        for broker in self.brokers.values():
            broker.start()
        self._addresses = {number: broker.ready()["listeners"]["PLAINTEXT"] for number, broker in self.brokers.items()}
        self.bootstrap = ",".join(self._addresses.values())

    def kill(self, number: int) -> None:
        self.brokers[number].kill()

    def restart(self, number: int) -> None:
        """On its address of before; it waits for the end of its session."""
        self.brokers[number].start(f"listeners=PLAINTEXT://{self._addresses[number]}")
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
        """Once its session has ended: it does not wait for that, it gives up."""
        eventually(lambda: number not in self._cluster.registered(), f"the session of broker {number} to end")
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
        """Once, or as often as it takes; while a broker is killed and comes back, if one is named."""
        began_s = time.monotonic()
        killing = None
        if killed is not None:
            killing = threading.Thread(target=self._kill, args=(killed,))
            killing.start()
        note = ""
        said = self._once(example)
        if killing is not None:
            killing.join()
            if said:
                said, note = self._once(example), "once the broker was back"
        while said and example.until and time.monotonic() < began_s + TIMEOUT_S:
            said = self._once(example)
        return Outcome(example, not said, said or note, time.monotonic() - began_s)

    def _kill(self, number: int) -> None:
        time.sleep(KILL_AFTER_S)
        self._tried.kill(number)
        self._tried.restart(number)

    def _once(self, example: Example) -> str:
        """What is wrong; empty if nothing is."""
        try:
            done = subprocess.run(
                self.command(example),
                input="y\n",
                capture_output=True,
                text=True,
                check=False,
                timeout=TIMEOUT_S,
                env=java_environment(),
            )
        except subprocess.TimeoutExpired:
            return f"not done within {TIMEOUT_S:g} s"
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
        for release in given.releases or RELEASES_TRIED:
            tools = Tools(release, tried, folder)
            for number, example in enumerate(examples(release)):
                outcome = tools.run(example, number % 3 + 1 if given.killed and number else None)
                missed += not outcome.passed
                mark = "passed" if outcome.passed else "MISSED"
                row = f"| {release} | kafka-{example.tool} {example.words} | {mark} | {outcome.seconds:.1f} s |"
                print(f"{row} {outcome.note} |".replace("\n", " "), flush=True)
    print(f"{missed} of the examples did not pass")
    return bool(missed)


if __name__ == "__main__":
    sys.exit(main())
