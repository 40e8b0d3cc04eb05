"""The kernel is the plain play: each history, topic and measure to the ms, on random clusters with all causes."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from model.analyses.forecast.kernel import Block, episodes_of, layout_of, play_block
from model.analyses.forecast.machine import FOREVER_MS, BrokerOutage, PartitionRules, PartitionTotals, play
from model.analyses.forecast.sampling import (
    HOUR_MS,
    Accidents,
    Component,
    Outages,
    Restarts,
    Times,
    places_of,
)
from tests.model.analyses.forecast.variants import MINUTE_MS, YEAR_MS, classes, crashes, one_partition, times


def played_plainly(
    rules: PartitionRules, replicas: tuple[int, ...], outages: Outages, history: int, until: int
) -> PartitionTotals:
    by_broker: defaultdict[int, list[BrokerOutage]] = defaultdict(list)
    for row in np.flatnonzero(outages.history == history).tolist():
        start, fence, ready, end, back = (
            int(each[row]) for each in (outages.start, outages.fence, outages.ready, outages.end, outages.back)
        )
        flags = (
            bool(each[row]) for each in (outages.slow, outages.clean, outages.forgets, outages.empty, outages.power)
        )
        by_broker[int(outages.broker[row])].append(BrokerOutage(start, fence, ready - fence, end, back - end, *flags))
    course = play(rules, replicas, by_broker, until)
    return course if rules.min_isr <= rules.replicas else course._replace(under_min_isr=until)


def by_kernel(
    arrays: Any, times: Times, brokers: int, topics: int, seed: int, histories: int, horizon_ms: int
) -> tuple[Block, Outages]:
    places = places_of([times], horizon_ms)
    outages = Accidents(places, seed, range(histories), horizon_ms).of(times)
    layout = layout_of(arrays, 0, brokers, topics)
    return play_block(layout, outages, episodes_of(outages), histories, horizon_ms, len(places) + 1), outages


def plainly(arrays: Any, block: Block, outages: Outages, histories: int, horizon_ms: int) -> tuple[Any, Any]:
    sums = np.zeros_like(block.sums)
    events = np.zeros_like(block.events)
    for number, replicas in enumerate(arrays["0.replicas"].tolist()):
        there = tuple(replica for replica in replicas if replica >= 0)
        elr = bool(arrays["0.elr"][number]) and len(there) > 1
        rules = PartitionRules(len(there), int(arrays["0.min_isr"][number]), bool(arrays["0.unclean"][number]), elr)
        for history in range(histories):
            course = played_plainly(rules, there, outages, history, horizon_ms)
            for entry in np.flatnonzero(arrays["0.class"] == number).tolist():
                count = int(arrays["0.count"][entry])
                sums[:, history, int(arrays["0.topic"][entry])] += np.array(course[:4]) * count
                events[history] += np.array(course[4:]) * count
    return sums, events


def test_k1_the_draws_of_three_brokers() -> None:
    places = places_of([times(crashes(3), 3)], YEAR_MS)
    assert [place.outages for place in places] == [24, 24, 24]
    ids = range(5)
    found = Accidents(places, 7, ids, YEAR_MS).of(times(crashes(3), 3))
    first = (found.history == 0) & (found.broker == 0)
    assert list(zip(found.start[first].tolist(), found.end[first].tolist(), strict=True)) == [
        (16211861675, 16212176743),
        (20310700377, 20310778205),
        (23081885912, 23082758070),
    ]
    assert np.bincount(found.broker[found.history == 0]).tolist() == [3, 9, 4]
    assert np.bincount(found.history).tolist() == [16, 18, 14, 11, 7]


def kernel_of(mtbf_h: float, mttr_min: float, histories: int) -> Any:
    assumed = times(crashes(3, mtbf_h, mttr_min), 3)
    block, _ = by_kernel(one_partition((0, 1, 2), 2), assumed, 3, 1, 7, histories, YEAR_MS)
    return block.sums[:, :, 0]


def test_k2_a_partition_at_the_usual_rates() -> None:
    found = kernel_of(2_190, 15, 200)
    assert found[:, 0].tolist() == [27300, 27300, 117000, 10566597]
    assert found.sum(axis=1).tolist() == [7043400, 7344923, 14517000, 2484736220]


def test_k3_a_partition_whose_brokers_hardly_stand() -> None:
    found = kernel_of(100, 300, 200)
    assert found[:, 0].tolist() == [828100, 219047417, 1719000, 4921229384]
    assert found.sum(axis=1).tolist() == [2566150895, 51188751110, 290579220, 936984218722]


def test_without_a_majority_of_voters_nobody_is_fenced_until_a_session_after_it_is_back() -> None:
    """Beside the same outages where nobody votes, one by one."""
    often = times(crashes(4, 100.0, 300.0), 4)
    voting = times(crashes(4, 100.0, 300.0), 4, voters=(0, 1, 2), spare_voters=1)
    places, ids = places_of([often], YEAR_MS), range(3)
    without, found = (Accidents(places, 7, ids, YEAR_MS).of(each) for each in (often, voting))
    later = same = 0
    for row in range(len(found.start)):
        history, start = int(found.history[row]), int(found.start[row])
        own = (without.history == history) & (without.broker < 3)
        outs = sorted(zip(without.start[own].tolist(), without.end[own].tolist(), strict=True))
        moments = sorted([(at, 1) for at, _ in outs] + [(at, -1) for _, at in outs], key=lambda each: each)
        down, lost, expected = 0, list[tuple[int, int]](), start + 9_000
        for at, step in moments:
            down += step
            if down == 2 and step == 1:
                lost.append((at, FOREVER_MS))
            elif down == 1 and step == -1:
                lost[-1] = (lost[-1][0], at + 9_000)
        for since, until in lost:
            expected = until if since <= expected < until else expected
        assert int(found.fence[row]) == expected, (history, start)
        later, same = later + (expected > start + 9_000), same + (expected == start + 9_000)
        assert found.fence[row] < found.ready[row] <= found.end[row]
    assert later > 20 and same > 20


@st.composite
def random_classes(draw: st.DrawFn, brokers: int, topics: int) -> Any:
    rows: list[tuple[tuple[int, ...], int, bool, bool, dict[int, int]]] = []
    for _ in range(draw(st.integers(1, 4))):
        replicas = draw(st.lists(st.integers(0, brokers - 1), min_size=1, max_size=4, unique=True))
        counts = draw(st.dictionaries(st.integers(0, topics - 1), st.integers(1, 3), min_size=1))
        rows.append((tuple(replicas), draw(st.integers(1, 4)), draw(st.booleans()), draw(st.booleans()), counts))
    return classes(rows)


@st.composite
def random_times(draw: st.DrawFn, brokers: int) -> Times:
    """From hardly any failure to hardly any rest."""
    mtbf_h = draw(st.sampled_from((30.0, 300.0, 2_190.0)))
    found = list(crashes(brokers, mtbf_h, draw(st.sampled_from((0.1, 15.0, 300.0)))))
    hours = st.sampled_from((200.0, 2_000.0))
    if draw(st.booleans()):
        found += [
            Component(
                name=f"disk {broker}", kind="disk", brokers=(broker,), up_ms=draw(hours) * HOUR_MS,
                down_ms=30.0 * MINUTE_MS, effect="empty",
            )
            for broker in range(brokers)
        ]  # fmt: skip
    for number in range(draw(st.integers(0, 2))):
        members = draw(st.sets(st.integers(0, brokers - 1), min_size=1))
        found.append(
            Component(
                name=f"group {number}", kind="group", brokers=tuple(sorted(members)), up_ms=draw(hours) * HOUR_MS,
                down_ms=60.0 * MINUTE_MS, effect=draw(st.sampled_from(("crash", "cut off"))), lost_share=0.1,
            )
        )  # fmt: skip
    if draw(st.booleans()):
        found += [
            Component(
                name=f"slow {broker}", kind="slow", brokers=(broker,), up_ms=draw(hours) * HOUR_MS,
                down_ms=3.0 * MINUTE_MS, effect="slow",
            )
            for broker in range(brokers)
        ]  # fmt: skip
    waits, polite = draw(st.booleans()), draw(st.booleans())
    restarts = Restarts(every_ms=200 * HOUR_MS, down_ms=3 * MINUTE_MS, waits=waits, polite=polite)
    return times(
        tuple(found),
        brokers,
        restarts=draw(st.sampled_from(((), (restarts,)))),
        elect_ms=tuple(draw(st.lists(st.integers(0, 5_000), min_size=brokers, max_size=brokers))),
        rejoin_ppm=draw(st.sampled_from((0, 100_000, 2_000_000))),
        voters=tuple(draw(st.sets(st.integers(0, brokers - 1)))),
        spare_voters=draw(st.integers(0, 1)),
    )


@settings(deadline=None)
@given(st.data(), st.integers(2, 5), st.integers(1, 3), st.integers(0, 2**64 - 1))
def test_k4_the_kernel_is_the_plain_play(data: st.DataObject, brokers: int, topics: int, seed: int) -> None:
    arrays = data.draw(random_classes(brokers, topics))
    assumed = data.draw(random_times(brokers))
    block, outages = by_kernel(arrays, assumed, brokers, topics, seed, 4, 1_000 * HOUR_MS)
    sums, events = plainly(arrays, block, outages, 4, 1_000 * HOUR_MS)
    assert (block.sums == sums).all()
    assert (block.events == events).all()
    told = block.sums[:2].sum(axis=(1, 2)) - np.array([0, 1_000 * HOUR_MS * 4 * _refusing(arrays)])
    assert np.allclose(block.causes.sum(axis=1), told)
    same = (outages.history[1:] == outages.history[:-1]) & (outages.broker[1:] == outages.broker[:-1])
    assert (outages.start[1:] > outages.end[:-1])[same].all()


def _refusing(arrays: Any) -> int:
    size = (arrays["0.replicas"] >= 0).sum(axis=1)
    return int((arrays["0.count"] * (arrays["0.min_isr"] > size)[arrays["0.class"]]).sum())
