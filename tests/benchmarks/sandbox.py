"""Three brokers of ours and three Java brokers 3.9.1, one cluster after the other: start, failover, writing, reading.

Same machine, same ZooKeeper, same settings and clients (librdkafka), replication factor 3, acks=all. Failover: from
kill -9 of a broker to the last of a thousand partitions that has a leader again; a session timeout of 4 s is in it.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from model.sandbox.zookeeper_server import EmbeddedZooKeeper, ServerOptions
from tests.benchmarks.figure import Figure
from tests.conformance.kafka.releases import RELEASES, install
from tests.harness.kafka import SESSION_TIMEOUT_MS, Cluster
from tests.harness.ours_beside_kafka import OurBroker
from tests.harness.waiting import eventually

BROKERS = (1, 2, 3)
TOPICS, PARTITIONS = 10, 100
RECORD = bytes(range(256)) * 4
RECORDS = 30_000
"""Of 1 KB each."""
PATIENCE_S = 300
SETTINGS = "log.index.size.max.bytes=65536\nmin.insync.replicas=2\n"


class Run(NamedTuple):
    """What one cluster took, in seconds."""

    ready_s: float
    failover_s: float
    write_s: float
    read_s: float


def measure(folder: Path) -> Iterator[Figure]:
    """Each cluster once; the note says megabytes a second where that is what counts."""
    zookeeper = EmbeddedZooKeeper(folder / "zookeeper", options=ServerOptions(heap_mb=512))
    with zookeeper as server:
        java, ours = (_run(kind, server.address, folder) for kind in ("java", "ours"))
    rival, megabytes = "Java 3.9.1", RECORDS * len(RECORD) / 1e6
    yield Figure("three brokers ready", ours.ready_s, rival, java.ready_s)
    note = f"of these {SESSION_TIMEOUT_MS / 1000:g} s or less are the session's"
    yield Figure("failover of 1,000 partitions", ours.failover_s, rival, java.failover_s, note=note)
    for what, mine, theirs in (("write", ours.write_s, java.write_s), ("read", ours.read_s, java.read_s)):
        speeds = f"{megabytes / mine:,.1f} and {megabytes / theirs:,.1f} MB/s"
        yield Figure(f"{what} {megabytes:,.0f} MB, acks=all, factor 3", mine, rival, theirs, note=speeds)


def _run(kind: str, zookeeper: str, folder: Path) -> Run:
    kafka, chroot = install(RELEASES["3.9.1"]), f"{zookeeper}/{kind}"
    java_brokers = len(BROKERS) if kind == "java" else 0
    cluster = Cluster(kafka, chroot, folder / kind, java_brokers, settings=SETTINGS, heap_mb=512)
    if kind == "ours":
        cluster.brokers.update({number: OurBroker(number, cluster, SETTINGS) for number in BROKERS})
    began = time.perf_counter()
    with cluster:
        eventually(lambda: _knows_all(cluster), "all brokers in the metadata")
        ready_s = time.perf_counter() - began
        admin = AdminClient({"log_level": 0, "bootstrap.servers": cluster.bootstrap})
        write_s, read_s = _transfer(cluster, admin)
        return Run(ready_s, _fail_over(cluster, admin), write_s, read_s)


def _knows_all(cluster: Cluster) -> bool:
    """Asked by a new client each time: one that heard of no controller asks again only minutes later."""
    known = AdminClient({"log_level": 0, "bootstrap.servers": cluster.bootstrap}).list_topics(timeout=10)
    return known.controller_id in known.brokers and len(known.brokers) == len(BROKERS)


def _transfer(cluster: Cluster, admin: AdminClient) -> tuple[float, float]:
    _create(cluster, admin, ["data"], 6)
    producer = Producer({"log_level": 0, "bootstrap.servers": cluster.bootstrap, "acks": "all", "linger.ms": 20})
    with _timed() as writing:
        for number in range(RECORDS):
            producer.produce("data", RECORD, partition=number % 6)
            producer.poll(0)
        assert producer.flush(PATIENCE_S) == 0
    settings: dict[str, Any] = {
        "log_level": 0,
        "bootstrap.servers": cluster.bootstrap,
        "group.id": "none",
        "enable.auto.commit": False,
    }
    consumer = Consumer(settings)
    consumer.assign([TopicPartition("data", number, 0) for number in range(6)])
    with _timed() as reading:
        read = 0
        while read < RECORDS:
            read += len(consumer.consume(1_000, timeout=PATIENCE_S))
    consumer.close()
    return writing[0], reading[0]


def _fail_over(cluster: Cluster, admin: AdminClient) -> float:
    """A broker that is not the controller dies, and every partition that it led gets another leader."""
    topics = [f"t{number}" for number in range(TOPICS)]
    _create(cluster, admin, topics, PARTITIONS)
    victim = next(number for number in BROKERS if number != cluster.controller())
    with _timed() as taken:
        cluster.brokers[victim].kill()
        eventually(lambda: victim not in cluster.registered(), "the end of the session", PATIENCE_S)
        eventually(lambda: all(_is_led(cluster, topic, victim) for topic in topics), "leaders", PATIENCE_S)
    return taken[0]


def _is_led(cluster: Cluster, topic: str, victim: int) -> bool:
    paths = [f"/brokers/topics/{topic}/partitions/{number}/state" for number in range(PARTITIONS)]
    return all(json.loads(text)["leader"] not in (-1, victim) for text in map(cluster.text, paths))


def _create(cluster: Cluster, admin: AdminClient, topics: list[str], partitions: int) -> None:
    made = admin.create_topics([NewTopic(topic, partitions, len(BROKERS)) for topic in topics], operation_timeout=60)
    for future in made.values():
        future.result(PATIENCE_S)
    full = [(topic, number) for topic in topics for number in range(partitions)]
    eventually(
        lambda: all(len(cluster.state(*each).get("isr", ())) == len(BROKERS) for each in full), "ISRs", PATIENCE_S
    )


@contextmanager
def _timed() -> Iterator[list[float]]:
    """The seconds of what is done within, once it is done."""
    taken: list[float] = []
    began = time.perf_counter()
    yield taken
    taken.append(time.perf_counter() - began)
