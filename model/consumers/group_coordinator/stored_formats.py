"""What consumers tell each other and what `__consumer_offsets` keeps, as values and as bytes that may be damaged; which
of its partitions a group belongs to, and who may answer for it.

Keys have versions 0 to 2, values every version up to 3.9's. What is written is what Kafka writes under the same
inter.broker.protocol.version, byte by byte. Every version of a subscription or an assignment begins with the fields of
version 0, and nothing else is read.

Source: `OffsetCommitKey`, `OffsetCommitValue`, `GroupMetadataKey` and `GroupMetadataValue` (the schemas of 3.9),
`kafka.coordinator.group.GroupMetadataManager` (`partitionFor`, `readMessageKey`, `offsetCommitValue`,
`groupMetadataValue`), `kafka.coordinator.group.GroupCoordinator.validateGroupStatus`;
`org.apache.kafka.common.protocol.types.Type` (3.9), KIP-482 (compact types and tagged fields);
`org.apache.kafka.clients.consumer.internals.ConsumerProtocol` (3.9).
"""

import struct
from collections.abc import Iterable, Mapping
from enum import Enum

import msgspec

from model.cluster.ids import TopicPartition, release_numbers
from model.consumers.assignors.java_strings import signed, string_hash
from model.consumers.group_coordinator.group import CommittedOffset, Member

_INT16, _INT32, _INT64 = struct.Struct(">h"), struct.Struct(">i"), struct.Struct(">q")
LONGEST_VARINT = 5


class UnreadableRecordError(ValueError):
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
            raise UnreadableRecordError("null where a text was due")
        return text

    def nullable_string(self) -> str | None:
        length = self._varint() - 1 if self.compact else self.int16()
        if length < 0:
            return None
        try:
            return self._take(length).decode()
        except UnicodeDecodeError:
            raise UnreadableRecordError("a text that is not UTF-8") from None

    def bytes(self) -> bytes:
        """Bytes; null counts as none."""
        length = self._length()
        return self._take(length) if length > 0 else b""

    def count(self) -> int:
        """How many elements an array has; null counts as none."""
        count = max(self._length(), 0)
        if count > len(self._data) - self._at:
            raise UnreadableRecordError(f"an array of {count}, with {len(self._data) - self._at} bytes left")
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
        raise UnreadableRecordError("a varint without an end")

    def _take(self, size: int) -> "bytes":
        taken = self._data[self._at : self._at + size]
        if len(taken) < size:
            raise UnreadableRecordError(f"{size} bytes were due, {len(taken)} are left")
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
        except UnreadableRecordError:
            continue
    return owners


_LEAST_INT = -(2**31)


class CoordinatorRole(Enum):
    """What this broker is to a group, and the error that strangers get."""

    COORDINATOR = "NONE"
    LOADING = "COORDINATOR_LOAD_IN_PROGRESS"
    """It leads the group's partition, and reads it."""
    STRANGER = "NOT_COORDINATOR"
    """It does not lead the group's partition."""
    CLOSED = "COORDINATOR_NOT_AVAILABLE"
    """It has not started yet, or shuts down."""


def partition_of(group_id: str, partitions: int) -> int:
    """The partition whose leader coordinates the group."""
    code = signed(string_hash(group_id))
    return (0 if code == _LEAST_INT else abs(code)) % partitions


def role_error(group_id: str, role: CoordinatorRole, *, needs_name: bool) -> str | None:
    """Why no group is looked at. `needs_name`: requests of members; offsets may be kept for a group without a name."""
    if needs_name and not group_id:
        return "INVALID_GROUP_ID"
    return None if role is CoordinatorRole.COORDINATOR else role.value


class StoredMember(msgspec.Struct, frozen=True, kw_only=True):
    """A member in a group's record."""

    member_id: str
    instance_id: str | None = None
    client_id: str = ""
    client_host: str = ""
    rebalance_timeout_ms: int
    session_timeout_ms: int
    subscription: bytes = b""
    assignment: bytes = b""


class StoredGroup(msgspec.Struct, frozen=True, kw_only=True):
    """A group's record: a generation with its assignment, or an empty group."""

    protocol_type: str = ""
    generation: int
    protocol: str | None = None
    leader: str | None = None
    state_since_ms: int | None = None
    members: tuple[StoredMember, ...] = ()


class OffsetRecord(msgspec.Struct, frozen=True):
    """An offset that a group has committed; None: it is no more."""

    group_id: str
    partition: TopicPartition
    value: CommittedOffset | None


class GroupRecord(msgspec.Struct, frozen=True):
    """A group; None: it is no more."""

    group_id: str
    value: StoredGroup | None


OffsetsTopicRecord = OffsetRecord | GroupRecord


OFFSET_KEYS = (0, 1)
GROUP_KEY = 2
NEWEST_VALUE = 4
FIRST_FLEXIBLE_VALUE = 4
WRITTEN_UP_TO = 3
"""Kafka writes no flexible version before a field is added in one."""
_NONE = -1


class ValueVersions(msgspec.Struct, frozen=True):
    """The versions that values are written in."""

    offset: int = WRITTEN_UP_TO
    group: int = WRITTEN_UP_TO


def value_versions(inter_broker_protocol: str) -> ValueVersions:
    """What brokers of this inter.broker.protocol.version write, for example `3.9-IV0`."""
    release = release_numbers(inter_broker_protocol)[:2]
    offset = 1 if release < (2, 1) else 2 if inter_broker_protocol == "2.1-IV0" else 3
    group = 0 if release_numbers(inter_broker_protocol)[:3] < (0, 10, 1) else 1
    if release >= (2, 1):
        group = 2 if release < (2, 3) else 3
    return ValueVersions(offset, group)


def write_record(record: OffsetsTopicRecord, versions: ValueVersions) -> tuple[bytes, bytes | None]:
    """Key and value; no value is a tombstone."""
    match record:
        case OffsetRecord(group_id, (topic, partition), value):
            key = _INT16.pack(1) + _string(group_id) + _string(topic) + _INT32.pack(partition)
            return key, None if value is None else _write_offset(value, versions.offset)
        case GroupRecord(group_id, value):
            key = _INT16.pack(GROUP_KEY) + _string(group_id)
            return key, None if value is None else _write_group(value, versions.group)


def read_record(key: bytes | None, value: bytes | None) -> OffsetsTopicRecord | None:
    """A record; None for a key of a kind that is not known, which Kafka passes over too. Raises UnreadableError."""
    reader = ByteReader(key or b"")
    version = reader.int16()
    if version in OFFSET_KEYS:
        group_id, partition = reader.string(), TopicPartition(reader.string(), reader.int32())
        return OffsetRecord(group_id, partition, None if value is None else _read_offset(value))
    if version == GROUP_KEY:
        return GroupRecord(reader.string(), None if value is None else _read_group(value))
    return None


def _write_offset(value: CommittedOffset, version: int) -> bytes:
    if value.expire_ms is not None:
        version = 1
    parts = [_INT16.pack(version), _INT64.pack(value.offset)]
    if version >= 3:
        parts.append(_INT32.pack(_NONE if value.leader_epoch is None else value.leader_epoch))
    parts += [_string(value.metadata), _INT64.pack(value.commit_ms)]
    if version == 1:
        parts.append(_INT64.pack(_NONE if value.expire_ms is None else value.expire_ms))
    return b"".join(parts)


def _read_offset(data: bytes) -> CommittedOffset:
    version, reader = _value(data)
    offset = reader.int64()
    leader_epoch = reader.int32() if version >= 3 else _NONE
    metadata, commit_ms = reader.string(), reader.int64()
    expire_ms = reader.int64() if version == 1 else _NONE
    return CommittedOffset(
        offset=offset,
        metadata=metadata,
        leader_epoch=None if leader_epoch == _NONE else leader_epoch,
        commit_ms=commit_ms,
        expire_ms=None if expire_ms == _NONE else expire_ms,
    )


def _write_group(value: StoredGroup, version: int) -> bytes:
    parts = [_INT16.pack(version), _string(value.protocol_type), _INT32.pack(value.generation)]
    parts += [_nullable_string(value.protocol), _nullable_string(value.leader)]
    if version >= 2:
        parts.append(_INT64.pack(_NONE if value.state_since_ms is None else value.state_since_ms))
    parts.append(_INT32.pack(len(value.members)))
    for member in value.members:
        parts.append(_string(member.member_id))
        if version >= 3:
            parts.append(_nullable_string(member.instance_id))
        parts += [_string(member.client_id), _string(member.client_host)]
        if version >= 1:
            parts.append(_INT32.pack(member.rebalance_timeout_ms))
        parts += [_INT32.pack(member.session_timeout_ms), _bytes(member.subscription), _bytes(member.assignment)]
    return b"".join(parts)


def _read_group(data: bytes) -> StoredGroup:
    version, reader = _value(data)
    protocol_type, generation = reader.string(), reader.int32()
    protocol, leader = reader.nullable_string(), reader.nullable_string()
    since_ms = reader.int64() if version >= 2 else _NONE
    return StoredGroup(
        protocol_type=protocol_type,
        generation=generation,
        protocol=protocol,
        leader=leader,
        state_since_ms=None if since_ms == _NONE else since_ms,
        members=tuple(_read_member(reader, version) for _ in range(reader.count())),
    )


def _read_member(reader: ByteReader, version: int) -> StoredMember:
    member_id = reader.string()
    instance_id = reader.nullable_string() if version >= 3 else None
    client_id, client_host = reader.string(), reader.string()
    rebalance_timeout_ms = reader.int32() if version >= 1 else None
    session_timeout_ms = reader.int32()
    member = StoredMember(
        member_id=member_id,
        instance_id=instance_id,
        client_id=client_id,
        client_host=client_host,
        rebalance_timeout_ms=session_timeout_ms if rebalance_timeout_ms is None else rebalance_timeout_ms,
        session_timeout_ms=session_timeout_ms,
        subscription=reader.bytes(),
        assignment=reader.bytes(),
    )
    reader.tagged_fields()
    return member


def _value(data: bytes) -> tuple[int, ByteReader]:
    version = ByteReader(data).int16()
    if not 0 <= version <= NEWEST_VALUE:
        raise UnreadableRecordError(f"a value of version {version}")
    return version, ByteReader(data[_INT16.size :], compact=version >= FIRST_FLEXIBLE_VALUE)


def _string(text: str) -> bytes:
    data = text.encode()
    return _INT16.pack(len(data)) + data


def _nullable_string(text: str | None) -> bytes:
    return _INT16.pack(_NONE) if text is None else _string(text)


def _bytes(data: bytes) -> bytes:
    return _INT32.pack(len(data)) + data
