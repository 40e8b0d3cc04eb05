"""Bytes broken without knowing what they are: bits, cuts, splices, and numbers put where lengths may stand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

from tests.hostile_input.hostile_values import JUNK

_EXTREMES = (
    0,
    1,
    -1,
    2,
    0x7F,
    0x80,
    0xFF,
    0x7FFF,
    0x8000,
    0xFFFF,
    0x7FFFFFFF,
    0x80000000,
    0xFFFFFFFF,
    2**63 - 1,
    2**63,
)
_VARINTS = (
    b"\x00",
    b"\x01",
    b"\x7f",
    b"\xff\xff\xff\xff\x0f",
    b"\xfe\xff\xff\xff\x0f",
    b"\xff" * 9 + b"\x01",
    b"\xff" * 11,
)
_Change = Callable[[Random, bytearray, Sequence[bytes]], None]


def broken(random: Random, data: bytes, others: Sequence[bytes] = (), most: int = 4) -> bytes:
    """`data` after some changes; `others` give what is spliced in."""
    changed = bytearray(data)
    for _ in range(random.randint(1, most)):
        random.choice(_CHANGES)(random, changed, others or (data,))
    return bytes(changed)


def _place(random: Random, data: bytearray) -> int:
    return random.randrange(len(data) + 1)


def _bit(random: Random, data: bytearray, _: Sequence[bytes]) -> None:
    if data:
        data[random.randrange(len(data))] ^= 1 << random.randrange(8)


def _byte(random: Random, data: bytearray, _: Sequence[bytes]) -> None:
    if data:
        data[random.randrange(len(data))] = random.randrange(256)


def _number(random: Random, data: bytearray, _: Sequence[bytes]) -> None:
    """In place: the length stays, so that all that follows is read as before."""
    size = random.choice((1, 2, 4, 8))
    number = random.choice(_EXTREMES) + random.choice((0, 0, 0, 1, -1))
    at = _place(random, data)
    data[at : at + size] = (number % 2 ** (8 * size)).to_bytes(size, random.choice(("big", "little")))


def _varint(random: Random, data: bytearray, _: Sequence[bytes]) -> None:
    at = _place(random, data)
    data[at : at + random.randint(0, 5)] = random.choice(_VARINTS)


def _cut(random: Random, data: bytearray, _: Sequence[bytes]) -> None:
    del data[_place(random, data) :]


def _remove(random: Random, data: bytearray, _: Sequence[bytes]) -> None:
    at = _place(random, data)
    del data[at : at + random.choice((1, 2, 4, 8, 16, 100))]


def _repeat(random: Random, data: bytearray, _: Sequence[bytes]) -> None:
    at = _place(random, data)
    piece = bytes(data[at : at + random.choice((1, 4, 16, 64))])
    data[at:at] = piece * random.choice((1, 2, 10, 100))


def _junk(random: Random, data: bytearray, _: Sequence[bytes]) -> None:
    at = _place(random, data)
    data[at : at + random.choice((0, 0, 1, 4, 8))] = random.choice(JUNK)


def _noise(random: Random, data: bytearray, _: Sequence[bytes]) -> None:
    at, size = _place(random, data), random.choice((1, 2, 4, 16, 60))
    data[at : at + size] = random.randbytes(size)


def _splice(random: Random, data: bytearray, others: Sequence[bytes]) -> None:
    other = random.choice(others)
    start = random.randrange(len(other) + 1)
    data[_place(random, data) :] = other[start:]


def _insert(random: Random, data: bytearray, others: Sequence[bytes]) -> None:
    other = random.choice(others)
    start = random.randrange(len(other) + 1)
    at = _place(random, data)
    data[at:at] = other[start : start + random.choice((4, 30, 200))]


def _zeros(random: Random, data: bytearray, _: Sequence[bytes]) -> None:
    at, size = _place(random, data), random.choice((4, 8, 64, 512))
    data[at : at + size] = bytes(size)


_CHANGES: tuple[_Change, ...] = (
    _bit, _bit, _byte, _number, _number, _varint, _cut, _remove, _repeat, _junk, _noise, _splice, _insert, _zeros,
)  # fmt: skip
