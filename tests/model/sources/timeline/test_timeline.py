"""The moments past: which is found for a time, that the bound holds, and what keeping them is said to cost."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.cluster.change import Change
from model.cluster.ids import TopicPartition
from model.cluster.records import (
    BrokerLost,
    BrokerRegistered,
    ClusterRecord,
    ControllerElected,
    ControllerEpochChanged,
    OffsetCommitted,
    PartitionState,
    PartitionStatesWritten,
    TopicAssigned,
    TopicRemoved,
)
from model.sources.feed import Feed, Moment
from model.sources.source import FactBatch, SourceStatus
from model.sources.timeline import PARTS, Instant, Timeline, added, bytes_of, frame_of, way_back
from tests.model.cluster.strategies import histories

BEGAN_MS = 1_000_000

LISTING: tuple[ClusterRecord, ...] = (
    *(BrokerRegistered(broker=broker) for broker in (1, 2, 3)),
    ControllerElected(broker=1, since_ms=BEGAN_MS),
    ControllerEpochChanged(epoch=7),
    TopicAssigned(topic="t", replicas=dict.fromkeys(range(1_000), (1, 2))),
    TopicAssigned(topic="u", replicas={0: (1, 2)}),
)


def state(leader: int, epoch: int) -> PartitionStatesWritten:
    one = PartitionState(0, leader, epoch, (leader,), controller_epoch=7, version=epoch, zxid=9, time_ms=BEGAN_MS)
    return PartitionStatesWritten(topic="u", states=(one,))


class Told:
    """A feed whose moments go into a timeline."""

    def __init__(self, timeline: Timeline | None = None) -> None:
        self.timeline = timeline or Timeline()
        self.moments: list[Moment] = []
        self.feed = Feed("here", self._published)
        self.zxid = 10
        self.tell(*LISTING, at_ms=BEGAN_MS, listing=True)

    def _published(self, moment: Moment) -> None:
        self.moments.append(moment)
        self.timeline = self.timeline.then(moment)

    def tell(self, *records: ClusterRecord, at_ms: int, listing: bool = False) -> Moment:
        self.zxid += 1
        self.feed.take(FactBatch(records, self.zxid, at_ms, listing=listing))
        return self.moments[-1]


def commit(offset: int) -> OffsetCommitted:
    return OffsetCommitted(group="g", partition=TopicPartition("t", 0), offset=offset)


def seq_of(instant: Instant | None) -> int | None:
    return None if instant is None else instant.seq


def test_what_is_not_whole_and_what_changes_nothing_is_no_moment() -> None:
    timeline = Timeline().then(Moment(1))
    assert timeline.instants == ()
    told = Told()
    told.feed.report(SourceStatus("live"))
    told.tell(at_ms=BEGAN_MS + 5)
    assert [each.seq for each in told.timeline.instants] == [1, 3], "a status alone is not one, an image seen later is"


def test_marks_events_and_steady_commits_are_told_apart() -> None:
    told = Told()
    told.tell(commit(5), at_ms=BEGAN_MS + 1)
    told.tell(commit(6), at_ms=BEGAN_MS + 2)
    lost = told.tell(BrokerLost(broker=3), at_ms=BEGAN_MS + 3)
    told.tell(commit(7), at_ms=BEGAN_MS + 4)
    moved = told.tell(ControllerElected(broker=2), ControllerEpochChanged(epoch=8), at_ms=BEGAN_MS + 5)
    created = told.tell(TopicAssigned(topic="v", replicas={0: (1,)}), at_ms=BEGAN_MS + 6)
    line = told.timeline
    assert [each.seq for each in line.instants if each.is_mark] == [lost.seq, moved.seq]
    assert seq_of(line.before(created.seq, lambda each: each.is_mark)) == moved.seq
    assert seq_of(line.after(1, lambda each: each.is_mark)) == lost.seq
    assert seq_of(line.after(lost.seq, lambda each: each.is_event)) == moved.seq
    assert line.after(moved.seq, lambda each: each.is_mark) is None
    assert line.before(lost.seq, lambda each: each.is_mark) is None
    assert seq_of(line.with_epoch(8)) == moved.seq
    assert seq_of(line.with_epoch(7)) == 1
    assert line.with_epoch(9) is None
    assert seq_of(line.with_zxid(lost.image.provenance.zxid)) == lost.seq
    assert line.with_zxid(1) is None, "long before the first moment: what it was like then is not known"
    assert line.with_zxid(1_000) is None


def test_a_note_is_a_moment_of_its_own() -> None:
    told = Told()
    told.feed.note(Change("sandbox-fault", "broker 1", "kill -9", "warn", BEGAN_MS + 9))
    last = told.timeline.instants[-1]
    assert (last.at_ms, last.is_mark, last.total) == (BEGAN_MS + 9, True, 2)
    assert told.timeline.instants[0].way == {}, "nothing changed in the cluster"


def test_errors_that_appear_are_a_mark() -> None:
    told = Told()
    told.tell(state(1, 1), at_ms=BEGAN_MS + 1)
    told.tell(state(-1, 2), at_ms=BEGAN_MS + 2)
    last = told.timeline.instants[-1]
    assert last.more_errors
    assert last.is_mark


def test_keeping_a_moment_costs_what_the_next_one_does_not_share() -> None:
    told = Told()
    told.tell(state(1, 1), at_ms=BEGAN_MS + 1)
    small = told.timeline.instants[0].size_bytes
    assert 0 < small < 20_000, "the thousand partitions beside it are shared"
    assert told.timeline.instants[-1].size_bytes == 0
    told.tell(TopicAssigned(topic="t", replicas=dict.fromkeys(range(1_000), (2, 3))), at_ms=BEGAN_MS + 2)
    large = told.timeline.instants[1].size_bytes
    then = told.timeline.image_of(told.timeline.instants[1])
    assert large >= then.topics["t"].replicas.nbytes
    assert told.timeline.size_bytes == small + large
    assert way_back(then, then) == {}
    assert bytes_of({}, then) < 5_000


def test_of_thousands_of_topics_a_moment_keeps_those_that_changed() -> None:
    told = Told()
    told.tell(*(TopicAssigned(topic=f"t{number}", replicas={0: (1,)}) for number in range(3_000)), at_ms=BEGAN_MS + 1)
    told.tell(state(1, 1), at_ms=BEGAN_MS + 2)
    told.tell(TopicRemoved(topic="t7"), at_ms=BEGAN_MS + 3)
    told.tell(state(2, 2), at_ms=BEGAN_MS + 4)
    line = told.timeline
    assert [set(each.way.get("topics", ())) for each in line.instants[1:-1]] == [{"u"}, {"t7"}, {"u"}]
    assert all(each.size_bytes < 8_000 for each in line.instants[1:])
    assert ["t7" in line.image_of(each).topics for each in line.instants] == [False, True, True, False, False]


def test_memory_is_bounded_and_the_oldest_go_first() -> None:
    told = Told(Timeline(most_bytes=40_000))
    for number in range(60):
        told.tell(state(1 + number % 2, number + 1), at_ms=BEGAN_MS + number)
        assert told.timeline.size_bytes <= 40_000
    line = told.timeline
    assert line.dropped > 0
    assert line.instants[-1].seq == 61
    assert [each.seq for each in line.instants] == list(range(line.dropped + 1, 62))
    assert line.size_bytes == sum(each.size_bytes for each in line.instants)


def test_one_moment_larger_than_the_bound_is_let_go_and_the_newest_stays() -> None:
    told = Told(Timeline(most_bytes=0))
    told.tell(state(1, 1), at_ms=BEGAN_MS + 1)
    assert [each.seq for each in told.timeline.instants] == [2]


@pytest.mark.parametrize("count", [0, 1, 3])
def test_what_a_feed_has_more_is_found_even_when_its_beginning_was_cut_off(count: int) -> None:
    changes = tuple(Change("leader-moved", "t-0", "the same text", time_ms=1) for _ in range(8))
    before, after = changes[: 8 - count], changes[2:]
    assert added(before, after) == changes[8 - count :]
    assert added((), after) == after


moments = st.lists(
    st.tuples(st.integers(-50, 500), st.sampled_from(["commit", "leader", "status", "note"])), max_size=40
)


@given(moments, st.integers(1, 12), st.integers(0, 30_000), st.data())
def test_order_bound_and_the_moment_at_a_time(
    steps: list[tuple[int, str]], most: int, size: int, data: st.DataObject
) -> None:
    told = Told(Timeline(most_moments=most, most_bytes=size))
    at_ms = BEGAN_MS
    published = [(BEGAN_MS, 1)]
    for number, (later, kind) in enumerate(steps, 1):
        at_ms += later  # a clock may step back: then it counts as the time of the moment before
        if kind == "status":
            told.feed.report(SourceStatus("live", verified_ms=at_ms))
            continue
        if kind == "note":
            told.feed.note(Change("sandbox-step", "cluster", f"{number}", time_ms=at_ms))
        else:
            told.tell(commit(number) if kind == "commit" else state(1 + number % 2, number), at_ms=at_ms)
        published.append((max(at_ms, published[-1][0]), told.moments[-1].seq))
    line = told.timeline
    kept = [(each.at_ms, each.seq) for each in line.instants]
    assert kept == published[line.dropped :], "in order, none left out in between"
    assert 1 <= len(kept) <= most
    assert line.size_bytes == sum(each.size_bytes for each in line.instants) <= max(size, 0)
    asked_ms = data.draw(st.integers(BEGAN_MS - 100, published[-1][0] + 100))
    expected = [seq for then_ms, seq in kept if then_ms <= asked_ms]
    assert seq_of(line.at_time(asked_ms)) == (expected[-1] if expected else None)
    asked = data.draw(st.integers(0, told.moments[-1].seq + 2))
    expected = [seq for _, seq in kept if seq <= asked]
    assert seq_of(line.at_seq(asked)) == (expected[-1] if expected else kept[0][1])


@given(histories, st.integers(1, 8))
def test_every_moment_looks_as_it_did_then(history: list[ClusterRecord], at_once: int) -> None:
    told = Told()
    for number, first in enumerate(range(0, len(history), at_once)):
        told.tell(*history[first : first + at_once], at_ms=BEGAN_MS + number, listing=number % 5 == 4)
    published = {moment.seq: moment.image for moment in told.moments}
    for instant in told.timeline.instants:
        then, seen = published[instant.seq], told.timeline.image_of(instant)
        assert frame_of(seen) == frame_of(then)
        for name in PARTS:
            parts, expected = getattr(seen, name), getattr(then, name)
            assert parts.keys() == expected.keys()
            assert all(parts[key] is expected[key] for key in expected), "the very same objects"


def test_two_timelines_in_a_row_are_as_one() -> None:
    """What was told of the past afterwards looks as if it had been seen; that it was loaded anew is left out."""
    whole = Told()
    past, present = Told(), Told()
    present.feed, present.timeline = Feed("here", present._published, seq=1_000), Timeline()
    for number in range(1, 9):
        facts = (state(1 + number % 3, number), commit(number))
        whole.tell(*facts, at_ms=BEGAN_MS + number)
        if number <= 5:
            past.tell(*facts, at_ms=BEGAN_MS + number)
        if number == 5:
            present.tell(*LISTING, *facts, at_ms=BEGAN_MS + number, listing=True)
        if number > 5:
            present.tell(*facts, at_ms=BEGAN_MS + number)
    joined = present.timeline.preceded_by(past.timeline, present.timeline.image)
    seen = [each for each in joined.instants if each.seq != present.timeline.instants[0].seq]
    assert [each.at_ms for each in seen] == [each.at_ms for each in whole.timeline.instants]
    assert [each.total for each in seen] == [each.total for each in whole.timeline.instants]
    assert [change.text for change in joined.feed] == [change.text for change in whole.timeline.feed]
    for instant, other in zip(seen, whole.timeline.instants, strict=True):
        image, lived = joined.image_of(instant), whole.timeline.image_of(other)
        assert all(getattr(image, name) == getattr(lived, name) for name in PARTS)
        assert [change.text for change in joined.feed_at(instant)] == [
            change.text for change in whole.timeline.feed_at(other)
        ]
    assert joined.then(present.moments[-1]).instants == joined.instants, "nothing is told twice"
    assert Timeline().preceded_by(past.timeline, past.timeline.image).instants == (), "nothing is known of the present"
