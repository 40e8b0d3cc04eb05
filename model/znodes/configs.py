"""Dynamic configs, access control lists and delegation tokens, with their change notifications.

It knows no config's meaning or default, and decides nothing about access.

Source: `kafka.zk.ConfigEntityZNode`, `ConfigEntityChangeNotificationSequenceZNode`,
`kafka.server.DynamicConfigManager` (0.8.1 to 3.9), `org.apache.kafka.common.utils.Sanitizer` (KIP-55);
`kafka.zk.ResourceZNode`, `LiteralAclChangeStore`, `ExtendedAclChangeStore` (KIP-290, 2.0),
`kafka.server.DelegationTokenManager` (KIP-48, 1.1; KIP-373, v3).
"""

from collections.abc import Mapping
from typing import ClassVar
from urllib.parse import quote, unquote_plus

import msgspec

from model.znodes.payload import (
    Int64,
    JsonCodec,
    JsonObject,
    JsonPayload,
    LeftOut,
    Name,
    TextPayload,
    UnusablePayloadError,
    Version,
    reason_of,
    text_of,
)

DEFAULT_ENTITY = "<default>"
"""The name of a node that holds the defaults of its kind (0.10.1); a real name is sanitised and cannot look like it."""

BARE_TOPIC = 0
"""The version we give to 0.8.1's change notification, a JSON string."""


class EntityConfig(JsonPayload, frozen=True, kw_only=True):
    """The configs set on one entity. May hold secrets, therefore the values are not in the repr."""

    version: Version = 1
    config: Mapping[str, str] = {}

    def __repr__(self) -> str:
        return f"EntityConfig(version={self.version}, config=<{', '.join(self.config)}>)"


class ConfigChange(JsonPayload, frozen=True, kw_only=True):
    """The entity whose configs changed. 0.8.1: a topic as a JSON string; v1 (0.9): type and name; v2 (0.10.1): path."""

    version: Version
    entity_type: str = ""
    entity_name: str = ""
    entity_path: str = ""

    left_out: ClassVar[Mapping[str, LeftOut]] = {
        "entity_type": LeftOut(""),
        "entity_name": LeftOut(""),
        "entity_path": LeftOut(""),
    }

    @property
    def entity(self) -> str:
        """The changed entity's path under `/config` in every version: `topics/orders`, `users/u/clients/c`."""
        return self.entity_path or f"{self.entity_type}/{self.entity_name}"

    def problem(self) -> str | None:
        if self.version >= 2:
            return None if self.entity_path else "entity_path is missing"
        return None if self.entity_type and self.entity_name else "entity_type or entity_name is missing"

    def to_bytes(self) -> bytes:
        if self.version == BARE_TOPIC:
            return msgspec.json.encode(self.entity_name)
        return super().to_bytes()


decode_config = JsonCodec(EntityConfig)
_decode_change = JsonCodec(ConfigChange)


def decode_config_change(data: bytes) -> ConfigChange:
    """The change; raises UnusablePayloadError."""
    if not data.lstrip().startswith(b'"'):
        return _decode_change(data)
    try:
        topic = msgspec.json.decode(data, type=str)
    except (msgspec.MsgspecError, ValueError) as error:
        raise UnusablePayloadError(reason_of(error)) from None
    return ConfigChange(version=BARE_TOPIC, entity_type="topics", entity_name=topic)


def sanitise(name: str) -> str:
    """A user, client or principal as a znode's name: percent-encoded except letters, digits and `-_.`."""
    return quote(name, safe="").replace("~", "%7E")


def desanitise(name: str) -> str:
    """The other way; bytes that are not UTF-8 become U+FFFD."""
    return unquote_plus(name)


class AclEntry(JsonObject, frozen=True, kw_only=True):
    """One rule of a resource: `principal` may (Allow) or may not (Deny) do `operation` from `host`."""

    principal: Name
    permission_type: Name = msgspec.field(name="permissionType")
    host: Name
    operation: Name


class ResourceAcls(JsonPayload, frozen=True, kw_only=True):
    """The rules of one resource, literal or prefixed."""

    acls: tuple[AclEntry, ...]
    version: Version = 1

    nested: ClassVar[Mapping[str, type[JsonObject]]] = {"acls": AclEntry}


class AclChange(TextPayload, frozen=True):
    """The literal resource whose rules changed: `Topic:orders` up to 1.1, `TOPIC:orders` from 2.0."""

    resource_type: str
    name: str

    def to_bytes(self) -> bytes:
        return f"{self.resource_type}:{self.name}".encode()


class ExtendedAclChange(JsonPayload, frozen=True, kw_only=True):
    """The resource whose rules changed, with its pattern type."""

    version: Version = 1
    resource_type: Name = msgspec.field(name="resourceType")
    name: Name
    pattern_type: Name = msgspec.field(name="patternType")


class DelegationToken(JsonPayload, frozen=True, kw_only=True):
    """A delegation token without its HMAC, which is not stored. Principals are sanitised; times are ms since the epoch.

    v3 adds who asked for the token.
    """

    issue_timestamp_ms: Int64 = msgspec.field(name="issueTimestamp")
    renewers: tuple[str, ...] = ()
    token_requester: str | None = msgspec.field(name="tokenRequester", default=None)
    token_id: Name = msgspec.field(name="tokenId")
    owner: Name
    expiry_timestamp_ms: Int64 = msgspec.field(name="expiryTimestamp")
    max_timestamp_ms: Int64 = msgspec.field(name="maxTimestamp")
    version: Version

    left_out: ClassVar[Mapping[str, LeftOut]] = {"tokenRequester": LeftOut(None)}


class TokenChange(TextPayload, frozen=True):
    """The id of the token that changed."""

    token_id: str

    def to_bytes(self) -> bytes:
        return self.token_id.encode()


decode_acls = JsonCodec(ResourceAcls)
decode_extended_acl_change = JsonCodec(ExtendedAclChange)
decode_token = JsonCodec(DelegationToken)


def decode_acl_change(data: bytes) -> AclChange:
    """The change; raises UnusablePayloadError."""
    resource_type, colon, name = text_of(data).partition(":")
    if not (resource_type and colon and name):
        raise UnusablePayloadError("is not of the form Type:name")
    return AclChange(resource_type, name)


def decode_token_change(data: bytes) -> TokenChange:
    """The change; raises UnusablePayloadError."""
    return TokenChange(text_of(data))
