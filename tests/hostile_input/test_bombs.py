"""Few bytes that claim or unpack to some GB: refused in one line, and the memory stays where it was."""

from __future__ import annotations

import io
import resource
import struct
import zlib
from functools import cache
from pathlib import Path

import lz4.frame  # pyright: ignore[reportMissingTypeStubs]
import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard

from model.cluster.snapshot_file import SnapshotError, read_snapshot
from model.log.records import Codec, Damage, DamageKind, Record, RecordBatch, encode_batch, records_of, scan
from model.log.records.codecs import XERIAL_MAGIC
from model.recordings.folder import RecordingError
from model.recordings.format import FORMAT, METADATA, SCHEMA, PartHeader
from model.recordings.part_file import read_part
from tests.hostile_input.forged_pages import with_footer

GIB = 1 << 30
SIZE = 5 * GIB // 4
PIECE = bytes(1 << 20)
MOST_MIB = 600
"""On top of what was in use; what a batch may hold is most of it."""
SMALL = 200
BATCH_SIZE = 61
HEADER = msgspec.json.encode(
    PartHeader(format=FORMAT, cluster="c", source="s", session="1a", image_set=0, part=0, from_ms=0, until_ms=1)
)


def peak_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


@cache
def zstd_bomb() -> bytes:
    packer = zstandard.ZstdCompressor(level=3).compressobj()
    return b"".join([*(packer.compress(PIECE) for _ in range(SIZE // len(PIECE))), packer.flush()])


def gzip_bomb() -> bytes:
    packer = zlib.compressobj(wbits=31)
    return b"".join([*(packer.compress(PIECE) for _ in range(GIB // 4 // len(PIECE))), packer.flush()])


def lz4_bomb() -> bytes:
    return bytes(lz4.frame.compress(bytes(GIB // 4)))  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]


def snappy_bomb() -> bytes:
    """A block that says it holds 4 GiB."""
    return b"\xff\xff\xff\xff\x0f" + b"\xfe\x01\x00" * 100


def xerial_bomb() -> bytes:
    block = snappy_bomb()
    return struct.pack(">8sii", XERIAL_MAGIC, 1, 1) + (struct.pack(">i", len(block)) + block) * 100


BOMBS = {
    "gzip": (Codec.GZIP, gzip_bomb),
    "snappy": (Codec.SNAPPY, snappy_bomb),
    "snappy-in-frames": (Codec.SNAPPY, xerial_bomb),
    "lz4": (Codec.LZ4, lz4_bomb),
    "zstd": (Codec.ZSTD, zstd_bomb),
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_batch_holds_no_more_than_a_batch_may(name: str) -> None:
    codec, bomb = BOMBS[name]
    stream = bomb()
    batch = bytearray(encode_batch([Record(0, 1, b"k", b"v")], codec=codec)[:BATCH_SIZE]) + stream
    batch[8:12] = struct.pack(">i", len(batch) - 12)
    (entry,) = scan(bytes(batch))
    assert isinstance(entry, RecordBatch)
    before = peak_mib()
    (damage,) = records_of(bytes(batch), entry)
    assert isinstance(damage, Damage)
    assert damage.kind in (DamageKind.TOO_LARGE, DamageKind.BAD_STREAM)
    assert peak_mib() - before < MOST_MIB


def test_a_snapshot_that_unpacks_to_gigabytes_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.json.zst"
    path.write_bytes(zstd_bomb())
    assert path.stat().st_size < 1 << 20
    before = peak_mib()
    with pytest.raises(SnapshotError, match="holds more than 1,073,741,824 bytes of JSON") as caught:
        read_snapshot(path)
    assert "\n" not in str(caught.value)
    assert peak_mib() - before < SMALL


def list_bomb() -> pa.Table:
    """One row with many numbers: Parquet says that in a few hundred bytes, and reading it takes GB."""
    count = (1 << 27) + 1
    return pa.table({"isr": pa.ListArray.from_arrays(pa.array([0, count], pa.int32()), pa.nulls(count, pa.int32()))})


def test_a_recording_that_claims_more_than_any_is_refused(tmp_path: Path) -> None:
    path, file = tmp_path / "a.parquet", io.BytesIO()
    pq.write_table(list_bomb().replace_schema_metadata({METADATA: HEADER}), file, compression="zstd")  # pyright: ignore[reportUnknownMemberType]
    path.write_bytes(file.getvalue())
    assert path.stat().st_size < 1 << 20
    before = peak_mib()
    with pytest.raises(RecordingError, match="too much for one recorded part") as caught:
        read_part(path)
    assert "\n" not in str(caught.value)
    assert peak_mib() - before < SMALL


def test_a_recording_that_keeps_quiet_of_what_its_pages_hold_is_refused(tmp_path: Path) -> None:
    """The same bomb, and a footer that says that it is one number."""
    path, file = tmp_path / "a.parquet", io.BytesIO()
    bomb = list_bomb()
    columns = {field.name: pa.nulls(1, field.type) for field in SCHEMA} | {"isr": bomb.column("isr")}
    table = pa.table(columns, schema=SCHEMA.with_metadata({METADATA: HEADER}))
    pq.write_table(table, file, compression="zstd", use_dictionary=False)  # pyright: ignore[reportUnknownMemberType]
    path.write_bytes(with_footer(file.getvalue(), SCHEMA.names.index("isr"), {"num_values": 1}))
    assert path.stat().st_size < 1 << 20
    before = peak_mib()
    with pytest.raises(RecordingError, match="its pages hold more than its footer says"):
        read_part(path)
    assert peak_mib() - before < SMALL


def test_a_long_text_in_every_row_is_refused(tmp_path: Path) -> None:
    """It is in the file once."""
    path, rows = tmp_path / "a.parquet", 2_000
    text = pa.DictionaryArray.from_arrays(pa.array([0] * rows, pa.int32()), ["x" * (1 << 20)])  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    columns = {field.name: pa.nulls(rows, field.type) for field in SCHEMA}
    columns |= {"topic": text, "at_ms": pa.array([0] * rows, pa.int64())}
    table = pa.table(columns, schema=SCHEMA.with_metadata({METADATA: HEADER}))
    pq.write_table(table, path, compression="zstd")  # pyright: ignore[reportUnknownMemberType]
    assert path.stat().st_size < 1 << 20
    before = peak_mib()
    with pytest.raises(RecordingError, match=r"2,097,152,000 bytes of text: too much for one recorded part"):
        read_part(path)
    assert peak_mib() - before < SMALL
