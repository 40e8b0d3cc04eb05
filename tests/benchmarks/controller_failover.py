"""Ten thousand partitions on three Java brokers 3.9.1: how long until a new controller has written the last state.

From the end of the old controller's session, whose broker is gone with it, to the last write of a partition state, both
by ZooKeeper's own clock. The rival is a Java controller in the same cluster.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any, NamedTuple

from kazoo.client import KazooClient
from kazoo.exceptions import NoNodeError

from model.sandbox.zookeeper_server import EmbeddedZooKeeper, ServerOptions
from model.znodes.topics import TopicAssignment
from tests.benchmarks.figure import Figure
from tests.benchmarks.transaction_log import CLOSE_SESSION, transactions
from tests.conformance.kafka.releases import RELEASES, install
from tests.harness.kafka import Cluster
from tests.harness.ours_beside_kafka import OurController
from tests.harness.waiting import eventually

TOPICS, PARTITIONS, FACTOR = 100, 100, 3
BROKERS = (1, 2, 3)
ROUNDS = 2
PATIENCE_S = 600
QUIET_S = 4.0
SAMPLE = 50
"""Look at every so many partitions of a topic while there is still something to do."""
SETTINGS = """
controlled.shutdown.enable=false
num.io.threads=4
num.recovery.threads.per.data.dir=4
log.index.size.max.bytes=4096
log.flush.scheduler.interval.ms=3600000
replica.lag.time.max.ms=600000
zookeeper.session.timeout.ms=60000
"""
"""A session must outlive a pause as long as a broker with ten thousand logs takes to stop."""


class Failover(NamedTuple):
    """`claimed_s`: until /controller was there again; `done_s`: until the last of `writes` partition states."""

    claimed_s: float
    done_s: float
    writes: int


def measure(folder: Path) -> Iterator[Figure]:
    """Java's and ours by turns in one cluster; the best of each."""
    java: list[Failover] = []
    ours: list[Failover] = []
    with ExitStack() as started:
        zookeeper = EmbeddedZooKeeper(folder / "zookeeper", options=ServerOptions(heap_mb=2048))
        address = f"{started.enter_context(zookeeper).address}/kafka"
        kafka = install(RELEASES["3.9.1"])
        cluster = started.enter_context(Cluster(kafka, address, folder / "kafka", settings=SETTINGS, heap_mb=1024))
        bench = started.enter_context(closing(_Bench(cluster, folder / "zookeeper")))
        bench.create_topics()
        for _ in range(ROUNDS):
            java.append(bench.fail_over(None))
            ours.append(bench.fail_over(OurController(cluster)))
    fastest, rival = min(ours, key=_done), min(java, key=_done)
    note = f"{fastest.writes} and {rival.writes} writes; all: {_texts(ours)} and {_texts(java)}"
    yield Figure("controller failover, last partition state", fastest.done_s, "Java 3.9.1", rival.done_s, 1.0, note)
    yield Figure("controller failover, /controller claimed", fastest.claimed_s, "Java 3.9.1", rival.claimed_s)


class _Bench:
    """What is done to the cluster, and what its ZooKeeper wrote down."""

    def __init__(self, cluster: Cluster, logs: Path) -> None:
        self._cluster = cluster
        self._logs = logs
        server, slash, chroot = cluster.zookeeper.partition("/")
        self._chroot = slash + chroot
        self._client: Any = KazooClient(server)
        self._client.start(timeout=30)

    def create_topics(self) -> None:
        """As AdminZkClient does. Each broker leads a third of the partitions."""
        for topic in range(TOPICS):
            replicas = {p: tuple(BROKERS[(p + r) % len(BROKERS)] for r in range(FACTOR)) for p in range(PARTITIONS)}
            payload = TopicAssignment(partitions=replicas, topic_id=f"{topic:021d}A", version=3).to_bytes()
            self._client.create(f"{self._chroot}/brokers/topics/t{topic}", payload)
        self._await_full_isrs()

    def fail_over(self, ours: OurController | None) -> Failover:
        """End the Java controller's broker. Ours wins because the others stand still until it has."""
        self._elect_preferred()
        old = self._cluster.controller()
        session = self._client.exists(f"{self._chroot}/controller").ephemeralOwner
        others = [broker for number, broker in self._cluster.brokers.items() if number != old]
        if ours is not None:
            for broker in others:
                broker.pause()
        self._cluster.brokers[old].stop()
        eventually(lambda: self._cluster.controller() not in (old, -1), "a new controller", PATIENCE_S)
        for broker in others:
            broker.resume()
        assert ours is None or self._cluster.controller() == ours.id
        self._await_states(lambda state: state["leader"] not in (old, -1) and old not in state["isr"], "new leaders")
        failover = self._read(session)
        self._cluster.brokers[old].start()
        eventually(lambda: old in self._cluster.registered(), "the broker to load its logs", PATIENCE_S)
        self._cluster.await_serving(old)
        self._await_full_isrs()
        if ours is not None:
            ours.kill()
            eventually(lambda: self._cluster.controller() in BROKERS, "a Java controller", PATIENCE_S)
        return failover

    def close(self) -> None:
        self._client.stop()
        self._client.close()

    def _elect_preferred(self) -> None:
        """Each broker leads a third again, so that all have the same to do."""
        everything = [{"topic": f"t{t}", "partition": p} for t in range(TOPICS) for p in range(PARTITIONS)]
        path = f"{self._chroot}/admin/preferred_replica_election"
        self._client.create(path, json.dumps({"version": 1, "partitions": everything}).encode())
        eventually(lambda: not self._client.exists(path), "preferred leaders", PATIENCE_S)
        self._await_quiet()

    def _read(self, session: int) -> Failover:
        ended = claimed = last = writes = 0
        for each in transactions(self._logs):
            if each.kind == CLOSE_SESSION and each.session == session:
                ended = each.at_ms
            elif ended and not claimed and b"/controller\0" in each.body and b"brokerid" in each.body:
                claimed = each.at_ms
            elif claimed and b"/partitions/" in each.body and b"leader_epoch" in each.body:
                last, writes = each.at_ms, writes + 1
        return Failover((claimed - ended) / 1000, (last - ended) / 1000, writes)

    def _await_states(self, holds: Callable[[dict[str, Any]], bool], what: str) -> None:
        """Until that is so for some partitions, then for all of them, and nothing is written any more."""
        for step in (SAMPLE, 1):
            eventually(lambda step=step: _patiently(all(map(holds, self._states(step)))), what, PATIENCE_S)
        self._await_quiet()

    def _states(self, step: int) -> Iterator[dict[str, Any]]:
        answers = [
            self._client.get_async(f"{self._chroot}/brokers/topics/t{t}/partitions/{p}/state")
            for t in range(TOPICS)
            for p in range(0, PARTITIONS, step)
        ]
        return (_json(answer) for answer in answers)

    def _await_full_isrs(self) -> None:
        self._await_states(lambda state: len(state["isr"]) == FACTOR, "full ISRs")

    def _await_quiet(self) -> None:
        """No transaction for a while."""
        zxid, since_s = 0, time.monotonic()
        while time.monotonic() - since_s < QUIET_S:
            time.sleep(0.5)
            self._client.exists("/")
            if self._client.last_zxid != zxid:
                zxid, since_s = self._client.last_zxid, time.monotonic()


def _json(answer: Any) -> dict[str, Any]:
    try:
        return json.loads(answer.get(timeout=60)[0])
    except NoNodeError:
        return {"leader": -1, "isr": []}


def _patiently(value: bool) -> bool:
    """Looking costs the server something, too."""
    if not value:
        time.sleep(0.5)
    return value


def _done(failover: Failover) -> float:
    return failover.done_s


def _texts(failovers: list[Failover]) -> str:
    return ", ".join(f"{failover.done_s:.2f}" for failover in failovers)
