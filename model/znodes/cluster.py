"""Znodes of brokers, of the controller, and of the cluster as a whole: id, features, producer ids, KRaft migration.

A registration knows neither the broker's id (that is in the path) nor its epoch (the znode's czxid, from Kafka 2.2).
It gives out no ids.

Source: `kafka.zk.BrokerIdZNode` (versions 1 to 5), `ControllerZNode`, `ControllerEpochZNode` (3.9), `ClusterIdZNode`
(0.10.1), `FeatureZNode` (2.7, KIP-584), `ProducerIdBlockZNode` (0.11), `MigrationZNode` (3.4, KIP-866),
`BrokerSequenceIdZNode` (0.9), `kafka.cluster.EndPoint`; KIP-103 (listener names);
`kafka.controller.KafkaController.parseControllerId` (0.8) for the bare number of early 0.8 releases.
"""

import re
from collections.abc import Mapping
from typing import Annotated, ClassVar

import msgspec
from msgspec import Meta

from model.znodes.payload import (
    INT32_MAX,
    INT64_MAX,
    BrokerIdOrNone,
    Epoch,
    Int64,
    JsonCodec,
    JsonObject,
    JsonPayload,
    LeftOut,
    Name,
    TextPayload,
    Timestamp,
    UnusablePayloadError,
    Version,
    millis,
    whole_number,
)

Port = Annotated[int, Meta(ge=-1, le=65535)]
Short = Annotated[int, Meta(ge=-(2**15), le=2**15 - 1)]

_ENDPOINT = re.compile(r"(?P<listener>[^:/]+)://\[?(?P<host>[0-9a-zA-Z\-%._:]*)\]?:(?P<port>-?[0-9]{1,5})")


class Endpoint(msgspec.Struct, frozen=True):
    """Where a broker listens. An empty host means all interfaces."""

    listener: str
    host: str
    port: int
    security_protocol: str

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.listener}://{host}:{self.port}"


class SupportedVersions(JsonObject, frozen=True, kw_only=True):
    """The versions of a feature that a broker supports (KIP-584)."""

    min_version: Short
    max_version: Short


class BrokerRegistration(JsonPayload, frozen=True, kw_only=True):
    """v1 (0.8): host and port; v2 (0.9) adds endpoints, v3 (0.10.0) the rack, v4 (0.10.2) listener names, v5 (2.7)
    features.

    `host` and `port` are the first PLAINTEXT endpoint's, None and -1 where there is none.
    """

    features: Mapping[str, SupportedVersions] = {}
    listener_security_protocol_map: Mapping[str, str] = {}
    endpoints: tuple[str, ...] = ()
    rack: str | None = None
    jmx_port: Port = -1
    port: Port = -1
    host: str | None = None
    version: Version
    timestamp: Timestamp = None

    nested: ClassVar[Mapping[str, type[JsonObject]]] = {"features": SupportedVersions}
    left_out: ClassVar[Mapping[str, LeftOut]] = {
        "features": LeftOut({}, 5),
        "listener_security_protocol_map": LeftOut({}, 4),
        "endpoints": LeftOut((), 2),
        "rack": LeftOut(None),
        "timestamp": LeftOut(None),
    }

    @property
    def registered_ms(self) -> int | None:
        """When the broker registered, ms since the epoch."""
        return millis(self.timestamp)

    @property
    def listeners(self) -> tuple[Endpoint, ...]:
        """The endpoints, parsed. Up to v3 a listener is named after its security protocol."""
        parsed = tuple(self._endpoint(text) for text in self.endpoints)
        if not parsed and self.host is not None:
            return (Endpoint("PLAINTEXT", self.host, self.port, "PLAINTEXT"),)
        return tuple(endpoint for endpoint in parsed if endpoint is not None)

    def _endpoint(self, text: str) -> Endpoint | None:
        found = _ENDPOINT.fullmatch(text)
        if found is None or int(found["port"]) not in range(-1, 65536):
            return None
        protocol = self.listener_security_protocol_map.get(found["listener"], found["listener"])
        return Endpoint(found["listener"], found["host"], int(found["port"]), protocol)

    def problem(self) -> str | None:
        for position, text in enumerate(self.endpoints):
            if self._endpoint(text) is None:
                return f"endpoints[{position}] is not of the form LISTENER://host:port"
        return None if self.endpoints or self.host is not None else "neither endpoints nor host is given"


decode_broker = JsonCodec(BrokerRegistration)


BARE_NUMBER = 0
"""The version we give to the early form, a bare broker id."""


class ControllerRegistration(JsonPayload, frozen=True, kw_only=True):
    """v1 (0.8): broker id and timestamp; v2 (3.4) adds the KRaft controller's epoch, -1 outside a migration."""

    version: Version = 1
    broker_id: BrokerIdOrNone = msgspec.field(name="brokerid")
    timestamp: Timestamp = None
    kraft_controller_epoch: Epoch | None = msgspec.field(name="kraftControllerEpoch", default=None)

    left_out: ClassVar[Mapping[str, LeftOut]] = {
        "timestamp": LeftOut(None),
        "kraftControllerEpoch": LeftOut(None),
    }

    @property
    def elected_ms(self) -> int | None:
        """When it was elected, ms since the epoch."""
        return millis(self.timestamp)

    def to_bytes(self) -> bytes:
        if self.version == BARE_NUMBER:
            return b"%d" % self.broker_id
        return super().to_bytes()


class ControllerEpoch(TextPayload, frozen=True):
    """The number of controllers elected so far; it fences writes of earlier ones."""

    epoch: int

    def to_bytes(self) -> bytes:
        return b"%d" % self.epoch


_decode_json = JsonCodec(ControllerRegistration)


def decode_controller(data: bytes) -> ControllerRegistration:
    """The controller; raises UnusablePayloadError."""
    if data.lstrip().startswith(b"{"):
        return _decode_json(data)
    broker_id = whole_number(data)
    if not -1 <= broker_id <= INT32_MAX:
        raise UnusablePayloadError("the broker id is out of range")
    return ControllerRegistration(version=BARE_NUMBER, broker_id=broker_id)


def decode_controller_epoch(data: bytes) -> ControllerEpoch:
    """The epoch; raises UnusablePayloadError."""
    epoch = whole_number(data)
    if not 0 <= epoch <= INT32_MAX:
        raise UnusablePayloadError("is out of range")
    return ControllerEpoch(epoch)


Level = Annotated[int, Meta(ge=0, le=2**15 - 1)]


class ClusterId(JsonPayload, frozen=True, kw_only=True):
    """The cluster's id, 22 characters of base64url. Its version is text, unlike everywhere else."""

    version: str | int = "1"
    cluster_id: Name = msgspec.field(name="id")


class FinalizedLevels(JsonObject, frozen=True, kw_only=True):
    """The finalized levels of a feature; the lower one is in v1 only."""

    max_version_level: Level
    min_version_level: Level | None = None

    left_out: ClassVar[Mapping[str, LeftOut]] = {"min_version_level": LeftOut(None)}


class FinalizedFeatures(JsonPayload, frozen=True, kw_only=True):
    """`status` 0 disabled, 1 enabled. v1 (2.7): a range of levels per feature; v2 (3.3): the upper level only."""

    features: Mapping[str, FinalizedLevels]
    version: Version
    status: Annotated[int, Meta(ge=0, le=1)]

    nested: ClassVar[Mapping[str, type[JsonObject]]] = {"features": FinalizedLevels}

    def problem(self) -> str | None:
        for levels in self.features.values():
            lowest = levels.min_version_level
            if lowest is not None and not 1 <= lowest <= levels.max_version_level:
                return "a feature's min_version_level is not between 1 and its max_version_level"
        return None


class ProducerIdBlock(JsonPayload, frozen=True, kw_only=True):
    """The block of producer ids given out last, and to which broker. Both ends are inclusive and written as text."""

    version: Version = 1
    broker: BrokerIdOrNone
    block_start: str
    block_end: str

    @property
    def first_id(self) -> int:
        return int(self.block_start)

    @property
    def last_id(self) -> int:
        return int(self.block_end)

    def problem(self) -> str | None:
        for name, text in (("block_start", self.block_start), ("block_end", self.block_end)):
            if not (text.isascii() and text.isdigit() and len(text) < 20 and int(text) <= INT64_MAX):
                return f"{name} is not a producer id"
        return None


class KraftMigration(JsonPayload, frozen=True, kw_only=True):
    """How far a migration to KRaft has come; all -1 when none has begun."""

    version: Annotated[int, Meta(ge=0, le=INT32_MAX)] = 0
    kraft_metadata_offset: Int64 = -1
    kraft_controller_id: BrokerIdOrNone = -1
    kraft_metadata_epoch: Epoch = -1
    kraft_controller_epoch: Epoch = -1


decode_cluster_id = JsonCodec(ClusterId)
decode_features = JsonCodec(FinalizedFeatures)
decode_producer_id_block = JsonCodec(ProducerIdBlock)
decode_migration = JsonCodec(KraftMigration)
