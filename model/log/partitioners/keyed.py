"""Records with a key: the key's hash decides, so all records of a key are in one partition and in order.

Java client 0.9 and later (`org.apache.kafka.common.utils.Utils.murmur2`, `BuiltInPartitioner.partitionForKey`), the
Scala producer of 0.8 (`kafka.producer.DefaultPartitioner`, `ByteArrayPartitioner`), and librdkafka's default.
"""

import zlib
from collections.abc import Iterable
from struct import iter_unpack

_MULTIPLIER = 0x5BD1E995
_SEED = 0x9747B28C
_MASK = 0xFFFFFFFF
_POSITIVE = 0x7FFFFFFF


def murmur2(data: bytes) -> int:
    """The hash of the Java client as a signed 32-bit number."""
    result = (_SEED ^ len(data)) & _MASK
    whole = len(data) & ~3
    for (word,) in iter_unpack("<I", data[:whole]):
        mixed = word * _MULTIPLIER & _MASK
        mixed = (mixed ^ mixed >> 24) * _MULTIPLIER & _MASK
        result = (result * _MULTIPLIER & _MASK) ^ mixed
    if rest := data[whole:]:
        result = (result ^ int.from_bytes(rest, "little")) * _MULTIPLIER & _MASK
    result = (result ^ result >> 13) * _MULTIPLIER & _MASK
    return _signed(result ^ result >> 15)


def partition_for_key(key: bytes, partitions: int) -> int:
    """Where the Java client (0.9+) and kafka-python put a key; an empty key is a key."""
    return (murmur2(key) & _POSITIVE) % partitions


def partition_for_key_librdkafka(key: bytes, partitions: int) -> int:
    """Where librdkafka puts a key unless it is told otherwise (`consistent_random`): by CRC-32."""
    return zlib.crc32(key) % partitions


def partition_for_key_0_8(hash_code: int, partitions: int) -> int:
    """Where the Scala producer of 0.8 puts a key with this Java hash code; that of -2^31 counts as 0."""
    return (0 if hash_code == -(2**31) else abs(hash_code)) % partitions


def string_hash_code(text: str) -> int:
    """`String.hashCode`: over UTF-16 units. For keys of 0.8 that were strings; bytes had none that one could know."""
    encoded = text.encode("utf-16-be", "surrogatepass")
    return _hash_31(0, (unit for (unit,) in iter_unpack(">H", encoded)))


def bytes_hash_code(data: bytes) -> int:
    """`Arrays.hashCode`: keys of 0.8 with its ByteArrayPartitioner."""
    return _hash_31(1, (byte - 256 if byte > 127 else byte for byte in data))


def _hash_31(start: int, units: Iterable[int]) -> int:
    result = start
    for unit in units:
        result = (31 * result + unit) & _MASK
    return _signed(result)


def _signed(number: int) -> int:
    return number - 2**32 if number > _POSITIVE else number
