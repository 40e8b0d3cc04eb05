"""Takes credentials out of payloads before they are shown, logged or kept in a snapshot.

Hidden are SCRAM credentials and every unknown config of a user, configs whose name hints at a secret (Kafka's PASSWORD
configs among them), tokens' HMACs, and a whole payload that may hold a secret and cannot be read. It hides too much
rather than too little; it does not look for secrets in values.
"""

from typing import cast

import msgspec

from model.cluster.secrets import HIDDEN, is_sensitive, is_sensitive_name
from model.znodes.catalogue import SECRET_KINDS, ZnodeKind
from model.znodes.paths import recognise


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
