"""Streams of the codecs: round trips, the forms that clients use, cut and lying streams, and the bound."""

from __future__ import annotations

import tracemalloc

import cramjam
import lz4.frame
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from model.log.records import Codec
from model.log.records.codecs import StreamError, TooLargeError, compress, decompress, xxh32

LIMIT = 1 << 20
COMPRESSED = [Codec.GZIP, Codec.SNAPPY, Codec.LZ4, Codec.ZSTD]
some_bytes = st.binary(max_size=3000) | st.binary(min_size=1, max_size=4).map(lambda piece: piece * 40_000)


@given(data=some_bytes, codec=st.sampled_from(Codec), message_format=st.sampled_from([0, 1, 2]))
def test_round_trip(data: bytes, codec: Codec, message_format: int) -> None:
    assert decompress(codec, compress(codec, data, message_format), message_format, LIMIT) == data


@given(data=some_bytes.filter(len), codec=st.sampled_from(COMPRESSED), message_format=st.sampled_from([0, 1, 2]))
def test_the_bound_is_exact(data: bytes, codec: Codec, message_format: int) -> None:
    stream = compress(codec, data, message_format)
    assert decompress(codec, stream, message_format, len(data)) == data
    with pytest.raises(TooLargeError):
        decompress(codec, stream, message_format, len(data) - 1)


@given(data=some_bytes, codec=st.sampled_from(COMPRESSED), where=st.floats(0, 1, exclude_max=True))
def test_a_stream_that_was_cut_is_refused_or_whole_blocks(data: bytes, codec: Codec, where: float) -> None:
    stream = compress(codec, data)
    try:
        found = decompress(codec, stream[: int(len(stream) * where)], 2, LIMIT)
    except StreamError:
        return
    # Only snappy's framing has no end: a cut between blocks shows where the records end too early.
    assert codec is Codec.SNAPPY
    assert data.startswith(bytes(found))


@given(stream=st.binary(max_size=200), codec=st.sampled_from(COMPRESSED), message_format=st.sampled_from([0, 1, 2]))
def test_any_bytes_are_refused_or_read(stream: bytes, codec: Codec, message_format: int) -> None:
    try:
        found = decompress(codec, stream, message_format, LIMIT)
    except (StreamError, TooLargeError):
        return
    assert len(found) <= LIMIT


def test_snappy_of_java_is_framed_and_that_of_librdkafka_is_not() -> None:
    framed = compress(Codec.SNAPPY, b"abc" * 30_000)
    assert framed[:16] == b"\x82SNAPPY\x00" + bytes([0, 0, 0, 1, 0, 0, 0, 1])
    raw = bytes(cramjam.snappy.compress_raw(b"abc" * 30_000))
    assert decompress(Codec.SNAPPY, raw, 2, LIMIT) == decompress(Codec.SNAPPY, framed, 2, LIMIT)


def test_lz4_of_v0_has_the_checksum_of_old_clients() -> None:
    assert compress(Codec.LZ4, b"abc", 0)[:7].hex() == "04224d1860401a"
    assert compress(Codec.LZ4, b"abc", 1)[:7].hex() == "04224d18604082"
    with pytest.raises(StreamError, match="lz4"):
        decompress(Codec.LZ4, compress(Codec.LZ4, b"abc", 0), 2, LIMIT)


@pytest.mark.parametrize(("data", "expected"), [(b"", 0x02CC5D05), (b"a", 0x550D7456), (b"abc", 0x32D153FF)])
def test_xxh32(data: bytes, expected: int) -> None:
    """Published test vectors of xxHash32; a header with a content size is longer, and the library checks it."""
    assert xxh32(data) == expected
    sized = lz4.frame.compress(b"x" * 100, store_size=True)
    assert sized[14] == xxh32(sized[4:14]) >> 8 & 0xFF


def test_zstd_with_its_size_in_the_header() -> None:
    stream = zstandard.ZstdCompressor(write_content_size=True).compress(b"x" * 1000)
    assert decompress(Codec.ZSTD, stream, 2, LIMIT) == b"x" * 1000


def test_a_stream_that_claims_a_gigabyte_takes_no_memory() -> None:
    raw_snappy = b"\x80\x80\x80\x80\x04" + b"\x00a"
    zstd = b"\x28\xb5\x2f\xfd\xe0" + (1 << 40).to_bytes(8, "little") + b"\x01\x00\x00"
    lz4 = b"\x04\x22\x4d\x18\x68\x40" + (1 << 40).to_bytes(8, "little") + b"\x00" + b"\x00\x00\x00\x00"
    tracemalloc.start()
    for codec, stream in ((Codec.SNAPPY, raw_snappy), (Codec.ZSTD, zstd), (Codec.LZ4, lz4)):
        with pytest.raises((StreamError, TooLargeError)):
            decompress(codec, stream, 0, 1 << 31)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 8 << 20
