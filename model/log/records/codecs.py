"""The codecs of Kafka's logs: compressed streams in and out, with a bound on what comes out.

A stream that claims or yields more than the bound is refused before the memory is taken. A codec's library is loaded
when a stream of its kind first turns up.
"""

import struct
import zlib
from typing import Any, cast

from model.log.records.batch import Buffer, StreamError, TooLargeError
from model.log.records.layout import Codec

# ruff: noqa: PLC0415

_GZIP = 31
"""zlib's name for: with gzip's header, and the largest window."""
_PIECE = 1 << 20


def compress(codec: Codec, data: Buffer, message_format: int = 2) -> bytes:
    """The stream that a message of this format (0, 1 or 2) holds. NONE is the bytes as they are."""
    match codec:
        case Codec.NONE:
            return bytes(data)
        case Codec.GZIP:
            gzip = zlib.compressobj(wbits=_GZIP)
            return gzip.compress(data) + gzip.flush()
        case Codec.SNAPPY:
            return _snappy(data)
        case Codec.LZ4:
            return _lz4(data, message_format)
        case Codec.ZSTD:
            import zstandard

            return zstandard.ZstdCompressor(write_content_size=False).compress(data)


def decompress(codec: Codec, data: Buffer, message_format: int, limit: int) -> Buffer:
    """The plain bytes of a stream, at most `limit` of them. Raises StreamError and TooLargeError."""
    match codec:
        case Codec.NONE:
            return data
        case Codec.GZIP:
            return _gunzip(data, limit)
        case Codec.SNAPPY:
            return _unsnappy(data, limit)
        case Codec.LZ4:
            return _unlz4(data, message_format, limit)
        case Codec.ZSTD:
            return _unzstd(data, limit)


def _gunzip(data: Buffer, limit: int) -> bytes:
    stream = zlib.decompressobj(wbits=_GZIP)
    plain = bytearray()
    piece: Buffer = data
    try:
        while not stream.eof:
            grown = stream.decompress(piece, min(_PIECE, limit + 1 - len(plain)))
            plain += grown
            if len(plain) > limit:
                raise TooLargeError(limit)
            piece = stream.unconsumed_tail
            if not grown and not piece and not stream.eof:
                raise StreamError("gzip: the stream is cut short")
    except zlib.error as error:
        raise StreamError(f"gzip: {error}") from None
    return bytes(plain)


def _unzstd(data: Buffer, limit: int) -> bytes:
    import zstandard

    plain = bytearray()
    try:
        with zstandard.ZstdDecompressor().stream_reader(data) as stream:
            while piece := stream.read(min(_PIECE, limit + 1 - len(plain))):
                plain += piece
                if len(plain) > limit:
                    raise TooLargeError(limit)
    except zstandard.ZstdError as error:
        raise StreamError(f"zstd: {error}") from None
    if not _has_last_block(data):
        raise StreamError("zstd: the frame is cut short")
    return bytes(plain)


def _has_last_block(frame: Buffer) -> bool:
    """Whether a zstd frame is all there, which the library does not tell (RFC 8878, 3.1.1)."""
    if len(frame) < 6:
        return False
    flags = frame[4]
    single_segment = bool(flags & 0x20)
    at = 5 + (not single_segment) + (0, 1, 2, 4)[flags & 3] + (single_segment, 2, 4, 8)[flags >> 6]
    while at + 3 <= len(frame):
        block = int.from_bytes(frame[at : at + 3], "little")
        is_last, is_one_byte_repeated, size = block & 1, block >> 1 & 3 == 1, block >> 3
        at += 3 + (1 if is_one_byte_repeated else size)
        if is_last:
            return at <= len(frame)
    return False


XERIAL_MAGIC = b"\x82SNAPPY\x00"
_XERIAL_HEADER = struct.Struct(">8sii")
_XERIAL_LENGTH = struct.Struct(">i")
_XERIAL_BLOCK = 32 * 1024
_SNAPPY_STEEPEST = 64
"""No snappy element yields more bytes than this times its own; a block that claims more is refused unread."""


def _snappy(data: Buffer) -> bytes:
    """In xerial's framing, as Java and kafka-python write it.

    8 magic bytes, two int32 versions, then blocks, each an int32 length and a raw snappy block of at most 32 KiB.
    """
    import cramjam

    framed = bytearray(_XERIAL_HEADER.pack(XERIAL_MAGIC, 1, 1))
    for start in range(0, len(data), _XERIAL_BLOCK):
        block = bytes(cramjam.snappy.compress_raw(data[start : start + _XERIAL_BLOCK]))
        framed += _XERIAL_LENGTH.pack(len(block)) + block
    return bytes(framed)


def _unsnappy(data: Buffer, limit: int) -> bytes:
    """From xerial's framing, or from one raw block (librdkafka)."""
    view = memoryview(data)
    if bytes(view[: len(XERIAL_MAGIC)]) != XERIAL_MAGIC:
        return _unsnappy_block(view, limit)
    if len(view) < _XERIAL_HEADER.size:
        raise StreamError("snappy: the header is cut short")
    plain = bytearray()
    at = _XERIAL_HEADER.size
    while at < len(view):
        if at + _XERIAL_LENGTH.size > len(view):
            raise StreamError("snappy: a block's length is cut short")
        (length,) = _XERIAL_LENGTH.unpack_from(view, at)
        at += _XERIAL_LENGTH.size
        if not 0 <= length <= len(view) - at:
            raise StreamError(f"snappy: a block of {length:,} bytes, {len(view) - at:,} are left")
        plain += _unsnappy_block(view[at : at + length], limit - len(plain), limit)
        at += length
    return bytes(plain)


def _unsnappy_block(block: memoryview, left: int, limit: int | None = None) -> bytes:
    import cramjam

    try:
        claimed: int = cramjam.snappy.decompress_raw_len(block)
        if claimed > left:
            raise TooLargeError(left if limit is None else limit)
        if claimed > len(block) * _SNAPPY_STEEPEST:
            raise StreamError(f"snappy: {len(block):,} bytes claim to hold {claimed:,}")
        return bytes(cramjam.snappy.decompress_raw(block))
    except cramjam.DecompressionError as error:
        raise StreamError(f"snappy: {error}") from None


LZ4_MAGIC = b"\x04\x22\x4d\x18"
_LZ4_FLAGS_AT = len(LZ4_MAGIC)
_LZ4_CONTENT_SIZE = 0x08
_LZ4_DICTIONARY = 0x01


def _lz4(data: Buffer, message_format: int) -> bytes:
    """One frame as Kafka writes it: independent blocks of 64 KiB, no checksum of the content.

    Up to magic 0, Kafka computed the header's checksum over the magic number as well (KAFKA-3160). Such frames are
    written that way for v0, and accepted there whatever their checksum.
    """
    library = _lz4_library()
    frame: bytes = library.compress(
        bytes(data), block_size=library.BLOCKSIZE_MAX64KB, block_linked=False, store_size=False
    )
    return _with_checksum_from(frame, 0) if message_format == 0 else frame


def _unlz4(data: Buffer, message_format: int, limit: int) -> bytes:
    frame = bytes(data)
    if message_format == 0 and frame.startswith(LZ4_MAGIC):
        frame = _with_checksum_from(frame, _LZ4_FLAGS_AT)
    decompressor = _lz4_library().LZ4FrameDecompressor()
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


def _lz4_library() -> Any:
    import lz4.frame  # pyright: ignore[reportMissingTypeStubs]

    return cast(Any, lz4.frame)


def _with_checksum_from(frame: bytes, start: int) -> bytes:
    """The frame with its header's checksum computed over the header from `start` on."""
    if len(frame) <= _LZ4_FLAGS_AT + 2:
        return frame
    flags = frame[_LZ4_FLAGS_AT]
    at = _LZ4_FLAGS_AT + 2 + 8 * bool(flags & _LZ4_CONTENT_SIZE) + 4 * bool(flags & _LZ4_DICTIONARY)
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


__all__ = ["StreamError", "TooLargeError", "compress", "decompress"]
