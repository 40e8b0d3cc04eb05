"""The codecs of Kafka's logs: compressed streams in and out, with a bound on what comes out.

A stream that claims or yields more than the bound is refused before the memory is taken. A codec's library is loaded
when a stream of its kind first turns up.
"""

import zlib

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
            from model.log.records import xerial

            return xerial.compress(data)
        case Codec.LZ4:
            from model.log.records import lz4_frames

            return lz4_frames.compress(data, message_format)
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
            from model.log.records import xerial

            return xerial.decompress(data, limit)
        case Codec.LZ4:
            from model.log.records import lz4_frames

            return lz4_frames.decompress(data, message_format, limit)
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


__all__ = ["StreamError", "TooLargeError", "compress", "decompress"]
