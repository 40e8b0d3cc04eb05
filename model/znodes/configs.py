"""`/config/…`: dynamic configs of topics, clients, users, brokers and IP addresses, and their change notifications.

Source: `kafka.zk.ConfigEntityZNode`, `ConfigEntityChangeNotificationSequenceZNode`, `kafka.server.DynamicConfigManager`
(0.8.1 to 3.9), `org.apache.kafka.common.utils.Sanitizer` (KIP-55). It knows no config's meaning or default.
"""

from collections.abc import Mapping
from typing import ClassVar
from urllib.parse import quote, unquote_plus

import msgspec

from model.znodes.payload import JsonCodec, JsonPayload, LeftOut, Version
from model.znodes.reasons import UnusablePayloadError, reason_of

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
