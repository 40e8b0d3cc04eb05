"""Hypothesis strategies for any entity of `kio.schema`, from the metadata of its fields."""

from __future__ import annotations

import dataclasses
import datetime
import types
import typing
import uuid
from typing import Any

from hypothesis import strategies as st
from kio.schema.errors import ErrorCode

_INTEGERS = {"int8": 8, "int16": 16, "int32": 32, "int64": 64}
_PRIMITIVES: dict[str, st.SearchStrategy[Any]] = {
    **{name: st.integers(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) for name, bits in _INTEGERS.items()},
    "uint16": st.integers(0, 2**16 - 1),
    "bool": st.booleans(),
    "string": st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
    "bytes": st.binary(max_size=8),
    "records": st.binary(max_size=200),
    "float64": st.floats(allow_nan=False, allow_infinity=False),
    "uuid": st.uuids().filter(lambda value: value != uuid.UUID(int=0)),
    "error_code": st.sampled_from(ErrorCode),
    "timedelta_i32": st.integers(0, 2**31 - 1).map(lambda ms: datetime.timedelta(milliseconds=ms)),
    "timedelta_i64": st.integers(0, 2**40).map(lambda ms: datetime.timedelta(milliseconds=ms)),
    "datetime_i64": st.integers(0, 2**41).map(lambda ms: datetime.datetime.fromtimestamp(ms / 1000, datetime.UTC)),
}


def entities(shape: type[Any]) -> st.SearchStrategy[Any]:
    """Any value of an entity type."""
    hints = typing.get_type_hints(shape)
    return st.builds(shape, **{field.name: _field(field, hints[field.name]) for field in dataclasses.fields(shape)})


def _field(field: dataclasses.Field[Any], hint: Any) -> st.SearchStrategy[Any]:
    optional = isinstance(hint, types.UnionType) and type(None) in typing.get_args(hint)
    if optional:
        hint = next(each for each in typing.get_args(hint) if each is not type(None))
    if typing.get_origin(hint) is tuple:
        values = st.lists(_one(field, typing.get_args(hint)[0]), max_size=3).map(tuple)
    else:
        values = _one(field, hint)
    # A tag that is left out stands for a default, which need not be null.
    return st.none() | values if optional and "tag" not in field.metadata else values


def _one(field: dataclasses.Field[Any], hint: Any) -> st.SearchStrategy[Any]:
    kind = field.metadata.get("kafka_type")
    return _PRIMITIVES[kind] if kind else entities(hint)
