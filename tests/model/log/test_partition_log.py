"""A partition's log: appended to, read, rolled, cut, cleared away."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from model.log.checkpoints import EpochStart
from model.log.indexes import AbortedTransaction
from model.log.names import LogError
from model.log.partition_log import Appended, PartitionLog
from model.log.producers import Origin
from model.log.records import Codec, Producer, Record, encode_batch, encode_message_set
from model.log.recovery import Checkpointed, open_log
from model.log.segment_list import aborted_transactions
from model.log.settings import LogSettings, RollReason
from tests.model.log.batches import START_MS, all_records, batch, batches_in, end_transaction, keyed, records_in, values

SETTINGS = LogSettings(segment_bytes=500, index_interval_bytes=100, segment_index_bytes=1200)

MakeLog = Callable[..., PartitionLog]


@pytest.fixture
def make_log(tmp_path: Path) -> MakeLog:
    def make(settings: LogSettings = SETTINGS) -> PartitionLog:
        return open_log(tmp_path / "t-0", settings, Checkpointed(clean=True), now_ms=START_MS)[0]

    return make


def append(log: PartitionLog, data: bytes, leader_epoch: int = 0, now_ms: int = START_MS) -> Appended:
    appended = log.append_as_leader(data, leader_epoch=leader_epoch, now_ms=now_ms)
    log.set_high_watermark(log.end_offset)
    return appended


def refused(append: Callable[[], object]) -> str:
    with pytest.raises(LogError) as refusal:
        append()
    return refusal.value.kafka_error


def names(log: PartitionLog) -> list[str]:
    return sorted(path.name for path in log.folder.iterdir())


def bases(log: PartitionLog) -> list[int]:
    return [segment.base_offset for segment in log.segments]


def test_a_log_that_nobody_closes_gives_its_files_back(make_log: MakeLog) -> None:
    gc.collect()  # or files that earlier tests left open are closed meanwhile
    before = open_files()
    log = make_log()
    for _ in range(20):
        append(log, batch("a" * 100))
    assert len(log.segments) > 1
    assert open_files() > before
    del log
    assert open_files() == before


def open_files() -> set[str]:
    """Descriptors of this process."""
    return set(os.listdir("/dev/fd"))


def test_a_leader_gives_offsets_and_its_epoch(make_log: MakeLog) -> None:
    log = make_log()
    assert append(log, batch("a", "b"), leader_epoch=3) == Appended(0, 1)
    assert append(log, batch("c"), leader_epoch=4) == Appended(2, 2)
    assert append(log, batch("d", "e"), leader_epoch=4) == Appended(3, 4)
    assert [
        (each.base_offset, each.partition_leader_epoch) for each in batches_in(log.read(0, max_bytes=999).data)
    ] == [
        (0, 3),
        (2, 4),
        (3, 4),
    ]
    assert log.epochs.starts == (EpochStart(3, 0), EpochStart(4, 2))
    assert values(log) == list("abcde")


def test_a_follower_keeps_what_its_leader_gave(make_log: MakeLog) -> None:
    log = make_log()
    sent = encode_batch([Record(40, START_MS, None, b"x"), Record(41, START_MS, None, b"y")], leader_epoch=7)
    log.truncate_fully_and_start_at(40, now_ms=START_MS)
    assert log.append_as_follower(sent + sent[:30], now_ms=START_MS) == Appended(40, 41)  # half a batch is left out
    assert log.append_as_follower(sent[:30], now_ms=START_MS) is None
    assert refused(lambda: log.append_as_follower(sent, now_ms=START_MS)) == "OFFSET_OUT_OF_RANGE"
    assert (log.start_offset, log.end_offset, log.epochs.latest) == (40, 42, 7)


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (batch("a")[:-1] + b"x", "CORRUPT_MESSAGE"),
        (batch("x" * 400), "MESSAGE_TOO_LARGE"),
        (batch("x") + batch("y"), "INVALID_RECORD"),
        (encode_batch([Record(0, 0, None, b"a")], last_offset=5), "INVALID_RECORD"),
    ],
)
def test_what_is_refused_leaves_nothing(make_log: MakeLog, data: bytes, error: str) -> None:
    log = make_log(replace(SETTINGS, max_message_bytes=400))
    append(log, batch("before"))
    assert refused(lambda: append(log, data)) == error
    assert append(log, batch("after")).first_offset == 1
    assert values(log) == ["before", "after"]


def test_what_is_larger_than_a_segment_is_refused(make_log: MakeLog) -> None:
    log = make_log()
    assert refused(lambda: append(log, batch("x" * 500))) == "RECORD_LIST_TOO_LARGE"
    assert log.end_offset == 0


@pytest.mark.parametrize("data", [b"", batch("a")[:-1], encode_message_set([Record(0, 5, None, b"x")], 1)[:20]])
def test_what_has_no_whole_batch_is_no_mistake_and_writes_nothing(make_log: MakeLog, data: bytes) -> None:
    log = make_log()
    append(log, batch("before"))
    assert append(log, data) == Appended(-1, -1)
    assert values(log) == ["before"]


def test_a_compacted_topic_wants_keys(make_log: MakeLog) -> None:
    log = make_log(replace(SETTINGS, cleanup_policy=frozenset({"compact"})))
    assert refused(lambda: append(log, batch("a"))) == "INVALID_RECORD"
    assert append(log, keyed([("k", "v")])).last_offset == 0


@pytest.mark.parametrize("magic", [0, 1])
@pytest.mark.parametrize("codec", [Codec.NONE, Codec.GZIP])
def test_message_sets_of_old_producers_get_offsets(make_log: MakeLog, magic: int, codec: Codec) -> None:
    log = make_log()
    records = [Record(number, START_MS, None, b"v%d" % number) for number in range(3)]
    for _ in range(2):
        append(log, encode_message_set(records, magic, codec))
    assert [(record.offset, record.value) for record in all_records(log)] == [
        (offset, b"v%d" % (offset % 3)) for offset in range(6)
    ]
    assert {each.magic for each in batches_in(log.read(0, max_bytes=9999).data)} == {2}


def test_append_time_is_the_broker_s(make_log: MakeLog) -> None:
    log = make_log(replace(SETTINGS, message_timestamp_type="LogAppendTime"))
    assert append(log, batch("a", time_ms=5), now_ms=77_000).append_time_ms == 77_000
    append(log, encode_message_set([Record(0, 5, None, b"b")], 1), now_ms=78_000)
    assert [record.timestamp for record in all_records(log)] == [77_000, 78_000]


def test_segments_roll_and_their_indexes_are_trimmed(make_log: MakeLog) -> None:
    log = make_log()
    rolls = [append(log, batch("x" * 150)).rolled for _ in range(5)]
    assert rolls == [None, None, RollReason.SIZE, None, RollReason.SIZE]
    assert bases(log) == [0, 2, 4]
    sizes = {path.name: path.stat().st_size for path in log.folder.iterdir()}
    assert sizes["00000000000000000000.index"] == 8
    assert sizes["00000000000000000000.timeindex"] == 12
    assert sizes["00000000000000000004.index"] == 1200
    assert sizes["00000000000000000002.snapshot"] == 10


def test_a_reader_gets_whole_batches_below_its_limit(make_log: MakeLog) -> None:
    log = make_log(replace(SETTINGS, segment_bytes=10_000))
    for number in range(20):
        append(log, batch(f"{number}" * 20, "b"))
    size = batches_in(log.read(0, max_bytes=1).data)[0].size  # one at least
    assert log.read(0, max_bytes=1, at_least_one=False).data == b""
    assert log.read(5, max_bytes=3 * size + 7).next_offset == 10  # from the batch that holds 5: 4-5, 6-7, 8-9
    assert log.read(5, max_bytes=3 * size - 1).next_offset == 8
    assert log.read(0, max_bytes=10_000, end_offset=9).next_offset == 8
    assert log.read(9, max_bytes=10_000, end_offset=8).data == b""
    assert log.read(40, max_bytes=10_000).data == b""
    for offset in (-1, 41):
        assert refused(lambda offset=offset: log.read(offset, max_bytes=100)) == "OFFSET_OUT_OF_RANGE"


def test_what_was_appended_last_is_found_as_by_a_search(make_log: MakeLog) -> None:
    log = make_log(replace(SETTINGS, segment_bytes=10_000))

    def check() -> None:
        active = log.segments.active
        offsets, sound = range(active.base_offset, log.end_offset + 1), list(active.batches())
        for offset in offsets:
            searched = next((each for each in sound if each.last_offset >= offset), None)
            assert active.find_offset(offset) == searched
            for size in {0, *(each.end for each in sound)}:
                fits = (
                    [each for each in sound if each.last_offset >= offset and each.end - searched.position <= size]
                    if searched
                    else []
                )
                assert log.read(offset, max_bytes=size, at_least_one=False).next_offset == max(
                    [offset, *(each.next_offset for each in fits)]
                )

    for sent in (batch("a"), batch("b", "c", "d"), batch("e", "f")):
        append(log, sent)
        check()
    for offset in (5, 2):
        assert log.truncate_to(offset, now_ms=START_MS)
        check()
        append(log, batch("g", "h"))
        check()
    log.roll(START_MS)
    check()


def test_a_repeated_batch_is_written_once(make_log: MakeLog) -> None:
    log = make_log()
    append(log, batch("before"))
    data = batch("a", "b", producer=Producer(5, 0, 0))
    assert append(log, data) == Appended(1, 2)
    assert append(log, data) == Appended(1, 2, duplicate=True)
    assert refused(lambda: append(log, batch("d", producer=Producer(5, 0, 3)))) == "OUT_OF_ORDER_SEQUENCE_NUMBER"
    assert append(log, batch("c", producer=Producer(5, 0, 2))) == Appended(3, 3)
    assert values(log) == ["before", "a", "b", "c"]


def test_readers_of_committed_records_wait_for_open_transactions(make_log: MakeLog) -> None:
    log = make_log(replace(SETTINGS, segment_bytes=10_000))
    one, two = Producer(1, 0, 0, transactional=True), Producer(2, 0, 0, transactional=True)
    append(log, batch("outside"))
    append(log, batch("one", producer=one))  # 1
    append(log, batch("two", producer=two))  # 2
    assert log.last_stable_offset == 1
    end_transaction(log, one, committed=False)  # 3
    assert log.last_stable_offset == 1  # its marker is not replicated
    log.set_high_watermark(4)
    assert log.last_stable_offset == 2
    end_transaction(log, two, committed=True)  # 4
    log.set_high_watermark(5)
    assert log.last_stable_offset == 5
    fetched = log.read(0, max_bytes=10_000, end_offset=log.last_stable_offset)
    assert aborted_transactions(log.segments, 0, fetched.next_offset) == (AbortedTransaction(1, 1, 3, 2),)
    assert [record.value for record in records_in(fetched.data)] == [b"outside", b"one", b"two"]
    assert aborted_transactions(log.segments, 4, 5) == ()


def test_a_fenced_producer_and_its_successor(make_log: MakeLog) -> None:
    log = make_log(replace(SETTINGS, segment_bytes=10_000))
    append(log, batch("zombie", producer=Producer(1, 3, 0, transactional=True)))
    end_transaction(log, Producer(1, 4, 0, transactional=True), committed=False)
    late = batch("late", producer=Producer(1, 3, 1, transactional=True))
    assert refused(lambda: append(log, late)) == "INVALID_PRODUCER_EPOCH"
    append(log, batch("successor", producer=Producer(1, 4, 0, transactional=True)))
    assert min(log.producers.open, default=None) == 2


def test_find_by_time(make_log: MakeLog) -> None:
    log = make_log()
    for number in range(10):
        append(log, batch("x" * 100, "y", time_ms=START_MS + 10 * number))
    found = log.find_timestamp(START_MS + 31)
    assert found is not None
    assert (found.offset, found.timestamp_ms, found.leader_epoch) == (8, START_MS + 40, 0)
    assert log.find_timestamp(START_MS + 91) is None
    log.advance_start(13)
    oldest = log.find_timestamp(0)
    assert oldest is not None
    assert oldest.offset == 13


def test_truncated_within_and_below_segments(make_log: MakeLog) -> None:
    log = make_log()
    for number in range(6):
        append(log, batch(f"{number}" * 150), leader_epoch=number)
    assert bases(log) == [0, 2, 4]
    assert not log.truncate_to(6, now_ms=START_MS)
    assert log.truncate_to(3, now_ms=START_MS)
    assert (log.end_offset, log.high_watermark, bases(log), log.epochs.latest) == (3, 3, [0, 2], 2)
    assert "00000000000000000004.log.deleted" in names(log)
    assert append(log, batch("new"), leader_epoch=9).first_offset == 3
    assert [value[0] for value in values(log)] == ["0", "1", "2", "n"]


def test_truncated_in_the_middle_of_a_batch_leaves_a_gap(make_log: MakeLog) -> None:
    log = make_log()
    append(log, batch("a"))
    append(log, batch("b", "c", "d"))
    assert log.truncate_to(2, now_ms=START_MS)
    assert (log.end_offset, values(log)) == (2, ["a"])
    append(log, batch("e"))
    assert [record.offset for record in all_records(log)] == [0, 2]


def test_truncated_below_its_start_begins_anew(make_log: MakeLog) -> None:
    log = make_log()
    log.truncate_fully_and_start_at(100, now_ms=START_MS)
    append(log, batch("a"))
    assert log.truncate_to(50, now_ms=START_MS)
    assert (log.start_offset, log.end_offset, bases(log), values(log)) == (50, 50, [50], [])


def test_truncation_takes_back_what_producers_wrote(make_log: MakeLog) -> None:
    log = make_log()
    for number in range(4):
        append(log, batch("x" * 150, producer=Producer(5, 0, number, transactional=True)))
    log.truncate_to(2, now_ms=START_MS)
    assert log.producers.by_id[5].last_sequence == 1
    assert min(log.producers.open, default=None) == 0
    assert append(log, batch("again", producer=Producer(5, 0, 2, transactional=True))).duplicate is False


def test_records_are_deleted_from_the_start(make_log: MakeLog) -> None:
    log = make_log(replace(SETTINGS, retention_ms=-1))
    for number in range(6):
        append(log, batch(f"{number}" * 150))
    log.advance_start(3)
    assert [value[0] for value in values(log)] == ["3", "4", "5"]
    assert refused(lambda: log.read(2, max_bytes=100)) == "OFFSET_OUT_OF_RANGE"
    assert [deletion.base_offset for deletion in log.apply_retention(START_MS)] == [0]
    assert bases(log) == [2, 4]
    log.set_high_watermark(4)
    assert refused(lambda: log.advance_start(5)) == "OFFSET_OUT_OF_RANGE"


def test_deleted_files_stay_for_a_while(make_log: MakeLog) -> None:
    log = make_log(replace(SETTINGS, retention_ms=1_000, file_delete_delay_ms=60_000))
    for _ in range(3):
        append(log, batch("x" * 150))
    assert [deletion.base_offset for deletion in log.apply_retention(START_MS + 1_001)] == [0, 2]
    assert (bases(log), log.start_offset, values(log)) == ([3], 3, [])
    doomed = [name for name in names(log) if name.endswith(".deleted")]
    assert "00000000000000000000.log.deleted" in doomed
    assert "00000000000000000002.snapshot.deleted" in doomed
    assert log.remove_deleted_files(START_MS + 61_000) == []
    assert {path.name for path in log.remove_deleted_files(START_MS + 61_001)} == set(doomed)
    assert [name for name in names(log) if name.endswith(".deleted")] == []
    assert append(log, batch("goes on")).first_offset == 3


def test_flush_messages_says_when_an_append_waits_for_the_disk(make_log: MakeLog) -> None:
    log = make_log(replace(SETTINGS, flush_messages=3))
    points = []
    for _ in range(4):
        append(log, batch("a"))
        points.append(log.recovery_point)
    assert points == [0, 0, 3, 3]
    log.flush()
    assert log.recovery_point == 4


def test_a_preallocated_file_ends_in_zeros_while_it_is_active(make_log: MakeLog) -> None:
    log = make_log(replace(SETTINGS, preallocate=True))
    data = batch("x" * 150)
    append(log, data)
    path = log.folder / "00000000000000000000.log"
    assert path.stat().st_size == SETTINGS.segment_bytes
    assert (values(log), log.size_bytes) == (["x" * 150], len(data))
    append(log, data)
    append(log, data)
    assert path.stat().st_size == 2 * len(data)
    log.close(now_ms=START_MS)
    assert (log.folder / "00000000000000000002.log").stat().st_size == len(data)


def test_an_empty_segment_is_not_rolled(make_log: MakeLog) -> None:
    log = make_log()
    log.roll(START_MS)
    append(log, batch("a"))
    log.roll(START_MS)
    log.roll(START_MS)
    assert bases(log) == [0, 1]


def test_coordinators_write_without_sequences(make_log: MakeLog) -> None:
    log = make_log()
    data = batch("a", producer=Producer(5, 0, 40))
    for _ in range(2):
        log.append_as_leader(data, leader_epoch=0, now_ms=START_MS, origin=Origin.COORDINATOR)
    assert log.end_offset == 2


def test_closed_segments_are_synced_by_somebody_else(make_log: MakeLog) -> None:
    log = make_log()
    while len(log.segments) < 3:
        append(log, batch("x" * 200))
    active, files = log.closed_and_unflushed()
    assert active == log.segments.active.base_offset
    assert {path.name for path in files if path.suffix == ".log"} == {f"{base:020d}.log" for base in bases(log)[:-1]}
    log.flushed_to(active)
    assert log.recovery_point == active
    assert log.closed_and_unflushed() == (active, [])
    log.flushed_to(10_000)
    assert log.recovery_point == log.end_offset
