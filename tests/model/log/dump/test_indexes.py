"""Indexes, checked against the log beside them, and told from damage: files in use, and files of old releases."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from model.log.dump.facts import DumpOptions
from model.log.records import DamageKind, Record, encode_batch
from tests.model.log.dump.dumping import dump, json_lines, lines

BASE = 100
NAME = f"{BASE:020d}"


def batches() -> list[bytes]:
    """Three batches of three records each; timestamps are 1000 + offset."""
    starts = range(BASE, BASE + 9, 3)
    return [encode_batch([Record(o, 1000 + o, b"k", b"v") for o in range(start, start + 3)]) for start in starts]


SIZE = len(batches()[0])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / f"{NAME}.log").write_bytes(b"".join(batches()))
    return tmp_path


def index(folder: Path, *entries: tuple[int, int], tail: bytes = b"") -> Path:
    path = folder / f"{NAME}.index"
    path.write_bytes(b"".join(struct.pack(">ii", offset - BASE, position) for offset, position in entries) + tail)
    return path


def time_index(folder: Path, *entries: tuple[int, int], tail: bytes = b"") -> Path:
    path = folder / f"{NAME}.timeindex"
    path.write_bytes(b"".join(struct.pack(">qi", time, offset - BASE) for time, offset in entries) + tail)
    return path


def test_entries_that_fit(folder: Path) -> None:
    path = index(folder, (105, SIZE), (108, 2 * SIZE))
    assert lines(path) == [f"offset: 105 position: {SIZE}", f"offset: 108 position: {2 * SIZE}"]
    assert dump(path)[1:] == ([], [])
    path = time_index(folder, (1102, 102), (1108, 108))
    assert lines(path) == ["timestamp: 1102 offset: 102", "timestamp: 1108 offset: 108"]
    assert dump(path)[1:] == ([], [])


@pytest.mark.parametrize(
    ("entries", "at", "why"),
    [
        ([(105, SIZE + 1)], 0, "no batch starts there"),
        ([(105, SIZE), (108, 3 * SIZE)], 8, f"the log has {3 * SIZE} bytes"),
        ([(105, -5)], 0, "comes after"),
        ([(108, 2 * SIZE), (105, SIZE)], 8, "comes after offset 108"),
        ([(104, SIZE)], 0, "holds 103 to 105"),
        ([(107, SIZE)], 0, "holds 103 to 105"),
        ([(108, SIZE), (109, 2 * SIZE)], 0, "holds 103 to 105"),
    ],
)
def test_entries_that_do_not(folder: Path, entries: list[tuple[int, int]], at: int, why: str) -> None:
    _, (damage, *_), _ = dump(index(folder, *entries))
    assert (damage.position, damage.size, damage.kind) == (at, 8, DamageKind.BAD_ENTRY)
    assert why in damage.cause


@pytest.mark.parametrize("entry", [(103, SIZE), (108, SIZE)])
def test_the_rules_of_older_releases_are_no_damage(folder: Path, entry: tuple[int, int]) -> None:
    """The first offset of a batch up to 1.1; the last of all that was appended at once, on followers up to 3.9.0."""
    _, damage, (remark,) = dump(index(folder, entry))
    assert not damage
    assert "older release" in remark.text


@pytest.mark.parametrize(
    ("entries", "at", "why"),
    [
        ([(1102, 102), (1101, 105)], 12, "comes after 1102"),
        ([(1102, 102), (1105, 102)], 12, "comes after 1102"),
        ([(1102, 105)], 0, "the largest is 1105"),
        ([(1105, 105), (1999, 200)], 12, "no such offset"),
    ],
)
def test_time_entries_that_do_not_fit(folder: Path, entries: list[tuple[int, int]], at: int, why: str) -> None:
    _, (damage, *_), _ = dump(time_index(folder, *entries))
    assert (damage.position, damage.kind) == (at, DamageKind.BAD_ENTRY)
    assert why in damage.cause


def test_zeros_after_the_entries_are_room(folder: Path) -> None:
    _, damage, (remark,) = dump(index(folder, (105, SIZE), tail=bytes(800)))
    assert not damage
    assert (remark.position, "800 zero bytes" in remark.text) == (8, True)
    _, damage, (remark,) = dump(time_index(folder, (1108, 108), tail=bytes(1200)))
    assert not damage


def test_an_index_of_zeros_only_has_no_entry(folder: Path) -> None:
    """The tool prints one that is none, and calls it a mismatch."""
    text, damage, (remark,) = dump(index(folder, tail=bytes(80)))
    assert text.splitlines()[1:] == [b"offset: 100 position: 0"]
    assert not damage
    assert "room" in remark.text
    assert dump(time_index(folder, tail=bytes(120)))[1] == []


def test_bytes_after_zeros_are_damage(folder: Path) -> None:
    _, (damage,), _ = dump(index(folder, (105, SIZE), tail=bytes(80) + b"\x01" * 8))
    assert (damage.position, damage.size) == (8, 88)


def test_a_part_of_an_entry(folder: Path) -> None:
    _, (damage,), _ = dump(index(folder, (105, SIZE), tail=b"\x00\x00\x00"))
    assert (damage.position, damage.size, damage.kind) == (8, 3, DamageKind.TORN)


def test_without_a_log_entries_are_shown_unchecked(tmp_path: Path) -> None:
    path = index(tmp_path, (105, 12345))
    text, damage, (remark,) = dump(path)
    assert b"offset: 105 position: 12345" in text
    assert not damage
    assert "not checked" in remark.text
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


def test_only_verifying_prints_no_entry(folder: Path) -> None:
    text, (damage,), _ = dump(index(folder, (105, SIZE), (106, 2 * SIZE + 1)), DumpOptions(verify_index_only=True))
    assert text.count(b"\n") == 1
    assert damage.position == 8


def test_the_sanity_check_looks_at_size_and_ends_only(folder: Path) -> None:
    options = DumpOptions(index_sanity_check=True)
    path = index(folder, (105, SIZE + 1), (103, 0), tail=bytes(16))
    assert lines(path, options) == [f"{path} passed sanity check."]
    for bad in (index(folder, (105, SIZE), (99, 7)), time_index(folder, (1105, 105), (1000, 106))):
        text, (damage,), _ = dump(bad, options)
        assert b"passed" not in text
        assert "less than" in damage.cause


def test_transaction_index(tmp_path: Path) -> None:
    path = tmp_path / f"{NAME}.txnindex"
    entries = [(0, 1, 12, 22, 17), (0, 2, 29, 20, 36), (256, 2, 77, 83, 84)]
    path.write_bytes(b"".join(struct.pack(">hqqqq", *entry) for entry in entries) + b"\0")
    text, damage, _ = dump(path)
    assert text.splitlines()[1] == b"version: 0 producerId: 1 firstOffset: 12 lastOffset: 22 lastStableOffset: 17"
    assert [(each.position, each.kind) for each in damage] == [
        (34, DamageKind.BAD_ENTRY),
        (68, DamageKind.BAD_ENTRY),
        (102, DamageKind.TORN),
    ]


def test_entries_as_json(folder: Path) -> None:
    head, entry, end = json_lines(index(folder, (105, SIZE)))
    assert (head["format"], head["type"], head["base_offset"], head["size"]) == (
        "kdrill.dump-log/1",
        "offset-index",
        100,
        8,
    )
    assert entry == {"kind": "offset-index-entry", "offset": 105, "position": SIZE}
    assert end == {"kind": "end", "entries": 1, "damaged": 0}
