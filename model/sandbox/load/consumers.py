"""Records read back: by consumers of a coordinator group, and by the auditor, every partition to its end.

librdkafka joins, assigns, commits and fetches. The auditor compares all that it reads with the ledger.
"""

import asyncio
import time
from collections.abc import Sequence

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, KafkaException
from confluent_kafka import TopicPartition as Assigned

from model.cluster.ids import TopicPartition
from model.sandbox.load.ledger import Ledger, compare, number_of
from model.sandbox.load.messages import AuditReport, ConsumerStatus
from model.sandbox.load.producer import client_config

SESSION_TIMEOUT_MS = 10_000
COMMIT_EVERY_MS = 1_000
WAIT_S = 0.2
AT_ONCE = 1_000


def topics_of(partitions: Sequence[TopicPartition]) -> list[str]:
    """Each once."""
    return sorted({partition.topic for partition in partitions})


class GroupConsumer:
    """Runs from `start` to `cut_off`."""

    def __init__(self, bootstrap: str, group: str, member: str, topics: Sequence[str]) -> None:
        self.consumed = 0
        """Records, ever."""
        self.partitions: tuple[TopicPartition, ...] | None = None
        """What it owns; None while it joins."""
        self._config = {
            **client_config(bootstrap, f"{group}-{member}"),
            "group.id": group,
            "session.timeout.ms": SESSION_TIMEOUT_MS,
            "heartbeat.interval.ms": 1_000,
            "partition.assignment.strategy": "range",
            "auto.offset.reset": "earliest",
            "auto.commit.interval.ms": COMMIT_EVERY_MS,
        }
        self._topics = [*topics]
        self._work: asyncio.Task[None] | None = None

    @property
    def status(self) -> ConsumerStatus:
        if self._work is None:
            return "stopped"
        return "joining" if self.partitions is None else "consuming"

    def start(self) -> None:
        """Join and read; a consumer that was cut off comes back as a new member."""
        self._work = asyncio.create_task(self._consume())

    async def cut_off(self) -> None:
        """Vanish, as a process that is killed: the coordinator hears nothing more."""
        if self._work is not None:
            self._work.cancel()
            await asyncio.gather(self._work, return_exceptions=True)
            self._work = self.partitions = None

    async def _consume(self) -> None:
        consumer = Consumer(self._config)
        consumer.subscribe(self._topics, on_assign=self._own, on_revoke=self._give_up, on_lost=self._give_up)
        while True:  # not `close`, which would say goodbye: a consumer that nobody holds any more just ends
            messages = await asyncio.to_thread(consumer.consume, AT_ONCE, WAIT_S)
            self.consumed += sum(message.error() is None for message in messages)

    def _own(self, _: Consumer, partitions: list[Assigned]) -> None:
        self.partitions = tuple(TopicPartition(each.topic, each.partition) for each in partitions)

    def _give_up(self, _: Consumer, __: list[Assigned]) -> None:
        self.partitions = None


PATIENCE_S = 15.0
"""How long a partition may stay unreadable, or its high watermark below what was acknowledged: a new leader does not
know at once how far its followers are."""


def audit(bootstrap: str, partitions: Sequence[TopicPartition], run: str, ledger: Ledger) -> AuditReport:
    """What became of every record of this run. Nobody may produce meanwhile. Takes as long as reading takes."""
    reading = _Reading(bootstrap, partitions, run, ledger)
    try:
        reading.go_through()
        return compare(ledger, reading.found, reading.unread())
    finally:
        reading.consumer.close()


class _Reading:
    def __init__(self, bootstrap: str, partitions: Sequence[TopicPartition], run: str, ledger: Ledger) -> None:
        self.found: dict[TopicPartition, list[tuple[int, int]]] = {partition: [] for partition in partitions}
        self.consumer = Consumer(
            {
                **client_config(bootstrap, "auditor"),
                "group.id": "kdrill-load-auditor",  # of which nothing is asked
                "enable.auto.commit": False,
                "enable.partition.eof": True,
                "check.crcs": True,
            }
        )
        self.consumer.assign([Assigned(*partition, OFFSET_BEGINNING) for partition in partitions])
        self._run, self._ledger = run, ledger
        self._ends: dict[TopicPartition, int] = {}
        """The high watermark to which all was read."""
        self._reasons: dict[TopicPartition, str] = {}

    def go_through(self) -> None:
        """Until all is read that was acknowledged, or nothing more has come for a while."""
        deadline = time.monotonic() + PATIENCE_S
        while self._unfinished() and time.monotonic() < deadline:
            if self._take():
                deadline = time.monotonic() + PATIENCE_S

    def unread(self) -> dict[TopicPartition, str]:
        """What could not be read, and why. A log that ends before what was acknowledged was read."""
        missing = {partition for partition in self.found if partition not in self._ends}
        reasons = dict.fromkeys(missing, "not all of it came in time") | self._reasons
        if missing:
            reasons |= dict.fromkeys(missing & self._leaderless(), "no leader")
        return reasons

    def _unfinished(self) -> bool:
        return bool(self._reasons) or any(
            self._ends.get(partition, -1) < self._ledger.end_offset(partition) for partition in self.found
        )

    def _take(self) -> bool:
        """Whether any record came."""
        came = False
        for message in self.consumer.consume(AT_ONCE, WAIT_S):
            partition = TopicPartition(message.topic() or "", message.partition() or 0)
            error, offset = message.error(), message.offset() or 0
            if error is None:
                came = True
                self._reasons.pop(partition, None)
                if (number := number_of(message.value(), self._run)) is not None:
                    self.found[partition].append((number, offset))
            elif error.code() == KafkaError._PARTITION_EOF:
                self._ends[partition] = offset
                self._reasons.pop(partition, None)
            elif partition in self.found:
                self._reasons[partition] = error.name()
        return came

    def _leaderless(self) -> set[TopicPartition]:
        try:
            topics = self.consumer.list_topics(timeout=WAIT_S * 10).topics
        except KafkaException:
            return set()
        return {
            TopicPartition(name, number)
            for name, topic in topics.items()
            for number, each in topic.partitions.items()
            if each.leader < 0
        }
