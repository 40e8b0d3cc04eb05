"""The same seed gives the same bytes, however histories are dealt; variants live through the same accidents."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import msgspec
import numpy as np
import pytest

from model.analyses import AnalysisError
from model.analyses.analysis import run_here
from model.analyses.forecast.assumptions import USUAL, Assumptions
from model.analyses.forecast.clusters import Cluster, broker_ids, cluster_of
from model.analyses.forecast.figures import YEAR_MS, figures_of, pair_of
from model.analyses.forecast.forecast import (
    FORECAST,
    UNIT,
    ForecastParameters,
    UnitSums,
    arrays_of_variants,
    together,
    waves,
)
from model.analyses.forecast.kernel import apart, episodes_of, layout_of, play_block
from model.analyses.forecast.playing import Playing, topic_pairs
from model.analyses.forecast.sampling import Accidents, places_of
from model.analyses.image_arrays import topics_of
from model.cluster.cluster_image import ClusterImage
from model.drills.scenario import check, of_acts, read_written
from tests.harness.waiting import eventually_async
from tests.model.drills.clusters import cluster, topic
from tests.spark.running_spark import RunningSpark
from tests.tui.data.asked import ENTRIES
from tui.app import analysis_choices
from tui.engine.analysis_service import AnalysisService
from tui.engine.jobs import AnalysisAnswer
from tui.engine.listing import AnswerMemo, loaded, shown
from tui.engine.messages import STOPPABLE
from tui.engine.queries import ForecastActionList, ForecastCauseList, ForecastTopicList
from tui.engine.questions import ForecastQuestion
from tui.engine.rows import Window
from tui.engine.view_state import ViewState

SIX = cluster(
    range(1, 7),
    *topic((1, 2, 3), (1, 2, 3), 1, name="three", min_insync_replicas="2"),
    *topic((4, 1), (4, 1), 4, name="one-rack"),
    *topic((5,), (5,), 5, name="lonely"),
)
"""Brokers 1 and 4 are in one rack."""
SEVEN = cluster(
    range(1, 8),
    *topic((1, 2, 3), (1, 2, 3), 1, name="three", min_insync_replicas="2"),
    *topic((4, 1), (4, 1), 4, name="one-rack"),
    *topic((5,), (5,), 5, name="lonely"),
)
"""And one without partitions."""
SPREAD = cluster(
    range(1, 7),
    *topic((1, 2, 3), (1, 2, 3), 1, name="three", min_insync_replicas="2"),
    *topic((4, 2), (4, 2), 4, name="one-rack"),
    *topic((5,), (5,), 5, name="lonely"),
)
OFTEN = USUAL.with_rate("broker.mtbf_h", 200)


def parameters(
    variants: list[Cluster], brokers: int, histories: int, first: int = 0, seed: int = 5
) -> ForecastParameters:
    return ForecastParameters(
        seed=seed, first=first, histories=histories, horizon_ms=YEAR_MS, brokers=brokers, topics=3,
        variants=tuple(one.times for one in variants),
    )  # fmt: skip


def made(*images: ClusterImage, assumed: Assumptions = OFTEN) -> tuple[list[Cluster], int]:
    brokers = broker_ids(images)
    return [cluster_of(image, assumed, brokers, topics_of(images[0])) for image in images], len(brokers)


def played(*images: ClusterImage, histories: int = 300, seed: int = 5) -> UnitSums:
    variants, brokers = made(*images)
    return run_here(FORECAST, arrays_of_variants(variants), parameters(variants, brokers, histories, seed=seed))


def test_units_in_any_order_and_grouping_are_the_same_bytes() -> None:
    variants, brokers = made(SIX)
    arrays, asked = arrays_of_variants(variants), parameters(variants, brokers, 2 * UNIT + 100)
    ids = [unit.id for unit in FORECAST.units(arrays, asked)]
    assert ids == [0, 1, 2]
    alone = [FORECAST.kernel([unit], arrays, asked) for unit in reversed(ids)]
    grouped = [FORECAST.kernel([2, 0], arrays, asked), FORECAST.kernel([1], arrays, asked)]
    whole = run_here(FORECAST, arrays, asked)
    for batches in (alone, grouped):
        assert msgspec.json.encode(FORECAST.combine(batches, arrays, asked)) == msgspec.json.encode(whole)


def test_waves_make_up_the_whole() -> None:
    variants, brokers = made(SIX)
    arrays = arrays_of_variants(variants)
    histories = 3 * UNIT + 7
    first, *others = waves(histories)
    assert first == (0, 200)
    came = [run_here(FORECAST, arrays, parameters(variants, brokers, count, at)) for at, count in others]
    whole = run_here(FORECAST, arrays, parameters(variants, brokers, histories))
    assert together(came) == whole
    look = run_here(FORECAST, arrays, parameters(variants, brokers, 200))
    assert (look.arrays()["totals"] == whole.arrays()["totals"][:200]).all()


@pytest.mark.parametrize("histories", [1, 200, 201, 2_000, 30_000, 1_000_000])
def test_waves_follow_each_other_by_whole_units(histories: int) -> None:
    every = list(waves(histories))[histories > 200 :]
    assert all(first + count == after and after % UNIT == 0 for (first, count), (after, _) in pairwise(every))
    assert every[0][0] == 0
    assert sum(count for _, count in every) == histories
    assert len(every) < 30


def test_spark_plays_what_this_process_plays(spark: RunningSpark) -> None:
    variants, brokers = made(SIX)
    arrays, asked = arrays_of_variants(variants), parameters(variants, brokers, 3 * UNIT)
    there, here = spark.run(FORECAST, arrays, asked), run_here(FORECAST, arrays, asked)
    assert msgspec.json.encode(there) == msgspec.json.encode(here)


@pytest.mark.thorough
def test_two_workers_of_a_cluster_play_what_this_process_plays(cluster_spark: RunningSpark) -> None:
    variants, brokers = made(SIX, SPREAD)
    arrays, asked = arrays_of_variants(variants), parameters(variants, brokers, 3 * UNIT + 50)
    there, here = cluster_spark.run(FORECAST, arrays, asked), run_here(FORECAST, arrays, asked)
    assert msgspec.json.encode(there) == msgspec.json.encode(here)


@pytest.mark.thorough
async def test_the_screen_has_the_same_rows_where_spark_is_forced() -> None:
    state = replace(ViewState(), forecast=ForecastQuestion(histories=2_300, settings=(("three", "rf", "2"),)))
    asked = [analysis_choices.with_next_engine(state, "forecast").forecast]
    while asked[-1].engine != "spark":
        asked.append(analysis_choices.with_next_engine(replace(state, forecast=asked[-1]), "forecast").forecast)
    assert [one.engine for one in asked] == ["here", "spark"]
    service = AnalysisService(lambda: SIX, lambda: None, "local[2]")
    try:
        looks: list[AnalysisAnswer] = []
        for question in asked:
            await eventually_async(
                lambda question=question: STOPPABLE not in service.look(question).note, patience_s=240
            )
            looks.append(service.look(question))
        here, there = looks
        assert (here.engine, there.engine.startswith("spark")) == ("in process", True)
        for name in ("figures", "after", "pair", "pairs", "helps", "swings", "seed"):
            assert getattr(here.result, name) == getattr(there.result, name), name
        for query in (ForecastTopicList, ForecastCauseList, ForecastActionList):
            page = loaded(ENTRIES[query].page)
            one, other = (
                shown(page, look, query(question=each, width=200, count=99), 0, AnswerMemo())
                for each, look in zip(asked, looks, strict=True)
            )
            assert one == other and isinstance(one, Window) and one.rows
    finally:
        await service.close()


def test_the_seed_decides() -> None:
    assert played(SIX) == played(SIX)
    assert played(SIX) != played(SIX, seed=6)


def test_what_changes_nothing_makes_no_difference_in_any_history() -> None:
    tally = played(SIX, SIX)
    assert (tally.arrays()["totals"][:, 0] == tally.arrays()["totals"][:, 1]).all()
    pair = pair_of(tally, 0, 1, YEAR_MS)
    assert [pair.verdict(name) for name in pair.difference] == [0] * len(pair.difference)


def test_a_broker_without_partitions_changes_no_figure() -> None:
    calm = OFTEN.with_rate("maintenance.per_y", 0).with_rate("rack.mtbf_h", 1e11)
    variants, brokers = made(SIX, SEVEN, assumed=calm)
    tally: UnitSums = run_here(FORECAST, arrays_of_variants(variants), parameters(variants, brokers, 300))
    assert (tally.arrays()["totals"][:, 0] == tally.arrays()["totals"][:, 1]).all()


def test_stretches_add_up_to_the_history_that_they_are_of() -> None:
    """From all in sync to all in sync again: what happens in one has no effect on the next."""
    (variant,), brokers = made(SIX)
    layout = layout_of(arrays_of_variants([variant]), 0, brokers, 3)
    places = places_of([variant.times], YEAR_MS)
    outages = Accidents(places, 5, range(7, 8), YEAR_MS).of(variant.times)
    whole, parts = (
        play_block(layout, each, episodes_of(each), int(each.history.max()) + 1, YEAR_MS, len(places) + 1)
        for each in (outages, apart(outages))
    )
    assert parts.sums.shape[1] > 20
    assert (parts.sums.sum(axis=1) == whole.sums[:, 0]).all() and (parts.events.sum(axis=0) == whole.events[0]).all()


def test_the_worst_moments_are_of_the_worst_years_and_can_be_played_on_a_copy() -> None:
    playing = Playing([SIX], OFTEN, YEAR_MS, seed=5)
    variants = [playing.cluster(SIX, OFTEN)]
    tally: UnitSums = run_here(FORECAST, arrays_of_variants(variants), playing.parameters(variants, 0, UNIT + 300))
    both = tally.arrays()["totals"][:, 0, :2].sum(axis=1)
    moments = playing.moments(tally, variants)
    worst = (first + np.argsort(-both[first : first + UNIT])[:4] for first in (0, UNIT))
    assert {one.history for one in moments[:8]} == {history for each in worst for history in each.tolist()}
    for name in playing.topics:
        found = playing.moments(tally, variants, name)
        lost = [one.leaderless_min + one.under_min_isr_min for one in found]
        assert lost == sorted(lost, reverse=True) and lost[0] > 0
        acts, _ = read_written(found[0].scenario)
        check(SIX, of_acts(acts))
        assert {broker for act in acts for broker in act.brokers} <= set(found[0].brokers)
    lonely = playing.moments(tally, variants, "lonely")[0]
    assert 5 in lonely.brokers and lonely.leaderless_min == lonely.under_min_isr_min


def test_topics_differ_by_what_differs_between_histories_of_the_same_number() -> None:
    tally, names = played(SIX, SPREAD, histories=400), topics_of(SIX)
    pairs, whole = topic_pairs(tally, names, YEAR_MS), pair_of(tally, 0, 1, YEAR_MS)
    for measure in ("leaderless", "under_min_isr"):
        each = {name: pair.difference[measure] for name, pair in pairs.items()}
        assert sum(one.mean for one in each.values()) == pytest.approx(whole.difference[measure].mean)
        assert (each["lonely"].low, each["lonely"].high) == (0, 0)
    only_one = pairs["one-rack"].difference["under_replicated"]
    assert pairs["one-rack"].verdict("leaderless") == 1 and only_one.high is not None
    assert only_one.low < only_one.mean < only_one.high


def test_figures_of_topics_add_up_and_so_do_causes() -> None:
    variants, _ = made(SIX)
    names = topics_of(SIX)
    figures = figures_of(played(SIX, histories=1_000), 0, names, [1] * 3, [variants[0].times], YEAR_MS)
    for measure in ("leaderless", "under_min_isr"):
        whole = figures.measures[measure].mean
        assert sum(one.measures[measure].mean for one in figures.topics) == pytest.approx(whole)
        assert sum(getattr(cause, measure) for cause in figures.causes) == pytest.approx(whole)
    by_name = {one.name: one.measures["leaderless"].mean for one in figures.topics}
    assert by_name["lonely"] > by_name["one-rack"] > by_name["three"]
    assert 0 < figures.detection_share < 1


def test_a_shared_rack_costs_more_than_a_spread_pair() -> None:
    pair = pair_of(played(SIX, SPREAD, histories=2_000), 0, 1, YEAR_MS)
    assert pair.verdict("leaderless") == 1
    assert np.isfinite(pair.variance_ratio["leaderless"])


def test_too_much_is_refused() -> None:
    variants, brokers = made(SIX)
    with pytest.raises(AnalysisError, match="0 histories: write 1 to"):
        FORECAST.units({}, parameters(variants, brokers, 0))
    wide = cluster(range(1, 9), *topic(range(1, 8), range(1, 8), 1))
    with pytest.raises(AnalysisError, match="7 replicas: a forecast takes 6 at most"):
        made(wide)
