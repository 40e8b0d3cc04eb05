"""A large snapshot of a quorum's metadata log, shown while it is being read; and parts that turn out to be void."""

from __future__ import annotations

from functools import cache

import pytest

from model.cluster.cluster_image import ClusterImage
from model.log.records import RecordBatch, scan
from model.observer.messages import BatchesCommitted, LogBatch, LogPosition, SnapshotGrew, SnapshotRead
from model.sources.feed import Feed, Moment
from model.sources.quorum.facts import LogFacts
from tests.model.metadata_log.snapshot_writer import snapshot
from tests.model.metadata_log.writing import batch, topic_id, written
from tests.model.sources.quorum.test_facts import batches, following, image_of


class Shown:
    """Facts, and the moments that a feed makes of them, however quickly they come."""

    def __init__(self, *, tells_parts: bool = True) -> None:
        self.moments: list[Moment] = []
        self._now_s = 0.0
        feed = Feed("large", self.moments.append, self._clock_s)
        self.facts = LogFacts(feed.take, tells_parts=tells_parts)

    def _clock_s(self) -> float:
        self._now_s += 60.0
        return self._now_s

    def take_pieces(self, read: SnapshotRead, size: int, until: int | None = None) -> None:
        """All but the last one, as an observer hands them on; or those that begin before a place."""
        for start in range(0, min(until or 1 << 40, len(read.data) - size), size):
            self.facts.take(SnapshotGrew(read.id, start, read.data[start : start + size], len(read.data)))

    @property
    def images(self) -> list[ClusterImage]:
        return [moment.image for moment in self.moments]


@cache
def large() -> SnapshotRead:
    """150,000 partitions in 11 MB."""
    return SnapshotRead(LogPosition(1_000, 2), b"".join(snapshot(300, 500, epoch=2)))


SMALL = SnapshotRead(LogPosition(2_000, 3), b"".join(snapshot(2, 3, epoch=3)))
REMOVED = batch([written("RemoveTopic", topicId=topic_id(1))], 1_000, epoch=2)


def log_batch(data: bytes) -> BatchesCommitted:
    (found,) = (each for each in scan(data) if isinstance(each, RecordBatch))
    one = LogBatch(found.base_offset, found.next_offset, found.partition_leader_epoch, found.max_timestamp, data)
    return BatchesCommitted((one,), found.next_offset)


@pytest.mark.parametrize("size", [1 << 20, 250_000])
def test_a_large_snapshot_is_shown_in_parts_and_ends_in_the_whole(size: int) -> None:
    whole, shown = Shown(), Shown()
    shown.take_pieces(large(), size)
    parts = shown.images
    assert 0 < parts[0].partition_count < 150_000 * size / len(large().data)
    assert len({part.partition_count for part in parts}) >= 2
    assert not any(part.provenance.complete for part in parts)
    for each in (shown, whole):
        each.facts.take(large())
        each.facts.take(log_batch(REMOVED))
        each.facts.list("a-cluster")
    (image,) = whole.images
    assert image.partition_count == 149_500
    assert shown.images[-1] == image
    assert image.provenance.complete


def test_parts_of_a_snapshot_that_was_given_up_are_gone() -> None:
    shown = Shown()
    shown.take_pieces(large(), 1 << 20, until=3 << 20)
    assert shown.images[-1].partition_count > 6
    shown.take_pieces(SMALL, 500)
    assert shown.images[-1].partition_count <= 6
    shown.facts.take(SMALL)
    shown.facts.list(None)
    assert [*map(len, shown.images[-1].topics.values())] == [3, 3]


def test_a_leader_who_has_the_log_itself_makes_parts_void() -> None:
    shown = Shown()
    shown.take_pieces(large(), 1 << 20, until=3 << 20)
    for each in batches():
        shown.facts.take(BatchesCommitted((each,), each.next_offset))
    shown.facts.list(None)
    assert shown.images[-1].topics == image_of(following(*map(one_of, batches()), then=[])).topics


def one_of(each: LogBatch) -> BatchesCommitted:
    return BatchesCommitted((each,), each.next_offset)


def test_a_damaged_piece_shows_nothing_of_what_follows() -> None:
    shown = Shown()
    at = 3 << 20
    data = large().data[:at] + bytes([large().data[at] ^ 1]) + large().data[at + 1 :]
    shown.take_pieces(SnapshotRead(large().id, data), 1 << 20)
    assert max(image.partition_count for image in shown.images) < 150_000 * at / len(data)


def test_who_has_a_picture_already_is_told_the_whole_at_once() -> None:
    shown = Shown(tells_parts=False)
    shown.take_pieces(large(), 1 << 20)
    assert not shown.moments
    shown.facts.take(large())
    shown.facts.list(None)
    assert shown.images[0].partition_count == 150_000
