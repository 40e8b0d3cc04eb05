"""Which offsets clients are told (Kafka's PartitionTest: ListOffsets; KIP-207)."""

from __future__ import annotations

import msgspec
import pytest

from model.broker.serving import (
    EARLIEST_TIMESTAMP,
    LATEST_TIMESTAMP,
    MAX_TIMESTAMP,
    FoundOffset,
    Isolation,
    LogTimes,
    OffsetAnswer,
    OffsetQuestion,
    OldQuestion,
    error_for_version,
    look_up_offset,
    look_up_old_offsets,
)
from tests.model.broker.partitions import follower_of, leader_of, log_to

LOG = log_to(10, (5, 0), start=2)
COMMITTED = leader_of(log_to(3, (5, 0)), isr=(1,), leader_epoch=5, high_watermark=3)
"""Its epoch starts at 3, and so does its high watermark; the log has grown since."""


def ask(timestamp: int, isolation: Isolation, found: FoundOffset | None = None) -> OffsetAnswer:
    return look_up_offset(COMMITTED, OffsetQuestion(timestamp=timestamp, isolation=isolation), LOG, 2, found)


@pytest.mark.parametrize(
    ("isolation", "offset"),
    [(Isolation.LOG_END, 10), (Isolation.HIGH_WATERMARK, 3), (Isolation.LAST_STABLE_OFFSET, 2)],
)
def test_the_latest_offset_is_as_far_as_one_may_read(isolation: Isolation, offset: int) -> None:
    assert ask(LATEST_TIMESTAMP, isolation) == OffsetAnswer(found=FoundOffset(offset, leader_epoch=5))


def test_the_earliest_is_the_start_of_the_log() -> None:
    assert ask(EARLIEST_TIMESTAMP, Isolation.HIGH_WATERMARK).found.offset == 2


@pytest.mark.parametrize("timestamp", [1_234, MAX_TIMESTAMP])
def test_by_time_only_what_one_may_read_is_found(timestamp: int) -> None:
    seen, unseen = FoundOffset(2, 1_300, 5), FoundOffset(3, 1_400, 5)
    assert ask(timestamp, Isolation.HIGH_WATERMARK, seen) == OffsetAnswer(found=seen)
    assert ask(timestamp, Isolation.HIGH_WATERMARK, unseen) == OffsetAnswer()
    assert ask(timestamp, Isolation.HIGH_WATERMARK, None) == OffsetAnswer()


@pytest.mark.parametrize(
    ("timestamp", "isolation", "error"),
    [
        (LATEST_TIMESTAMP, Isolation.HIGH_WATERMARK, "OFFSET_NOT_AVAILABLE"),
        (LATEST_TIMESTAMP, Isolation.LAST_STABLE_OFFSET, "OFFSET_NOT_AVAILABLE"),
        (LATEST_TIMESTAMP, Isolation.LOG_END, "NONE"),
        (1_234, Isolation.HIGH_WATERMARK, "OFFSET_NOT_AVAILABLE"),
        (EARLIEST_TIMESTAMP, Isolation.HIGH_WATERMARK, "NONE"),
    ],
)
def test_a_new_leader_whose_high_watermark_lags_tells_no_offset_that_goes_back(
    timestamp: int, isolation: Isolation, error: str
) -> None:
    lagging = leader_of(LOG, leader_epoch=6, high_watermark=4)
    question = OffsetQuestion(timestamp=timestamp, isolation=isolation)
    assert look_up_offset(lagging, question, LOG, 4, FoundOffset(6, 1_300, 5)).error == error


def test_what_the_new_leader_can_see_already_is_told() -> None:
    lagging = leader_of(LOG, leader_epoch=6, high_watermark=4)
    question = OffsetQuestion(timestamp=1_234, isolation=Isolation.HIGH_WATERMARK)
    assert look_up_offset(lagging, question, LOG, 4, FoundOffset(3, 1_300, 5)).found.offset == 3


def test_leader_epochs_are_compared_first() -> None:
    question = OffsetQuestion(timestamp=LATEST_TIMESTAMP, isolation=Isolation.HIGH_WATERMARK, leader_epoch=4)
    assert look_up_offset(COMMITTED, question, LOG, 2, None).error == "FENCED_LEADER_EPOCH"
    of_follower = OffsetQuestion(timestamp=LATEST_TIMESTAMP, isolation=Isolation.HIGH_WATERMARK)
    assert look_up_offset(follower_of(1, LOG), of_follower, LOG, 2, None).error == "NOT_LEADER_OR_FOLLOWER"


def test_older_clients_are_told_an_error_they_know() -> None:
    assert error_for_version("OFFSET_NOT_AVAILABLE", 4) == "LEADER_NOT_AVAILABLE"
    assert error_for_version("OFFSET_NOT_AVAILABLE", 5) == "OFFSET_NOT_AVAILABLE"
    assert error_for_version("FENCED_LEADER_EPOCH", 4) == "FENCED_LEADER_EPOCH"


TIMES = LogTimes(((0, 100), (50, 200)), 0, 80, end_is_empty=False)


@pytest.mark.parametrize(
    ("log", "timestamp", "most", "of_consumer", "offsets"),
    [
        (TIMES, -1, 1, True, (70,)),
        (TIMES, -1, 10, True, (70, 50, 0)),
        (TIMES, -2, 10, True, (0,)),
        (TIMES, 150, 10, True, (0,)),
        (TIMES, 99, 10, True, ()),
        (TIMES, -1, 2, False, (80, 50)),
        (TIMES, -1, 0, True, ()),
        (LogTimes(TIMES.segments, 20, 80, end_is_empty=False), -2, 1, True, (20,)),
        (LogTimes(TIMES.segments, 0, 50, end_is_empty=True), -1, 2, True, (50, 0)),
    ],
)
def test_offsets_near_a_time_as_before_0_10(
    log: LogTimes, timestamp: int, most: int, of_consumer: bool, offsets: tuple[int, ...]
) -> None:
    partition = msgspec.structs.replace(leader_of(log_to(80, (5, 0)), isr=(1,), leader_epoch=5), high_watermark=70)
    question = OldQuestion(timestamp, most, of_consumer)
    assert look_up_old_offsets(partition, question, log, now_ms=300) == ("NONE", offsets)
