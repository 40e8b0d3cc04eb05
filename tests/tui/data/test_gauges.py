"""The last ten minutes of what is counted: of moments as they are told, of a recording, and of what nobody knows."""

from __future__ import annotations

from dataclasses import replace
from math import isnan, nan
from pathlib import Path

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from model.cluster.change import Change
from model.cluster.findings import find
from model.cluster.ids import TopicPartition
from model.cluster.records import BrokerLost, PartitionStatesWritten
from model.sources.addresses import RecordingName
from model.sources.feed import Moment
from model.sources.file_source import RecordingSource
from model.sources.source import Phase, SourceStatus
from model.sources.timeline import Timeline
from tests.model.cluster.build import brokers, image, state, topic
from tests.model.recordings.lives import START_MS, life, record
from tests.tui.data.small_cluster import NOW_MS, WRITTEN_MS, small_image
from tui.engine.cluster.gauges import MOST_SAMPLES, RECENT, SAMPLE_MS, Gauges, HealthCounts, counts_of
from tui.engine.history.past_service import PastService
from tui.engine.messages import TimeQuery

IMAGE = small_image()
BEGUN_MS = WRITTEN_MS // SAMPLE_MS * SAMPLE_MS
HERE = TopicPartition("orders", 2)


def seen(at_ms: int, *, phase: Phase = "live", lag: int | None = None) -> Moment:
    """The small cluster at a time, its group so far behind on one partition."""
    ends = {} if lag is None else {HERE: 100 + lag}
    provenance = msgspec.structs.replace(IMAGE.provenance, time_ms=at_ms)
    whole = msgspec.structs.replace(IMAGE, provenance=provenance, log_ends=ends)
    return Moment(1, whole, find(whole), (), SourceStatus(phase, since_ms=at_ms))


def of(*moments: Moment) -> Gauges:
    gauges = Gauges()
    for moment in moments:
        gauges = gauges.then(moment, ())
    return gauges


def told_of(values: tuple[float, ...]) -> list[float]:
    """What is known at the end of a series; all before that is not."""
    known = [value for value in values if not isnan(value)]
    assert len(values) == RECENT and all(map(isnan, values[: RECENT - len(known)]))
    return known


def test_what_is_counted_is_what_the_findings_say() -> None:
    assert counts_of(IMAGE, find(IMAGE)) == HealthCounts(
        offline=2, under_min_isr=0, under_replicated=2, off_preferred=1, moving=1
    )


def test_nothing_is_known_before_the_cluster_was_seen_and_what_was_seen_holds_until_it_differs() -> None:
    gauges = of(seen(BEGUN_MS))
    assert told_of(gauges.at(BEGUN_MS + 3 * SAMPLE_MS).of("offline")) == [2, 2, 2, 2]
    assert told_of(Gauges().at(NOW_MS).of("offline")) == []
    assert told_of(Gauges().at(NOW_MS).isr_churn) == told_of(Gauges().at(NOW_MS).lag()) == []


def test_of_a_cluster_that_is_not_heard_of_nothing_is_known() -> None:
    gauges = of(seen(BEGUN_MS), seen(BEGUN_MS + SAMPLE_MS, phase="stale"))
    series = gauges.at(BEGUN_MS + 4 * SAMPLE_MS).of("offline")
    assert series[-5:-3] == (2, 2), "in the sample in which the link broke it was known at first"
    assert all(map(isnan, series[-3:]))
    back = gauges.then(seen(BEGUN_MS + 4 * SAMPLE_MS), ()).at(BEGUN_MS + 4 * SAMPLE_MS)
    assert back.of("offline")[-1] == 2 and isnan(back.of("offline")[-2])


def test_an_image_that_is_not_whole_counts_nothing() -> None:
    whole = seen(BEGUN_MS)
    loading = msgspec.structs.replace(whole.image.provenance, complete=False)
    parts = replace(whole, image=msgspec.structs.replace(whole.image, provenance=loading))
    assert of(parts).samples == ()


def test_a_lag_is_of_a_group_or_of_all_and_unknown_without_log_ends() -> None:
    gauges = of(seen(BEGUN_MS), seen(BEGUN_MS + SAMPLE_MS, lag=40), seen(BEGUN_MS + 3 * SAMPLE_MS, lag=7))
    recent = gauges.at(BEGUN_MS + 3 * SAMPLE_MS)
    assert told_of(recent.lag()) == told_of(recent.lag("billing")) == [40, 40, 7]
    assert told_of(recent.lag("audit")) == []


def test_isr_changes_are_counted_for_a_minute_and_one_line_may_stand_for_many() -> None:
    many = Change("isr-shrunk", "broker 5", "b5 left the ISR of 40 partitions", "warn", count=40)
    gauges = of(seen(BEGUN_MS)).then(seen(BEGUN_MS + SAMPLE_MS), (many, Change("topic-created", "x", "created")))
    assert told_of(gauges.at(BEGUN_MS + 8 * SAMPLE_MS).isr_churn) == [0, *[40] * 6, 0, 0]


def test_the_past_is_as_it_was_known_then() -> None:
    gauges = of(seen(BEGUN_MS, lag=5), seen(BEGUN_MS + 5 * SAMPLE_MS, lag=9))
    assert told_of(gauges.at(BEGUN_MS + 4 * SAMPLE_MS).lag()) == [5] * 5
    assert told_of(gauges.at(BEGUN_MS - 1).lag()) == []


heard = st.lists(st.tuples(st.integers(0, 40_000), st.none() | st.integers(0, 3)), max_size=30)


@given(heard, st.integers(0, 200_000))
def test_a_sample_has_the_most_of_its_ten_seconds(steps: list[tuple[int, int | None]], later_ms: int) -> None:
    """Compared with a look at each second."""
    gauges, at_ms, levels = Gauges(), BEGUN_MS, dict[int, list[int | None]]()
    held: int | None = None
    for after_ms, offline in steps:
        for number in range(at_ms // SAMPLE_MS + 1, (at_ms + after_ms) // SAMPLE_MS + 1):
            levels[number] = [held]
        at_ms += after_ms
        held = offline
        levels.setdefault(at_ms // SAMPLE_MS, []).append(held)
        gauges = gauges.counted(at_ms, IMAGE, None if offline is None else HealthCounts(offline=offline))
    last = (at_ms + later_ms) // SAMPLE_MS
    expected = [
        max((level for level in levels.get(number, [held] if number > at_ms // SAMPLE_MS else []) if level is not None),
            default=nan)
        for number in range(last - RECENT + 1, last + 1)
    ]  # fmt: skip
    assert str(list(map(float, expected))) == str(list(map(float, gauges.at(at_ms + later_ms).of("offline"))))


def test_no_more_is_kept_than_hours() -> None:
    gauges = Gauges()
    for number in range(MOST_SAMPLES + 5):
        gauges = gauges.counted(BEGUN_MS + number * SAMPLE_MS, IMAGE, HealthCounts(number))
    assert len(gauges.samples) == MOST_SAMPLES and gauges.samples[-1].counts == HealthCounts(MOST_SAMPLES + 4)
    assert len({id(sample.lags) for sample in gauges.samples}) == 1, "lags that did not change are counted once"


async def test_the_service_counts_each_moment_and_the_isr_changes_on_the_way_to_it() -> None:
    past, shrunk = PastService(), Change("isr-shrunk", "orders-2", "isr 3,4,5 -> 3,4", "warn", BEGUN_MS + SAMPLE_MS)
    newest = replace(seen(BEGUN_MS + SAMPLE_MS), feed=(shrunk,))
    past.take(seen(BEGUN_MS))
    past.take(newest)
    past.take(newest)
    recent = await past.recent(newest, BEGUN_MS + 2 * SAMPLE_MS)
    assert (told_of(recent.of("offline")), told_of(recent.isr_churn)) == ([2, 2, 2], [0, 1, 1])


async def test_what_a_source_recalls_is_counted_too() -> None:
    earlier, past = Timeline(), PastService()
    for place, broker in enumerate((0, 2)):
        told = image(*brokers(1, 2), *topic("t", (2,)), *([BrokerLost(broker=broker)] if broker else []),
                     time_ms=BEGUN_MS + place * SAMPLE_MS)  # fmt: skip
        earlier = earlier.then(Moment(place + 1, told, find(told)))
    past.take(seen(BEGUN_MS + 3 * SAMPLE_MS))
    past.precede(earlier)
    past.take(seen(BEGUN_MS + 5 * SAMPLE_MS))
    recent = await past.recent(seen(BEGUN_MS), BEGUN_MS + 5 * SAMPLE_MS)
    assert told_of(recent.of("offline")) == [0, 1, 1, 2, 2, 2]


async def test_of_a_recording_what_it_remembers_is_counted_before_any_moment(tmp_path: Path) -> None:
    lost = [BrokerLost(broker=2), PartitionStatesWritten(topic="t", states=(state(0, -1, (2,)),))]
    back = [*brokers(2), PartitionStatesWritten(topic="t", states=(state(0, 2, (2,)),))]
    record(tmp_path, life([(0, [*brokers(1, 2), *topic("t", (2,))]), (30_000, lost), (25_000, back)]))
    past = PastService(source=RecordingSource(RecordingName(tmp_path, None)))
    live = Moment(1, IMAGE, status=SourceStatus("snapshot", verified_ms=START_MS + 70_000))
    await past.answer(TimeQuery("now"), live)
    assert told_of((await past.recent(live, START_MS + 86_400_000)).of("offline")) == [0, 0, 0, 1, 1, 1, 0, 0]
    then = await past.answer(TimeQuery("time", "-20s"), live)
    moment, at_ms = await past.look(then.seq, live)
    assert told_of((await past.recent(moment, at_ms)).of("offline")) == [0, 0, 0, 1]
