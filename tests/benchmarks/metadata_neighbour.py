"""How long another client of a KRaft cluster waits for a change of the metadata while kdrill follows it, and while not.

A real controller of 3.9.1 that is a broker as well. The other client is a process of its own that sets a topic's
retention, one change after the other, which is a record that the controller appends and answers once it is committed:
each is news for whoever follows, too. Those who follow are in a process of their own. What they ask for is counted on
the wire, while changes come and at rest.

`python -m tests.benchmarks.metadata_neighbour change HOST:PORT` and `… follow HOST:PORT COUNT` are these processes:
they go on until their standard input ends.
"""

from __future__ import annotations

import json
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,  # pyright: ignore[reportPrivateImportUsage]
    ConfigEntry,  # pyright: ignore[reportPrivateImportUsage]
    ConfigResource,  # pyright: ignore[reportPrivateImportUsage]
)
from confluent_kafka.cimpl import NewTopic

from model.sources.addresses import ControllersAddress, parse_source
from model.sources.feed import Feed
from model.sources.quorum.quorum_source import QuorumSource
from tests.benchmarks.figure import Figure
from tests.conformance.kafka.releases import RELEASES, install
from tests.harness.kraft import KraftCluster

TOPIC, PARTITIONS = "changed", 200
LASTING_S, REST_S = 10.0, 5.0
PAUSE_S = 0.005
PLACES = {"p50": 0.50, "p99": 0.99}
FOLLOWING = (1, 10)
PATIENCE_S = 60.0


def measure(folder: Path) -> Iterator[Figure]:
    """Seconds that the other client waits, beside one kdrill and beside ten, against nobody who follows."""
    with KraftCluster(install(RELEASES["3.9.1"]), folder, size=1, counts_controllers=True) as cluster:
        admin = AdminClient({"bootstrap.servers": cluster.bootstrap})
        admin.create_topics([NewTopic(TOPIC, PARTITIONS, 1)])[TOPIC].result(PATIENCE_S)
        _waits(cluster)  # the controller's JVM warms up
        alone = _waits(cluster)
        for count in FOLLOWING:
            with _process("follow", cluster.controllers_counted, str(count)):
                waits = _waits(cluster)
                asked, resting = cluster.asked_of_controllers, time.monotonic()
                time.sleep(REST_S)
                asked = cluster.asked_of_controllers - asked
                a_second = {name: number / (time.monotonic() - resting) / count for name, number in asked.items()}
            told = ", ".join(f"{name} {number:.1f}" for name, number in sorted(a_second.items()))
            for name, place in PLACES.items():
                what = f"another client's change beside {count} kdrill, {name}"
                note = f"{len(waits):,} changes; each asks a second at rest: {told}"
                yield Figure(what, _at(waits, place), "while nobody follows", _at(alone, place), note=note)


def _waits(cluster: KraftCluster) -> list[float]:
    with _process("change", cluster.bootstrap) as waits:
        time.sleep(LASTING_S)
    return sorted(waits)


@contextmanager
def _process(*arguments: str) -> Iterator[list[float]]:
    """Once it has begun; what it tells at its end."""
    told: list[float] = []
    command = [sys.executable, "-m", "tests.benchmarks.metadata_neighbour", *arguments]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        yield told
        told += json.loads(process.communicate(timeout=PATIENCE_S)[0])


def _at(waits: list[float], place: float) -> float:
    return waits[int(place * (len(waits) - 1))]


def change(bootstrap: str) -> list[float]:
    """Seconds that each change took."""
    admin, waits = AdminClient({"bootstrap.servers": bootstrap}), list[float]()
    print("begun", flush=True)
    while not select.select([sys.stdin], [], [], PAUSE_S)[0]:
        entry = ConfigEntry("retention.ms", str(3_600_000 + len(waits)), incremental_operation=AlterConfigOpType.SET)
        resource = ConfigResource(ConfigResource.Type.TOPIC, TOPIC, incremental_configs=[entry])
        began_s = time.perf_counter()
        admin.incremental_alter_configs([resource])[resource].result(PATIENCE_S)
        waits.append(time.perf_counter() - began_s)
    return waits


def follow(controllers: str, count: str) -> list[float]:
    """Begun once all of them are live."""
    address = parse_source(f"controllers://{controllers}")
    assert isinstance(address, ControllersAddress)
    with ExitStack() as ends:
        feeds = list[Feed]()
        for _ in range(int(count)):
            source = ends.enter_context(closing(QuorumSource(address, asks_brokers=False)))
            feeds.append(Feed(source.name, lambda _: None))
            source.open(feeds[-1])
        while any(feed.moment.status.phase != "live" for feed in feeds):
            time.sleep(0.05)
        print("begun", flush=True)
        select.select([sys.stdin], [], [])
    return []


def main(what: str, *arguments: str) -> None:
    print(json.dumps({"change": change, "follow": follow}[what](*arguments)))


if __name__ == "__main__":
    main(*sys.argv[1:])
