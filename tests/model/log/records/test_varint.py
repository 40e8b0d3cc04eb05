"""Kafka's variable-length integers, one at a time and many at once."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.log.records.columns import read_varints
from model.log.records.record import MAX_VARLONG, VarintError, read_varint, write_varint

INT32 = st.integers(-(2**31), 2**31 - 1)
INT64 = st.integers(-(2**63), 2**63 - 1)


@given(number=INT32)
def test_32_bits(number: int) -> None:
    data = write_varint(number)
    assert read_varint(b"x" + data + b"y", 1) == (number, 1 + len(data))
    assert len(data) <= 5


@given(number=INT64)
def test_64_bits(number: int) -> None:
    data = write_varint(number)
    assert read_varint(data, 0, MAX_VARLONG) == (number, len(data))
    assert len(data) <= 10


@pytest.mark.parametrize(
    ("number", "data"),
    [(0, "00"), (-1, "01"), (1, "02"), (63, "7e"), (-64, "7f"), (64, "8001"), (-(2**31), "ffffffff0f")],
)
def test_known_values(number: int, data: str) -> None:
    """From `ByteUtilsTest` of Kafka 3.9."""
    assert write_varint(number).hex() == data


@pytest.mark.parametrize(
    ("data", "why"),
    [("", "past the end"), ("80", "past the end"), ("ffffffff80", "longer than 5"), ("80" * 9, "longer")],
)
def test_numbers_that_do_not_end(data: str, why: str) -> None:
    with pytest.raises(VarintError, match=why):
        read_varint(bytes.fromhex(data), 0)


@given(numbers=st.lists(INT64, min_size=1), cut=st.integers(0, 3))
def test_many_at_once(numbers: list[int], cut: int) -> None:
    encoded = [write_varint(number) for number in numbers]
    data = b"".join(encoded)
    data = data[: max(len(data) - cut, 1)]
    at = np.cumsum([0, *map(len, encoded)])[:-1]
    found, after, fits = read_varints(np.frombuffer(data, np.uint8), at, MAX_VARLONG)
    for place, number, end, fit in zip(at.tolist(), found.tolist(), after.tolist(), fits.tolist(), strict=True):
        try:
            expected = read_varint(data, place, MAX_VARLONG)
        except VarintError:
            assert not fit
        else:
            assert fit
            assert (number, end) == expected
