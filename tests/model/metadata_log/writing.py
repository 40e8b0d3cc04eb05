"""Records of the metadata log, written by the same tables that they are read by; and batches of them."""

from __future__ import annotations

import base64
import struct
from collections.abc import Iterable
from typing import Any

from model.log.records import Record, encode_batch
from model.metadata_log.schemas import RECORDS, Field

_SHAPES = {"int8": ">b", "int16": ">h", "int32": ">i", "int64": ">q", "uint16": ">H", "float64": ">d", "bool": ">?"}
_EMPTY = {"string": "", "bytes": b"", "uuid": "AAAAAAAAAAAAAAAAAAAAAA", "bool": False, "float64": 0.0}

START_MS = 1_700_000_000_000


def uvarint(number: int) -> bytes:
    encoded = bytearray()
    while number >= 0x80:
        encoded.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes((*encoded, number))


def topic_id(number: int) -> str:
    """As Kafka prints it."""
    return base64.urlsafe_b64encode(number.to_bytes(16))[:22].decode()


def written(record: str, version: int | None = None, /, **fields: Any) -> bytes:
    """The value of a record; what is not given is empty, zero or left out."""
    schema = next(each for each in RECORDS if each.name == f"{record}Record")
    version = schema.newest if version is None else version
    return uvarint(1) + uvarint(schema.key) + uvarint(version) + _structure(schema.fields, version, fields)


def _structure(fields: tuple[Field, ...], version: int, given: dict[str, Any]) -> bytes:
    there = [field for field in fields if field.first <= version <= field.last]
    assert given.keys() <= {field.json_name for field in there}, (given, there)
    plain = b"".join(_value(field, version, given.get(field.json_name, ...)) for field in there if field.tag < 0)
    tagged = sorted((field.tag, field) for field in there if field.tag >= 0 and field.json_name in given)
    tags = [(tag, _value(field, version, given[field.json_name])) for tag, field in tagged]
    return plain + uvarint(len(tags)) + b"".join(uvarint(tag) + uvarint(len(data)) + data for tag, data in tags)


def _value(field: Field, version: int, given: Any) -> bytes:
    if field.is_array:
        found = [] if given is ... else given
        return b"\0" if found is None else uvarint(len(found) + 1) + b"".join(_one(field, version, x) for x in found)
    if given is ...:
        given = None if field.nullable else _EMPTY.get(field.type, 0)
    return _one(field, version, given)


def _one(field: Field, version: int, given: Any) -> bytes:
    match field.type:
        case "struct":
            return _structure(field.fields, version, given)
        case "uuid":
            return base64.urlsafe_b64decode(given + "==")
        case "string" | "bytes":
            if given is None:
                return b"\0"
            data = given.encode() if isinstance(given, str) else given
            return uvarint(len(data) + 1) + data
        case _:
            return struct.pack(_SHAPES[field.type], given)


def batch(values: Iterable[bytes], offset: int, epoch: int = 1, time_ms: int = START_MS) -> bytes:
    """A batch of records from an offset on."""
    records = [Record(offset + number, time_ms, None, value) for number, value in enumerate(values)]
    return encode_batch(records, base_offset=offset, leader_epoch=epoch)
