"""The three steps of a look-up, told; worked out by hand from the format, and for what is not there."""

from __future__ import annotations

from pathlib import Path

import pytest

from model.log.partition_log import PartitionLog
from tests.model.log.batches import START_MS
from tests.tui.data.logs.log_folders import Asked, write_log
from tui.engine.logs import reader
from tui.engine.logs.segments import key_of


@pytest.fixture
def log(tmp_path: Path) -> PartitionLog:
    return write_log(tmp_path / "orders-0")


def found(asked: Asked, log: PartitionLog, wanted: str) -> list[str]:
    return [row.key for row in asked.rows("log-lookup", str(log.folder), wanted=wanted).rows]


def test_an_offset_in_three_steps(tmp_path: Path, log: PartitionLog) -> None:
    """Segments begin at 0, 20, 40, 60 and 80: of five the third is looked at first. The third one's index has an entry
    whenever more than 200 bytes follow the last: after the fourth, the seventh and the tenth batch of two offsets,
    each with the last offset of its batch less 40 and the batch's position: (7, 300), (13, 600), (19, 900).
    """
    asked, path = Asked(tmp_path), str(log.folder)
    told = asked.told("log-lookup", f"{path}\toffset 51").splitlines()
    assert told == [
        "offset    51",
        "1 segment binary search of base offsets: 40, 80, 60; 40 is the last not above it",
        "2 index   3 entries; binary search of relative offsets: 13 (slot 1), 7 (slot 0); 7 -> byte 300",
        "3 scan    from byte 300: 3 batches, 300 bytes: 46-47, 48-49, 50-51",
        "found     offset 51 of 2023-11-14 22:13:20.250Z: key l, value 25",
    ]
    assert found(asked, log, "offset 51") == [key_of(path, 40, 300), key_of(path, 40, 500)]


def test_a_time_goes_through_the_time_index_first(tmp_path: Path, log: PartitionLog) -> None:
    asked, path = Asked(tmp_path), str(log.folder)
    told = asked.told("log-lookup", f"{path}\ttime {START_MS + 135}").splitlines()
    assert told[1:] == [
        "1 segment 0 older as a whole, by the last entries of their time indexes; 20 is looked into",
        "  times   3 entries: 22:13:20.160 (slot 1), 22:13:20.130 (slot 0); "
        "2023-11-14 22:13:20.130Z is reached by offset 27",
        "2 index   3 entries; binary search of relative offsets: 13 (slot 1), 7 (slot 0); 7 -> byte 300",
        "3 scan    from byte 300: 2 batches, 200 bytes: 26-27, 28-29",
        f"found     offset 28 of 2023-11-14 22:13:20.140Z: key k, value {'14' * 7 + 'x' * 7}",
    ]
    assert found(asked, log, "time 2023-11-14T22:13:20.135Z") == [key_of(path, 20, 300), key_of(path, 20, 400)]


def test_what_is_not_there_says_why(tmp_path: Path, log: PartitionLog) -> None:
    asked, path = Asked(tmp_path), str(log.folder)
    assert found(asked, log, "offset 90") == []
    assert "nothing: the log ends before 90" in asked.told("log-lookup", f"{path}\toffset 90")
    (log.folder / f"{0:020d}.log").unlink()
    assert "before the log's first segment" in asked.told("log-lookup", f"{path}\toffset 5")
    assert "nothing: the log ends before" in asked.told("log-lookup", f"{path}\ttime {START_MS + 10_000}")


@pytest.mark.parametrize("wanted", ["offset x", "offset -1", "offset", "time never", "time 99", "time 1969-01-01"])
def test_what_is_no_offset_and_no_time_is_one_line(tmp_path: Path, log: PartitionLog, wanted: str) -> None:
    note = Asked(tmp_path).rows("log-lookup", str(log.folder), wanted=wanted).note
    assert "write" in note and "\n" not in note


def test_damage_on_the_way_is_told(tmp_path: Path, log: PartitionLog) -> None:
    last = log.folder / f"{80:020d}.log"
    last.write_bytes(last.read_bytes()[:-30])
    told = Asked(tmp_path).told("log-lookup", f"{log.folder}\toffset 89")
    assert "damage    at byte 400: an entry of 100 bytes, 70 are left" in told
    assert "A write was cut short" in told


def test_a_look_up_without_a_useful_index_is_given_up(
    tmp_path: Path, log: PartitionLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader.MeteredFile, "_left", 500)
    log.close(now_ms=START_MS)
    for path in log.folder.glob("*index"):
        path.unlink()
    assert (
        "the index leads nowhere near" in Asked(tmp_path).rows("log-lookup", str(log.folder), wanted="offset 55").note
    )
