"""Golden vectors, printed by the Java client."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kafka.partitioner.default import murmur2 as kafka_python_murmur2

from model.log.partitioners.keyed import (
    bytes_hash_code,
    murmur2,
    partition_for_key,
    partition_for_key_0_8,
    partition_for_key_librdkafka,
    string_hash_code,
)


@pytest.mark.parametrize(
    ("key", "number", "partition"),
    [
        ("", 275646681, 9),
        ("a", -1563381124, 4),
        ("abc", 479470107, 3),
        ("abcd", -1323649548, 8),
        ("key-1", 193331640, 0),
        ("kafka", -798503068, 4),
        ("中文", 1074123597, 9),
    ],
)
def test_murmur2_is_the_java_client_s(key: str, number: int, partition: int) -> None:
    assert murmur2(key.encode()) == number
    assert partition_for_key(key.encode(), 12) == partition


@given(st.binary(max_size=64))
def test_murmur2_is_kafka_python_s(key: bytes) -> None:
    assert murmur2(key) & 0xFFFFFFFF == kafka_python_murmur2(key) & 0xFFFFFFFF


@pytest.mark.parametrize(
    ("text", "hash_code"),
    [("", 0), ("key-1", 101943363), ("polygenelubricants", -(2**31)), ("😀", 1772899)],
)
def test_java_hash_codes_of_text(text: str, hash_code: int) -> None:
    assert string_hash_code(text) == hash_code


@pytest.mark.parametrize(("data", "hash_code"), [(b"", 1), (b"\x01\x02\x03", 30817), (b"\xff", 30)])
def test_java_hash_codes_of_bytes(data: bytes, hash_code: int) -> None:
    assert bytes_hash_code(data) == hash_code


def test_the_producer_of_0_8_takes_the_absolute_value() -> None:
    assert partition_for_key_0_8(string_hash_code("key-1"), 12) == 101943363 % 12
    assert partition_for_key_0_8(-7, 4) == 3
    assert partition_for_key_0_8(-(2**31), 4) == 0


def test_librdkafka_goes_by_crc() -> None:
    assert partition_for_key_librdkafka(b"123456789", 12) == 0xCBF43926 % 12
