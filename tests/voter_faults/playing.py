"""Rounds of faults on three voters of ours, while a real producer and an operator are at work on three real brokers.

A round is one fault, over after some seconds, and a topic that is acknowledged afterwards: the quorum goes on.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from tests.conformance.kafka.releases import Installation
from tests.harness.complaints import complaints
from tests.harness.kraft import KraftCluster
from tests.harness.ledger import Ledger
from tests.harness.quorum_voters import Reader, log_batches
from tests.progress import Tell

VOTERS, BROKERS = (1, 2, 3), (4, 5, 6)
TOPIC, PARTITIONS = "written", 6
OFTEN = ("--snapshot-bytes", "20000", "--segment-bytes", "60000", "--retention-bytes", "200000")
PATIENCE_S = 90.0


def three_and_three(kafka: Installation, folder: Path, *, real: bool = False) -> KraftCluster:
    """Voters 1 to 3 are ours; they make snapshots often. Brokers 4 to 6 are real. `real`: all are, each a broker."""
    ours = () if real else VOTERS
    return KraftCluster(kafka, folder, size=6, voters=3, ours=ours, our_options=OFTEN)


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
    complaints: list[str] = field(default_factory=list[str])
    """Errors in the logs of real brokers, but for those that they have without us."""


class VoterFaults:
    """On a cluster of `three_and_three`."""

    def __init__(self, cluster: KraftCluster, seed: int, tell: Tell) -> None:
        self._cluster, self._tell, self._random = cluster, tell, random.Random(seed)
        self._reader = Reader(cluster.ways)
        self._topics: list[str] = []
        self.report = Report(seed)

    async def play(self, rounds: int) -> Report:
        await self._create(TOPIC, PARTITIONS)
        ledger = Ledger(self._cluster, TOPIC, PARTITIONS)
        await asyncio.to_thread(ledger.produce, PARTITIONS)  # the first ones, alone, before anything is broken
        ledger.start()
        reading = asyncio.create_task(self._read())
        for number in range(rounds):
            await self._round(number)
        await asyncio.to_thread(self._cluster.restore)
        await asyncio.to_thread(self._audit, ledger)
        await asyncio.sleep(2)
        reading.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await reading
        await self._reader.read()
        self.report.complaints = complaints(self._cluster, BROKERS)
        await asyncio.to_thread(self._compare)
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

    def _audit(self, ledger: Ledger) -> None:
        try:
            ledger.settle()
            ledger.audit()
        except AssertionError as error:
            self.report.losses.append(str(error))
        self.report.records = len(ledger.acknowledged)
        ledger.close()

    def _compare(self) -> None:
        report, reader = self.report, self._reader
        report.batches, report.epochs = len(reader.committed), reader.epoch
        admin = AdminClient({"bootstrap.servers": self._cluster.bootstrap, "log_level": 0})
        there = admin.list_topics(timeout=30).topics
        report.losses += [f"topic {topic} is gone" for topic in self._topics if topic not in there]
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
