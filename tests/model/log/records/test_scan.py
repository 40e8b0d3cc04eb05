"""Walking entries: what is found, where a walk ends, and that no length leads out of bounds."""

from __future__ import annotations

from pathlib import Path

import pytest

from model.log.records import (
    Codec,
    Damage,
    DamageKind,
    InMemory,
    Record,
    RecordBatch,
    SegmentFile,
    crc_holds,
    encode_batch,
    encode_message_set,
    scan,
)
from tests.model.log.records.contents import sound

V2 = encode_batch([Record(0, 1, b"k", b"v")])
V1 = encode_message_set([Record(0, 1, b"k", b"v")], 1)


def with_length(entry: bytes, length: int) -> bytes:
    return entry[:8] + length.to_bytes(4, "big", signed=True) + entry[12:]


def with_magic(entry: bytes, magic: int) -> bytes:
    return entry[:16] + bytes([magic]) + entry[17:]


def test_entries_of_all_formats_in_one_file(tmp_path: Path) -> None:
    (tmp_path / "0.log").write_bytes(V1 + V2 + V1 + V2)
    with SegmentFile(tmp_path / "0.log") as file:
        batches = sound(file)
        assert [batch.magic for batch in batches] == [1, 2, 1, 2]
        assert [batch.position for batch in batches] == [0, len(V1), len(V1 + V2), len(V1 + V2 + V1)]
        assert all(crc_holds(file, batch) for batch in batches)
        assert [batch.end for batch in sound(file)][-1] == file.size


def test_a_part_of_a_file() -> None:
    data = V2 * 5
    assert [batch.position for batch in scan(data, len(V2), 3 * len(V2))] == [len(V2), 2 * len(V2)]
    assert [part.position for part in scan(data, 4 * len(V2), 10**9)] == [4 * len(V2)]
    assert list(scan(b"")) == list(scan(data, len(data))) == []


def test_an_entry_larger_than_what_is_read_at_once() -> None:
    large = encode_batch([Record(7, 1, None, bytes(3_000_000))], codec=Codec.NONE)
    data = V2 + large + V2
    batches = sound(data)
    assert [batch.size for batch in batches] == [len(V2), len(large), len(V2)]
    assert all(crc_holds(data, batch) for batch in batches)


@pytest.mark.parametrize(
    ("tail", "kind"),
    [
        (V2[:16], DamageKind.TORN),
        (V2[:17], DamageKind.TRUNCATED),
        (V2[:-1], DamageKind.TRUNCATED),
        (with_length(V2, 2**31 - 1), DamageKind.TRUNCATED),
        (with_length(V2, -1), DamageKind.BAD_LENGTH),
        (with_length(V2, 13), DamageKind.BAD_LENGTH),
        (with_length(V2, 48), DamageKind.BAD_LENGTH),
        (with_length(V1, 21), DamageKind.BAD_LENGTH),
        (with_magic(V2, 255), DamageKind.UNKNOWN_MAGIC),
        (bytes(5), DamageKind.ZEROS),
        (bytes(3_000_000), DamageKind.ZEROS),
        (bytes(3_000_000) + b"x", DamageKind.BAD_LENGTH),
    ],
)
def test_where_a_walk_ends(tail: bytes, kind: DamageKind) -> None:
    *batches, damage = scan(V2 + V2 + tail)
    assert [batch.position for batch in batches] == [0, len(V2)]
    assert isinstance(damage, Damage)
    assert (damage.position, damage.size, damage.kind) == (2 * len(V2), len(tail), kind)
    assert damage.cause


def test_a_walk_from_in_front_of_the_file(tmp_path: Path) -> None:
    """As a damaged index may say."""
    (tmp_path / "0.log").write_bytes(V2)
    with SegmentFile(tmp_path / "0.log") as file:
        (damage,) = scan(file, -5)
        assert isinstance(damage, Damage)
        assert (damage.position, damage.kind) == (-5, DamageKind.BAD_ENTRY)


def test_a_format_of_the_future_is_read_as_v2() -> None:
    (batch,) = sound(with_magic(V2, 3))
    assert (batch.magic, batch.last_offset, batch.count) == (3, 0, 1)


def test_a_file_that_is_cut_while_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "0.log"
    path.write_bytes(V2 * 4)
    with SegmentFile(path) as file:
        path.write_bytes(V2 + V2[:30])
        batch, damage = scan(file)
    assert isinstance(batch, RecordBatch)
    assert isinstance(damage, Damage)
    assert damage.kind is DamageKind.TORN


@pytest.mark.parametrize("make", [lambda path: path.mkdir(), lambda path: __import__("os").mkfifo(path)])
def test_what_is_no_file_is_refused(tmp_path: Path, make) -> None:
    make(tmp_path / "0.log")
    with pytest.raises(OSError, match="not a regular file"):
        SegmentFile(tmp_path / "0.log")


def test_bytes_are_not_copied() -> None:
    data = bytearray(V2)
    view = InMemory(data).read(0, 10)
    data[0] = 1
    assert view[0] == 1
