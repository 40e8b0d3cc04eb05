"""`/consumers/G/…`: members, owned partitions and offsets of the ZooKeeper-based consumer (0.8 to 1.1).

Source: `kafka.consumer.TopicCount`, `kafka.consumer.ZookeeperConsumerConnector` (0.8 to 1.1), `kafka.zk.ConsumerOffset`
(3.9). It does not work out who should own what.
"""

from collections.abc import Mapping
from typing import Annotated

from msgspec import Meta

from model.znodes.payload import (
    INT32_MAX,
    Int64,
    JsonCodec,
    JsonPayload,
    TextPayload,
    Timestamp,
    UnusablePayloadError,
    Version,
    millis,
    text_of,
    whole_number,
)

Threads = Annotated[int, Meta(ge=0, le=INT32_MAX)]


class ConsumerRegistration(JsonPayload, frozen=True, kw_only=True):
    """A group member: threads per topic (`pattern` static) or per regular expression (white_list, black_list)."""

    version: Version = 1
    subscription: Mapping[str, Threads]
    pattern: str = "static"
    timestamp: Timestamp = None

    @property
    def registered_ms(self) -> int | None:
        """When the member registered, ms since the epoch."""
        return millis(self.timestamp)


class PartitionOwner(TextPayload, frozen=True):
    """The consumer thread that owns a partition: `<consumer id>-<thread>`."""

    consumer_thread_id: str

    @property
    def consumer_id(self) -> str:
        """The member's id, as under `/consumers/G/ids`; all of the text where no thread number follows it."""
        return self.consumer_thread_id if self.thread is None else self.consumer_thread_id.rpartition("-")[0]

    @property
    def thread(self) -> int | None:
        """The thread's number."""
        consumer_id, _, thread = self.consumer_thread_id.rpartition("-")
        return int(thread) if consumer_id and thread.isascii() and thread.isdigit() and len(thread) < 11 else None

    def to_bytes(self) -> bytes:
        return self.consumer_thread_id.encode()


class ConsumerOffset(TextPayload, frozen=True):
    """The next offset a group will consume from a partition."""

    offset: Int64

    def to_bytes(self) -> bytes:
        return b"%d" % self.offset


decode_consumer = JsonCodec(ConsumerRegistration)


def decode_owner(data: bytes) -> PartitionOwner:
    """The owner; raises UnusablePayloadError."""
    owner = text_of(data)
    if not owner.strip():
        raise UnusablePayloadError("names no consumer thread")
    return PartitionOwner(owner)


def decode_offset(data: bytes) -> ConsumerOffset:
    """The offset; raises UnusablePayloadError, for spaces around it too, as Kafka's consumers and brokers do."""
    if data != data.strip():
        raise UnusablePayloadError("has spaces around its number")
    return ConsumerOffset(whole_number(data))
