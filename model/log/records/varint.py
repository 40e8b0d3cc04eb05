"""Kafka's variable-length integers: zigzag, then groups of seven bits, the lowest first, a set top bit for more.

As in `org.apache.kafka.common.utils.ByteUtils`: at most 5 bytes for 32 bits, 10 for 64.
"""

from model.log.records.batch import Buffer

MAX_VARINT = 5
MAX_VARLONG = 10


class VarintError(ValueError):
    """A number that ends too early or too late; the message says which."""


def read_varint(data: Buffer, at: int, max_size: int = MAX_VARINT) -> tuple[int, int]:
    """The number at `at` and the place after it; MAX_VARLONG for one of 64 bits. Raises VarintError."""
    if at + 1 < len(data):  # most numbers take a byte or two
        raw = data[at]
        if raw < 0x80:
            return (raw >> 1) ^ -(raw & 1), at + 1
        second = data[at + 1]
        if second < 0x80:
            raw = raw & 0x7F | second << 7
            return (raw >> 1) ^ -(raw & 1), at + 2
    raw = shift = 0
    for place in range(at, min(at + max_size, len(data))):
        byte = data[place]
        raw |= (byte & 0x7F) << shift
        if byte < 0x80:
            # Bits that a 5th or 10th byte carries beyond the width are lost in Java as well.
            raw &= 0xFFFFFFFF if max_size == MAX_VARINT else 0xFFFFFFFFFFFFFFFF
            return (raw >> 1) ^ -(raw & 1), place + 1
        shift += 7
    if len(data) - at < max_size:
        raise VarintError("a number runs past the end")
    raise VarintError(f"a number is longer than {max_size} bytes")


def write_varint(number: int) -> bytes:
    """The shortest form of a number; 32 and 64 bits are written alike."""
    raw = (number << 1) ^ (number >> 63)
    if raw < 0x80:
        return _SINGLE[raw]
    if raw < 0x4000:
        return bytes((raw & 0x7F | 0x80, raw >> 7))
    encoded = bytearray()
    while raw >= 0x80:
        encoded.append(raw & 0x7F | 0x80)
        raw >>= 7
    encoded.append(raw)
    return bytes(encoded)


_SINGLE = tuple(bytes([raw]) for raw in range(0x80))
