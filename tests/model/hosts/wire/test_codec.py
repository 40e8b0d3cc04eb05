"""Compiled readers and writers against kio's own, for each version of each API; and what they refuse."""

from __future__ import annotations

import io
import struct
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kio.index import load_request_schema, load_response_schema
from kio.schema.index import api_key_map, schema_name_map
from kio.serial import entity_reader, entity_writer
from kio.static.primitive import i32Timedelta

from model.hosts.wire.codec import reader, writer
from model.hosts.wire.names import MalformedError
from tests.model.hosts.wire.entities import entities

FEW = settings(max_examples=4, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
GARBAGE = (ValueError, LookupError, struct.error, MalformedError)
UNKNOWN_TAG = b"\x63\x02ab"
"""Tag 99 with two bytes."""


def _shapes(key: int) -> Iterator[Any]:
    for version in sorted(schema_name_map[api_key_map[key]]):
        for load in (load_request_schema, load_response_schema):
            shape: Any = load(key, version)
            yield shape
            yield shape.__header_schema__


def _written(shape: Any, entity: Any) -> bytes:
    parts: list[bytes] = []
    writer(shape)(parts.append, entity)
    return b"".join(parts)


@pytest.mark.parametrize("key", sorted(api_key_map))
@FEW
@given(data=st.data())
def test_bytes_and_values_are_those_of_kio(key: int, data: st.DataObject) -> None:
    shape = data.draw(st.sampled_from(list(dict.fromkeys(_shapes(key)))))
    entity = data.draw(entities(shape))
    out = io.BytesIO()
    entity_writer(shape)(out, entity)
    assert _written(shape, entity) == out.getvalue()
    theirs, size = entity_reader(shape)(out.getvalue(), 0)
    ours, end = reader(shape)(b"x" + out.getvalue() + b"y", 1)
    assert (repr(ours), end) == (repr(theirs), 1 + size)


FETCH, PRODUCE = 1, 0
_NO_WAIT = i32Timedelta.resolution * 0


@pytest.mark.parametrize(("key", "version"), [(FETCH, 17), (FETCH, 4), (PRODUCE, 9), (PRODUCE, 3)])
@FEW
@given(data=st.data())
def test_what_is_cut_off_is_refused(key: int, version: int, data: st.DataObject) -> None:
    shape = load_request_schema(key, version)
    whole = _written(shape, data.draw(entities(shape)))
    with pytest.raises(GARBAGE):
        reader(shape)(whole[: data.draw(st.integers(0, len(whole) - 1))], 0)


def test_an_unknown_tag_is_passed_over() -> None:
    shape: Any = load_request_schema(FETCH, 12)
    entity = shape(replica_id=-1, max_wait=_NO_WAIT, min_bytes=1, topics=(), forgotten_topics_data=())
    plain = _written(shape, entity)
    assert reader(shape)(plain[:-1] + b"\x01" + UNKNOWN_TAG, 0) == (entity, len(plain) + len(UNKNOWN_TAG))
    with pytest.raises(ValueError, match="tag 99"):
        reader(shape)(plain[:-1] + b"\x01" + UNKNOWN_TAG[:-1], 0)


def test_null_is_refused_where_the_schema_allows_none() -> None:
    shape: Any = load_request_schema(FETCH, 4)
    entity = shape(replica_id=-1, max_wait=_NO_WAIT, min_bytes=1, max_bytes=1, isolation_level=0, topics=())
    with pytest.raises(MalformedError, match="topics is null"):
        reader(shape)(_written(shape, entity)[:-4] + b"\xff\xff\xff\xff", 0)
    with pytest.raises(MalformedError, match="topics is null"):
        reader(shape)(_written(shape, entity)[:-4] + b"\x80\0\0\0", 0)
