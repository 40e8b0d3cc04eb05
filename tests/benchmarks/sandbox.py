"""Three brokers of ours and three Java brokers 3.9.1, one cluster after the other: start and failover.

Same machine, same ZooKeeper, same settings, replication factor 3. Failover: from kill -9 of a broker to the last of a
thousand partitions that has a leader again; a session timeout of 4 s is in it.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from confluent_kafka import Consumer, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from model.sandbox.zookeeper_server import EmbeddedZooKeeper, ServerOptions
from tests.benchmarks.figure import Figure
from tests.conformance.kafka.releases import JAVA_FLAGS, RELEASES, install
from tests.harness.kafka import SESSION_TIMEOUT_MS, Cluster
from tests.harness.ours_beside_kafka import OurBroker
from tests.harness.waiting import eventually

BROKERS = (1, 2, 3)
TOPICS, PARTITIONS = 10, 100
PATIENCE_S = 300
SETTINGS = "log.index.size.max.bytes=65536\nmin.insync.replicas=2\n"


class Run(NamedTuple):
    """What one cluster took, in seconds."""

    ready_s: float
    failover_s: float


def measure(folder: Path) -> Iterator[Figure]:
    """Each cluster once."""
    zookeeper = EmbeddedZooKeeper(folder / "zookeeper", options=ServerOptions(heap_mb=512))
    with zookeeper as server:
        java, ours = (_run(kind, server.address, folder) for kind in ("java", "ours"))
    rival = "Java 3.9.1"
    yield Figure("three brokers ready", ours.ready_s, rival, java.ready_s)
    note = f"of these {SESSION_TIMEOUT_MS / 1000:g} s or less are the session's"
    yield Figure("failover of 1,000 partitions", ours.failover_s, rival, java.failover_s, note=note)


def cluster_of(kind: str, zookeeper: str, folder: Path, *, quick_jvm: bool = True) -> Cluster:
    """Three brokers, `ours` or `java`; without `quick_jvm` the JVM compiles and collects as it does by itself."""
    kafka, chroot = install(RELEASES["3.9.1"]), f"{zookeeper}/{kind}"
    java_brokers = len(BROKERS) if kind == "java" else 0
    cluster = Cluster(kafka, chroot, folder / kind, java_brokers, settings=SETTINGS, heap_mb=512)
    for broker in cluster.brokers.values():
        if not quick_jvm:
            broker.command = [each for each in broker.command if each not in JAVA_FLAGS]
    if kind == "ours":
        cluster.brokers.update({number: OurBroker(number, cluster, SETTINGS) for number in BROKERS})
    return cluster


def _run(kind: str, zookeeper: str, folder: Path) -> Run:
    cluster = cluster_of(kind, zookeeper, folder)
    began = time.perf_counter()
    with cluster:
        eventually(lambda: knows_all(cluster), "all brokers in the metadata")
        ready_s = time.perf_counter() - began
        admin = AdminClient({"log_level": 0, "bootstrap.servers": cluster.bootstrap})
        return Run(ready_s, _fail_over(cluster, admin))


def knows_all(cluster: Cluster) -> bool:
    """Asked by a new client each time: one that heard of no controller asks again only minutes later."""
    try:
        known = AdminClient({"log_level": 0, "bootstrap.servers": cluster.bootstrap}).list_topics(timeout=10)
    except KafkaException:  # by a broker that was told of nobody yet
        return False
    return known.controller_id in known.brokers and len(known.brokers) == len(BROKERS)


def read_all(cluster: Cluster, topic: str, partitions: int, count: int) -> None:
    """As many records of a topic, from its beginning."""
    settings: dict[str, Any] = {
        "log_level": 0,
        "bootstrap.servers": cluster.bootstrap,
        "group.id": "none",
        "enable.auto.commit": False,
    }
    consumer = Consumer(settings)
    consumer.assign([TopicPartition(topic, number, 0) for number in range(partitions)])
    read = 0
    while read < count:
        read += len(consumer.consume(10_000, timeout=PATIENCE_S))
    consumer.close()


def _fail_over(cluster: Cluster, admin: AdminClient) -> float:
    """A broker that is not the controller dies, and every partition that it led gets another leader."""
    topics = [f"t{number}" for number in range(TOPICS)]
    create_topics(cluster, admin, topics, PARTITIONS)
    victim = next(number for number in BROKERS if number != cluster.controller())
    with _timed() as taken:
        cluster.brokers[victim].kill()
        eventually(lambda: victim not in cluster.registered(), "the end of the session", PATIENCE_S)
        eventually(lambda: all(_is_led(cluster, topic, victim) for topic in topics), "leaders", PATIENCE_S)
    return taken[0]


def _is_led(cluster: Cluster, topic: str, victim: int) -> bool:
    paths = [f"/brokers/topics/{topic}/partitions/{number}/state" for number in range(PARTITIONS)]
    return all(json.loads(text)["leader"] not in (-1, victim) for text in map(cluster.text, paths))


def create_topics(cluster: Cluster, admin: AdminClient, topics: list[str], partitions: int) -> None:
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
