"""A consumer of somebody else's library as a process of its own, which can be killed. Says what it owns and reads.

Run as a module with LIBRARY BOOTSTRAP GROUP TOPIC STRATEGY SESSION_TIMEOUT_MS.
"""

from __future__ import annotations

import json
import signal
import sys
import time
from collections.abc import Iterable
from typing import Any

from confluent_kafka import Consumer, TopicPartition
from kafka import KafkaConsumer
from kafka.coordinator.assignors.range import RangePartitionAssignor
from kafka.errors import KafkaConnectionError, KafkaError


def say(**what: object) -> None:
    """One line of JSON."""
    print(json.dumps(what), flush=True)


class Owned:
    """What a member owns, said where it is something else than before."""

    def __init__(self) -> None:
        self._said: list[int] = []

    def say(self, partitions: Iterable[int]) -> None:
        """The partitions it has now."""
        owned = sorted(partitions)
        if owned != self._said:
            self._said = owned
            say(owns=owned)


def librdkafka(bootstrap: str, group: str, topic: str, strategy: str, session_ms: int) -> None:
    """confluent-kafka: subscribe, and commit every record."""
    consumer = Consumer(
        {
            "log_level": 0,
            "bootstrap.servers": bootstrap,
            "group.id": group,
            "session.timeout.ms": session_ms,
            "heartbeat.interval.ms": 500,
            "auto.offset.reset": "earliest",
            "auto.commit.interval.ms": 200,
            "topic.metadata.refresh.interval.ms": 2_000,
            "partition.assignment.strategy": strategy,
        }
    )

    def changed(_: Any, partitions: list[TopicPartition]) -> None:
        say(changed=sorted(each.partition for each in partitions))

    consumer.subscribe([topic], on_assign=changed, on_revoke=changed, on_lost=changed)
    owned = Owned()
    while True:
        message = consumer.poll(0.2)
        if message is not None and not message.error():
            say(read=(message.value() or b"").decode())
        owned.say(each.partition for each in consumer.assignment())


def kafka_python(bootstrap: str, group: str, topic: str, strategy: str, session_ms: int) -> None:
    """kafka-python: subscribe, and commit now and then."""
    assert strategy == "range"
    settings: dict[str, Any] = {
        "bootstrap_servers": bootstrap.split(","),
        "group_id": group,
        "session_timeout_ms": session_ms,
        "heartbeat_interval_ms": 500,
        "auto_offset_reset": "earliest",
        "auto_commit_interval_ms": 200,
        "metadata_max_age_ms": 2_000,
        "partition_assignment_strategy": [RangePartitionAssignor],
    }
    owned = Owned()
    while True:
        try:
            consumer = KafkaConsumer(topic, **settings)
        except KafkaError:  # it gives up at once where the broker that it asks first has just been killed
            time.sleep(0.2)
        else:
            poll_on(consumer, owned)


def poll_on(consumer: KafkaConsumer, owned: Owned) -> None:
    """Until a broker that was killed ends it. Every other error ends the process."""
    try:
        while True:
            for records in consumer.poll(timeout_ms=200).values():
                for record in records:
                    say(read=record.value.decode())
            owned.say(each.partition for each in consumer.assignment())
    except KafkaConnectionError:
        consumer.close(autocommit=False)


LIBRARIES = {"librdkafka": librdkafka, "kafka-python": kafka_python}

if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    library, bootstrap, group, topic, strategy, session_ms = sys.argv[1:]
    LIBRARIES[library](bootstrap, group, topic, strategy, int(session_ms))
