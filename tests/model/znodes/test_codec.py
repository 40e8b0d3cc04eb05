"""What real Kafka wrote is read and written back byte for byte; whatever else is read, nothing raises."""

import json
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.znodes.catalogue import CATALOGUE, ZnodeKind
from model.znodes.codec import PAYLOAD_KINDS, decode, decode_as, encode, payload_version, redact
from model.znodes.paths import recognise
from model.znodes.payload import Unreadable

DATA = Path(__file__).parents[2] / "data" / "znodes"
PATHS = [
    row.pattern.format(
        topic="t",
        partition=0,
        broker_id=1,
        group="g",
        consumer_id="c",
        user="u",
        client="c",
        entity="1",
        sequence="0000000001",
        resource_type="Topic",
        resource="t",
        pattern_type="prefixed",
        token_id="i",
    )
    for row in CATALOGUE
]
KEYS = st.sampled_from(
    [
        "version",
        "partitions",
        "topic",
        "partition",
        "replicas",
        "isr",
        "leader",
        "leader_epoch",
        "controller_epoch",
        "brokerid",
        "timestamp",
        "host",
        "port",
        "endpoints",
        "features",
        "rack",
        "config",
        "acls",
        "subscription",
        "pattern",
        "status",
        "id",
        "broker",
        "event",
        "block_start",
        "block_end",
        "owner",
        "0",
        "1",
        "-1",
    ]
)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(-3, 7)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
)
JSON = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS | st.text(), inner, max_size=8)
)
BYTES = st.binary() | JSON.map(msgspec.json.encode) | JSON.map(lambda value: msgspec.json.encode(value)[:-1])


def captured(name: str) -> list[tuple[str, bytes]]:
    nodes = json.loads((DATA / f"{name}.json").read_text())
    return [(node["path"], node["data"].encode()) for node in nodes]


@pytest.mark.parametrize("name", ["kafka-3.9.1", "kafka-3.9.1-writes", "kafka-3.9.1-encoders"])
def test_all_that_kafka_3_9_1_wrote_comes_back_byte_for_byte(name: str):
    for path, data in captured(name):
        payload = decode(path, data)
        assert not isinstance(payload, Unreadable), payload
        if data:
            assert payload is not None
            assert encode(payload) == data
        else:
            assert payload is None


def test_all_that_kafka_1_1_1_wrote_comes_back_with_the_same_fields():
    for path, data in captured("kafka-1.1.1-with-old-consumers"):
        payload = decode(path, data)
        assert not isinstance(payload, Unreadable), payload
        assert (payload is None) == (not data), path
        if payload is not None and data.startswith(b"{"):
            assert json.loads(encode(payload)) == json.loads(data)
        elif payload is not None:
            assert encode(payload) == data


def test_every_captured_path_is_known():
    for name in ("kafka-3.9.1", "kafka-3.9.1-writes", "kafka-3.9.1-encoders", "kafka-1.1.1-with-old-consumers"):
        assert all(recognise(path).kind is not ZnodeKind.UNKNOWN for path, _ in captured(name))


def test_containers_markers_and_foreign_znodes_have_no_payload():
    for path in [path for path in PATHS if recognise(path).kind not in PAYLOAD_KINDS] + ["/zookeeper/quota"]:
        assert decode(path, None) is None
        assert decode(path, b'{"version":1,"topics":["a"]}') is None


def test_an_empty_payload_is_nothing_or_unreadable():
    nothing = {path for path in PATHS if decode(path, b"") is None}
    assert {"/config/topics/t", "/latest_producer_id_block", "/kafka-acl/Topic/t", "/migration"} <= nothing
    assert decode("/brokers/topics/t", None) == Unreadable("/brokers/topics/t", "topic", "is empty", b"")
    for path in ("/brokers/ids/1", "/controller", "/controller_epoch", "/consumers/g/offsets/t/0"):
        assert isinstance(decode(path, b""), Unreadable)


def test_the_version_of_a_payload():
    assert payload_version(decode("/cluster/id", b'{"version":"1","id":"x"}')) == 1
    assert payload_version(decode("/controller", b"3")) == 0
    assert payload_version(decode("/controller_epoch", b"3")) is None
    assert payload_version(decode("/controller", b"x")) is None


def test_the_repr_of_an_unreadable_payload_does_not_show_its_bytes():
    unreadable = decode("/config/users/u", b'{"config": {"SCRAM-SHA-256": "salt=c2FsdA=="')
    assert isinstance(unreadable, Unreadable)
    assert "c2FsdA" not in repr(unreadable)


@given(st.sampled_from(PATHS) | st.text(), BYTES)
def test_decoding_never_raises_and_what_is_decoded_survives_a_round_trip(path: str, data: bytes):
    payload = decode(path, data)
    if payload is None or isinstance(payload, Unreadable):
        return
    assert decode(path, encode(payload)) == payload


@given(st.sampled_from(PATHS), BYTES)
def test_redacting_never_raises(path: str, data: bytes):
    assert isinstance(redact(path, data), bytes)


@pytest.mark.parametrize(
    "data",
    [
        b"\xff\xfe",
        b"{" * 200_000,
        b"[" * 200_000,
        b'{"a":' * 200_000,
        b'{"version":' + b"9" * 100_000 + b"}",
        b'{"version":1e999}',
        b'{"leader":"\\ud800"}',
        b"9" * 5_000,
        b"null",
        b"\x00",
    ],
    ids=[
        "not-utf8",
        "open",
        "nested-lists",
        "nested-objects",
        "long-number",
        "huge",
        "surrogate",
        "digits",
        "null",
        "nul",
    ],
)
def test_hostile_bytes_are_no_surprise(data: bytes):
    for path in PATHS:
        redact(path, data)
        payload = decode_as(recognise(path).kind, path, data)
        if isinstance(payload, Unreadable):
            assert payload.raw == data, path
            assert payload.reason, path
