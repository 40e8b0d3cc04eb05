"""A client of a cluster's brokers, by librdkafka, for what a test needs but is not about.

In milliseconds, where each of Kafka's own commands (commands.py) is a JVM.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence

from confluent_kafka import KafkaError, KafkaException, Message, Producer
from confluent_kafka.admin import (
    AdminClient,
    NewTopic,  # pyright: ignore[reportPrivateImportUsage]
)

from tests.conformance.kafka.describe import NO_LEADER, PartitionView
from tests.conformance.kafka.topic_znodes import Assignment

PATIENCE_S = 60
TRIAL_S = 10
PAUSE_S = 1.0
"""Between two trials: some errors come at once."""
TRIALS_S = (TRIAL_S, TRIAL_S, PATIENCE_S)
UNKNOWN = KafkaError.UNKNOWN_TOPIC_OR_PART
TRY_ANEW = (KafkaError._TIMED_OUT, KafkaError._DESTROY_BROKER)
"""librdkafka holds on to a controller that has died, until a new client asks; what timed out may have been done."""


def _code(error: BaseException) -> int | None:
    return error.args[0].code() if isinstance(error, KafkaException) else None


class Client:
    """Of brokers from 1.1 on."""

    def __init__(self, bootstrap: str) -> None:
        self._bootstrap = bootstrap
        self.admin = self._asking()

    def _asking(self) -> AdminClient:
        return AdminClient({"bootstrap.servers": self._bootstrap, "log_level": 0})

    def create(self, topic: str, assignment: Assignment, **config: str) -> None:
        """Keys of `config` have _ for Kafka's dots."""
        settings = {key.replace("_", "."): value for key, value in config.items()}
        replicas = [list(assignment[number]) for number in sorted(assignment)]
        new = NewTopic(topic, len(replicas), replica_assignment=replicas, config=settings)
        was_tried = False
        for patience_s in TRIALS_S:
            error = self.admin.create_topics([new], request_timeout=patience_s)[topic].exception(PATIENCE_S)
            if error is None or (was_tried and _code(error) == KafkaError.TOPIC_ALREADY_EXISTS):
                return
            self._try_anew(error, patience_s)
            was_tried = True

    def _try_anew(self, error: BaseException, patience_s: float) -> None:
        """Raises it where that is of no use."""
        if _code(error) not in TRY_ANEW or patience_s == PATIENCE_S:
            raise error
        time.sleep(PAUSE_S)
        self.admin = self._asking()

    def topics(self) -> set[str]:
        """Their names, as some broker knows them by now."""
        return set(self.admin.list_topics(timeout=PATIENCE_S).topics)

    def delete(self, topics: Collection[str]) -> set[str]:
        """Returns when the controller has done so: those that it still knew.

        Topics that it deleted before may still be listed by some broker.
        """
        left, deleted = set(topics), set[str]()
        for patience_s in TRIALS_S:
            if not left:
                break
            asked = self.admin.delete_topics([*left], request_timeout=patience_s)
            errors = {topic: each.exception(PATIENCE_S) for topic, each in asked.items()}
            deleted |= {topic for topic, error in errors.items() if error is None}
            failed = {each: error for each, error in errors.items() if error and _code(error) != UNKNOWN}
            if failed:
                self._try_anew(next(iter(failed.values())), patience_s)
            left = set(failed)
        return deleted

    def partition(self, topic: str, number: int) -> PartitionView:
        """As some broker knows it by now: without leader and replicas where it knows of none."""
        known = self.admin.list_topics(topic, timeout=PATIENCE_S).topics[topic].partitions.get(number)
        if known is None:
            return PartitionView(NO_LEADER, (), frozenset())
        return PartitionView(known.leader, tuple(known.replicas), frozenset(known.isrs))

    def produce(self, topic: str, messages: Sequence[str]) -> None:
        """Returns when all of them are acknowledged by all replicas in sync."""
        failed: list[KafkaError] = []

        def delivered(error: KafkaError | None, _: Message) -> None:
            if error is not None:
                failed.append(error)

        spread = {"sticky.partitioning.linger.ms": 0}  # over all partitions, not those of one moment to one
        producer = Producer({"bootstrap.servers": self._bootstrap, "acks": "all", "log_level": 0, **spread})
        for message in messages:
            producer.produce(topic, message, on_delivery=delivered)
        waiting = producer.flush(PATIENCE_S)
        assert (waiting, failed) == (0, [])
