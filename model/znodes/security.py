"""Access control lists, their change notifications, delegation tokens and theirs.

Source: `kafka.zk.ResourceZNode`, `LiteralAclChangeStore`, `ExtendedAclChangeStore` (KIP-290, 2.0),
`kafka.server.DelegationTokenManager` (KIP-48, 1.1; KIP-373, v3). It decides nothing about access.
"""

from collections.abc import Mapping
from typing import ClassVar

import msgspec

from model.znodes.payload import (
    Int64,
    JsonCodec,
    JsonObject,
    JsonPayload,
    LeftOut,
    Name,
    TextPayload,
    Version,
    text_of,
)
from model.znodes.reasons import UnusablePayloadError


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
