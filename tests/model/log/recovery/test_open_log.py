"""Opening folders that a crash left: what is mended, and what the report says of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from model.log.compaction import Compaction
from model.log.names import INDEX, LOG, TIME_INDEX, TRANSACTION_INDEX
from model.log.partition_log import PartitionLog
from model.log.records import Producer
from model.log.recovery import Checkpointed, RecoveryReport, open_log
from model.log.settings import LogSettings
from tests.model.log.batches import START_MS, batch, end_transaction, keyed, values

SETTINGS = LogSettings(segment_bytes=500, index_interval_bytes=100, segment_index_bytes=1200)
CRASHED = Checkpointed(clean=False)
KINDS = (LOG, INDEX, TIME_INDEX, TRANSACTION_INDEX)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "t-0"


def opened(
    folder: Path, checkpointed: Checkpointed = CRASHED, settings: LogSettings = SETTINGS
) -> tuple[PartitionLog, RecoveryReport]:
    return open_log(folder, settings, checkpointed, now_ms=START_MS)


def written(folder: Path, count: int = 6, settings: LogSettings = SETTINGS) -> PartitionLog:
    """A log of batches of 150 bytes, two a segment, closed in good order."""
    log, _ = opened(folder, Checkpointed(clean=True), settings)
    for number in range(count):
        producer = Producer(5, 0, number, transactional=True)
        data = batch(f"{number}" * 150, time_ms=START_MS + number, producer=producer)
        log.append_as_leader(data, leader_epoch=number // 3, now_ms=START_MS)
    if count:
        end_transaction(log, Producer(5, 0, 0), committed=False)
    log.set_high_watermark(log.end_offset)
    log.close(now_ms=START_MS)
    return log


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.suffix in KINDS}


def file(folder: Path, offset: int, kind: str) -> Path:
    return folder / f"{offset:020d}{kind}"


def test_a_new_folder_is_an_empty_log(folder: Path) -> None:
    log, report = opened(folder)
    assert (log.start_offset, log.end_offset, list(report.sentences())) == (0, 0, [])
    assert sorted(path.name for path in folder.iterdir()) == [f"{0:020d}{kind}" for kind in (INDEX, LOG, TIME_INDEX)]


def test_an_orderly_end_leaves_nothing_to_do(folder: Path) -> None:
    written(folder)
    before = contents(folder)
    log, report = opened(folder, Checkpointed(clean=True, recovery_point=7, high_watermark=7))
    assert list(report.sentences()) == []
    assert (log.end_offset, log.recovery_point, log.high_watermark) == (7, 7, 7)
    assert log.producers.by_id[5].last_sequence == 5
    log.close(now_ms=START_MS)
    assert contents(folder) == before


def test_indexes_are_rebuilt_as_they_were(folder: Path) -> None:
    written(folder)
    before = contents(folder)
    for path in folder.iterdir():
        if path.suffix in (INDEX, TIME_INDEX, TRANSACTION_INDEX):
            path.write_bytes(b"anything")
    log, report = opened(folder)
    assert [each.base_offset for each in report.rebuilt] == [0, 2, 4, 6]
    assert report.cut is None
    log.close(now_ms=START_MS)
    assert contents(folder) == before


def test_a_torn_tail_is_cut_at_the_last_good_batch(folder: Path) -> None:
    written(folder, count=5)  # the sixth batch is the marker
    path = file(folder, 4, LOG)
    size = path.stat().st_size
    path.write_bytes(path.read_bytes() + b"\0" * 10 + b"torn")
    log, report = opened(folder)
    assert log.end_offset == 6
    assert path.stat().st_size == size
    assert next(report.sentences()) == (
        f"00000000000000000004.log: cut 14 bytes from byte {size} on, the log goes on at offset 6: "
        "14 bytes, too few for any entry"
    )


def test_what_follows_a_damaged_batch_is_dropped(folder: Path) -> None:
    written(folder)
    path = file(folder, 2, LOG)
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    log, report = opened(folder, Checkpointed(clean=False, recovery_point=2))
    assert report.cut is not None
    assert (report.cut.offset, report.cut.why) == (3, "the CRC does not match the batch")
    assert report.dropped_segments == (4, 6)
    assert file(folder, 4, LOG + ".deleted").exists()
    assert [value[0] for value in values(log)] == ["0", "1", "2"]
    assert log.epochs.latest == 0
    assert log.producers.by_id[5].last_sequence == 2
    assert log.append_as_leader(batch("x"), leader_epoch=4, now_ms=START_MS).first_offset == 3


def test_a_torn_segment_behind_an_empty_one_is_cut(folder: Path) -> None:
    """The empty one has no batch that would take the producers on, so that the next was read before it was mended."""
    log, _ = opened(folder, Checkpointed(clean=True))
    log.append_as_leader(batch("0"), leader_epoch=0, now_ms=START_MS)
    log.roll(START_MS)
    log.append_as_leader(batch("1"), leader_epoch=0, now_ms=START_MS)
    log.close(now_ms=START_MS)
    file(folder, 0, LOG).write_bytes(b"")
    file(folder, 1, LOG).write_bytes(b"\0")
    log, report = opened(folder)
    assert report.cut is not None
    assert (log.end_offset, file(folder, 1, LOG).read_bytes()) == (1, b"")


def test_what_was_on_disk_is_not_read_again(folder: Path) -> None:
    """As in Kafka: a bit that fell over in an old segment is found by whoever reads it."""
    written(folder)
    path = file(folder, 0, LOG)
    path.write_bytes(path.read_bytes()[:-1] + b"!")
    log, report = opened(folder, Checkpointed(clean=False, recovery_point=4))
    assert [each.base_offset for each in report.rebuilt] == [4, 6]
    assert (log.end_offset, log.recovery_point) == (7, 4)


@pytest.mark.parametrize("checkpointed", [Checkpointed(clean=True), Checkpointed(clean=False, recovery_point=6)])
@pytest.mark.parametrize(
    ("kind", "damage", "why"),
    [
        (INDEX, None, "there is no 00000000000000000002.index"),
        (TIME_INDEX, None, "there is no 00000000000000000002.timeindex"),
        (INDEX, b"x" * 33, "00000000000000000002.index: its 33 bytes are no whole number of entries of 8 bytes"),
        (TIME_INDEX, b"\xff" * 24, "its last entry (-1, -1) can't come after its first"),
    ],
)
def test_an_index_of_no_use_is_rebuilt(
    folder: Path, checkpointed: Checkpointed, kind: str, damage: bytes | None, why: str
) -> None:
    written(folder)
    before = contents(folder)
    path = file(folder, 2, kind)
    path.unlink() if damage is None else path.write_bytes(damage)
    log, report = opened(folder, checkpointed)
    assert report.rebuilt[0].base_offset == 2
    assert why in report.rebuilt[0].why
    log.close(now_ms=START_MS)
    assert contents(folder) == before


def test_an_active_segment_damaged_in_spite_of_an_orderly_end(folder: Path) -> None:
    written(folder)
    path = file(folder, 6, LOG)
    path.write_bytes(path.read_bytes()[:-1])
    log, report = opened(folder, Checkpointed(clean=True))
    assert log.end_offset == 6
    assert report.cut is not None


def test_leftovers_go(folder: Path) -> None:
    written(folder)
    for name in ("00000000000000000000.log.deleted", "00000000000000000099.index", "00000000000000000001.snapshot"):
        (folder / name).write_bytes(b"")
    _, report = opened(folder, Checkpointed(clean=True))
    assert list(report.sentences()) == [
        "removed leftovers: 00000000000000000000.log.deleted, 00000000000000000099.index, 00000000000000000001.snapshot"
    ]


def test_a_damaged_snapshot_makes_way_for_an_older_one(folder: Path) -> None:
    written(folder)
    file(folder, 7, ".snapshot").write_bytes(b"\0\1garbage!")
    log, report = opened(folder, Checkpointed(clean=True))
    assert report.bad_snapshots == ("00000000000000000007.snapshot: the CRC does not match the content",)
    assert log.producers.by_id[5].last_sequence == 5
    assert min(log.producers.open, default=None) is None


def test_damaged_leader_epochs_are_read_from_the_batches(folder: Path) -> None:
    epochs = written(folder).epochs
    (folder / "leader-epoch-checkpoint").write_text("0\n2\n0 0\n")
    log, report = opened(folder, Checkpointed(clean=True))
    assert "2 entries are promised, 1 are there" in report.epochs_rebuilt
    assert log.epochs == epochs
    assert opened(folder, Checkpointed(clean=True))[1].epochs_rebuilt == ""


def test_a_log_that_ends_before_its_start_begins_anew(folder: Path) -> None:
    written(folder)
    log, report = opened(folder, Checkpointed(clean=False, log_start_offset=50))
    assert (log.start_offset, log.end_offset, report.started_anew_at) == (50, 50, 50)
    assert report.dropped_segments == (0, 2, 4, 6)
    assert log.append_as_leader(batch("x"), leader_epoch=9, now_ms=START_MS).first_offset == 50


def test_the_start_may_lie_within_a_segment(folder: Path) -> None:
    written(folder)
    log, _ = opened(folder, Checkpointed(clean=True, log_start_offset=3))
    assert [value[0] for value in values(log)] == ["3", "4", "5"]
    assert log.high_watermark == 3


COMPACTING = replace(SETTINGS, cleanup_policy=frozenset({"compact"}))


def compacted_at(folder: Path, crash: Callable[[Path], None]) -> tuple[list[str], list[str]]:
    """A log before its compaction, and after one that a crash cut short."""
    log, _ = opened(folder, Checkpointed(clean=True), COMPACTING)
    for number in range(20):
        log.append_as_leader(keyed([(f"k{number % 3}", f"{number:03d}" * 20)]), leader_epoch=0, now_ms=START_MS)
    log.set_high_watermark(log.end_offset)
    before = values(log)
    old = {path.name: path.read_bytes() for path in folder.iterdir()}
    Compaction(log, None, now_ms=START_MS).run()
    log.close(now_ms=START_MS)
    for path in folder.iterdir():
        if path.name.endswith(".deleted"):
            path.unlink()
    after = values(opened(folder, Checkpointed(clean=True), COMPACTING)[0])
    new = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert len(after) < len(before)
    crash_folder = folder.parent / "u-0"
    crash_folder.mkdir()
    for name, data in old.items():
        (crash_folder / name).write_bytes(data)
    (crash_folder / "new").mkdir()
    for name, data in new.items():
        (crash_folder / "new" / name).write_bytes(data)
    crash(crash_folder)
    return before, after


def test_a_compaction_that_was_still_writing_is_undone(folder: Path) -> None:
    def crash(crashed: Path) -> None:
        (crashed / "00000000000000000000.log.cleaned").write_bytes(
            (crashed / "new" / f"{0:020d}.log").read_bytes()[:50]
        )

    before, _ = compacted_at(folder, crash)
    log, report = opened(folder.parent / "u-0", settings=COMPACTING)
    assert values(log) == before
    assert report.removed_files == ("00000000000000000000.log.cleaned",)


@pytest.mark.parametrize("old_is_gone", [False, True])
@pytest.mark.parametrize("clean", [False, True])
def test_a_compaction_that_was_written_is_put_into_place(folder: Path, old_is_gone: bool, clean: bool) -> None:
    bases: list[int] = []

    def crash(crashed: Path) -> None:
        for path in sorted((crashed / "new").glob("*.log"))[:-1]:
            (crashed / f"{path.name}.swap").write_bytes(path.read_bytes())
            bases.append(int(path.stem))
            if old_is_gone:
                for kind in (LOG, INDEX, TIME_INDEX):
                    old = crashed / f"{path.stem}{kind}"
                    old.rename(f"{old}.deleted")

    _, after = compacted_at(folder, crash)
    log, report = opened(folder.parent / "u-0", Checkpointed(clean=clean), COMPACTING)
    assert values(log) == after
    assert report.completed_swaps == tuple(bases)
    log.close(now_ms=START_MS)
    assert opened(folder.parent / "u-0", Checkpointed(clean=True), COMPACTING)[1].rebuilt == ()
