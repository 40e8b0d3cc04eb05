"""Kafka generations as a cluster's payloads tell them apart, oldest first."""

from typing import Final, Literal, get_args

KafkaGeneration = Literal["unknown", "0.8", "0.9-1.x", "2.x", "3.x", "kraft"]

KAFKA_GENERATIONS: Final[tuple[KafkaGeneration, ...]] = get_args(KafkaGeneration)


def newest(*generations: KafkaGeneration) -> KafkaGeneration:
    """The newest of some."""
    return max(generations, key=KAFKA_GENERATIONS.index)
