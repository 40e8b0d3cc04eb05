"""`/isr_change_notification/…` and `/log_dir_event_notification/…`: what brokers tell the controller through ZooKeeper.

Source: `kafka.zk.IsrChangeNotificationSequenceZNode` (0.9), `LogDirEventNotificationSequenceZNode` (1.0, KIP-112). The
other notifications, of configs, ACLs and tokens, are beside what they are about.
"""

from collections.abc import Mapping
from typing import Annotated, ClassVar

from msgspec import Meta

from model.znodes.admin import PartitionEntry
from model.znodes.payload import INT32_MAX, BrokerId, JsonCodec, JsonObject, JsonPayload, Version

LOG_DIR_FAILURE = 1
"""The only event there is."""


class IsrChange(JsonPayload, frozen=True, kw_only=True):
    """Partitions whose ISR their leader has changed."""

    version: Version = 1
    partitions: tuple[PartitionEntry, ...]

    nested: ClassVar[Mapping[str, type[JsonObject]]] = {"partitions": PartitionEntry}


class LogDirEvent(JsonPayload, frozen=True, kw_only=True):
    """A broker lost a log folder."""

    version: Version = 1
    broker: BrokerId
    event: Annotated[int, Meta(ge=0, le=INT32_MAX)] = LOG_DIR_FAILURE


decode_isr_change = JsonCodec(IsrChange)
decode_log_dir_event = JsonCodec(LogDirEvent)
