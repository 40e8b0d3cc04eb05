"""What is known of a segment is gone on with where it only grew, and found out anew where it was changed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from model.log.records import DamageKind
from model.log.records.layout import unknown_magic
from tests.model.log.batches import batch
from tests.tui.data.logs.log_folders import flip
from tui.engine.logs import segments
from tui.engine.logs.segments import BadHeaders, SegmentChecks

ONE = batch("value")
PIECE = 1 << 16
"""What is read of a file at first."""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / f"{0:020d}.log"
    file.write_bytes(ONE * 10)
    return file


def test_all_batches_hold(path: Path) -> None:
    found, read = SegmentChecks().check(path, PIECE)
    assert (found.batches, found.headers, found.damage, found.is_done) == (10, {}, None, True)
    assert read == 10 * len(ONE)


def test_what_did_not_change_is_not_read_again(path: Path) -> None:
    known = SegmentChecks()
    first, _ = known.check(path, PIECE)
    assert known.check(path, PIECE) == (first, 0)


def test_a_large_file_is_read_in_pieces(path: Path) -> None:
    path.write_bytes(ONE * (3 * PIECE // len(ONE)))
    known, rounds = SegmentChecks(), 0
    while not known.check(path, 1)[0].is_done:
        rounds += 1
    assert rounds > 0
    assert known.check(path, 1)[0].batches == 3 * PIECE // len(ONE)


def test_of_a_large_file_that_grew_only_the_end_is_read(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segments, "SMALL", 100)
    known = SegmentChecks()
    known.check(path, PIECE)
    with path.open("ab") as file:
        file.write(ONE * 2)
    found, read = known.check(path, PIECE)
    assert (found.batches, read) == (12, 2 * len(ONE))


def test_a_write_that_was_under_way_is_no_damage_once_it_is_done(path: Path) -> None:
    known = SegmentChecks()
    path.write_bytes(ONE * 2 + ONE[:30])
    torn, _ = known.check(path, PIECE)
    assert torn.damage is not None
    assert (torn.damage.kind, torn.position) == (DamageKind.TRUNCATED, 2 * len(ONE))
    path.write_bytes(ONE * 3)
    assert known.check(path, PIECE)[0].damage is None


def test_what_was_flipped_in_place_is_found(path: Path) -> None:
    known = SegmentChecks()
    known.check(path, PIECE)
    flip(path, 2 * len(ONE) - 1)
    os.utime(path, ns=(0, 0))  # whatever the file system's clock can tell apart
    found, _ = known.check(path, PIECE)
    ((kind, bad),) = found.headers.items()
    assert (kind, bad.count, bad.first, found.is_damaged) == (DamageKind.BAD_CRC, 1, ((len(ONE), 0),), True)


@pytest.mark.parametrize("magic", [3, 127])
def test_a_magic_that_no_kafka_writes_is_found_though_no_crc_covers_it(path: Path, magic: int) -> None:
    odd = bytearray(ONE)
    odd[16] = magic
    path.write_bytes(ONE + odd * 2 + ONE)
    found, _ = SegmentChecks().check(path, PIECE)
    told = BadHeaders(2, ((len(ONE), 0), (2 * len(ONE), 0)), unknown_magic(magic))
    assert (found.batches, found.headers, found.is_damaged) == (4, {DamageKind.UNKNOWN_MAGIC: told}, True)


def test_a_file_that_is_gone_is_the_callers_to_see(path: Path) -> None:
    path.unlink()
    with pytest.raises(FileNotFoundError):
        SegmentChecks().check(path, PIECE)
