"""A producer that never stops and a consumer beside it, by librdkafka: what was acknowledged, and what arrived.

Each message is its number. The producer is idempotent and waits for all replicas in sync.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from typing import Any

from confluent_kafka import Consumer, KafkaError, Message, Producer, TopicPartition

POLL_S = 0.05
PAUSE_S = 0.002


class Workload:
    """Runs from its making to `finish`, in two threads."""

    def __init__(self, bootstrap: str, topic: str, partitions: int) -> None:
        self._topic = topic
        self.acknowledged: set[int] = set()
        self.failed: dict[int, str] = {}
        self.arrived: Counter[int] = Counter()
        self.places: Counter[tuple[int | None, int | None]] = Counter()
        """Partition and offset of what arrived."""
        self._sent = 0
        self._stop = threading.Event()
        self._produced = threading.Event()
        common: dict[str, Any] = {
            "log_level": 0,
            "bootstrap.servers": bootstrap,
            "topic.metadata.refresh.interval.ms": 500,
        }
        self._producer = Producer(
            {**common, "acks": "all", "enable.idempotence": True, "delivery.timeout.ms": 60_000, "linger.ms": 5}
        )
        self._consumer = Consumer(
            {**common, "group.id": "unused", "enable.auto.commit": False, "auto.offset.reset": "earliest"}
        )
        self._consumer.assign([TopicPartition(topic, number, 0) for number in range(partitions)])
        self._threads = [threading.Thread(target=work, daemon=True) for work in (self._produce, self._consume)]
        for thread in self._threads:
            thread.start()

    def finish(self, timeout_s: float = 90) -> None:
        """Stop producing, wait for what is on its way, and read until all that was acknowledged has arrived."""
        self._stop.set()
        self._threads[0].join(timeout_s)
        deadline = time.monotonic() + timeout_s
        while self.acknowledged - self.arrived.keys() and time.monotonic() < deadline:
            time.sleep(POLL_S)
        time.sleep(10 * POLL_S)  # for duplicates, if there are any
        self._produced.set()
        self._threads[1].join(timeout_s)

    def _produce(self) -> None:
        while not self._stop.is_set():
            number = self._sent
            try:
                self._producer.produce(self._topic, str(number), on_delivery=self._delivered)
            except BufferError:
                self._producer.poll(POLL_S)
                continue
            self._sent += 1
            self._producer.poll(0)
            time.sleep(PAUSE_S)
        self._producer.flush(60)

    def _delivered(self, error: KafkaError | None, message: Message) -> None:
        number = int(message.value() or b"-1")
        if error is None:
            self.acknowledged.add(number)
        else:
            self.failed[number] = str(error)

    def _consume(self) -> None:
        while not self._produced.is_set():
            message = self._consumer.poll(POLL_S)
            if message is not None and message.error() is None:
                self.arrived[int(message.value() or b"-1")] += 1
                self.places[message.partition(), message.offset()] += 1
        self._consumer.close()
