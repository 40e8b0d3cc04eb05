"""Records of the metadata log as bytes, by the same tables that they are read by.

Source: `org.apache.kafka.server.common.serialization.AbstractApiMessageSerde`, and KIP-482 for tags (4.3).
"""

import base64
import struct
from collections.abc import Callable, Mapping
from typing import Any, Final

from model.metadata_log.decoder import FRAME_VERSION, Fields
from model.metadata_log.schemas import RECORDS, Field, Schema

_SCHEMAS: Final[Mapping[str, Schema]] = {schema.name: schema for schema in RECORDS}
_NUMBERS: Final = {
    "int8": struct.Struct(">b"),
    "int16": struct.Struct(">h"),
    "uint16": struct.Struct(">H"),
    "int32": struct.Struct(">i"),
    "int64": struct.Struct(">q"),
    "float64": struct.Struct(">d"),
}


def encode_record(name: str, version: int, fields: Fields) -> bytes:
    """A record of this type, `TopicRecord`; a field that is left out has its default. Raises KeyError, struct.error."""
    schema = _SCHEMAS[name]
    parts = [uvarint(FRAME_VERSION), uvarint(schema.key), uvarint(version)]
    _structure(schema.fields, version, fields, parts.append)
    return b"".join(parts)


def uvarint(number: int) -> bytes:
    """Seven bits a byte, the lowest first."""
    found = bytearray()
    while number > 0x7F:
        found.append(number & 0x7F | 0x80)
        number >>= 7
    found.append(number)
    return bytes(found)


_Add = Callable[[bytes], object]


def _structure(fields: tuple[Field, ...], version: int, values: Mapping[str, Any], add: _Add) -> None:
    there = [field for field in fields if field.first <= version <= field.last]
    for field in there:
        if field.tag < 0:
            _value(field, version, values[field.json_name], add)
    tagged = sorted((field for field in there if field.tag >= 0), key=lambda field: field.tag)
    told = [(field, values[field.json_name]) for field in tagged if not _is_default(field, values)]
    add(uvarint(len(told)))
    for field, value in told:
        parts: list[bytes] = []
        _value(field, version, value, parts.append)
        content = b"".join(parts)
        add(uvarint(field.tag) + uvarint(len(content)) + content)


def _is_default(field: Field, values: Mapping[str, Any]) -> bool:
    return values.get(field.json_name, field.left_out) == field.left_out


def _value(field: Field, version: int, value: Any, add: _Add) -> None:
    if not field.is_array:
        _one(field, version, value, add)
        return
    add(uvarint(0 if value is None else len(value) + 1))
    for each in value or ():
        _one(field, version, each, add)


def _one(field: Field, version: int, value: Any, add: _Add) -> None:
    match field.type:
        case "struct":
            _structure(field.fields, version, value, add)
        case "string" | "bytes":
            data = value.encode() if isinstance(value, str) else value
            add(uvarint(0) if data is None else uvarint(len(data) + 1) + data)
        case "bool":
            add(b"\1" if value else b"\0")
        case "uuid":
            add(base64.urlsafe_b64decode(f"{value}=="))
        case _:
            add(_NUMBERS[field.type].pack(value))
