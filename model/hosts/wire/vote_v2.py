"""Vote v2 (KIP-996, Kafka 4.0), which `kio` 0.5 does not have: a voter may ask first whether it would be elected.

Beside `later_versions`, as its parts are called as others' there. The request has one field more than
v1, the response is v1.
Source: `VoteRequest.json` and `VoteResponse.json` (4.0).
"""

from dataclasses import dataclass, field
from typing import ClassVar

from kio.schema.vote.v1 import request
from kio.schema.vote.v1.response import VoteResponse
from kio.static.primitive import i16

__all__ = ["PartitionData", "TopicData", "VoteRequest", "VoteResponse"]

_VERSION = i16(2)


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionData(request.PartitionData):
    """What is asked of a partition."""

    __version__: ClassVar[i16] = _VERSION
    pre_vote: bool = field(metadata={"kafka_type": "bool"})


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicData(request.TopicData):
    """What is asked of a topic."""

    __version__: ClassVar[i16] = _VERSION
    partitions: tuple[PartitionData, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class VoteRequest(request.VoteRequest):
    """The question."""

    __version__: ClassVar[i16] = _VERSION
    topics: tuple[TopicData, ...]
