"""Keys and payloads of coordinators' logs and of control records in words: DumpLogSegments' decoders (3.9).

Messages are read by tables of their fields, as values that JSON can hold. Of consumer groups only the classic kind is
known, the only one that brokers with ZooKeeper write. The partitions of a transaction come in the record's order;
Kafka's tool takes them from a hash set. Bytes are shown as Java would print them.

Source of the types: `org.apache.kafka.common.protocol.types.Type` (3.9); KIP-482 (flexible versions).
"""

import base64
import json
import math
import re
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import cast

from model.log.records import ControlType, Record, control_type, end_transaction_marker
from model.log.records.record import VarintError, read_varint
from model.metadata_log.decoder import Decoded as MetadataRecord
from model.metadata_log.decoder import as_json, decode_control, java_text
from model.metadata_log.decoder import decode as decode_metadata

Show = Callable[[bytes], bytes]
"""Untrusted bytes made fit to print."""


def as_java_prints(data: bytes) -> bytes:
    """The bytes themselves where they are UTF-8, with marks otherwise; control characters go through."""
    return data if data.isascii() else java_text(data).encode()


Value = int | float | str | list["Value"] | dict[str, "Value"] | None
"""Bytes are base64, as in Kafka's own JSON."""
Fields = dict[str, Value]

_NUMBERS = {"int8": ">b", "int16": ">h", "int32": ">i", "int64": ">q"}
_NEWEST = 2**15 - 1


class UnreadableError(ValueError):
    """Bytes that are not what the table says; the message says why."""


@dataclass(frozen=True)
class RecordField:
    """A field, and the versions that have it."""

    name: str
    type: "str | tuple[RecordField, ...]"
    """`int8` to `int64`, `string` or `bytes`; or of an array's elements, the type or the fields."""
    first: int = 0
    last: int = _NEWEST
    is_array: bool = False


@dataclass(frozen=True)
class MessageSchema:
    """The fields of a message in order, and its versions: those from 0 to `newest`, flexible from one of them on."""

    fields: tuple[RecordField, ...]
    newest: int
    flexible_from: int = _NEWEST


def read(data: bytes, schema: MessageSchema) -> tuple[int, Fields]:
    """The version, which the first two bytes tell, and the fields. Raises UnreadableError."""
    (version,) = _Reader(data[:2], is_flexible=False).fields((RecordField("version", "int16"),), 0).values()
    if not isinstance(version, int) or not 0 <= version <= schema.newest:
        raise UnreadableError(f"version {version} is not known")
    return version, _Reader(data[2:], version >= schema.flexible_from).fields(schema.fields, version)


class _Reader:
    """A place in some bytes. Everything raises UnreadableError."""

    def __init__(self, data: bytes, is_flexible: bool) -> None:
        self._data = data
        self._is_flexible = is_flexible
        self._at = 0

    def fields(self, fields: tuple[RecordField, ...], version: int) -> Fields:
        found = {field.name: self._field(field, version) for field in fields if field.first <= version <= field.last}
        if self._is_flexible:
            for _ in range(self._unsigned_varint()):  # tagged fields, passed over
                self._unsigned_varint()
                self._take(self._unsigned_varint())
        return found

    def _field(self, field: RecordField, version: int) -> Value:
        if not field.is_array:
            return self._one(field.type, version)
        count = self._length("int32")
        if count > len(self._data) - self._at:
            raise UnreadableError(f"an array of {count:,}, {len(self._data) - self._at:,} bytes are left")
        return [self._one(field.type, version) for _ in range(count)] if count >= 0 else None

    def _one(self, kind: str | tuple[RecordField, ...], version: int) -> Value:
        if isinstance(kind, tuple):
            return self.fields(kind, version)
        if kind in _NUMBERS:
            return self._number(kind)
        size = self._length("int16" if kind == "string" else "int32")
        if size < 0:
            return None
        data = self._take(size)
        return java_text(data) if kind == "string" else base64.b64encode(data).decode()

    def _number(self, kind: str) -> int:
        shape = _NUMBERS[kind]
        return cast(int, struct.unpack(shape, self._take(struct.calcsize(shape)))[0])

    def _length(self, kind: str) -> int:
        return self._unsigned_varint() - 1 if self._is_flexible else self._number(kind)

    def _unsigned_varint(self) -> int:
        try:
            zigzag, self._at = read_varint(self._data, self._at)
        except VarintError as error:
            raise UnreadableError(str(error)) from None
        return (zigzag << 1) ^ (zigzag >> 63)

    def _take(self, size: int) -> bytes:
        taken = self._data[self._at : self._at + size]
        if len(taken) < size:
            raise UnreadableError(f"{size:,} bytes were due, {len(taken):,} are left")
        self._at += size
        return taken


_PARTITIONS = (RecordField("topic", "string"), RecordField("partitions", "int32", is_array=True))

OFFSET_COMMIT_KEY = MessageSchema(
    (RecordField("group", "string"), RecordField("topic", "string"), RecordField("partition", "int32")), newest=1
)
OFFSET_COMMIT_VALUE = MessageSchema(
    (
        RecordField("offset", "int64"),
        RecordField("leaderEpoch", "int32", first=3),
        RecordField("metadata", "string"),
        RecordField("commitTimestamp", "int64"),
        RecordField("expireTimestamp", "int64", first=1, last=1),
    ),
    newest=4,
    flexible_from=4,
)

GROUP_METADATA_KEY = MessageSchema((RecordField("group", "string"),), newest=2)
_MEMBER = (
    RecordField("memberId", "string"),
    RecordField("groupInstanceId", "string", first=3),
    RecordField("clientId", "string"),
    RecordField("clientHost", "string"),
    RecordField("rebalanceTimeout", "int32", first=1),
    RecordField("sessionTimeout", "int32"),
    RecordField("subscription", "bytes"),
    RecordField("assignment", "bytes"),
)
GROUP_METADATA_VALUE = MessageSchema(
    (
        RecordField("protocolType", "string"),
        RecordField("generation", "int32"),
        RecordField("protocol", "string"),
        RecordField("leader", "string"),
        RecordField("currentStateTimestamp", "int64", first=2),
        RecordField("members", _MEMBER, is_array=True),
    ),
    newest=4,
    flexible_from=4,
)

CONSUMER_SUBSCRIPTION = MessageSchema(
    (
        RecordField("topics", "string", is_array=True),
        RecordField("userData", "bytes"),
        RecordField("ownedPartitions", _PARTITIONS, first=1, is_array=True),
        RecordField("generationId", "int32", first=2),
        RecordField("rackId", "string", first=3),
    ),
    newest=3,
)
CONSUMER_ASSIGNMENT = MessageSchema(
    (RecordField("assignedPartitions", _PARTITIONS, is_array=True), RecordField("userData", "bytes")), 3
)

TRANSACTION_KEY = MessageSchema((RecordField("transactionalId", "string"),), newest=0)
TRANSACTION_VALUE = MessageSchema(
    (
        RecordField("producerId", "int64"),
        RecordField("producerEpoch", "int16"),
        RecordField("transactionTimeoutMs", "int32"),
        RecordField("transactionStatus", "int8"),
        RecordField("transactionPartitions", _PARTITIONS, is_array=True),
        RecordField("transactionLastUpdateTimestampMs", "int64"),
        RecordField("transactionStartTimestampMs", "int64"),
    ),
    newest=1,
    flexible_from=1,
)


Decoded = tuple[str | Fields | None, str | Fields | None]
"""Key and payload, as text or as what is to be shown as JSON; None for nothing."""

_DELETED = "<DELETE>"
_STATES = (
    "Empty",
    "Ongoing",
    "PrepareCommit",
    "PrepareAbort",
    "CompleteCommit",
    "CompleteAbort",
    "Dead",
    "PrepareEpochFence",
)
_GROUP_SCHEMAS = {
    0: (OFFSET_COMMIT_KEY, OFFSET_COMMIT_VALUE),
    1: (OFFSET_COMMIT_KEY, OFFSET_COMMIT_VALUE),
    2: (GROUP_METADATA_KEY, GROUP_METADATA_VALUE),
}


class LogDecoder(StrEnum):
    """What the records of a log are, named as the option that says so."""

    OFFSETS = "offsets"
    TRANSACTION_LOG = "transaction-log"
    CLUSTER_METADATA = "cluster-metadata"


def decode(decoder: LogDecoder, record: Record) -> Decoded:
    """Key and payload; what cannot be read is told in place of the key."""
    try:
        return _DECODED[decoder](record)
    except UnreadableError as error:
        return f"Error at offset {record.offset}, skipping. {error}", None


def decoded_bytes(decoder: LogDecoder, record: Record) -> tuple[bytes | None, bytes | None]:
    """Key and payload as DumpLogSegments prints them."""
    key, payload = decode(decoder, record)
    return _bytes(key), _bytes(payload)


def _bytes(part: str | Fields | None) -> bytes | None:
    if isinstance(part, dict):
        part = java_json(part)
    return None if part is None else part.encode()


_TO_ESCAPE = re.compile(r'["\\\x00-\x1f]')
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}


def java_json(value: object) -> str:
    """As Jackson prints it, which Kafka's tools use: capital hexadecimal digits in escapes, Java's floating numbers."""
    if isinstance(value, dict):
        fields = cast(dict[str, object], value)
        return "{" + ",".join(f"{java_json(name)}:{java_json(each)}" for name, each in fields.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(java_json, cast(list[object], value))) + "]"
    if isinstance(value, float):
        return java_double(value)
    if isinstance(value, str):
        return '"' + _TO_ESCAPE.sub(lambda found: _ESCAPES.get(found[0], f"\\u{ord(found[0]):04X}"), value) + '"'
    return json.dumps(value)


def java_double(number: float) -> str:
    """As `Double.toString` has it since Java 19: 50.0, 1.2E-4, 1.0E7; in quotes what is no number, as Jackson does."""
    if not math.isfinite(number):
        return f'"{"NaN" if math.isnan(number) else "Infinity" if number > 0 else "-Infinity"}"'
    sign, digits, exponent = Decimal(repr(number)).normalize().as_tuple()
    shown, exponent = "".join(map(str, digits)), int(exponent)
    point = len(shown) + exponent  # digits in front of the decimal point
    if not number:
        shown, point = "0", 1
    if -3 < point <= 7:
        whole, part = shown[: max(point, 0)].ljust(point, "0") or "0", "0" * -point + shown[max(point, 0) :]
        return f"{'-' * sign}{whole}.{part or '0'}"
    return f"{'-' * sign}{shown[0]}.{shown[1:] or '0'}E{point - 1}"


def _offsets(record: Record) -> Decoded:
    version = int.from_bytes((record.key or b"")[:2], "big", signed=True)
    if version not in _GROUP_SCHEMAS:
        return f"Unknown record type {version} at offset {record.offset}, skipping.", None
    key_schema, value_schema = _GROUP_SCHEMAS[version]
    _, fields = read(record.key or b"", key_schema)
    key: Fields = {"type": str(version), "data": fields}
    if record.value is None:
        return key, _DELETED
    version, fields = read(record.value, value_schema)
    if fields.get("protocolType") == "consumer":
        for member in cast(list[Fields], fields["members"] or []):
            member["subscription"] = _embedded(member["subscription"], CONSUMER_SUBSCRIPTION)
            member["assignment"] = _embedded(member["assignment"], CONSUMER_ASSIGNMENT)
    return key, {"version": str(version), "data": fields}


def _embedded(encoded: Value, schema: MessageSchema) -> Value:
    """A client's own message, or its bytes as they are: brokers do not look at it."""
    try:
        return read(base64.b64decode(str(encoded or "")), schema)[1]
    except UnreadableError:
        return encoded


def _transaction_log(record: Record) -> Decoded:
    version = int.from_bytes((record.key or b"")[:2], "big", signed=True)
    if version != 0:
        return f"unknown::version={version}", None
    _, fields = read(record.key or b"", TRANSACTION_KEY)
    key = f"transaction_metadata::transactionalId={fields['transactionalId']}"
    if record.value is None:
        return key, _DELETED
    _, fields = read(record.value, TRANSACTION_VALUE)
    status = cast(int, fields["transactionStatus"])
    if not 0 <= status < len(_STATES):
        raise UnreadableError(f"a transaction of state {status}")
    topics = cast(list[Mapping[str, Value]], fields["transactionPartitions"] or [])
    named = [f"{topic['topic']}-{number}" for topic in topics for number in cast(list[int], topic["partitions"] or [])]
    return key, (
        f"producerId:{fields['producerId']},producerEpoch:{fields['producerEpoch']},state={_STATES[status]},"
        f"partitions=[{','.join(named if status else [])}],"
        f"txnLastUpdateTimestamp={fields['transactionLastUpdateTimestampMs']},"
        f"txnTimeoutMs={fields['transactionTimeoutMs']}"
    )


def _cluster_metadata(record: Record) -> Decoded:
    """Secrets and all, as the tool: who may read the file may read them."""
    found = decode_metadata(record.value, with_secrets=True)
    if not isinstance(found, MetadataRecord):
        return None, f"Error at {record.offset}, skipping. {found.reason}"
    return None, {"type": found.schema.type_name, "version": found.version, "data": as_json(found.fields)}


_DECODED: Mapping[LogDecoder, Callable[[Record], Decoded]] = {
    LogDecoder.OFFSETS: _offsets,
    LogDecoder.TRANSACTION_LOG: _transaction_log,
    LogDecoder.CLUSTER_METADATA: _cluster_metadata,
}


LEADER_CHANGE_TOLD = 4, 1
"""Until then DumpLogSegments prints no more of a leader change than that it is one."""


def control_text(record: Record, release: tuple[int, ...] = LEADER_CHANGE_TOLD) -> str:
    """The text after the record's sizes, as of a release; what cannot be read is named by its number."""
    marker = end_transaction_marker(record)
    if marker is not None:
        kind = "COMMIT" if marker.committed else "ABORT"
        return f"endTxnMarker: {kind} coordinatorEpoch: {marker.coordinator_epoch}"
    kind = control_type(record.key)
    if kind is None or record.key is None:
        return "controlType: UNKNOWN"
    number = int.from_bytes(record.key[2:4], "big", signed=True)
    found = decode_control(number, record.value)
    is_told = kind is not ControlType.LEADER_CHANGE or release >= LEADER_CHANGE_TOLD
    if isinstance(found, MetadataRecord) and kind in _CONTROL_NAMES and is_told:
        return f"{_CONTROL_NAMES[kind]} {java_json(as_json(found.fields))}"
    return f"controlType: {kind.name}({number})"


_CONTROL_NAMES = {
    ControlType.LEADER_CHANGE: "LeaderChange:",
    ControlType.SNAPSHOT_HEADER: "SnapshotHeader",
    ControlType.SNAPSHOT_FOOTER: "SnapshotFooter",
    ControlType.KRAFT_VERSION: "KRaftVersion",
    ControlType.KRAFT_VOTERS: "KRaftVoters",
}
