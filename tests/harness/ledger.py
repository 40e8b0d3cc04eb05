"""A ledger of acknowledged records: a producer by librdkafka, idempotent, and a fresh consumer that reads all again."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from typing import Any, Protocol

from confluent_kafka import Consumer, KafkaError, Message, Producer, TopicPartition

from tests.harness.our_kraft import PARTITIONS, TOPIC
from tests.harness.waiting import PATIENCE_S, eventually

PAUSE_S = 0.02
"""Between two records of one that sends all the time."""
SETTLED_S = 240.0


class Reached(Protocol):
    """Any cluster."""

    @property
    def bootstrap(self) -> str: ...


class Ledger:
    """What was acknowledged by all in sync has to be read again, and nothing else.

    The first record of each partition is acknowledged before the next is sent. A leader takes any sequence for the
    first of a producer it does not know: were a first batch refused, by one that does not know yet that it leads, and
    the next one taken, then the first is out of order, sent again, and librdkafka calls it acknowledged all the same.
    """

    def __init__(self, cluster: Reached, topic: str = TOPIC, partitions: int = PARTITIONS) -> None:
        settings: dict[str, Any] = {"bootstrap.servers": cluster.bootstrap, "log_level": 0}
        self._topic, self._partitions = topic, partitions
        self._producer = Producer({**settings, "enable.idempotence": True, "delivery.timeout.ms": 300_000})
        self._consumer = {**settings, "group.id": "ledger", "auto.offset.reset": "earliest"}
        self.acknowledged: set[bytes] = set()
        self._count = 0
        self._is_over = threading.Event()
        self._sending: threading.Thread | None = None

    def _told(self, error: KafkaError | None, message: Message[bytes, bytes]) -> None:
        if error is None:
            self.acknowledged.add(message.value() or b"")

    def start(self) -> None:
        """Sends all the time, in a thread, until it is to settle."""
        self._sending = threading.Thread(target=self._send_on, daemon=True)
        self._sending.start()

    def _send_on(self) -> None:
        while not self._is_over.is_set():
            with contextlib.suppress(BufferError):
                self.send(1)
            self._producer.poll(PAUSE_S)

    def send(self, count: int) -> None:
        """Records that are acknowledged some time."""
        for _ in range(count):
            place = self._count % self._partitions
            self._producer.produce(self._topic, b"%d" % self._count, partition=place, on_delivery=self._told)
            self._count += 1
            if self._count == self._partitions:
                self._producer.flush(SETTLED_S)
        self._producer.poll(0)

    def settle(self) -> None:
        """All that was sent is acknowledged."""
        if self._sending is not None:
            self._is_over.set()
            self._sending.join()
        assert self._producer.flush(SETTLED_S) == 0, "what was sent is not acknowledged"
        assert len(self.acknowledged) == self._count

    def produce(self, count: int) -> None:
        self.send(count)
        self.settle()

    def audit(self) -> int:
        """All that was acknowledged is read again; how many records that are."""
        consumer = Consumer(self._consumer)
        consumer.subscribe([self._topic])
        found = self._read(consumer)
        assert found <= {b"%d" % number for number in range(self._count)}
        if lost := sorted(self.acknowledged - found, key=int):
            alone = Consumer(self._consumer)
            alone.assign([TopicPartition(self._topic, number, 0) for number in range(self._partitions)])
            gone = sorted(self.acknowledged - self._read(alone), key=int)
            raise AssertionError(
                f"{len(lost)} of {len(self.acknowledged)} records did not come ({lost[:20]}), and {len(gone)} "
                f"({gone[:20]}) not to one without a group either, from the beginning of each partition"
            )
        return len(self.acknowledged)

    def _read(self, consumer: Consumer) -> set[bytes]:
        return read_all(consumer, lambda found: found >= self.acknowledged)

    def close(self) -> None:
        """What is not sent yet is given up."""
        self._is_over.set()
        self._producer.purge()


def read_all(consumer: Consumer, is_all: Callable[[set[bytes]], bool]) -> set[bytes]:
    """What a consumer finds until that is all, or it has had its time; it is closed."""
    found: set[bytes] = set()

    def is_done() -> bool:
        messages = consumer.consume(500, 1)
        found.update(each.value() or b"" for each in messages if each.error() is None)
        return is_all(found)

    with contextlib.suppress(AssertionError):
        eventually(is_done, "all records", PATIENCE_S)
    consumer.close()
    return found
