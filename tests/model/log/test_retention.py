"""Which old segments go."""

from __future__ import annotations

from model.log.settings import Deletion, DeletionReason, LogSettings, RetainedSegment, segments_to_delete

SEGMENTS = [
    RetainedSegment(0, 10, 100, newest_ms=1_000),
    RetainedSegment(10, 20, 100, newest_ms=2_000),
    RetainedSegment(20, 30, 100, newest_ms=3_000),
    RetainedSegment(30, 35, 50, newest_ms=4_000),
]


def deleted(
    *, retention_ms: int = -1, retention_bytes: int = -1, high_watermark: int = 35, start: int = 0, now_ms: int = 5_000
) -> list[Deletion]:
    settings = LogSettings(retention_ms=retention_ms, retention_bytes=retention_bytes)
    return segments_to_delete(
        SEGMENTS, high_watermark=high_watermark, log_start_offset=start, settings=settings, now_ms=now_ms
    )


def bases(deletions: list[Deletion]) -> list[int]:
    return [deletion.base_offset for deletion in deletions]


def test_nothing_goes_without_a_limit() -> None:
    assert deleted() == []


def test_by_time() -> None:
    assert deleted(retention_ms=3_000) == [Deletion(0, DeletionReason.TIME)]
    assert bases(deleted(retention_ms=2_999)) == [0, 10]
    assert bases(deleted(retention_ms=0)) == [0, 10, 20, 30]  # the active one too


def test_the_first_that_stays_keeps_those_after_it() -> None:
    pinned = [RetainedSegment(0, 10, 100, newest_ms=9_999_999), *SEGMENTS[1:]]
    settings = LogSettings(retention_ms=0)
    assert not segments_to_delete(pinned, high_watermark=35, log_start_offset=0, settings=settings, now_ms=5_000)


def test_by_size_the_log_stays_above_its_limit() -> None:
    assert bases(deleted(retention_bytes=300)) == []  # 350 bytes: without 100 it would be below
    assert deleted(retention_bytes=250) == [Deletion(0, DeletionReason.SIZE)]
    assert bases(deleted(retention_bytes=100)) == [0, 10]
    assert bases(deleted(retention_bytes=0)) == [0, 10, 20, 30]


def test_by_the_log_s_start() -> None:
    assert deleted(start=19) == [Deletion(0, DeletionReason.LOG_START)]
    assert bases(deleted(start=20)) == [0, 10]
    assert bases(deleted(start=35)) == [0, 10, 20]  # the active one stays


def test_nothing_that_is_not_replicated_goes() -> None:
    assert bases(deleted(retention_ms=0, high_watermark=19)) == [0]
    assert bases(deleted(retention_ms=0, high_watermark=9)) == []


def test_size_comes_before_time() -> None:
    reasons = [deletion.reason for deletion in deleted(retention_bytes=250, retention_ms=2_999)]
    assert reasons == [DeletionReason.SIZE, DeletionReason.TIME]


def test_an_empty_active_segment_stays() -> None:
    empty = [RetainedSegment(35, 35, 0, newest_ms=0)]
    settings = LogSettings(retention_ms=0, retention_bytes=0)
    assert not segments_to_delete(empty, high_watermark=35, log_start_offset=35, settings=settings, now_ms=5_000)


def test_a_topic_that_is_only_compacted_loses_what_lies_before_its_start() -> None:
    settings = LogSettings(cleanup_policy=frozenset({"compact"}), retention_ms=0, retention_bytes=0)
    deletions = segments_to_delete(SEGMENTS, high_watermark=35, log_start_offset=20, settings=settings, now_ms=5_000)
    assert bases(deletions) == [0, 10]
