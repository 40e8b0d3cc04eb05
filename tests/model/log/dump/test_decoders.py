"""What records of Kafka's own topics say: as DumpLogSegments' decoders print it, and whatever their bytes are."""

from __future__ import annotations

import json
import re
import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.log.dump.decoders import LogDecoder, decode
from model.log.dump.facts import DumpOptions
from model.log.records import Record
from tests.model.log.dump.dumping import dump

OFFSETS = "k39-clean/__consumer_offsets-0/00000000000000000000.log"
TRANSACTIONS = "k39-clean/__transaction_state-0/00000000000000000000.log"


def decoded(path: str, decoder: LogDecoder, *, as_json: bool = False) -> bytes:
    text, damage, _ = dump(path, DumpOptions(deep=True, contents=True, decoder=decoder, json=as_json))
    assert not damage
    return text


def text(string: str) -> bytes:
    return struct.pack(">h", len(string.encode())) + string.encode()


def test_offsets_and_groups_as_the_tool_prints_them(corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(corpus)
    assert decoded(OFFSETS, LogDecoder.OFFSETS) == Path(f"{OFFSETS}.offsets.txt").read_bytes()


def test_transactions_as_the_tool_prints_them(corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The tool's order of partitions is that of a hash set."""
    monkeypatch.chdir(corpus)

    def ordered(printed: bytes) -> bytes:
        return re.sub(rb"(?<=partitions=\[)[^]]+", lambda found: b",".join(sorted(found[0].split(b","))), printed)

    theirs = Path(f"{TRANSACTIONS}.txnlog.txt").read_bytes()
    assert ordered(decoded(TRANSACTIONS, LogDecoder.TRANSACTION_LOG)) == ordered(theirs)


def test_json_holds_what_was_decoded(corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(corpus)
    lines = [json.loads(line) for line in decoded(OFFSETS, LogDecoder.OFFSETS, as_json=True).splitlines()]
    first = next(line for line in lines if line["kind"] == "record")
    assert first["key"] == {"type": "1", "data": {"group": "g-txn", "topic": "t-txn", "partition": 0}}
    assert first["value"]["data"]["offset"] == 7


COMMIT_KEY = struct.pack(">h", 1) + text("g") + text("t") + struct.pack(">i", 5)


@pytest.mark.parametrize(
    ("value", "payload"),
    [
        (None, "<DELETE>"),
        (
            struct.pack(">hq", 0, 9) + text("é") + struct.pack(">q", 1),
            {"version": "0", "data": {"offset": 9, "metadata": "é", "commitTimestamp": 1}},
        ),
        (
            struct.pack(">hq", 1, 9) + text("") + struct.pack(">qq", 1, 2),
            {"version": "1", "data": {"offset": 9, "metadata": "", "commitTimestamp": 1, "expireTimestamp": 2}},
        ),
        (
            struct.pack(">hqi", 4, 9, 3) + b"\x02m" + struct.pack(">q", 1) + b"\x01\x00\x02ab",  # a tagged field
            {"version": "4", "data": {"offset": 9, "leaderEpoch": 3, "metadata": "m", "commitTimestamp": 1}},
        ),
    ],
)
def test_offsets_of_all_versions(value: bytes | None, payload: object) -> None:
    key = {"type": "1", "data": {"group": "g", "topic": "t", "partition": 5}}
    assert decode(LogDecoder.OFFSETS, Record(0, key=COMMIT_KEY, value=value)) == (key, payload)


def test_a_group_that_is_no_consumer_keeps_its_bytes() -> None:
    member = text("m") + text("c") + text("/h") + struct.pack(">i", 10) + struct.pack(">i", 2) + b"ab" + bytes(4)
    value = b"".join(
        (struct.pack(">h", 0), text("connect"), struct.pack(">i", 1), text("p"), text("m"), b"\0\0\0\x01", member)
    )
    key, payload = decode(LogDecoder.OFFSETS, Record(0, key=struct.pack(">h", 2) + text("g"), value=value))
    assert key == {"type": "2", "data": {"group": "g"}}
    assert isinstance(payload, dict)
    assert payload["data"] == {
        "protocolType": "connect",
        "generation": 1,
        "protocol": "p",
        "leader": "m",
        "members": [
            {
                "memberId": "m",
                "clientId": "c",
                "clientHost": "/h",
                "sessionTimeout": 10,
                "subscription": "YWI=",
                "assignment": "",
            }
        ],
    }


@pytest.mark.parametrize(
    ("decoder", "key", "value", "told"),
    [
        (LogDecoder.OFFSETS, b"\0\x09", b"", "Unknown record type 9 at offset 7, skipping."),
        (LogDecoder.OFFSETS, None, b"", "Error at offset 7, skipping. 2 bytes were due, 0 are left"),
        (LogDecoder.OFFSETS, COMMIT_KEY, b"\0\x05", "Error at offset 7, skipping. version 5 is not known"),
        (LogDecoder.TRANSACTION_LOG, b"\0\x01", b"", "unknown::version=1"),
    ],
)
def test_what_cannot_be_read_is_told(decoder: LogDecoder, key: bytes | None, value: bytes, told: str) -> None:
    assert decode(decoder, Record(7, key=key, value=value)) == (told, None)


@given(
    decoder=st.sampled_from(LogDecoder), kind=st.sampled_from([COMMIT_KEY, b"\0\2\0\1g", b"\0\0\0\1t"]), data=st.data()
)
def test_any_bytes_are_decoded_or_refused(decoder: LogDecoder, kind: bytes, data: st.DataObject) -> None:
    version = data.draw(st.integers(0, 5)).to_bytes(2, "big")
    decode(decoder, Record(0, key=kind, value=version + data.draw(st.binary(max_size=80))))
    decode(decoder, Record(0, key=data.draw(st.binary(max_size=20)), value=None))


def test_a_transaction_may_name_a_topic_and_no_partitions() -> None:
    value = struct.pack(">hqhibi", 0, 5, 1, 60_000, 1, 1) + text("orders") + struct.pack(">iqq", -1, 3, 2)
    _, told = decode(LogDecoder.TRANSACTION_LOG, Record(7, key=b"\0\0" + text("x"), value=value))
    assert isinstance(told, str)
    assert "partitions=[]" in told
