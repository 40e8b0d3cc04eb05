"""DescribeCluster v2 (KIP-1073, Kafka 4.0), which `kio` 0.5 does not have: it asks for fenced brokers, too.

In the form of `kio`'s own schemas, so that bytes are made and read as those of all others are.
Source: `DescribeClusterRequest.json` and `DescribeClusterResponse.json` (4.0).
"""

from dataclasses import dataclass, field
from typing import Any, ClassVar

from kio.schema.errors import ErrorCode
from kio.schema.request_header.v2.header import RequestHeader
from kio.schema.response_header.v1.header import ResponseHeader
from kio.schema.types import BrokerId
from kio.static.constants import EntityType
from kio.static.primitive import i8, i16, i32, i32Timedelta

BROKERS = i8(1)
"""`endpoint_type`: brokers are described, not controllers."""
_NO_OPERATIONS = i32(-(2**31))


def _of(kafka_type: str) -> dict[str, Any]:
    return {"kafka_type": kafka_type}


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


REQUEST, RESPONSE = DescribeClusterRequest, DescribeClusterResponse
