"""A producer that never stops and a consumer beside it, by librdkafka: what was acknowledged, and what arrived.

Each message is its number. The producer is idempotent and waits for all replicas in sync. Told by a broker that there
are no brokers, librdkafka from 2.10 on forgets all it knew, for good (its issue 5301); a broker that has just started
under ZooKeeper says so, until a controller has told it. Then a fresh consumer reads what has not arrived.
"""

from __future__ import annotations

import logging
import threading
import time
import warnings
from collections import Counter, deque
from collections.abc import Iterator
from typing import Any

from confluent_kafka import Consumer, KafkaError, Message, Producer, TopicPartition

POLL_S = 0.05
PAUSE_S = 0.002
SILENT_S = 20.0
"""Nothing has arrived for so long: nothing will."""


class NoBrokers(logging.Handler):
    """In librdkafka's log: whether it was told that there are no brokers, and what it said last."""

    def __init__(self) -> None:
        super().__init__()
        self.were_told = False
        self.last: deque[str] = deque(maxlen=15)

    def emit(self, record: logging.LogRecord) -> None:
        said = record.getMessage()
        self.were_told |= ": 0 brokers, " in said
        self.last.append(said[:200])

    def logger(self) -> logging.Logger:
        """Of nobody else."""
        alone = logging.Logger("librdkafka", logging.DEBUG)
        alone.addHandler(self)
        return alone


class Workload:
    """Runs from its making to `finish`, in two threads."""

    def __init__(self, bootstrap: str, topic: str, partitions: int) -> None:
        self._topic = topic
        self.acknowledged: set[int] = set()
        self.failed: dict[int, str] = {}
        self.arrived: Counter[int] = Counter()
        self.places: Counter[tuple[int | None, int | None]] = Counter()
        """Partition and offset of what arrived."""
        self.told = ""
        """How it came that a fresh consumer had to read."""
        self._sent = 0
        self._errors: Counter[str] = Counter()
        self._heard_s = time.monotonic()
        self._no_brokers = NoBrokers()
        self._stop = threading.Event()
        self._produced = threading.Event()
        self._common: dict[str, Any] = {
            "log_level": 0,
            "bootstrap.servers": bootstrap,
            "topic.metadata.refresh.interval.ms": 500,
        }
        self._producer = Producer(
            {**self._common, "acks": "all", "enable.idempotence": True, "delivery.timeout.ms": 60_000, "linger.ms": 5}
        )
        self._partitions = partitions
        self._consumer = self._reader(debug="metadata", logger=self._no_brokers.logger())
        self._threads = [threading.Thread(target=work, daemon=True) for work in (self._produce, self._consume)]
        for thread in self._threads:
            thread.start()

    def _reader(self, **more: Any) -> Consumer:
        consumer = Consumer(
            {**self._common, "group.id": "unused", "enable.auto.commit": False, "auto.offset.reset": "earliest", **more}
        )
        consumer.assign([TopicPartition(self._topic, number, 0) for number in range(self._partitions)])
        return consumer

    def finish(self, timeout_s: float = 90) -> None:
        """Stop producing, wait for what is on its way, and read until all that was acknowledged has arrived."""
        self._stop.set()
        self._threads[0].join(timeout_s)
        deadline = time.monotonic() + timeout_s
        while self._is_missing() and time.monotonic() < deadline and not self._is_silent():
            time.sleep(POLL_S)
        time.sleep(10 * POLL_S)  # for duplicates, if there are any
        self._produced.set()
        self._threads[1].join(timeout_s)
        if self._is_missing():
            self._read_afresh()

    def _is_missing(self) -> bool:
        return bool(self.acknowledged - self.arrived.keys())

    def _is_silent(self) -> bool:
        return self._no_brokers.were_told and time.monotonic() > self._heard_s + SILENT_S

    def _read_afresh(self) -> None:
        """What the consumer should have read. It counts as arrived only if librdkafka had forgotten all brokers."""
        missing = self.acknowledged - self.arrived.keys()
        found = dict(self._others())
        there = missing.intersection(found.values())
        if self._no_brokers.were_told:
            self.told = f"told that there are no brokers, the consumer stood still; {len(there)} were read afresh"
            self.arrived.update(found.values())
            self.places.update(found)
        else:
            self.told = (
                f"{len(there)} of {len(missing)} that did not arrive are read by a fresh consumer; the first one heard "
                f"of no such thing as that there are no brokers; its errors: {dict(self._errors)}; it said last: "
                + "; ".join(self._no_brokers.last)
            )
        warnings.warn(self.told, stacklevel=2)

    def _others(self) -> Iterator[tuple[tuple[int | None, int | None], int]]:
        """Places where nothing arrived from, with what is there, until all that was acknowledged is found."""
        consumer, missing = self._reader(), self.acknowledged - self.arrived.keys()
        deadline = time.monotonic() + SILENT_S
        while missing and time.monotonic() < deadline:
            for message in consumer.consume(500, POLL_S):
                place = message.partition(), message.offset()
                if message.error() is None and place not in self.places:
                    number = int(message.value() or b"-1")
                    missing.discard(number)
                    yield place, number
        consumer.close()

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
            if message is not None and message.error() is not None:
                self._errors[str(message.error())] += 1
            elif message is not None:
                self._heard_s = time.monotonic()
                self.arrived[int(message.value() or b"-1")] += 1
                self.places[message.partition(), message.offset()] += 1
        self._consumer.close()
