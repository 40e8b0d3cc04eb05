"""A steady idempotent producer with acks=all: every record is sent until it is acknowledged, and then noted.

librdkafka sends: it keeps order and sequences right whatever goes wrong (KIP-98), retries without an end, and gives up
only where the log has lost the producer or what it wrote. Another producer goes on then. What became of the records is
neither read nor judged here.
"""

import asyncio
import time
from collections.abc import Sequence
from functools import partial
from typing import Any

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from model.cluster.ids import TopicPartition
from model.sandbox.control.messages import now_ms
from model.sandbox.load.ledger import UNKNOWN_OFFSET, Acknowledged, Ledger, numbered_record

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

    def __init__(self, bootstrap: str, partitions: Sequence[TopicPartition], run: str, ledger: Ledger) -> None:
        self.rate = 0.0
        """Records a second, over all partitions."""
        self.error = ""
        """What went wrong last; empty once records are acknowledged again."""
        self._bootstrap, self._run, self._ledger = bootstrap, run, ledger
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
                "enable.idempotence": True,
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

    def _trouble(self, error: KafkaError) -> None:
        self.error = error.str()
        self._is_fatal = self._is_fatal or error.fatal() or error.code() == KafkaError._FATAL
