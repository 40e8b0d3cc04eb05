"""`/brokers/ids/N`: a broker's registration, versions 1 to 5.

Source: `kafka.zk.BrokerIdZNode` (3.9), `kafka.cluster.EndPoint`; KIP-103 (listener names), KIP-584 (features). It does
not know the broker's id (that is in the path) nor its epoch (the znode's czxid, from Kafka 2.2).
"""

import re
from collections.abc import Mapping
from typing import Annotated, ClassVar

import msgspec
from msgspec import Meta

from model.znodes.payload import (
    JsonCodec,
    JsonObject,
    JsonPayload,
    LeftOut,
    Timestamp,
    Version,
    millis,
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
