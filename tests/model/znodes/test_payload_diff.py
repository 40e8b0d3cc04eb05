"""Differences between payloads: they are all there is, and they read as people say them."""

import copy
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.znodes.history import ABSENT, ValueDifference, difference_text, differences

scalars = st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(-9, 9) | st.text(max_size=3)
documents = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=8,
)


def sentences(before: bytes, after: bytes) -> list[str]:
    return [difference_text(difference) for difference in differences(before, after)]


def patched(document: Any, found: ValueDifference) -> Any:
    if not found.where:
        return found.after
    inner = document
    for key in found.where[:-1]:
        inner = inner[key]
    if found.after is ABSENT:
        del inner[found.where[-1]]
    else:
        inner[found.where[-1]] = found.after
    return document


STATE = b'{"controller_epoch":3,"leader":1,"version":1,"leader_epoch":4,"isr":[1,2,3]}'

CASES: dict[str, tuple[bytes, bytes, list[str]]] = {
    "an election": (
        STATE,
        b'{"controller_epoch":3,"leader":2,"version":1,"leader_epoch":5,"isr":[2,3]}',
        ["leader 1 -> 2", "leader_epoch 4 -> 5", "isr 1,2,3 -> 2,3"],
    ),
    "nobody in sync": (STATE, STATE.replace(b"[1,2,3]", b"[]"), ["isr 1,2,3 -> []"]),
    "a field comes": (
        STATE,
        STATE.replace(b'"isr"', b'"leader_recovery_state":1,"isr"'),
        ["leader_recovery_state 1 is new"],
    ),
    "a field goes": (b'{"a":1,"rack":"r0"}', b'{"a":1}', ["rack r0 is gone"]),
    "a field of a field": (
        b'{"config":{"retention.ms":"1000","x":"1"}}',
        b'{"config":{"x":"1","retention.ms":"2000"}}',
        ["config.retention.ms 1000 -> 2000"],
    ),
    "a number becomes text": (b'{"a":1}', b'{"a":"1"}', ['a 1 -> "1"']),
    "true is not 1": (b"[true]", b"[1]", ["[true] -> 1"]),
    "nothing is written out": (b'{"rack":"r0"}', b'{"rack":""}', ['rack r0 -> ""']),
    "a bare number": (b"6", b"7", ["6 -> 7"]),
    "only the writing": (b'{"a":1,"b":2}', b'{ "b": 2, "a": 1 }', []),
    "one of many objects": (
        b'{"partitions":[{"topic":"t","partition":0},{"topic":"t","partition":1}]}',
        b'{"partitions":[{"topic":"t","partition":1},{"topic":"u","partition":0}]}',
        ['partitions - {"partition":0,"topic":"t"}, + {"partition":0,"topic":"u"}'],
    ),
    "objects in another order": (b'[{"a":1},{"b":2}]', b'[{"b":2},{"a":1}]', ["in another order"]),
    "one line": (b"group_a-0", b"group_b-0", ["group_a-0 -> group_b-0"]),
    "one of some lines": (b"a\nb\nc", b"a\nx\ny\nc", ["from line 2 b -> x\ny"]),
    "a line more": (b"a\nc", b"a\nb\nc", ["from line 2 b is new"]),
    "nothing before": (b"", b'{"a":1}', ['"" -> {"a":1}']),
    "bytes": (b"\xff\x00\x01\xfe", b"\xff\x02\xfe", ["from byte 2 00 01 -> 02"]),
}


@pytest.mark.parametrize("name", CASES)
def test_differences_read_as_people_say_them(name: str) -> None:
    before, after, expected = CASES[name]
    assert sentences(before, after) == expected


@given(documents)
def test_a_payload_does_not_differ_from_itself(document: Any) -> None:
    written = msgspec.json.encode(document)
    spaced = msgspec.json.format(written, indent=2)
    assert differences(written, written) == differences(written, spaced) == ()


@given(documents, documents)
def test_the_differences_lead_from_one_payload_to_the_other(before: Any, after: Any) -> None:
    document = copy.deepcopy(before)
    for difference in differences(msgspec.json.encode(before), msgspec.json.encode(after)):
        document = patched(document, difference)
    assert msgspec.json.encode(document, order="sorted") == msgspec.json.encode(after, order="sorted")


@given(st.binary(max_size=12), st.binary(max_size=12))
def test_other_bytes_differ_and_can_be_told(before: bytes, after: bytes) -> None:
    found = differences(before, after)
    assert all(difference_text(difference) for difference in found)
    if not found:
        assert before == after or msgspec.json.decode(before) == msgspec.json.decode(after)


def test_what_is_nested_beyond_reason_is_compared_as_text() -> None:
    deep = b"[" * 100_000 + b"]" * 100_000
    assert [one.where for one in differences(deep, b"[" + deep + b"]")] == [()]
