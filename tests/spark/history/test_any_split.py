"""However a history is cut into files, sets, days and tasks, it tells what one pass over whole images tells."""

from __future__ import annotations

import random
import tempfile
from pathlib import Path
from typing import Any

import msgspec
from hypothesis import example, given, settings
from hypothesis import strategies as st

from model.analyses import analysis
from model.analyses.history.history import HISTORY, history_of
from model.analyses.history.results import ClusterHistory, HistoryParameters, HistoryResult, parameters_of
from model.cluster.records import BrokerFenced, PartitionState, PartitionStatesWritten, TopicAssigned
from model.recordings.folder import DAY_MS
from model.recordings.recorder import Rolling
from tests.model.recordings.lives import SECOND, START_MS, Life, life, lives, record
from tests.spark.history.one_pass import OnePass

ROLLINGS = st.sampled_from((Rolling(), Rolling(flush_ms=0, heartbeat_ms=0, part_rows=5, set_rows=10)))
RANGES = st.sampled_from(
    ((0, 2**62), (START_MS + 20_000, 2**62), (0, START_MS + DAY_MS), (START_MS + 1_500, START_MS + 2 * DAY_MS))
)


def asked(folder: Path, from_ms: int, to_ms: int) -> HistoryParameters:
    return msgspec.structs.replace(parameters_of([folder], (), from_ms, to_ms), drills=False)


def here(parameters: HistoryParameters) -> HistoryResult:
    return history_of(analysis.run_here(HISTORY, {}, parameters), parameters)


def in_parts(parameters: HistoryParameters, seed: int) -> HistoryResult:
    """The units in a random order, in random batches."""
    dice = random.Random(seed)
    units = [unit.id for unit in HISTORY.units({}, parameters)]
    dice.shuffle(units)
    cuts = sorted(dice.choices(range(len(units) + 1), k=2))
    tasks = (units[: cuts[0]], units[cuts[0] : cuts[1]], units[cuts[1] :])
    return history_of(
        HISTORY.combine([HISTORY.kernel(task, {}, parameters) for task in tasks], {}, parameters), parameters
    )


FENCED_FIRST = life(
    [
        (10, [TopicAssigned("t", {0: (1,)}), PartitionStatesWritten("t", (PartitionState(0, 1, 0, (), 0, 0),))]),
        (10, [BrokerFenced(1)]),
    ]
)
"""A leader that nobody knew before it was fenced."""


@settings(max_examples=40, deadline=None)
@example(FENCED_FIRST, Rolling(), (0, 2**62))
@given(lives, ROLLINGS, RANGES)
def test_it_tells_what_one_pass_tells(told: Life, rolling: Rolling, limits: tuple[int, int]) -> None:
    end_ms = told[-1].provenance.time_ms + SECOND
    expected = OnePass(told, end_ms, *limits)
    with tempfile.TemporaryDirectory() as folder:
        record(Path(folder), told, rolling=rolling)
        if told[0].provenance.time_ms >= limits[1] or end_ms <= limits[0]:
            return
        (found,) = here(asked(Path(folder), *limits)).clusters
    assert found.observed_ms == expected.observed_ms()
    check(found, expected)


def check(found: ClusterHistory, expected: OnePass) -> None:
    outages, leaderless = expected.outages(), found.leaderless
    assert sorted((one.topic, one.partition, one.from_ms, one.to_ms) for one in leaderless.longest) == outages
    assert (leaderless.outages, leaderless.total_ms) == (len(outages), sum(one[3] - one[2] for one in outages))
    changes = expected.leader_changes()
    assert {(one.topic, one.partition): one.changes for one in found.partitions} == changes
    assert found.leader_changes == changes.total() == sum(one.changes for one in found.topics)
    assert {(one.broker, one.hour_ms, one.left, one.joined, one.lost) for one in found.hours} == expected.hours()
    assert [(one.at_ms, one.before, one.after) for one in found.controllers] == expected.controllers()
    worst = found.worst
    assert (worst and (worst.at_ms, worst.offline, worst.under_replicated)) == expected.worst()
    assert [(one.at_ms, one.offline, one.under_replicated) for one in found.moments_by_hour] == expected.moments()
    by_topic = {one.topic: (one.outages, one.total_ms, one.longest_ms) for one in leaderless.topics}
    assert by_topic == expected.topics()
    groups = expected.rebalances()
    names = {key: f"{key[0]} (classic)" if key[1] and (key[0], False) in groups else key[0] for key in groups}
    assert {one.group: (one.took_ms, one.moved, one.rebalances) for one in found.groups} == {
        names[key]: (
            sum(max(one[0], 0) for one in told.values()),
            *(sum(one[n] for one in told.values()) for n in (1, 2)),
        )
        for key, told in groups.items()
    }


@settings(max_examples=15, deadline=None)
@given(st.lists(lives, min_size=1, max_size=3), st.integers(0, 99), RANGES)
def test_tasks_may_have_any_units_in_any_order(several: list[Life], seed: int, limits: tuple[int, int]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for number, told in enumerate(several):
            record(Path(folder), told, cluster=f"c{number}")
        parameters = asked(Path(folder), 0, 2**62)
        parameters = msgspec.structs.replace(parameters, from_ms=limits[0], to_ms=limits[1])
        whole = here(parameters)
        assert in_parts(parameters, seed) == whole
        assert with_files_as_units(parameters) == whole


def with_files_as_units(parameters: HistoryParameters) -> HistoryResult:
    """Each unit a task of its own, and some of them twice empty."""
    tasks: list[Any] = [[], *([unit.id] for unit in HISTORY.units({}, parameters)), []]
    return history_of(
        HISTORY.combine([HISTORY.kernel(task, {}, parameters) for task in tasks], {}, parameters), parameters
    )
