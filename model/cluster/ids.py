"""Small typed names for things in a cluster. Holds no behaviour beyond telling them apart."""

from typing import NamedTuple

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
