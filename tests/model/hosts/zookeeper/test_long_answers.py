"""A long answer as it arrives, in pieces of any size: what is too long is cut out, the rest is as sent."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.hosts.zookeeper.connection import LongAnswer
from model.hosts.zookeeper.requests import MAX_PAYLOAD_BYTES, GetData, MultiOp, MultiRead
from model.zookeeper import Missing, Stat, TooLarge, Znode

HEADER = struct.pack("!iqi", 7, 100, 0)
STAT = Stat(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11)
STAT_BYTES = struct.pack("!qqqqiiiqiiq", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11)
LAST = struct.pack("!i?i", -1, True, -1)
TOO_LONG = MAX_PAYLOAD_BYTES + 1


def znode(length: int) -> bytes:
    return struct.pack("!i", length) + bytes(max(length, 0)) + STAT_BYTES


def taken(answer: LongAnswer, frame: bytes, size: int) -> bytes | None:
    """What comes of a frame that arrives in pieces of this size."""
    incoming, whole = bytearray(), None
    for start in range(0, len(frame), size):
        assert whole is None
        incoming += frame[start : start + size]
        whole = answer.take(incoming)
    assert not incoming
    return whole


@pytest.mark.parametrize("length", [0, -1, 5, MAX_PAYLOAD_BYTES, TOO_LONG])
def test_one_znode(length: int) -> None:
    frame, request = HEADER + znode(length), GetData("", "/a")
    whole = taken(LongAnswer(len(frame), request), frame, 100_000)
    assert whole is not None
    expected = TooLarge("/a", length) if length > MAX_PAYLOAD_BYTES else Znode("/a", bytes(max(length, 0)), STAT)
    assert request.deserialize(whole, len(HEADER)) == expected


@given(st.lists(st.sampled_from([None, -1, 0, 3, 70_000, TOO_LONG]), max_size=5), st.integers(30_000, 9_000_000))
def test_many(lengths: list[int | None], size: int) -> None:
    paths = tuple(f"/{number}" for number in range(len(lengths)))
    items = [
        struct.pack("!i?ii", -1, False, -101, -101)
        if length is None
        else struct.pack("!i?i", 4, False, 0) + znode(length)
        for length in lengths
    ]
    frame, request = HEADER + b"".join(items) + LAST, MultiRead("", MultiOp.GET_DATA, paths)
    whole = taken(LongAnswer(len(frame), request), frame, size)
    assert whole is not None
    assert len(whole) <= len(frame)
    assert list(request.deserialize(whole, len(HEADER))) == [
        Missing(path)
        if length is None
        else TooLarge(path, length)
        if length == TOO_LONG
        else Znode(path, bytes(max(length, 0)), STAT)
        for path, length in zip(paths, lengths, strict=True)
    ]


@pytest.mark.parametrize("length", [-2_000_000_000, -2, 2_000_000_000])
def test_a_length_that_the_frame_does_not_have(length: int) -> None:
    frame = HEADER + struct.pack("!i", length) + STAT_BYTES
    with pytest.raises(ValueError, match="bytes announced"):
        taken(LongAnswer(len(frame), GetData("", "/a")), frame, len(frame))


def test_an_error_has_nothing_to_cut() -> None:
    frame = struct.pack("!iqi", 7, 100, -101)
    assert taken(LongAnswer(len(frame), GetData("", "/a")), frame, 3) == frame
