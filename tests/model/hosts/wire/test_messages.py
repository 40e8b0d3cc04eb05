"""Messages as bytes and back: every API that a controller sends or serves, in every version; and garbage."""

from __future__ import annotations

import struct
import time
from contextlib import suppress

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kio.index import load_request_schema, load_response_schema
from kio.schema.errors import ErrorCode

from model.hosts.wire.messages import (
    Encoded,
    correlation_id,
    decode_request,
    decode_response,
    encode,
    encode_request,
    encode_response,
    request_start,
    shaped,
    shapes,
    versions_known,
)
from model.hosts.wire.names import MalformedError
from tests.model.hosts.wire.entities import entities

METADATA, LEADER_AND_ISR, STOP_REPLICA, UPDATE_METADATA, CONTROLLED_SHUTDOWN = 3, 4, 5, 6, 7
OTHERS = (18, 19, 20, 43, 45, 46, 56, 67)
APIS = [
    (key, version)
    for key in (METADATA, LEADER_AND_ISR, STOP_REPLICA, UPDATE_METADATA, CONTROLLED_SHUTDOWN, *OTHERS)
    for version in range(versions_known(key)[0], versions_known(key)[1] + 1)
]
FEW = settings(max_examples=8, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])


@pytest.mark.parametrize(("key", "version"), APIS)
@FEW
@given(data=st.data())
def test_a_request_survives_the_wire(key: int, version: int, data: st.DataObject) -> None:
    body = data.draw(entities(load_request_schema(key, version)))
    number = data.draw(st.integers(0, 2**31 - 1))
    frame = b"".join(encode_request(body, number, "kdrill"))
    start = request_start(frame)
    assert (start.api_key, start.version, start.correlation_id) == (key, version, number)
    assert decode_request(frame) == body


@pytest.mark.parametrize(("key", "version"), APIS)
@FEW
@given(data=st.data())
def test_a_response_survives_the_wire(key: int, version: int, data: st.DataObject) -> None:
    body = data.draw(entities(load_response_schema(key, version)))
    frame = b"".join(encode_response(body, 7))
    assert correlation_id(frame) == 7
    assert decode_response(frame, key, version) == (7, body)


def test_a_body_that_is_encoded_already_goes_out_as_it_is() -> None:
    body = shaped(shapes(7, 3, "request").ControlledShutdownRequest, broker_id=1, broker_epoch=2)
    assert encode_request(Encoded(7, 3, encode(body)), 9, None) == encode_request(body, 9, None)


def test_a_version_takes_of_the_values_what_it_knows() -> None:
    shape = shapes(7, 1, "request").ControlledShutdownRequest
    assert shaped(shape, broker_id=1, broker_epoch=2) == shape(broker_id=1)


@settings(max_examples=300)
@given(st.sampled_from(APIS), st.binary(max_size=200))
def test_garbage_is_malformed_or_a_request(api: tuple[int, int], garbage: bytes) -> None:
    key, version = api
    for frame in (struct.pack(">hhi", key, version, 1) + garbage, garbage):
        with suppress(MalformedError):
            assert decode_request(frame).__api_key__ == request_start(frame).api_key


@settings(max_examples=300)
@given(st.sampled_from(APIS), st.binary(max_size=200))
def test_garbage_is_malformed_or_a_response(api: tuple[int, int], garbage: bytes) -> None:
    with suppress(MalformedError):
        assert decode_response(garbage, *api)[1].__api_key__ == api[0]


@FEW
@given(st.sampled_from(APIS), st.data())
def test_a_request_that_is_cut_off_is_malformed(api: tuple[int, int], data: st.DataObject) -> None:
    frame = b"".join(encode_request(data.draw(entities(load_request_schema(*api))), 1, "kdrill"))
    cut = data.draw(st.integers(0, len(frame) - 1))
    with pytest.raises(MalformedError):
        decode_request(frame[:cut])


def test_an_array_of_two_thousand_million_is_not_made() -> None:
    body = struct.pack(">hhih", LEADER_AND_ISR, 2, 1, -1) + struct.pack(">iiq", 1, 1, 1) + struct.pack(">i", 2**31 - 1)
    with pytest.raises(MalformedError, match="leader_and_isr v2 is garbled"):
        decode_request(body)


def test_a_version_nobody_knows_is_malformed() -> None:
    with pytest.raises(MalformedError):
        decode_request(struct.pack(">hhih", 3, 99, 1, -1))
    with pytest.raises(MalformedError):
        decode_request(struct.pack(">hhih", 9999, 0, 1, -1))


def test_bytes_behind_a_request_are_ignored() -> None:
    """As Kafka does."""
    body = shaped(shapes(7, 3, "request").ControlledShutdownRequest, broker_id=1, broker_epoch=2)
    assert decode_request(b"".join(encode_request(body, 1, None)) + b"xyz") == body


def test_bytes_behind_a_response_are_malformed() -> None:
    body = shaped(shapes(6, 8, "response").UpdateMetadataResponse, error_code=ErrorCode.none)
    with pytest.raises(MalformedError, match="1 bytes are left behind a UpdateMetadataResponse"):
        decode_response(b"".join(encode_response(body, 1)) + b"x", 6, 8)


def test_an_array_that_must_not_be_null_is_garbled() -> None:
    offset_for_leader_epoch_v2 = struct.pack(">hhihi", 23, 2, 1, -1, -1)
    with pytest.raises(MalformedError, match="topics is null"):
        decode_request(offset_for_leader_epoch_v2)


def metadata_frame(version: int, body: bytes, header: bytes = b"\0\4test") -> bytes:
    return struct.pack(">hhi", METADATA, version, 7) + header + body


@pytest.mark.parametrize(
    ("version", "body"),
    [
        (0, b"\xff\xff\xff\xff"),  # no topics, which v0 has no way to say
        (0, b"\xff\xff\xff\xfe"),
        (1, b"\0\0\0\1\xff\xff"),
        (1, b"\0\0\0\1\xff\xfe"),
        (1, b"\0\0\0\1\0\3ab"),
        (1, b"\x7f\xff\xff\xff\xff\xfe"),  # each name would take the place of none
        (1, struct.pack(">i", 50_000_000) + b"\xff\xfe"),
    ],
)
def test_what_a_length_cannot_be_is_refused_at_once(version: int, body: bytes) -> None:
    began_s = time.monotonic()
    with pytest.raises(MalformedError, match="garbled"):
        decode_request(metadata_frame(version, body))
    assert time.monotonic() - began_s < 10


def test_null_is_any_length_below_zero() -> None:
    for length in (-1, -2, -(2**31)):
        assert decode_request(metadata_frame(1, struct.pack(">i", length))).topics is None
    for compact in (b"\0", b"\xff\xff\xff\xff\x0f"):
        assert decode_request(metadata_frame(9, compact + b"\0\0\0\0", b"\0\4test\0")).topics is None


def test_bytes_that_are_no_text_become_replacement_characters() -> None:
    read = decode_request(metadata_frame(1, b"\0\0\0\1\0\2\xc3(", b"\0\1\xff"))
    assert [topic.name for topic in read.topics] == ["\ufffd("]


def test_tags_that_nobody_knows_are_passed_over() -> None:
    """A newer client may send more, in versions that are known (KIP-482)."""
    plain = decode_request(metadata_frame(9, b"\1\0\0\0\0", b"\0\4test\0"))
    assert decode_request(metadata_frame(9, b"\1\0\0\0\2\7\1x\x09\0", b"\0\4test\1\7\2xy")) == plain
    with pytest.raises(MalformedError):
        decode_request(metadata_frame(9, b"\1\0\0\0\1\7\x09x", b"\0\4test\0"))
