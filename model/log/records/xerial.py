"""Snappy as Kafka's clients write it: in xerial's framing (Java, kafka-python) or as one raw block (librdkafka).

Framed: 8 magic bytes, two int32 versions, then blocks, each an int32 length and a raw snappy block of at most 32 KiB.
"""

import struct

import cramjam

from model.log.records.batch import Buffer, StreamError, TooLargeError

MAGIC = b"\x82SNAPPY\x00"
_HEADER = struct.Struct(">8sii")
_LENGTH = struct.Struct(">i")
_BLOCK = 32 * 1024
_STEEPEST = 64
"""No snappy element yields more bytes than this times its own; a block that claims more is refused unread."""


def compress(data: Buffer) -> bytes:
    """The bytes in xerial's framing."""
    framed = bytearray(_HEADER.pack(MAGIC, 1, 1))
    for start in range(0, len(data), _BLOCK):
        block = bytes(cramjam.snappy.compress_raw(data[start : start + _BLOCK]))
        framed += _LENGTH.pack(len(block)) + block
    return bytes(framed)


def decompress(data: Buffer, limit: int) -> bytes:
    """The plain bytes, from either form. Raises StreamError and TooLargeError."""
    view = memoryview(data)
    if bytes(view[: len(MAGIC)]) != MAGIC:
        return _raw(view, limit)
    if len(view) < _HEADER.size:
        raise StreamError("snappy: the header is cut short")
    plain = bytearray()
    at = _HEADER.size
    while at < len(view):
        if at + _LENGTH.size > len(view):
            raise StreamError("snappy: a block's length is cut short")
        (length,) = _LENGTH.unpack_from(view, at)
        at += _LENGTH.size
        if not 0 <= length <= len(view) - at:
            raise StreamError(f"snappy: a block of {length:,} bytes, {len(view) - at:,} are left")
        plain += _raw(view[at : at + length], limit - len(plain), limit)
        at += length
    return bytes(plain)


def _raw(block: memoryview, left: int, limit: int | None = None) -> bytes:
    try:
        claimed: int = cramjam.snappy.decompress_raw_len(block)
        if claimed > left:
            raise TooLargeError(left if limit is None else limit)
        if claimed > len(block) * _STEEPEST:
            raise StreamError(f"snappy: {len(block):,} bytes claim to hold {claimed:,}")
        return bytes(cramjam.snappy.decompress_raw(block))
    except cramjam.DecompressionError as error:
        raise StreamError(f"snappy: {error}") from None
