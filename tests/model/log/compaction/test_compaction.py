"""Compaction of a log: the newest record of each key stays, at its offset."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model.log.compaction import Compacted, Compaction, cleanable_of
from model.log.partition_log import PartitionLog
from model.log.records import Codec, Producer, Record, encode_batch, encode_message_set
from model.log.recovery import Checkpointed, open_log
from model.log.settings import LogSettings
from tests.model.log.batches import START_MS, all_bytes, all_records, batches_in, end_transaction, keyed

SETTINGS = LogSettings(
    cleanup_policy=frozenset({"compact"}), segment_bytes=400, index_interval_bytes=100, delete_retention_ms=1_000
)

Pairs = list[tuple[str, str | None]]


def new_log(folder: Path, log_settings: LogSettings = SETTINGS) -> PartitionLog:
    return open_log(folder, log_settings, Checkpointed(clean=True), now_ms=START_MS)[0]


def append(log: PartitionLog, data: bytes) -> None:
    log.append_as_leader(data, leader_epoch=0, now_ms=START_MS)
    log.set_high_watermark(log.end_offset)


def compact(log: PartitionLog, now_ms: int = START_MS, cleaned_to: int | None = None) -> Compacted:
    """With all that was written so far in closed segments."""
    log.roll(now_ms)
    return Compaction(log, cleaned_to, now_ms=now_ms).run()


def kept(log: PartitionLog) -> list[tuple[int, str, str | None]]:
    return [
        (record.offset, (record.key or b"").decode(), None if record.value is None else record.value.decode())
        for record in all_records(log)
    ]


def test_older_records_of_a_key_go_and_offsets_stay(tmp_path: Path) -> None:
    log = new_log(tmp_path / "t-0")
    append(log, keyed([("a", "1"), ("b", "1"), ("a", "2")]))
    append(log, keyed([("b", "2")]))
    append(log, keyed([("c", "1")]))
    assert compact(log).cleaned_to == 5
    assert kept(log) == [(2, "a", "2"), (3, "b", "2"), (4, "c", "1")]
    first = batches_in(log.read(0, max_bytes=1).data)[0]
    assert (first.base_offset, first.last_offset, first.count) == (0, 2, 1)


@pytest.mark.parametrize("codec", list(Codec))
def test_a_batch_keeps_its_codec(tmp_path: Path, codec: Codec) -> None:
    log = new_log(tmp_path / "t-0")
    records = [Record(number, START_MS, b"k%d" % (number % 2), b"v" * 50) for number in range(4)]
    append(log, encode_batch(records, codec=codec))
    compact(log)
    assert [record.offset for record in all_records(log)] == [2, 3]
    assert batches_in(log.read(0, max_bytes=1).data)[0].codec is codec


@pytest.mark.parametrize("codec", [Codec.NONE, Codec.GZIP])
@pytest.mark.parametrize("magic", [0, 1])
def test_message_sets_of_old_formats(tmp_path: Path, magic: int, codec: Codec) -> None:
    log = new_log(tmp_path / "t-0")
    for number in range(4):
        records = [Record(index, START_MS, b"k%d" % (number % 2 + index), b"v%d" % number) for index in range(2)]
        append(log, encode_message_set(records, magic, codec))
    compact(log)
    assert kept(log) == [(4, "k0", "v2"), (6, "k1", "v3"), (7, "k2", "v3")]


def test_a_tombstone_stays_for_delete_retention_ms(tmp_path: Path) -> None:
    log = new_log(tmp_path / "t-0")
    append(log, keyed([("a", "1"), ("b", "1")]))
    append(log, keyed([("a", None)]))
    cleaned = compact(log, now_ms=START_MS)
    assert kept(log) == [(1, "b", "1"), (2, "a", None)]
    assert batches_in(all_bytes(log))[-1].delete_horizon_ms == START_MS + 1_000
    append(log, keyed([("x", "1")]))
    compact(log, now_ms=START_MS + 999, cleaned_to=cleaned.cleaned_to)
    assert (2, "a", None) in kept(log)
    append(log, keyed([("x", "2")]))
    compact(log, now_ms=START_MS + 1_000)
    assert kept(log) == [(1, "b", "1"), (4, "x", "2")]


def test_aborted_data_goes_at_once_and_its_marker_later(tmp_path: Path) -> None:
    log = new_log(tmp_path / "t-0", replace(SETTINGS, segment_bytes=10_000))
    append(log, keyed([("a", "committed")], producer=Producer(1, 0, 0, transactional=True)))
    end_transaction(log, Producer(1), committed=True)  # 1
    append(log, keyed([("a", "aborted"), ("b", "aborted")], producer=Producer(2, 0, 0, transactional=True)))  # 2, 3
    end_transaction(log, Producer(2), committed=False)  # 4
    append(log, keyed([("z", "1")], producer=Producer(2, 0, 2, transactional=True)))
    end_transaction(log, Producer(2), committed=True)  # 6
    log.set_high_watermark(log.end_offset)
    compact(log)
    assert kept(log) == [(0, "a", "committed"), (5, "z", "1")]
    assert [each.base_offset for each in batches_in(all_bytes(log)) if each.is_control] == [1, 4, 6]
    assert len(log.segments.first.transaction_index.aborted()) == 1
    append(log, keyed([("y", "1")]))
    compact(log, now_ms=START_MS + 10)  # it has no data any more: from now on its time runs
    assert len(log.segments.first.transaction_index.aborted()) == 0
    append(log, keyed([("y", "2")]))
    compact(log, now_ms=START_MS + 1_010)
    assert [each.base_offset for each in batches_in(all_bytes(log)) if each.is_control] == [1, 6]


def test_the_last_batch_of_a_producer_stays_as_a_header(tmp_path: Path) -> None:
    log = new_log(tmp_path / "t-0")
    append(log, keyed([("a", "1")], producer=Producer(7, 2, 0)))
    append(log, keyed([("a", "2")], producer=Producer(7, 2, 1)))
    append(log, keyed([("a", "3")]))
    compact(log)
    assert kept(log) == [(2, "a", "3")]
    [header, _] = batches_in(all_bytes(log))
    assert (header.base_offset, header.count, header.size, header.base_sequence) == (1, 0, 61, 1)
    log.close(now_ms=START_MS)
    for path in log.folder.glob("*.snapshot"):
        path.unlink()
    reopened, _ = open_log(log.folder, SETTINGS, now_ms=START_MS)
    assert reopened.producers.by_id[7].last_sequence == 1


def test_open_transactions_and_the_active_segment_are_left_alone(tmp_path: Path) -> None:
    log = new_log(tmp_path / "t-0")
    append(log, keyed([("a", "1")]))
    append(log, keyed([("a", "2")], producer=Producer(1, 0, 0, transactional=True)))
    append(log, keyed([("a", "3")]))
    assert cleanable_of(log, None, START_MS).end == 0
    compact(log)
    assert [value for _, _, value in kept(log)] == ["1", "2", "3"]


def test_segments_that_fit_become_one(tmp_path: Path) -> None:
    log = new_log(tmp_path / "t-0", replace(SETTINGS, segment_bytes=2_000))
    for number in range(5):
        append(log, keyed([(f"k{number}", "x" * 100)]))
        log.roll(START_MS)
    compacted = Compaction(log, None, now_ms=START_MS).run()
    assert (compacted.segments_before, compacted.segments_after) == (5, 1)
    assert [each.base_offset for each in log.segments] == [0, 5]
    assert sorted(path.name for path in log.remove_deleted_files(START_MS + 60_000))[-1].endswith("timeindex.deleted")


def test_too_many_keys_take_several_passes(tmp_path: Path) -> None:
    log = new_log(tmp_path / "t-0")
    for number in range(30):
        append(log, keyed([(f"k{number % 10}", f"{number}")]))
    log.roll(START_MS)
    cleaned_to, passes = 0, 0
    while cleaned_to < 30:
        cleaned_to = Compaction(log, cleaned_to, now_ms=START_MS, most_keys=4).run().cleaned_to
        passes += 1
    assert passes > 2
    assert [(offset, value) for offset, _, value in kept(log)] == [(offset, f"{offset}") for offset in range(20, 30)]


def test_a_log_that_is_cut_meanwhile_stays_cut(tmp_path: Path) -> None:
    log = new_log(tmp_path / "t-0")
    for number in range(20):
        append(log, keyed([("k", f"{number}" * 20)]))
    work = Compaction(log, None, now_ms=START_MS)
    pieces = work.pieces()
    for _ in range(3):
        next(pieces)
    log.truncate_to(1, now_ms=START_MS)
    for _ in pieces:
        pass
    assert kept(log) == [(0, "k", "0" * 20)]
    assert not list(log.folder.glob("*.cleaned"))


KEYED = st.lists(
    st.tuples(st.sampled_from("abcd"), st.one_of(st.none(), st.text("xyz", max_size=9))), min_size=1, max_size=9
)


@settings(max_examples=15)
@given(batches=st.lists(KEYED, min_size=1, max_size=8), again=KEYED)
def test_a_reader_ends_with_the_same_table(
    tmp_path_factory: pytest.TempPathFactory, batches: list[Pairs], again: Pairs
) -> None:
    """Whoever reads a compacted log into a table has the table that he would have had."""
    log = new_log(tmp_path_factory.mktemp("log") / "t-0", replace(SETTINGS, delete_retention_ms=0))
    table: dict[str, str] = {}
    for cleaning, pairs in enumerate([*batches, again]):
        append(log, keyed(pairs))
        for key, value in pairs:
            table.pop(key, None)
            if value is not None:
                table[key] = value
        if cleaning % 4 == 3:
            compact(log, now_ms=START_MS + cleaning)
    compact(log, now_ms=START_MS + 100)
    compact(log, now_ms=START_MS + 101)
    offsets = [offset for offset, _, _ in kept(log)]
    assert offsets == sorted(offsets)
    assert {key: value for _, key, value in kept(log) if value is not None} == table
    assert len(kept(log)) == len({key for _, key, _ in kept(log)})
    log.close(now_ms=START_MS)
