"""Messages of Kafka's protocol with random values, now and then such that a broker knows what is spoken of."""

from __future__ import annotations

import dataclasses
import datetime
import types
import typing
import uuid
from random import Random
from typing import Any

from kio.schema.errors import ErrorCode

from tests.hostile_input.hostile_values import TEXTS

_BITS = {"int8": 8, "int16": 16, "int32": 32, "int64": 64}
_NAMES = ("orders", "orders", "orders", "g", "m", "consumer", "range", "PLAINTEXT", "__consumer_offsets", *TEXTS[:30])


def random_entity(random: Random, shape: type[Any], blobs: tuple[bytes, ...]) -> Any:
    """Any value of an entity type; `blobs` are what stands where bytes do."""
    hints = typing.get_type_hints(shape)
    return shape(**{field.name: _field(random, field, hints[field.name], blobs) for field in dataclasses.fields(shape)})


def _field(random: Random, field: dataclasses.Field[Any], hint: Any, blobs: tuple[bytes, ...]) -> Any:
    if isinstance(hint, types.UnionType) and type(None) in typing.get_args(hint):
        if "tag" not in field.metadata and random.random() < 0.3:
            return None
        hint = next(each for each in typing.get_args(hint) if each is not type(None))
    if typing.get_origin(hint) is tuple:
        inner = typing.get_args(hint)[0]
        return tuple(_one(random, field, inner, blobs) for _ in range(random.choice((0, 1, 1, 1, 2))))
    return _one(random, field, hint, blobs)


def _one(random: Random, field: dataclasses.Field[Any], hint: Any, blobs: tuple[bytes, ...]) -> Any:
    kind = str(field.metadata.get("kafka_type") or "")
    if not kind:
        return random_entity(random, hint, blobs)
    if kind in _BITS:
        most = 2 ** (_BITS[kind] - 1) - 1
        return random.choice((0, 0, 0, 1, 1, 2, -1, most, -most - 1, random.randint(-most - 1, most)))
    match kind:
        case "uint16":
            return random.choice((0, 9092, 65535))
        case "bool":
            return random.random() < 0.5
        case "string":
            return random.choice(_NAMES)
        case "uuid":
            return uuid.UUID(int=random.getrandbits(128) | 1)
        case "error_code":
            return random.choice(list(ErrorCode))
        case "timedelta_i32" | "timedelta_i64":
            return datetime.timedelta(milliseconds=random.choice((0, 1, 100, 2**31 - 1)))
        case "datetime_i64":
            return datetime.datetime.fromtimestamp(1_700_000_000, datetime.UTC)
        case "float64":
            return random.choice((0.0, -1.0, float("nan"), float("inf")))
        case _:
            return random.choice(blobs)
