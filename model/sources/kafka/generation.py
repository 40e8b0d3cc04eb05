"""Which Kafka generation a broker is of, as the versions that it speaks tell. Pure.

Sources: `ApiKeys` and the message schemas of the releases; DescribeQuorum is listed by brokers in KRaft mode only.
"""

from collections.abc import Mapping

from model.hosts.wire.api_keys import DESCRIBE_QUORUM, LIST_OFFSETS, METADATA
from model.sources.kafka.views import KRAFT

_FIRST = ((LIST_OFFSETS, 7, "3.x"), (METADATA, 6, "2.x"))
"""API, the version of it that a generation brought, the generation; newest first."""
OLDEST = "0.9-1.x"
"""Brokers before 0.10 do not tell versions at all."""


def generation_of(versions: Mapping[int, tuple[int, int]]) -> str:
    """One of `GENERATIONS`, from API → lowest and highest version."""
    if DESCRIBE_QUORUM in versions:
        return KRAFT
    return next((name for key, version, name in _FIRST if versions.get(key, (0, -1))[1] >= version), OLDEST)
