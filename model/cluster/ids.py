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


METADATA_VERSION: Final = "metadata.version"
"""The feature of a KRaft cluster that says which records are written (KIP-778)."""
KRAFT_VERSION: Final = "kraft.version"
"""The feature that says whether the metadata log names the voters (KIP-853)."""
_METADATA_VERSIONS: Final = (
    "3.0-IV1", "3.1-IV0", "3.2-IV0", *(f"3.3-IV{number}" for number in range(4)), "3.4-IV0",
    *(f"3.5-IV{number}" for number in range(3)), *(f"3.6-IV{number}" for number in range(3)),
    *(f"3.7-IV{number}" for number in range(5)), "3.8-IV0", "3.9-IV0", *(f"4.0-IV{number}" for number in range(4)),
    "4.1-IV0", "4.1-IV1", "4.2-IV0", "4.2-IV1", "4.3-IV0", *(f"4.4-IV{number}" for number in range(3)),
)  # fmt: skip
"""By level, the first is 1 (`org.apache.kafka.server.common.MetadataVersion`, 4.4)."""


def metadata_version(level: int) -> str:
    """A level of metadata.version as Kafka calls it, `21 (3.9-IV0)`; one that is not known is a number."""
    known = 1 <= level <= len(_METADATA_VERSIONS)
    return f"{level} ({_METADATA_VERSIONS[level - 1]})" if known else str(level)


OWN_SETTINGS = "server.properties/"
"""How entities of settings begin that are brokers' own files: `server.properties/1`."""
