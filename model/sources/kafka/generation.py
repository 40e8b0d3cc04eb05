"""Which Kafka generation a broker is of, as the versions that it speaks tell. Pure.

Sources: `ApiKeys` and the message schemas of the releases; DescribeQuorum is listed by brokers in KRaft mode only.
"""

from collections.abc import Mapping
from typing import Final

from model.cluster.kafka_generations import KafkaGeneration, newest
from model.hosts.wire.api_keys import DESCRIBE_QUORUM, LIST_OFFSETS, METADATA
from model.sources.kafka.views import KRAFT

_SINCE: Final[Mapping[KafkaGeneration, tuple[int, int]]] = {"2.x": (METADATA, 6), "3.x": (LIST_OFFSETS, 7)}
"""Generation → an API and the version of it that it brought."""
OLDEST: Final[KafkaGeneration] = "0.9-1.x"
"""Brokers before 0.10 do not tell versions at all."""


def generation_of(versions: Mapping[int, tuple[int, int]]) -> KafkaGeneration:
    """From API → lowest and highest version."""
    if DESCRIBE_QUORUM in versions:
        return KRAFT
    brought: list[KafkaGeneration] = [
        name for name, (key, version) in _SINCE.items() if versions.get(key, (0, -1))[1] >= version
    ]
    return newest(OLDEST, *brought)
