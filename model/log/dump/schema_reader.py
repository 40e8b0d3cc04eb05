"""Reads a message by a table of its fields, as values that JSON can hold. It knows no table.

Source of the types: `org.apache.kafka.common.protocol.types.Type` (3.9); KIP-482 (flexible versions).
"""

import base64
import struct
from dataclasses import dataclass
from typing import cast

from model.log.dump.java_text import java_text
from model.log.records.varint import VarintError, read_varint

Value = int | str | list["Value"] | dict[str, "Value"] | None
"""Bytes are base64, as in Kafka's own JSON."""
Fields = dict[str, Value]

_NUMBERS = {"int8": ">b", "int16": ">h", "int32": ">i", "int64": ">q"}
_NEWEST = 2**15 - 1


class UnreadableError(ValueError):
    """Bytes that are not what the table says; the message says why."""


@dataclass(frozen=True)
class Field:
    """A field, and the versions that have it."""

    name: str
    type: "str | tuple[Field, ...]"
    """`int8` to `int64`, `string` or `bytes`; or of an array's elements, the type or the fields."""
    first: int = 0
    last: int = _NEWEST
    is_array: bool = False


@dataclass(frozen=True)
class Schema:
    """The fields of a message in order, and its versions: those from 0 to `newest`, flexible from one of them on."""

    fields: tuple[Field, ...]
    newest: int
    flexible_from: int = _NEWEST


def read(data: bytes, schema: Schema) -> tuple[int, Fields]:
    """The version, which the first two bytes tell, and the fields. Raises UnreadableError."""
    (version,) = _Reader(data[:2], is_flexible=False).fields((Field("version", "int16"),), 0).values()
    if not isinstance(version, int) or not 0 <= version <= schema.newest:
        raise UnreadableError(f"version {version} is not known")
    return version, _Reader(data[2:], version >= schema.flexible_from).fields(schema.fields, version)


class _Reader:
    """A place in some bytes. Everything raises UnreadableError."""

    def __init__(self, data: bytes, is_flexible: bool) -> None:
        self._data = data
        self._is_flexible = is_flexible
        self._at = 0

    def fields(self, fields: tuple[Field, ...], version: int) -> Fields:
        found = {field.name: self._field(field, version) for field in fields if field.first <= version <= field.last}
        if self._is_flexible:
            for _ in range(self._unsigned_varint()):  # tagged fields, passed over
                self._unsigned_varint()
                self._take(self._unsigned_varint())
        return found

    def _field(self, field: Field, version: int) -> Value:
        if not field.is_array:
            return self._one(field.type, version)
        count = self._length("int32")
        if count > len(self._data) - self._at:
            raise UnreadableError(f"an array of {count:,}, {len(self._data) - self._at:,} bytes are left")
        return [self._one(field.type, version) for _ in range(count)] if count >= 0 else None

    def _one(self, kind: str | tuple[Field, ...], version: int) -> Value:
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
