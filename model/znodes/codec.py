"""Bytes of any znode ⇄ its payload, and payloads without their credentials, before they are shown, logged or kept.

Decoding never raises, whatever the bytes. Hidden are SCRAM credentials and every unknown config of a user, configs
whose name hints at a secret (Kafka's PASSWORD configs among them), tokens' HMACs, and a whole payload that may hold a
secret and cannot be read. It hides too much rather than too little; it does not look for secrets in values.
"""

from collections.abc import Callable
from typing import cast

import msgspec

from model.cluster.texts import HIDDEN, is_sensitive, is_sensitive_name
from model.znodes import cluster, configs, consumers, topics
from model.znodes.catalogue import CONFIG_KINDS, SECRET_KINDS, ZnodeKind
from model.znodes.paths import recognise
from model.znodes.payload import Payload, Unreadable, UnusablePayloadError, reason_of

_K = ZnodeKind
_DECODERS: dict[ZnodeKind, Callable[[bytes], Payload]] = {
    _K.BROKER: cluster.decode_broker,
    _K.TOPIC: topics.decode_topic,
    _K.PARTITION_STATE: topics.decode_partition_state,
    _K.CONTROLLER: cluster.decode_controller,
    _K.CONTROLLER_EPOCH: cluster.decode_controller_epoch,
    _K.REASSIGN_PARTITIONS: topics.decode_reassignment,
    _K.PREFERRED_REPLICA_ELECTION: topics.decode_preferred_election,
    **dict.fromkeys(CONFIG_KINDS, configs.decode_config),
    _K.CONFIG_CHANGE: configs.decode_config_change,
    _K.ISR_CHANGE: topics.decode_isr_change,
    _K.LOG_DIR_EVENT: topics.decode_log_dir_event,
    _K.CLUSTER_ID: cluster.decode_cluster_id,
    _K.FEATURE: cluster.decode_features,
    _K.PRODUCER_ID_BLOCK: cluster.decode_producer_id_block,
    _K.MIGRATION: cluster.decode_migration,
    _K.DELEGATION_TOKEN: configs.decode_token,
    _K.TOKEN_CHANGE: configs.decode_token_change,
    _K.ACL: configs.decode_acls,
    _K.ACL_CHANGE: configs.decode_acl_change,
    _K.EXTENDED_ACL: configs.decode_acls,
    _K.EXTENDED_ACL_CHANGE: configs.decode_extended_acl_change,
    _K.GROUP_MEMBER: consumers.decode_consumer,
    _K.PARTITION_OWNER: consumers.decode_owner,
    _K.CONSUMER_OFFSET: consumers.decode_offset,
}
_EMPTY_IS_NOTHING = CONFIG_KINDS | {
    _K.PRODUCER_ID_BLOCK,
    _K.MIGRATION,
    _K.ACL,
    _K.EXTENDED_ACL,
    _K.DELEGATION_TOKEN,
}
"""Kinds that Kafka's readers take for "nothing set" when they are empty."""

PAYLOAD_KINDS = frozenset(_DECODERS)
"""The kinds that have a payload; all others are containers, markers or foreign."""


def decode(path: str, data: bytes | None) -> Payload | Unreadable | None:
    """The payload at `path`; None where there is none to read (container, marker, foreign znode, nothing set)."""
    return decode_as(recognise(path).kind, path, data)


def decode_as(kind: ZnodeKind, path: str, data: bytes | None) -> Payload | Unreadable | None:
    """As `decode`, for a path that has been recognised already."""
    decoder = _DECODERS.get(kind)
    if decoder is None:
        return None
    if not data:
        return None if kind in _EMPTY_IS_NOTHING else Unreadable(path, kind, "is empty", b"")
    try:
        return decoder(data)
    except UnusablePayloadError as error:
        return Unreadable(path, kind, reason_of(error), data)


def encode(payload: Payload) -> bytes:
    """The payload as Kafka writes it, with the keys Kafka does not define at the end."""
    return payload.to_bytes()


def payload_version(payload: Payload | Unreadable | None) -> int | None:
    """The payload's own version number; 0 for the bare forms of 0.8, None if it has none."""
    version: object = getattr(payload, "version", None)
    if isinstance(version, str):
        return int(version) if version.isascii() and version.isdigit() and len(version) < 10 else None
    return version if isinstance(version, int) else None


def redact(path: str, data: bytes) -> bytes:
    """The payload at `path` without its secrets; other payloads as they are. Never raises.

    JSON stays JSON of the same shape, so the result decodes as the original does.
    """
    kind = recognise(path).kind
    if not data or (kind not in SECRET_KINDS and kind is not ZnodeKind.UNKNOWN):
        return data
    try:
        # A notice may hold any entity's settings: those of users are hidden most.
        entity = "users/" if kind is ZnodeKind.CONFIG_CHANGE else path.removeprefix("/config/")
        return msgspec.json.encode(_without_secrets(msgspec.json.decode(data), entity))
    except (msgspec.MsgspecError, ValueError, RecursionError):
        harmless = kind is ZnodeKind.UNKNOWN and not is_sensitive_name(data.decode("latin-1"))
        return data if harmless else b"[hidden: %d bytes that cannot be read]" % len(data)


def _without_secrets(value: object, entity: str) -> object:
    if isinstance(value, list):
        return [_without_secrets(item, entity) for item in cast(list[object], value)]
    if not isinstance(value, dict):
        return value
    fields = cast(dict[str, object], value)
    return {key: _member_without_secrets(key, item, entity) for key, item in fields.items()}


def _member_without_secrets(key: str, value: object, entity: str) -> object:
    if key == "config" and isinstance(value, dict):
        config = cast(dict[str, object], value)
        return {
            name: HIDDEN if is_sensitive(entity, name) else _without_secrets(item, entity)
            for name, item in config.items()
        }
    return HIDDEN if is_sensitive_name(key) else _without_secrets(value, entity)
