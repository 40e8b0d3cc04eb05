"""Small typed names for things in a cluster. Holds no behaviour beyond telling them apart."""

from typing import NamedTuple

NO_LEADER = -1
"""Leader of a partition that has none (Kafka's `LeaderAndIsr.NoLeader`)."""

LEADER_DURING_DELETE = -2
"""Leader sent while a topic is being deleted (Kafka's `LeaderAndIsr.LeaderDuringDelete`); wire only."""

NO_STATE = -1
"""Data version of a partition that has no state znode yet."""


class TopicPartition(NamedTuple):
    """A partition of a topic; prints as Kafka does, `orders-3`."""

    topic: str
    partition: int

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}"
