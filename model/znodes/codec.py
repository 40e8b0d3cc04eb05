"""Bytes of any znode ⇄ its payload: the one door to the families' codecs.

Decoding never raises, whatever the bytes. It does not compare znodes with each other.
"""

from collections.abc import Callable

from model.znodes import (
    admin,
    brokers,
    cluster,
    configs,
    consumers,
    controller,
    notifications,
    partition_state,
    security,
    topics,
)
from model.znodes.catalogue import CONFIG_KINDS, ZnodeKind
from model.znodes.paths import recognise
from model.znodes.payload import Payload
from model.znodes.reasons import Unreadable, UnusablePayloadError, reason_of

_K = ZnodeKind
_DECODERS: dict[ZnodeKind, Callable[[bytes], Payload]] = {
    _K.BROKER: brokers.decode_broker,
    _K.TOPIC: topics.decode_topic,
    _K.PARTITION_STATE: partition_state.decode_partition_state,
    _K.CONTROLLER: controller.decode_controller,
    _K.CONTROLLER_EPOCH: controller.decode_controller_epoch,
    _K.REASSIGN_PARTITIONS: admin.decode_reassignment,
    _K.PREFERRED_REPLICA_ELECTION: admin.decode_preferred_election,
    **dict.fromkeys(CONFIG_KINDS, configs.decode_config),
    _K.CONFIG_CHANGE: configs.decode_config_change,
    _K.ISR_CHANGE: notifications.decode_isr_change,
    _K.LOG_DIR_EVENT: notifications.decode_log_dir_event,
    _K.CLUSTER_ID: cluster.decode_cluster_id,
    _K.FEATURE: cluster.decode_features,
    _K.PRODUCER_ID_BLOCK: cluster.decode_producer_id_block,
    _K.MIGRATION: cluster.decode_migration,
    _K.DELEGATION_TOKEN: security.decode_token,
    _K.TOKEN_CHANGE: security.decode_token_change,
    _K.ACL: security.decode_acls,
    _K.ACL_CHANGE: security.decode_acl_change,
    _K.EXTENDED_ACL: security.decode_acls,
    _K.EXTENDED_ACL_CHANGE: security.decode_extended_acl_change,
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
