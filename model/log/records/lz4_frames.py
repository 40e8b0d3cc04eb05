"""LZ4 frames as Kafka writes them: independent blocks of 64 KiB, no checksum of the content.

Up to magic 0, Kafka computed the header's checksum over the magic number as well (KAFKA-3160). Such frames are written
that way for v0, and accepted there whatever their checksum.
"""

from typing import Any, cast

import lz4.frame  # pyright: ignore[reportMissingTypeStubs]

from model.log.records.batch import Buffer, StreamError, TooLargeError

MAGIC = b"\x04\x22\x4d\x18"
_FRAME = cast(Any, lz4.frame)
_FLAGS_AT = len(MAGIC)
_CONTENT_SIZE = 0x08
_DICTIONARY = 0x01
_PIECE = 1 << 20


def compress(data: Buffer, message_format: int) -> bytes:
    """One frame."""
    frame: bytes = _FRAME.compress(
        bytes(data), block_size=_FRAME.BLOCKSIZE_MAX64KB, block_linked=False, store_size=False
    )
    return _with_checksum_from(frame, 0) if message_format == 0 else frame


def decompress(data: Buffer, message_format: int, limit: int) -> bytes:
    """The plain bytes. Raises StreamError and TooLargeError."""
    frame = bytes(data)
    if message_format == 0 and frame.startswith(MAGIC):
        frame = _with_checksum_from(frame, _FLAGS_AT)
    decompressor = _FRAME.LZ4FrameDecompressor()
    plain = bytearray()
    piece = frame
    try:
        while not decompressor.eof:
            plain += decompressor.decompress(piece, max_length=min(_PIECE, limit + 1 - len(plain)))
            if len(plain) > limit:
                raise TooLargeError(limit)
            if not decompressor.eof and decompressor.needs_input:
                raise StreamError("lz4: the frame is cut short")
            piece = b""
    except (RuntimeError, EOFError) as error:
        raise StreamError(f"lz4: {error}") from None
    return bytes(plain)


def _with_checksum_from(frame: bytes, start: int) -> bytes:
    """The frame with its header's checksum computed over the header from `start` on."""
    if len(frame) <= _FLAGS_AT + 2:
        return frame
    flags = frame[_FLAGS_AT]
    at = _FLAGS_AT + 2 + 8 * bool(flags & _CONTENT_SIZE) + 4 * bool(flags & _DICTIONARY)
    checksum = xxh32(frame[start:at]) >> 8 & 0xFF
    return frame[:at] + bytes([checksum]) + frame[at + 1 :]


_PRIME_1, _PRIME_2, _PRIME_3, _PRIME_4, _PRIME_5 = 0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D, 0x27D4EB2F, 0x165667B1


def xxh32(data: bytes) -> int:
    """xxHash32 with seed 0, of less than 16 bytes: no header that is checked or written here is longer."""
    state = _PRIME_5 + len(data)
    whole = len(data) // 4 * 4
    for place in range(0, whole, 4):
        state += int.from_bytes(data[place : place + 4], "little") * _PRIME_3
        state = _rotated(state, 17) * _PRIME_4
    for byte in data[whole:]:
        state = _rotated(state + byte * _PRIME_5, 11) * _PRIME_1
    for shift, prime in ((15, _PRIME_2), (13, _PRIME_3), (16, 1)):
        state &= 0xFFFFFFFF
        state = (state ^ state >> shift) * prime
    return state


def _rotated(number: int, bits: int) -> int:
    number &= 0xFFFFFFFF
    return number << bits | number >> 32 - bits
