"""Fetch v18 (KIP-1166, Kafka 4.1), which `kio` 0.5 does not have: it tells the high watermark that the asker knows.

In the form of `kio`'s own schemas, so that bytes are made and read as those of all others are. The response is v17's.
Source: `FetchRequest.json` and `FetchResponse.json` (4.1).
"""

import uuid
from dataclasses import dataclass, field
from typing import Any, ClassVar

from kio.schema.fetch.v17.request import ForgottenTopic, ReplicaState
from kio.schema.fetch.v17.response import (
    EpochEndOffset,
    FetchableTopicResponse,
    FetchResponse,
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionData,
    SnapshotId,
)
from kio.schema.request_header.v2.header import RequestHeader
from kio.static.constants import EntityType
from kio.static.primitive import i8, i16, i32, i32Timedelta, i64

__all__ = [
    "REQUEST",
    "RESPONSE",
    "EpochEndOffset",
    "FetchPartition",
    "FetchRequest",
    "FetchResponse",
    "FetchTopic",
    "FetchableTopicResponse",
    "ForgottenTopic",
    "LeaderIdAndEpoch",
    "NodeEndpoint",
    "PartitionData",
    "ReplicaState",
    "SnapshotId",
]

_NEVER = i64(2**63 - 1)
"""A high watermark that nobody reaches: its moving is no reason to answer."""


def _of(kafka_type: str, **more: int) -> dict[str, Any]:
    return {"kafka_type": kafka_type, **more}


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchPartition:
    """What is wanted of a partition."""

    __type__: ClassVar = EntityType.nested
    __version__: ClassVar[i16] = i16(18)
    __flexible__: ClassVar[bool] = True
    __api_key__: ClassVar[i16] = i16(1)
    __header_schema__: ClassVar[type[RequestHeader]] = RequestHeader
    partition: i32 = field(metadata=_of("int32"))
    current_leader_epoch: i32 = field(metadata=_of("int32"), default=i32(-1))
    fetch_offset: i64 = field(metadata=_of("int64"))
    last_fetched_epoch: i32 = field(metadata=_of("int32"), default=i32(-1))
    log_start_offset: i64 = field(metadata=_of("int64"), default=i64(-1))
    partition_max_bytes: i32 = field(metadata=_of("int32"))
    replica_directory_id: uuid.UUID | None = field(metadata=_of("uuid", tag=0), default=None)
    high_watermark: i64 = field(metadata=_of("int64", tag=1), default=_NEVER)


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchTopic:
    """What is wanted of a topic."""

    __type__: ClassVar = EntityType.nested
    __version__: ClassVar[i16] = i16(18)
    __flexible__: ClassVar[bool] = True
    __api_key__: ClassVar[i16] = i16(1)
    __header_schema__: ClassVar[type[RequestHeader]] = RequestHeader
    topic_id: uuid.UUID | None = field(metadata=_of("uuid"))
    partitions: tuple[FetchPartition, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchRequest:
    """The question."""

    __type__: ClassVar = EntityType.request
    __version__: ClassVar[i16] = i16(18)
    __flexible__: ClassVar[bool] = True
    __api_key__: ClassVar[i16] = i16(1)
    __header_schema__: ClassVar[type[RequestHeader]] = RequestHeader
    cluster_id: str | None = field(metadata=_of("string", tag=0), default=None)
    replica_state: ReplicaState = field(metadata={"tag": 1}, default=ReplicaState())
    max_wait: i32Timedelta = field(metadata=_of("timedelta_i32"))
    min_bytes: i32 = field(metadata=_of("int32"))
    max_bytes: i32 = field(metadata=_of("int32"), default=i32(2147483647))
    isolation_level: i8 = field(metadata=_of("int8"), default=i8(0))
    session_id: i32 = field(metadata=_of("int32"), default=i32(0))
    session_epoch: i32 = field(metadata=_of("int32"), default=i32(-1))
    topics: tuple[FetchTopic, ...]
    forgotten_topics_data: tuple[ForgottenTopic, ...]
    rack_id: str = field(metadata=_of("string"), default="")


REQUEST, RESPONSE = FetchRequest, FetchResponse
