"""Rounds of faults on three voters of ours, while a real producer and an operator are at work on three real brokers.

A round is one fault, over after some seconds, and a topic that is acknowledged afterwards: the quorum goes on.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, Producer
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from tests.conformance.kafka.releases import Installation
from tests.harness.kraft import KraftCluster
from tests.harness.quorum_voters import Reader, log_batches
from tests.harness.waiting import eventually
from tests.progress import Tell

VOTERS, BROKERS = (1, 2, 3), (4, 5, 6)
TOPIC = "written"
OFTEN = ("--snapshot-bytes", "20000", "--segment-bytes", "60000", "--retention-bytes", "200000")
PATIENCE_S = 90.0
_PAUSE_S = 0.02


def three_and_three(kafka: Installation, folder: Path) -> KraftCluster:
    """Voters 1 to 3 are ours; they make snapshots often. Brokers 4 to 6 are real."""
    return KraftCluster(kafka, folder, size=6, voters=3, ours=VOTERS, our_options=OFTEN)


@dataclass
class Report:
    seed: int
    kinds: Counter[str] = field(default_factory=Counter[str])
    records: int = 0
    changes: int = 0
    batches: int = 0
    epochs: int = 0
    most_silent_s: float = 0.0
    losses: list[str] = field(default_factory=list[str])


class Writing(threading.Thread):
    """A producer that never stops, and what it was acknowledged."""

    def __init__(self, bootstrap: str) -> None:
        super().__init__(daemon=True)
        self.acknowledged: set[bytes] = set()
        self.is_over = threading.Event()
        self._producer = Producer({"bootstrap.servers": bootstrap, "enable.idempotence": True, "log_level": 0})

    def run(self) -> None:
        number = 0
        while not self.is_over.is_set():
            with contextlib.suppress(BufferError):
                self._producer.produce(TOPIC, b"%d" % number, on_delivery=self._told)
                number += 1
            self._producer.poll(_PAUSE_S)
        self._producer.flush(PATIENCE_S)

    def _told(self, error: KafkaError | None, message: Message[bytes, bytes]) -> None:
        if error is None:
            self.acknowledged.add(message.value() or b"")


class VoterFaults:
    """On a cluster of `three_and_three`."""

    def __init__(self, cluster: KraftCluster, seed: int, tell: Tell) -> None:
        self._cluster, self._tell, self._random = cluster, tell, random.Random(seed)
        self._reader = Reader(cluster.ways)
        self._topics: list[str] = []
        self.report = Report(seed)

    async def play(self, rounds: int) -> Report:
        await self._create(TOPIC, partitions=6)
        writing = Writing(self._cluster.bootstrap)
        writing.start()
        reading = asyncio.create_task(self._read())
        for number in range(rounds):
            await self._round(number)
        writing.is_over.set()
        await asyncio.to_thread(writing.join)
        await asyncio.to_thread(self._cluster.restore)
        await asyncio.sleep(2)
        reading.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await reading
        await self._reader.read()
        await asyncio.to_thread(self._compare, writing.acknowledged)
        return self.report

    async def _read(self) -> None:
        while True:
            await self._reader.read()
            await asyncio.sleep(0.2)

    async def _round(self, number: int) -> None:
        faults = {
            "one killed": self._kill_one,
            "leader killed": self._kill_leader,
            "two killed": self._kill_two,
            "all killed": self._kill_all,
            "leader paused": self._pause_leader,
            "one restarted": self._restart_one,
        }
        kind = self._random.choice([*faults])
        self._tell(f"{number:4} {kind}")
        self.report.kinds[kind] += 1
        began_s = time.monotonic()
        await faults[kind]()
        await self._create(f"round-{number}")
        self.report.most_silent_s = max(self.report.most_silent_s, time.monotonic() - began_s)

    # Faults.

    def _some_s(self) -> float:
        return self._random.uniform(0.1, 6.0)

    async def _killed(self, *voters: int) -> None:
        await asyncio.to_thread(self._cluster.kill, *voters)
        for voter in self._random.sample(voters, len(voters)):
            await asyncio.sleep(self._some_s())
            await asyncio.to_thread(self._cluster.start, voter)

    def _leader(self) -> int:
        return self._reader.leader if self._reader.leader in VOTERS else self._random.choice(VOTERS)

    async def _kill_one(self) -> None:
        await self._killed(self._random.choice(VOTERS))

    async def _kill_leader(self) -> None:
        await self._killed(self._leader())

    async def _kill_two(self) -> None:
        await self._killed(*self._random.sample(VOTERS, 2))

    async def _kill_all(self) -> None:
        await self._killed(*VOTERS)

    async def _pause_leader(self) -> None:
        with self._cluster.paused(self._leader()):
            await asyncio.sleep(self._some_s() + 2)

    async def _restart_one(self) -> None:
        voter = self._random.choice(VOTERS)
        await asyncio.to_thread(self._cluster.stop, voter)
        await asyncio.sleep(self._some_s())
        await asyncio.to_thread(self._cluster.start, voter)

    # What is acknowledged, and whether it is there.

    async def _create(self, topic: str, partitions: int = 2) -> None:
        """Until it is acknowledged; an answer that was lost leaves the topic there, which is fine."""
        deadline = time.monotonic() + PATIENCE_S
        while True:
            with contextlib.suppress(KafkaException):
                await asyncio.to_thread(self._ask, topic, partitions)
                self._topics.append(topic)
                self.report.changes += 1
                return
            if time.monotonic() >= deadline:
                self.report.losses.append(f"{topic}: nobody acknowledged it within {PATIENCE_S:.0f} s")
                return
            await asyncio.sleep(0.5)

    def _ask(self, topic: str, partitions: int) -> None:
        admin = AdminClient({"bootstrap.servers": self._cluster.bootstrap, "log_level": 0})
        wanted = NewTopic(topic, partitions, 3, config={"min.insync.replicas": "2"})
        try:
            admin.create_topics([wanted], operation_timeout=10, request_timeout=15)[topic].result(20)
        except KafkaException as error:
            if error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
                raise

    def _compare(self, acknowledged: set[bytes]) -> None:
        report, reader = self.report, self._reader
        report.records, report.batches, report.epochs = len(acknowledged), len(reader.committed), reader.epoch
        admin = AdminClient({"bootstrap.servers": self._cluster.bootstrap, "log_level": 0})
        there = admin.list_topics(timeout=30).topics
        report.losses += [f"topic {topic} is gone" for topic in self._topics if topic not in there]
        lost = acknowledged - self._consumed(lambda found: acknowledged <= found)
        if lost:
            report.losses.append(f"{len(lost)} of {len(acknowledged)} records are gone, {min(lost)!r} for one")
        self._cluster.kill(*VOTERS)
        logs = [log_batches(self._cluster.metadata_folder(voter).parent) for voter in VOTERS]
        for log in logs:
            other = [at for at, data in log.items() if at in reader.committed and reader.committed[at] != data]
            report.losses += [f"offset {at} of the metadata log is another batch than was committed" for at in other]
        start = max(min(log) for log in logs)
        wanted = {at: data for at, data in reader.committed.items() if at >= start}
        if sum(wanted.items() <= log.items() for log in logs) < 2:
            report.losses.append("no majority has all that was committed")
        for voter in VOTERS:
            if "Traceback" in self._cluster.log(voter):
                report.losses.append(f"voter {voter} failed: {self._cluster.log(voter)[-1500:]}")

    def _consumed(self, is_all: Callable[[set[bytes]], bool]) -> set[bytes]:
        consumer = Consumer(
            {
                "bootstrap.servers": self._cluster.bootstrap,
                "group.id": "all",
                "auto.offset.reset": "earliest",
                "log_level": 0,
            }
        )
        consumer.subscribe([TOPIC])
        found: set[bytes] = set()

        def is_done() -> bool:
            for message in consumer.consume(1000, 1):
                if message.error() is None:
                    found.add(message.value() or b"")
            return is_all(found)

        with contextlib.suppress(AssertionError):
            eventually(is_done, "all that was acknowledged", standing=lambda: len(found))
        consumer.close()
        return found
