"""One record: what real ones say, what may not be kept of them, and what becomes of those that nobody knows."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from model.cluster.texts import HIDDEN
from model.metadata_log.decoder import Decoded, Undecoded, as_json, decode, decode_control
from model.metadata_log.schemas import CONTROL_RECORDS, RECORDS
from tests.model.metadata_log.kept import DATA, files, values

S = "600ce236a78a40958d434440ccdf6c7a"
"""Id of a topic, as bytes; below as Kafka prints it."""
SINGLE = "YAziNqeKQJWNQ0RAzN9seg"


def read(text: str) -> Decoded:
    found = decode(bytes.fromhex(text.replace(" ", "")))
    assert isinstance(found, Decoded), found
    return found


@pytest.mark.parametrize(
    ("text", "name", "version", "fields"),
    [
        ("01 14 00 00", "NO_OP_RECORD", 0, {}),
        (
            "01 17 00 01 00 12 12 426f6f747374726170207265636f726473",
            "BEGIN_TRANSACTION_RECORD",
            0,
            {"name": "Bootstrap records"},
        ),
        (
            "01 0c 00 11 6d657461646174612e76657273696f6e 0021 00",
            "FEATURE_LEVEL_RECORD",
            0,
            {"name": "metadata.version", "featureLevel": 33},
        ),
        (
            f"01 05 02 00000000 {S} 04 00 01 01 01 04 ffffffff 06 05 02 00000004 07 05 02 00000004",
            "PARTITION_CHANGE_RECORD",
            2,
            {
                "partitionId": 0,
                "topicId": SINGLE,
                "isr": [],
                "leader": -1,
                "eligibleLeaderReplicas": [4],
                "lastKnownElr": [4],
            },
        ),
        (
            "01 11 00 00000004 000000000000001e 01 00 01 01",
            "BROKER_REGISTRATION_CHANGE_RECORD",
            0,
            {"brokerId": 4, "brokerEpoch": 30, "fenced": 1},
        ),
        (
            "01 11 03 00000004 000000000000001e 01 03 01 01",
            "BROKER_REGISTRATION_CHANGE_RECORD",
            3,
            {"brokerId": 4, "brokerEpoch": 30, "cordonedLogDirs": []},
        ),
        (
            "01 01 00 00000006 000000000000007e 00",
            "UNREGISTER_BROKER_RECORD",
            0,
            {"brokerId": 6, "brokerEpoch": 126},
        ),
    ],
)
def test_bytes_that_a_quorum_wrote(text: str, name: str, version: int, fields: dict[str, object]) -> None:
    found = read(text)
    assert (found.schema.type_name, found.version, found.fields) == (name, version, fields)


@pytest.mark.parametrize("path", files(), ids=lambda path: f"{path.parent.name}-{path.name.lstrip('0')}")
def test_what_is_read_is_what_kafka_printed_but_for_secrets(path: Path) -> None:
    printed = re.findall(r" payload: (\{.*\})$", path.with_name(f"{path.name}.txt").read_text(), re.MULTILINE)
    for value, text in zip(values(path), printed, strict=True):
        found, theirs = decode(value), json.loads(text)
        assert isinstance(found, Decoded), found
        data = theirs["data"]
        if theirs["type"] == "USER_SCRAM_CREDENTIAL_RECORD":
            data |= dict.fromkeys(("salt", "storedKey", "serverKey"), "")
        if data.get("name") == "listener.name.internal.ssl.key.password":
            data["value"] = HIDDEN
        assert (found.schema.type_name, found.version) == (theirs["type"], theirs["version"])
        assert (as_json(found.fields), found.unknown_tags) == (data, ())


def test_no_secret_of_a_real_log_is_kept() -> None:
    seen = repr([decode(value) for path in files() for value in values(path)])
    raw = b"".join(value for path in files() for value in values(path))
    for secret in (b"example-password", b"example-salt"):
        assert secret in raw
        assert secret.decode() not in seen
    assert "alice" in seen


def test_what_nobody_knows_comes_back_as_it_is_with_the_reason() -> None:
    cases = {
        "01 8f 4e 00 0102": (9999, 0, "Unknown metadata id 9999"),
        "01 02 07 00": (2, 7, "Can't read version 7 of TopicRecord"),
        "00 02 00": (-1, -1, "unknown frame version 0"),
        "02 02 00": (-1, -1, "unknown frame version 2"),
        "": (-1, -1, "a number runs past the end"),
        "01 14 00 00 00": (20, 0, "1 byte(s) of garbage after NoOpRecord"),
        f"01 02 00 00 {S} 00": (2, 0, "non-nullable field name was serialized as null"),
        "01 02 00 05 6162": (2, 0, "Error reading byte array of 4 byte(s): only 2 byte(s) available"),
    }
    for text, (key, version, reason) in cases.items():
        data = bytes.fromhex(text.replace(" ", ""))
        found = decode(data)
        assert isinstance(found, Undecoded), text
        assert (found.key, found.version, found.data) == (key, version, data)
        assert reason in found.reason
    assert decode(None) == Undecoded(b"", "no value")


def test_tags_that_nobody_knows_are_kept_beside_the_fields() -> None:
    found = read("01 14 00 02 05 02 abcd 7f 00")
    assert (found.fields, found.unknown_tags) == ({}, ((5, b"\xab\xcd"), (127, b"")))


def test_a_tag_that_says_what_goes_without_saying_is_as_if_it_were_not_there() -> None:
    assert read(f"01 05 02 00000000 {S} 01 01 04 fffffffe").fields == {"partitionId": 0, "topicId": SINGLE}


def test_the_control_record_of_a_new_leader() -> None:
    found = decode_control(2, bytes.fromhex("0000000000030400000001000000020000000300030000000300000000020000"))
    assert isinstance(found, Undecoded)  # a byte too many
    found = decode_control(2, bytes.fromhex("00000000000304000000010000000002000000000300030000000300000000020000"))
    assert isinstance(found, Decoded)
    assert found.fields == {
        "version": 0,
        "leaderId": 3,
        "voters": [{"voterId": 1}, {"voterId": 2}, {"voterId": 3}],
        "grantingVoters": [{"voterId": 3}, {"voterId": 2}],
    }
    assert decode_control(2, b"\0\7") == Undecoded(b"\0\7", "Can't read version 7 of LeaderChangeMessage", 2, 7)


def test_the_tables_have_each_record_once() -> None:
    keys = [schema.key for schema in RECORDS]
    assert keys == sorted(set(keys)) == [*range(13), 14, 15, *range(17, 30)]
    assert [schema.key for schema in CONTROL_RECORDS] == [2, 3, 4, 5, 6]


real = st.sampled_from(sorted({value for path in DATA.glob("*/*.txt") for value in values(path.with_suffix(""))}))


@settings(max_examples=300)
@given(
    st.one_of(
        st.binary(max_size=60),
        st.tuples(real, st.integers(0, 300), st.binary(min_size=1, max_size=3)).map(
            lambda cut: cut[0][: cut[1] % len(cut[0])] + cut[2] + cut[0][cut[1] % len(cut[0]) + 1 :]
        ),
        st.tuples(st.sampled_from(RECORDS), st.integers(0, 4), st.binary(max_size=80)).map(
            lambda made: bytes((1, made[0].key, made[1])) + made[2]
        ),
    )
)
@example(b"\x01\x05\x02" + bytes(20) + b"\xff\xff\xff\xff\x0f")
def test_any_bytes_are_read_or_kept(value: bytes) -> None:
    found = decode(value)
    if isinstance(found, Undecoded):
        assert found.data == value
        assert "\n" not in found.reason
    else:
        json.dumps(as_json(found.fields))
    decode_control(value[0] % 7 if value else 0, value)
