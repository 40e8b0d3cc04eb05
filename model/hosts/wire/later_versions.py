"""Versions that `kio` 0.5 does not have, in the form of its own schemas, so that bytes are made and read as those of
all others are.

Fetch v18 (KIP-1166, Kafka 4.1) tells the high watermark that the asker knows; the response is v17's.
DescribeCluster v2 (KIP-1073, Kafka 4.0) asks for fenced brokers, too.
BrokerHeartbeat v2 (KIP-1066, Kafka 4.3) tells of cordoned log directories; the response is v1's.
AddRaftVoter v1 (Kafka 4.2) need not wait until the voter is committed; the response is v0's.
Source: `FetchRequest.json` and `FetchResponse.json` (4.1), `DescribeClusterRequest.json` and
`DescribeClusterResponse.json` (4.0), `BrokerHeartbeatRequest.json` (4.3), `AddRaftVoterRequest.json` (4.2).
"""

import uuid
from dataclasses import dataclass, field
from typing import Any, ClassVar

from kio.schema.add_raft_voter.v0 import request as add_raft_voter
from kio.schema.add_raft_voter.v0.request import Listener
from kio.schema.add_raft_voter.v0.response import AddRaftVoterResponse
from kio.schema.broker_heartbeat.v1 import request as broker_heartbeat
from kio.schema.broker_heartbeat.v1.response import BrokerHeartbeatResponse
from kio.schema.errors import ErrorCode
from kio.schema.fetch.v17.request import ForgottenTopic, ReplicaState
from kio.schema.fetch.v17.response import (
    AbortedTransaction,
    EpochEndOffset,
    FetchableTopicResponse,
    FetchResponse,
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionData,
    SnapshotId,
)
from kio.schema.request_header.v2.header import RequestHeader
from kio.schema.response_header.v1.header import ResponseHeader
from kio.schema.types import BrokerId
from kio.static.constants import EntityType
from kio.static.primitive import i8, i16, i32, i32Timedelta, i64

__all__ = [
    "AbortedTransaction",
    "AddRaftVoterRequest",
    "AddRaftVoterResponse",
    "BrokerHeartbeatRequest",
    "BrokerHeartbeatResponse",
    "DescribeClusterBroker",
    "DescribeClusterRequest",
    "DescribeClusterResponse",
    "EpochEndOffset",
    "FetchPartition",
    "FetchRequest",
    "FetchResponse",
    "FetchTopic",
    "FetchableTopicResponse",
    "ForgottenTopic",
    "LeaderIdAndEpoch",
    "Listener",
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


BROKERS = i8(1)
"""`endpoint_type`: brokers are described, not controllers."""
_NO_OPERATIONS = i32(-(2**31))


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribeClusterRequest:
    """The question."""

    __type__: ClassVar = EntityType.request
    __version__: ClassVar[i16] = i16(2)
    __flexible__: ClassVar[bool] = True
    __api_key__: ClassVar[i16] = i16(60)
    __header_schema__: ClassVar[type[RequestHeader]] = RequestHeader
    include_cluster_authorized_operations: bool = field(metadata=_of("bool"))
    endpoint_type: i8 = field(metadata=_of("int8"), default=BROKERS)
    include_fenced_brokers: bool = field(metadata=_of("bool"), default=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribeClusterBroker:
    """A registered broker."""

    __type__: ClassVar = EntityType.nested
    __version__: ClassVar[i16] = i16(2)
    __flexible__: ClassVar[bool] = True
    __api_key__: ClassVar[i16] = i16(60)
    __header_schema__: ClassVar[type[ResponseHeader]] = ResponseHeader
    broker_id: BrokerId = field(metadata=_of("int32"))
    host: str = field(metadata=_of("string"))
    port: i32 = field(metadata=_of("int32"))
    rack: str | None = field(metadata=_of("string"), default=None)
    is_fenced: bool = field(metadata=_of("bool"))


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribeClusterResponse:
    """The answer."""

    __type__: ClassVar = EntityType.response
    __version__: ClassVar[i16] = i16(2)
    __flexible__: ClassVar[bool] = True
    __api_key__: ClassVar[i16] = i16(60)
    __header_schema__: ClassVar[type[ResponseHeader]] = ResponseHeader
    throttle_time: i32Timedelta = field(metadata=_of("timedelta_i32"))
    error_code: ErrorCode = field(metadata=_of("error_code"))
    error_message: str | None = field(metadata=_of("string"), default=None)
    endpoint_type: i8 = field(metadata=_of("int8"), default=BROKERS)
    cluster_id: str = field(metadata=_of("string"))
    controller_id: BrokerId = field(metadata=_of("int32"), default=BrokerId(-1))
    brokers: tuple[DescribeClusterBroker, ...]
    cluster_authorized_operations: i32 = field(metadata=_of("int32"), default=_NO_OPERATIONS)


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerHeartbeatRequest(broker_heartbeat.BrokerHeartbeatRequest):
    """What a broker says of itself."""

    __version__: ClassVar[i16] = i16(2)
    cordoned_log_dirs: tuple[uuid.UUID | None, ...] | None = field(metadata=_of("uuid", tag=1), default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class AddRaftVoterRequest(add_raft_voter.AddRaftVoterRequest):
    """A controller that shall vote."""

    __version__: ClassVar[i16] = i16(1)
    ack_when_committed: bool = field(metadata=_of("bool"), default=True)
