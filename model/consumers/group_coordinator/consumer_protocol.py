"""Kafka's schema types read from bytes that may be damaged, and what consumers tell each other in them.

Source: `org.apache.kafka.common.protocol.types.Type` (3.9), KIP-482 (compact types and tagged fields);
`org.apache.kafka.clients.consumer.internals.ConsumerProtocol` (3.9). Every version of a subscription or an assignment
begins with the fields of version 0, and nothing else is read.
"""

import struct
from collections.abc import Iterable, Mapping

from model.cluster.ids import TopicPartition
from model.consumers.group_coordinator.group import Member

_INT16, _INT32, _INT64 = struct.Struct(">h"), struct.Struct(">i"), struct.Struct(">q")
LONGEST_VARINT = 5


class UnreadableError(ValueError):
    """The bytes are cut off, or are not what the schema says."""


class ByteReader:
    """Goes through bytes from the start. Everything raises UnreadableError."""

    def __init__(self, data: bytes, *, compact: bool = False) -> None:
        self.compact = compact
        """Whether lengths are written as in flexible versions."""
        self._data = data
        self._at = 0

    def int16(self) -> int:
        """Two bytes, signed."""
        return int(self._unpack(_INT16))

    def int32(self) -> int:
        """Four bytes, signed."""
        return int(self._unpack(_INT32))

    def int64(self) -> int:
        """Eight bytes, signed."""
        return int(self._unpack(_INT64))

    def string(self) -> str:
        text = self.nullable_string()
        if text is None:
            raise UnreadableError("null where a text was due")
        return text

    def nullable_string(self) -> str | None:
        length = self._varint() - 1 if self.compact else self.int16()
        if length < 0:
            return None
        try:
            return self._take(length).decode()
        except UnicodeDecodeError:
            raise UnreadableError("a text that is not UTF-8") from None

    def bytes(self) -> bytes:
        """Bytes; null counts as none."""
        length = self._length()
        return self._take(length) if length > 0 else b""

    def count(self) -> int:
        """How many elements an array has; null counts as none."""
        count = max(self._length(), 0)
        if count > len(self._data) - self._at:
            raise UnreadableError(f"an array of {count}, with {len(self._data) - self._at} bytes left")
        return count

    def tagged_fields(self) -> None:
        """Passed over; there are some in flexible versions only."""
        if self.compact:
            for _ in range(self._varint()):
                self._varint()
                self._take(self._varint())

    def _length(self) -> int:
        return self._varint() - 1 if self.compact else self.int32()

    def _unpack(self, shape: struct.Struct) -> int:
        return int(shape.unpack(self._take(shape.size))[0])

    def _varint(self) -> int:
        number = 0
        for shift in range(0, 7 * LONGEST_VARINT, 7):
            byte = self._take(1)[0]
            number |= (byte & 0x7F) << shift
            if byte < 0x80:
                return number
        raise UnreadableError("a varint without an end")

    def _take(self, size: int) -> "bytes":
        taken = self._data[self._at : self._at + size]
        if len(taken) < size:
            raise UnreadableError(f"{size} bytes were due, {len(taken)} are left")
        self._at += size
        return taken


def subscribed_topics(metadata: bytes) -> frozenset[str]:
    """The topics of a `ConsumerProtocolSubscription`. Raises UnreadableError."""
    reader = ByteReader(metadata)
    reader.int16()
    return frozenset(reader.string() for _ in range(reader.count()))


def assigned_partitions(assignment: bytes) -> tuple[TopicPartition, ...]:
    """The partitions of a `ConsumerProtocolAssignment`; none where it is empty. Raises UnreadableError."""
    if not assignment:
        return ()
    reader = ByteReader(assignment)
    reader.int16()
    return tuple(
        TopicPartition(topic, reader.int32())
        for topic in (reader.string() for _ in range(reader.count()))
        for _ in range(reader.count())
    )


def owners_of(members: Iterable[Member]) -> Mapping[TopicPartition, str]:
    """Who owns what, by instance id where there is one. What cannot be read is left out."""
    owners: dict[TopicPartition, str] = {}
    for member in members:
        try:
            owners.update(dict.fromkeys(assigned_partitions(member.assignment), member.owner))
        except UnreadableError:
            continue
    return owners
