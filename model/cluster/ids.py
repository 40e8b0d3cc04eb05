"""Small typed names: partitions, releases as numbers that can be compared, and generations that payloads tell apart."""

import re
from typing import Final, Literal, NamedTuple, get_args

NO_LEADER = -1
"""Leader of a partition that has none (Kafka's `LeaderAndIsr.NoLeader`)."""

LEADER_DURING_DELETE = -2
"""Leader sent while a topic is being deleted (Kafka's `LeaderAndIsr.LeaderDuringDelete`); wire only."""

OFFSETS_TOPIC = "__consumer_offsets"
INTERNAL_TOPICS = frozenset({OFFSETS_TOPIC, "__transaction_state"})
"""Kafka's own (`org.apache.kafka.common.internals.Topic`, 3.9): left out of `exclude.internal.topics`' patterns."""

NO_STATE = -1
"""Data version of a partition that has no state znode yet."""


class TopicPartition(NamedTuple):
    """A partition of a topic; prints as Kafka does, `orders-3`."""

    topic: str
    partition: int

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}"


def release_numbers(release: str) -> tuple[int, ...]:
    """`0.8.2.2` as (0, 8, 2, 2), `3.9` as (3, 9, 0, 0); nothing for what is no release."""
    found = re.match(r"\d+(\.\d+)*", release)
    numbers = [int(number) for number in found[0].split(".")] if found else []
    return (*numbers, *[0] * (4 - len(numbers))) if numbers else ()


KafkaGeneration = Literal["unknown", "0.8", "0.9-1.x", "2.x", "3.x", "kraft"]

KAFKA_GENERATIONS: Final[tuple[KafkaGeneration, ...]] = get_args(KafkaGeneration)


def newest(*generations: KafkaGeneration) -> KafkaGeneration:
    """The newest of some."""
    return max(generations, key=KAFKA_GENERATIONS.index)
