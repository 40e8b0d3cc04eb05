"""Entities of `kio.schema` as bytes and back, by functions that are written and compiled for each class at first use.

kio's own readers and writers call several functions for each field and check each number again: a broker would spend
most of its time there. Here fields of a fixed width that follow each other are read or written at once. The bytes are
the same. Null where the schema allows none, negative lengths and unknown tags (KIP-482) are taken as by the classes
that Kafka 3.9 generates (`org.apache.kafka.common.message`). Nothing is sent here.
"""

import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import timedelta
from functools import cache
from itertools import groupby
from typing import Any

from model.hosts.wire.fields import (
    ERROR_CODES,
    FIXED,
    Add,
    Entity,
    Read,
    WireField,
    Write,
    fields_of,
    length_of,
    ms_of,
    read_varint,
    reads_bytes,
    time_at,
    uuid_bytes,
    uuid_of,
    varint_bytes,
    writes_bytes,
)
from model.hosts.wire.names import MalformedError

_NAMES: Mapping[str, object] = {
    "error_codes": ERROR_CODES,
    "timedelta": timedelta,
    "time_at": time_at,
    "ms_of": ms_of,
    "uuid_of": uuid_of,
    "uuid_bytes": uuid_bytes,
}
"""What compiled functions call."""


def _compiled(head: str, lines: Sequence[str], names: dict[str, object]) -> Any:
    space = {**_NAMES, **names}
    exec("\n    ".join((f"def function({head}):", *lines)), space)  # as `dataclasses` makes its methods
    return space["function"]


def _runs(shape: type[Entity]) -> Iterator[tuple[bool, list[WireField]]]:
    """The fields without tags, those of fixed width that follow each other in one list."""
    untagged = [field for field in fields_of(shape) if field.tag is None]
    for is_fixed, run in groupby(untagged, lambda field: field.kind in FIXED and not field.is_array):
        if is_fixed:
            yield True, list(run)
        else:
            yield from ((False, [field]) for field in run)


def _reads_array(field: WireField) -> Read:
    read_length, is_nullable, name = length_of(field).read, field.is_nullable, field.name
    read_items = _reads_items(field)

    def read(data: bytes, at: int) -> tuple[Any, int]:
        count, at = read_length(data, at)
        if count < 0:
            if is_nullable:
                return None, at
            raise MalformedError(f"{name} is null")
        return read_items(data, at, count) if count else ((), at)

    return read


def _reads_items(field: WireField) -> Callable[[bytes, int, int], tuple[tuple[Any, ...], int]]:
    fixed = FIXED.get(field.kind)
    if fixed is not None and fixed.read == "{}":
        size = struct.calcsize(fixed.code)

        def read_numbers(data: bytes, at: int, count: int) -> tuple[tuple[Any, ...], int]:
            return struct.unpack_from(f">{count}{fixed.code}", data, at), at + size * count

        return read_numbers
    read_item = _reads_one(field._replace(is_array=False, is_nullable=False))

    def read_each(data: bytes, at: int, count: int) -> tuple[tuple[Any, ...], int]:
        items: list[Any] = []
        for _ in range(count):
            item, at = read_item(data, at)
            items.append(item)
        return tuple(items), at

    return read_each


def _writes_array(field: WireField) -> Write:
    length_bytes, write_item = length_of(field).write, _writes_one(field._replace(is_array=False, is_nullable=False))

    def write(add: Add, items: Sequence[Any] | None) -> None:
        add(length_bytes(None if items is None else len(items)))
        for item in items or ():
            write_item(add, item)

    return write


# One value, and a whole entity.


def _reads_one(field: WireField) -> Read:
    if field.is_array:
        return _reads_array(field)
    if field.shape is not None:
        return _reads_nullable(reader(field.shape)) if field.is_nullable else reader(field.shape)
    fixed = FIXED.get(field.kind)
    if fixed is None:
        return reads_bytes(field)
    form = struct.Struct(f">{fixed.code}")
    lines = ("(value,) = unpack(data, at)", f"return {fixed.read.format('value')}, at + {form.size}")
    return _compiled("data, at", lines, {"unpack": form.unpack_from})


def _writes_one(field: WireField) -> Write:
    if field.is_array:
        return _writes_array(field)
    if field.shape is not None:
        return _writes_nullable(writer(field.shape)) if field.is_nullable else writer(field.shape)
    fixed = FIXED.get(field.kind)
    if fixed is None:
        return writes_bytes(field)
    pack = struct.Struct(f">{fixed.code}").pack
    return _compiled("add, value", [f"add(pack({fixed.write.format('value')}))"], {"pack": pack})


def _reads_nullable(read_entity: Read) -> Read:
    """With a byte before it (KIP-893)."""

    def read(data: bytes, at: int) -> tuple[Any, int]:
        return (None, at + 1) if data[at] > 127 else read_entity(data, at + 1)

    return read


def _writes_nullable(write_entity: Write) -> Write:
    def write(add: Add, entity: Entity | None) -> None:
        add(b"\xff" if entity is None else b"\1")
        if entity is not None:
            write_entity(add, entity)

    return write


@cache
def reader(shape: type[Entity]) -> Read:
    """Reads an entity of this class."""
    names: dict[str, object] = {"shape": shape}
    lines: list[str] = []
    values: list[str] = []
    for number, (is_fixed, run) in enumerate(_runs(shape)):
        if is_fixed:
            form = struct.Struct(">" + "".join(FIXED[field.kind].code for field in run))
            names[f"unpack{number}"] = form.unpack_from
            places = "".join(f"{field.name}_, " for field in run)
            lines += [f"({places}) = unpack{number}(data, at)", f"at += {form.size}"]
            values += [f"{field.name}={FIXED[field.kind].read.format(field.name + '_')}" for field in run]
        else:
            names[f"read{number}"] = _reads_one(run[0])
            lines.append(f"{run[0].name}_, at = read{number}(data, at)")
            values.append(f"{run[0].name}={run[0].name}_")
    if shape.__flexible__:
        defaults = _defaults(shape)
        names |= {"defaults": defaults, "tags": _reads_tags(shape, defaults)}
        lines.append("tagged, at = tags(data, at) if data[at] else (defaults, at + 1)")
        values.append("**tagged")
    lines.append(f"return shape({', '.join(values)}), at")
    return _compiled("data, at", lines, names)


def _tags(shape: type[Entity]) -> Mapping[int, WireField]:
    fields = {field.tag: field for field in fields_of(shape) if field.tag is not None}
    return dict(sorted(fields.items()))


def _defaults(shape: type[Entity]) -> Mapping[str, object]:
    return {field.name: field.default for field in _tags(shape).values()}


def _reads_tags(shape: type[Entity], defaults: Mapping[str, object]) -> Read:
    fields = {tag: (field.name, _reads_one(field)) for tag, field in _tags(shape).items()}

    def read(data: bytes, at: int) -> tuple[dict[str, object], int]:
        values = dict(defaults)
        count, at = read_varint(data, at)
        for _ in range(count):
            tag, at = read_varint(data, at)
            size, at = read_varint(data, at)
            if tag in fields:
                name, read_value = fields[tag]
                values[name], at = read_value(data, at)
            elif at + size > len(data):
                raise ValueError(f"tag {tag} ends after {len(data) - at} bytes of {size}")
            else:
                at += size
        return values, at

    return read


@cache
def writer(shape: type[Entity]) -> Write:
    """Writes an entity of this class."""
    names: dict[str, object] = {}
    lines: list[str] = []
    for number, (is_fixed, run) in enumerate(_runs(shape)):
        if is_fixed:
            names[f"pack{number}"] = struct.Struct(">" + "".join(FIXED[field.kind].code for field in run)).pack
            values = ", ".join(FIXED[field.kind].write.format(f"entity.{field.name}") for field in run)
            lines.append(f"add(pack{number}({values}))")
        else:
            names[f"write{number}"] = _writes_one(run[0])
            lines.append(f"write{number}(add, entity.{run[0].name})")
    if shape.__flexible__:
        names["tags"] = _writes_tags(shape)
        lines.append("tags(add, entity)" if _tags(shape) else 'add(b"\\0")')
    return _compiled("add, entity", lines or ["pass"], names)


def _writes_tags(shape: type[Entity]) -> Write:
    fields = [(field.name, field.default, varint_bytes(tag), _writes_one(field)) for tag, field in _tags(shape).items()]

    def write(add: Add, entity: Entity) -> None:
        parts: list[bytes] = []
        count = 0
        for name, default, tag, write_value in fields:
            value = getattr(entity, name)
            if value is default or value == default:
                continue
            count += 1
            content: list[bytes] = []
            write_value(content.append, value)
            data = b"".join(content)
            parts += (tag, varint_bytes(len(data)), data)
        add(varint_bytes(count))
        if count:
            add(b"".join(parts))

    return write
