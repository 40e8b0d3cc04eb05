"""Partition folders, segments, batches and records as lists, of small logs and of real brokers' folders."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from model.log.partition_log import PartitionLog
from model.log.recovery import open_log
from tests.model.log.batches import START_MS, batch
from tests.segment_corpus import unpack
from tests.tui.data.logs.log_folders import SETTINGS, Asked, cells, flip, words, write_log
from tui.engine.logs.pages import GONE, NO_FOLDER
from tui.engine.logs.segments import MOST_BATCHES, key_of


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return unpack(tmp_path_factory.mktemp("segments"))


@pytest.fixture
def log(tmp_path: Path) -> PartitionLog:
    return write_log(tmp_path / "broker-1/logs/orders-0")


def test_partitions_of_all_brokers_by_name(tmp_path: Path, log: PartitionLog) -> None:
    write_log(tmp_path / "broker-2/logs/orders-0", batches=3)
    (tmp_path / "broker-2/logs/meta.properties").write_text("broker.id=2\n")
    found = cells(Asked(tmp_path).rows("log-partitions"))
    assert found == [
        ("", "orders-0", "-", "4.4 KiB", "CRCs hold", "5", "0", "-"),
        ("", "orders-0", "2", "300 B", "CRCs hold", "1", "0", "-"),
    ]


def test_any_folder_of_this_machine_can_be_named(tmp_path: Path, log: PartitionLog) -> None:
    asked = Asked(Path())
    asked.pages = type(asked.pages)("")
    assert asked.rows("log-partitions").note == NO_FOLDER
    assert asked.rows("log-partitions", scope=str(tmp_path)).total == 1
    assert asked.rows("log-partitions", scope=str(log.folder)).total == 1
    assert asked.rows("log-partitions", scope=f"{tmp_path}/none").note == f"{tmp_path}/none: No such file or directory"


def test_nothing_is_told_of_what_nobody_chose(tmp_path: Path) -> None:
    assert [Asked(tmp_path).rows(name).note for name in ("log-segments", "log-batches", "log-records")] == [GONE] * 3


def test_segments_with_their_times_and_index_entries(tmp_path: Path, log: PartitionLog) -> None:
    asked = Asked(tmp_path)
    path = asked.rows("log-partitions").rows[0].key
    found = cells(asked.rows("log-segments", scope=path))
    assert [row[1] for row in found] == ["0", "20", "40", "60", "80"]
    assert found[1] == ("", "20", "1000 B", "2023-11-14 22:13:20Z", "3", "10", "CRCs hold")
    assert found[4][-1] == "active"
    bars = [row[3] for row in cells(asked.rows("log-segments", scope=path, view="bars"))]
    assert [bar.count("█") for bar in bars] == [54, 54, 54, 54, 27]


def test_batches_then_records(tmp_path: Path, log: PartitionLog) -> None:
    asked, path = Asked(tmp_path), str(log.folder)
    found = asked.rows("log-batches", scope=key_of(path, 40, 0))
    assert found.total == 10
    assert cells(found)[2] == ("", "44-45", "200", "100 B", "2", "22:13:20", "")
    records = asked.rows("log-records", scope=found.rows[2].key)
    assert [row[1::2] for row in cells(records)] == [("44", "k"), ("45", "l")]
    assert words(records.rows[1].cells[3]) == "22"


def test_what_follows_a_page_is_told_and_can_be_gone_on_with(tmp_path: Path) -> None:
    settings = replace(SETTINGS, segment_bytes=1 << 20, index_interval_bytes=4_096)
    log, _ = open_log(tmp_path / "t-0", settings, now_ms=START_MS)
    one = batch("v")
    for _ in range(MOST_BATCHES + 5):
        log.append_as_leader(one, leader_epoch=0, now_ms=START_MS)
    asked, path = Asked(tmp_path), str(log.folder)
    found = asked.rows("log-batches", scope=key_of(path, 0, 0), first=MOST_BATCHES, count=5)
    assert found.total == MOST_BATCHES + 1
    assert cells(found)[-1][:4] == ("+", "enter goes on", f"{MOST_BATCHES * len(one):,}", f"{5 * len(one)} B follow")
    scope, _, more = found.rows[-1].key.rpartition("\t")
    assert more == "more"
    assert [row[1] for row in cells(asked.rows("log-batches", scope=scope))] == [
        str(MOST_BATCHES + n) for n in range(5)
    ]


def test_a_damaged_tail_is_a_row_where_it_lies_and_marks_all_above_it(tmp_path: Path, log: PartitionLog) -> None:
    last = log.folder / f"{80:020d}.log"
    last.write_bytes(last.read_bytes()[:-30])
    asked, path = Asked(tmp_path), str(log.folder)
    assert cells(asked.rows("log-partitions"))[0][::4] == ("X", "truncated end")
    assert [(row[0], row[-1]) for row in cells(asked.rows("log-segments", scope=path))][3:] == [
        ("", "CRCs hold"),
        ("X", "truncated end"),
    ]
    found = cells(asked.rows("log-batches", scope=key_of(path, 80, 0)))
    assert found[3][0] == ""
    assert found[4] == ("X", "cannot be read", "400", "70 B", "", "", "truncated")
    told = asked.told("log-segment", key_of(path, 80))
    assert "at byte 400: an entry of 100 bytes, 70 are left" in told
    assert "A write was cut short. Behind the recovery point a start after a crash cuts the log there" in told
    assert "it may also be a write that is under way" in told


def test_a_flipped_byte_is_seen_although_the_broker_went_on_writing(tmp_path: Path, log: PartitionLog) -> None:
    asked, path = Asked(tmp_path), str(log.folder)
    assert cells(asked.rows("log-partitions"))[0][4] == "CRCs hold"
    flip(log.folder / f"{20:020d}.log", 390)
    assert cells(asked.rows("log-partitions"))[0][::4] == ("X", "1 bad CRC")
    found = cells(asked.rows("log-batches", scope=key_of(path, 20, 0)))
    assert [row[0] for row in found] == ["", "", "", "X", "", "", "", "", "", ""]
    assert found[3][-1] == "bad CRC"
    told = asked.told("log-partition", path)
    assert "1 batch, at byte 300 (offset 26)" in told
    assert "Consumers and followers stop at it with an error" in told
    assert "CRC" in asked.told("log-batch", key_of(path, 20, 300))


def test_a_magic_that_no_kafka_writes_is_named_as_a_dump_names_it(tmp_path: Path, log: PartitionLog) -> None:
    asked, path = Asked(tmp_path), str(log.folder)
    file = log.folder / f"{20:020d}.log"
    data = bytearray(file.read_bytes())
    data[316] = 3
    file.write_bytes(data)
    assert cells(asked.rows("log-partitions"))[0][::4] == ("X", "1 bad magic")
    found = cells(asked.rows("log-batches", scope=key_of(path, 20, 0)))
    assert [(row[0], row[-1]) for row in found[2:5]] == [("", ""), ("X", "bad magic"), ("", "")]
    cause = "magic 3 is no format that any Kafka writes: 0, 1 and 2 are known"
    assert f"1 batch, at byte 300 (offset 26): {cause}" in asked.told("log-segment", key_of(path, 20))
    told = asked.told("log-batch", key_of(path, 20, 300))
    assert cause in told
    assert "holds" in told  # the CRC does: it begins behind the magic


def test_an_index_that_cannot_be_right_is_told(tmp_path: Path, log: PartitionLog) -> None:
    path = log.folder / f"{20:020d}.index"
    path.write_bytes(path.read_bytes()[:-3])
    asked = Asked(tmp_path)
    assert cells(asked.rows("log-segments", scope=str(log.folder)))[1][::6] == ("!", "bad index")
    told = asked.told("log-segment", key_of(str(log.folder), 20))
    assert f"{path.name}: its 21 bytes are no whole number of entries of 8 bytes" in told
    assert "Stop the broker and delete the file" in told


def test_a_log_that_goes_away_meanwhile_is_one_line(tmp_path: Path, log: PartitionLog) -> None:
    asked, path = Asked(tmp_path), str(log.folder)
    (log.folder / f"{0:020d}.log").unlink()
    note = asked.rows("log-batches", scope=key_of(path, 0, 0)).note
    assert note == f"{path}/{0:020d}.log: not there any more (retention, a deletion); r looks again"
    assert asked.told("log-batch", key_of(path, 0, 0), width=500).strip() == note


def test_hostile_names_and_contents_are_handed_on_as_they_are(tmp_path: Path) -> None:
    write_log(tmp_path / "[bold]t\t\x1b[31m-0", batches=1)
    asked = Asked(tmp_path)
    key = asked.rows("log-partitions").rows[0].key
    assert asked.rows("log-batches", scope=asked.rows("log-segments", scope=key).rows[0].key + "\t0").total == 1
    assert "\x1b" not in asked.told("log-partition", key)


def test_names_that_are_no_utf8_do_not_break_the_list(tmp_path: Path) -> None:
    (tmp_path / "t-0").mkdir()
    write_log(tmp_path / "t-0", batches=1)
    (tmp_path / "t-0").rename(Path(f"{tmp_path}/t\udcff-0"))
    found = Asked(tmp_path).rows("log-partitions")
    assert cells(found)[0][1] == r"t\xff-0"
    msgspec.msgpack.encode(found)


@pytest.mark.parametrize("folder", ["k39-clean", "k39-live", "v0-by-0.8.2", "v1-by-0.10.2", "recovery", "damaged"])
def test_every_batch_of_real_brokers_can_be_gone_to(corpus: Path, folder: str) -> None:
    asked = Asked(corpus / folder)
    partitions = asked.rows("log-partitions", count=1_000)
    assert partitions.total > 0
    for partition in partitions.rows:
        for segment in asked.rows("log-segments", scope=partition.key).rows:
            batches = asked.rows("log-batches", scope=f"{segment.key}\t0", count=10)
            assert batches.note in ("", "no batches yet")
            for found in batches.rows[:2]:
                records = asked.rows("log-records", scope=found.key)
                assert records.rows or records.note
        assert "segment" in asked.told("log-partition", partition.key)
