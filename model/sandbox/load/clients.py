"""The load's clients: a steady idempotent producer with acks=all, consumers of a coordinator group, and the auditor.

Every record is sent until it is acknowledged, and then noted. librdkafka keeps order and sequences right whatever
goes wrong (KIP-98), retries without an end, and gives up only where the log has lost the producer or what it wrote;
another producer goes on then. It joins, assigns, commits and fetches for consumers too. The auditor reads every
partition to its end and compares all of it with the ledger.
"""

import asyncio
import threading
import time
from collections.abc import Sequence
from functools import partial
from typing import Any

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, KafkaException, Message, Producer
from confluent_kafka import TopicPartition as Assigned

from model.cluster.ids import TopicPartition
from model.hosts.background import tell_failure
from model.hosts.process import crash_line
from model.sandbox.load.ledger import (
    UNKNOWN_OFFSET,
    Acknowledged,
    AcknowledgedRecords,
    compare,
    number_of,
    numbered_record,
)
from model.sandbox.messages import AuditReport, ConsumerStatus, now_ms

MOST_WAITING = 1000
"""A partition that takes no records gets no more of them."""
TICK_S = 0.05
PRODUCE_TIMEOUT_MS = 5_000


def client_config(bootstrap: str, name: str) -> dict[str, Any]:
    """Settings of librdkafka for each of the load's clients; brokers that come back are found within a second."""
    return {
        "bootstrap.servers": bootstrap,
        "client.id": f"kdrill-load-{name}",
        "broker.address.family": "v4",
        "socket.timeout.ms": 12_000,
        "reconnect.backoff.ms": 100,
        "reconnect.backoff.max.ms": 500,
        "topic.metadata.refresh.interval.ms": 5_000,
        "log_level": 0,  # errors are told to callbacks; the last line of stderr is for what ends the process
    }


class LoadProducer:
    """From `start` to `close`. For one event loop."""

    def __init__(
        self,
        bootstrap: str,
        partitions: Sequence[TopicPartition],
        run: str,
        ledger: AcknowledgedRecords,
        *,
        is_idempotent: bool = True,
    ) -> None:
        self.rate = 0.0
        """Records a second, over all partitions."""
        self.error = ""
        """What went wrong last; empty once records are acknowledged again."""
        self._bootstrap, self._run, self._ledger = bootstrap, run, ledger
        self._is_idempotent = is_idempotent
        self._next = dict.fromkeys(partitions, 0)
        """The number of the next record."""
        self._waiting = dict.fromkeys(partitions, 0)
        """Records sent and not answered."""
        self._is_fatal = False
        self._given_up: list[Producer] = []
        self._owed = 0.0
        self._turn = 0
        self._client: Producer | None = None
        self._work: asyncio.Task[None] | None = None

    @property
    def unacknowledged(self) -> int:
        """Records sent and not answered."""
        return sum(self._waiting.values())

    def start(self) -> None:
        """Begin; records flow as soon as the brokers let them."""
        self._client = self._connected()
        self._work = asyncio.create_task(self._produce())
        self._work.add_done_callback(partial(tell_failure, failed=self._ended))

    async def drain(self, timeout_s: float) -> None:
        """Produce nothing more, and wait until all is acknowledged, or for so long."""
        self.rate = 0.0
        deadline = time.monotonic() + timeout_s
        while self.unacknowledged and time.monotonic() < deadline:
            await asyncio.sleep(TICK_S)

    async def close(self) -> None:
        if self._work is not None:
            self._work.cancel()
            await asyncio.gather(self._work, return_exceptions=True)
        if self._client is not None:
            self._client.purge()

    def _connected(self) -> Producer:
        return Producer(
            {
                **client_config(self._bootstrap, "producer"),
                "enable.idempotence": self._is_idempotent,
                "max.in.flight.requests.per.connection": 5 if self._is_idempotent else 1,  # order is kept either way
                "acks": "all",
                "message.timeout.ms": 0,  # for ever
                "request.timeout.ms": PRODUCE_TIMEOUT_MS,
                "retry.backoff.ms": 100,
                "retry.backoff.max.ms": 500,
                "linger.ms": 5,
                "queue.buffering.max.messages": 0,  # MOST_WAITING is the bound
                "error_cb": self._trouble,
            }
        )

    async def _produce(self) -> None:
        before_s = time.monotonic()
        while True:
            assert self._client is not None
            now_s = time.monotonic()
            self._send(self._client, self.rate * min(now_s - before_s, 1.0))
            before_s = now_s
            if self._is_fatal:
                self._replace(self._client)
            self._client.poll(0)
            await asyncio.sleep(TICK_S)

    def _replace(self, client: Producer) -> None:
        """Another client goes on; what this one has not been answered is given up.

        It is neither polled nor purged any more, nor let go: after a fatal error each of these can wait for ever.
        """
        self._given_up.append(client)
        self._waiting = dict.fromkeys(self._next, 0)
        self._is_fatal, self._client = False, self._connected()

    def _send(self, client: Producer, records: float) -> None:
        """What is due since the last tick, dealt out to one partition after the other."""
        self._owed += records
        count, self._owed = int(self._owed), self._owed % 1
        share, rest = divmod(count, len(self._next))
        at_ms = now_ms()
        for place, partition in enumerate(self._next):
            due = share + ((place - self._turn) % len(self._next) < rest)
            for _ in range(min(due, MOST_WAITING - self._waiting[partition])):
                number = self._next[partition]
                key, value = numbered_record(self._run, number)
                answered = partial(self._answered, self._waiting, partition, number)
                where = partition.topic, value, key, partition.partition
                try:
                    client.produce(*where, timestamp=at_ms, on_delivery=answered)
                except KafkaException as refused:  # the client is done for: told here before any callback has it
                    self._trouble(refused.args[0])
                    return
                self._next[partition] += 1
                self._waiting[partition] += 1
        self._turn = (self._turn + rest) % len(self._next)

    def _answered(
        self,
        waiting: dict[TopicPartition, int],
        partition: TopicPartition,
        number: int,
        error: KafkaError | None,
        message: Message,
    ) -> None:
        """`waiting`: of the client that was asked, which may have been replaced."""
        waiting[partition] -= 1
        if error is not None:
            self._trouble(error)
            return
        self.error = ""
        offset = message.offset()
        where = UNKNOWN_OFFSET if offset is None or offset < 0 else offset
        self._ledger.note(partition, Acknowledged(number, 1, where, now_ms()))

    def _ended(self, error: BaseException) -> None:
        """Nothing is produced any more, and whoever waits for records reads why."""
        self.error = f"the producer has ended: {crash_line(error)}"

    def _trouble(self, error: KafkaError) -> None:
        self.error = error.str()
        self._is_fatal = self._is_fatal or error.fatal() or error.code() == KafkaError._FATAL


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
        self._life: threading.Event | None = None
        """Set when this life of it is over."""

    @property
    def status(self) -> ConsumerStatus:
        if self._life is None:
            return "stopped"
        return "joining" if self.partitions is None else "consuming"

    def start(self) -> None:
        """Join and read; a consumer that was cut off comes back as a new member."""
        self._life = threading.Event()
        threading.Thread(target=self._consume, args=(self._life,), daemon=True).start()

    def cut_off(self) -> None:
        """Vanish, as a process that is killed: the coordinator hears nothing more."""
        if self._life is not None:
            self._life.set()
            self._life = self.partitions = None

    def _consume(self, over: threading.Event) -> None:
        """In a thread of its own, which alone holds the client: librdkafka may take for ever to let go of one.

        Neither the loop nor the end of the process waits for that.
        """

        def own(_: Consumer, partitions: list[Assigned]) -> None:
            if not over.is_set():
                self.partitions = tuple(TopicPartition(each.topic, each.partition) for each in partitions)

        def give_up(_: Consumer, __: list[Assigned]) -> None:
            if not over.is_set():
                self.partitions = None

        consumer = Consumer(self._config)
        consumer.subscribe(self._topics, on_assign=own, on_revoke=give_up, on_lost=give_up)
        while not over.is_set():  # not `close`, which would say goodbye: a consumer that nobody holds just ends
            self.consumed += sum(message.error() is None for message in consumer.consume(AT_ONCE, WAIT_S))


PATIENCE_S = 15.0
"""How long a partition may stay unreadable, or its high watermark below what was acknowledged: a new leader does not
know at once how far its followers are."""


def audit(bootstrap: str, partitions: Sequence[TopicPartition], run: str, ledger: AcknowledgedRecords) -> AuditReport:
    """What became of every record of this run. Nobody may produce meanwhile. Takes as long as reading takes."""
    reading = _Reading(bootstrap, partitions, run, ledger)
    try:
        reading.go_through()
        return compare(ledger, reading.found, reading.unread())
    finally:
        reading.consumer.close()


class _Reading:
    def __init__(
        self,
        bootstrap: str,
        partitions: Sequence[TopicPartition],
        run: str,
        ledger: AcknowledgedRecords,
    ) -> None:
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
