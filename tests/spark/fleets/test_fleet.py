"""A fleet: each row is the drill of its scenario, whoever plays it; the scenarios are those that were asked for."""

from __future__ import annotations

import sys
from collections import Counter
from types import FrameType

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model.analyses import AnalysisError
from model.analyses.analysis import run_here
from model.analyses.fleets.fleet import FLEET, StagedCluster, fleet_arrays, waves
from model.analyses.fleets.scenarios import GENERATORS, FleetParameters, FleetRow, left_out, pairs_step, scenarios
from model.cluster.cluster_image import ClusterImage
from model.drills.drill import run
from model.drills.scenario import Act, Deed, of_acts, read_written
from model.drills.setup import ClusterSetup
from tests.model.drills.clusters import became, cluster, clusters, topic
from tests.spark.running_spark import RunningSpark

TWELVE = cluster(range(1, 13), *topic((1, 2, 3), (1, 2, 3), 1))
THREE = cluster([1, 2, 3], *topic((1, 2), (1, 2), 1), *topic((3,), (3,), 3, name="lonely"))


def fleet(image: ClusterImage, *generators: str, **more: object) -> tuple[FleetRow, ...]:
    parameters = msgspec.convert({"generators": generators, **more}, FleetParameters)
    return run_here(FLEET, fleet_arrays(image), parameters).rows


def test_twelve_brokers_in_three_racks_have_so_many_scenarios() -> None:
    made = scenarios(TWELVE, FleetParameters(generators=GENERATORS))
    assert Counter(one.generator for one in made) == {
        "single": 48,
        "pair": 594,
        "rack": 30,
        "rolling": 4,
        "random": 1_000,
    }


def test_one_pair_in_so_many_is_played_when_that_is_asked() -> None:
    assert len(scenarios(TWELVE, FleetParameters(generators=("pair",), every=11))) == 54


def test_of_very_many_pairs_one_in_so_many_is_played_and_that_is_told() -> None:
    assert [pairs_step(cluster(range(1, 1 + brokers))) for brokers in (12, 67, 68, 200)] == [1, 1, 2, 9]
    assert (left_out(1), left_out(9)) == ("", "of the pairs of brokers one in 9 is played, the others are left out")


def test_the_parts_of_a_fleet_are_of_one_numbering() -> None:
    stage, asked = StagedCluster(TWELVE), FleetParameters(generators=("rack",))
    one = stage.scenarios(msgspec.structs.replace(asked, first=1, end=3))
    other = stage.scenarios(msgspec.structs.replace(asked, first=3))
    assert (one.numbers, other.numbers) == (range(1, 3), range(3, len(one)))
    assert one[2] is other[2]  # racks are listed once
    assert stage.scenarios(msgspec.structs.replace(asked, unclean=True))[2] != one[2]


def test_a_scenario_is_made_by_its_number_and_no_other_is() -> None:
    """A list of so many would not fit."""
    made = scenarios(TWELVE, FleetParameters(generators=("single", "random"), count=10**12))
    assert len(made) == 48 + 10**12
    assert made[48 + 7] == scenarios(TWELVE, FleetParameters(generators=("random",)))[7]
    assert made[47].text == "b12 fails, back after 15 min"
    with pytest.raises(IndexError):
        made[len(made)]


def test_waves_are_the_whole_fleet_or_what_is_left_of_it() -> None:
    stage, parameters = StagedCluster(TWELVE), FleetParameters(generators=GENERATORS)
    made = scenarios(TWELVE, parameters)
    costs = [100.0, 300.0, *[2_000.0] * 1_000]
    asked = iter(costs)
    parts = list(waves(stage, parameters, lambda: next(asked)))
    assert [number for part in parts for number in scenarios(TWELVE, part.parameters).numbers] == [*range(len(made))]
    dearest = max(map(stage.cost_of, made))
    assert all(cost <= part.cost < cost + dearest for part, cost in zip(parts[:-1], costs, strict=False))
    assert [part.left for part in parts] == sorted((part.left for part in parts), reverse=True)
    assert parts[-1].left == 0
    some = list(waves(stage, parameters, lambda: 1e9, [range(3, 5), range(600, 602)]))
    assert [(part.parameters.first, part.parameters.end) for part in some] == [(3, 5), (600, 602)]


def test_a_fleet_in_waves_has_the_rows_of_the_whole() -> None:
    arrays, parameters = fleet_arrays(THREE), FleetParameters(generators=("single", "pair"))
    parts = [
        run_here(FLEET, arrays, wave.parameters).rows for wave in waves(StagedCluster(THREE), parameters, lambda: 10.0)
    ]
    assert len(parts) > 1
    assert tuple(row for part in parts for row in part) == run_here(FLEET, arrays, parameters).rows


@settings(max_examples=20)
@given(clusters(), st.integers(0, 10**6))
def test_what_is_written_of_a_scenario_can_be_played_again(image: ClusterImage, seed: int) -> None:
    parameters = FleetParameters(generators=("random",), count=1, seed=seed)
    (row,) = fleet(image, "random", count=1, seed=seed)
    acts, controller = read_written(row.scenario)
    assert (of_acts(acts), controller) == scenarios(image, parameters)[0][1:3]


@settings(max_examples=15)
@given(clusters())
def test_a_row_is_the_drill_of_that_scenario(image: ClusterImage) -> None:
    parameters = FleetParameters(generators=("single",))
    made = scenarios(image, parameters)
    for row in fleet(image, "single"):
        one = made[row.number]
        ruled = image
        if one.controller is not None:
            office = msgspec.structs.replace(image.controller, broker=one.controller)
            ruled = msgspec.structs.replace(image, controller=office)
        drill = run(ruled, one.scenario)
        waits = [outage.lasted_ms(drill.timeline.end_ms) for outage in drill.timeline.outages]
        assert row.lost == drill.summary.unclean
        assert row.offline_after == drill.summary.newly_offline
        assert row.moved == drill.summary.leaders_moved
        assert row.longest_s == pytest.approx(max(waits, default=0) / 1000)
        assert row.leaderless_s == pytest.approx(sum(waits) / 1000)
        assert {down.broker for down in row.down} == one.scenario.felled
        assert sum(row.leaders_after) <= sum(map(len, (t.partitions for t in image.topics.values())))


@settings(max_examples=10)
@given(clusters())
def test_who_has_no_leader_refuses_producers(image: ClusterImage) -> None:
    for row in fleet(image, "single", "random", count=4):
        assert not row.error
        assert row.under_min_s >= row.leaderless_s - 1e-6
        assert row.longest_s <= min(row.leaderless_s, row.ended_s)


def test_a_lonely_partition_waits_for_its_broker() -> None:
    dies, returns = (row for row in fleet(THREE, "single") if row.text.startswith("b3 fails") and row.controller == 1)
    assert (dies.offline_after, dies.leaderless) == (1, 1)
    assert returns.offline_after == 0
    assert 900 < returns.longest_s < 902
    assert returns.badness < dies.badness


def test_the_controllers_own_death_costs_more() -> None:
    elsewhere, on_it = (row for row in fleet(THREE, "single") if row.text == "b1 fails")
    assert (elsewhere.controller, on_it.controller) == (2, 1)
    assert on_it.longest_s > elsewhere.longest_s


def test_who_dies_while_another_catches_up_takes_the_last_copy_in_sync() -> None:
    rows = {row.text: row for row in fleet(THREE, "pair") if row.controller == 3}
    caught = rows["b2 fails while b1 catches up"]
    assert caught.offline_after == 1
    assert rows["b2 fails after b1"].offline_after == 1


def test_the_same_seed_plays_the_same_sequences() -> None:
    one, again, other = (fleet(THREE, "random", count=5, seed=seed) for seed in (1, 1, 2))
    assert one == again
    assert [row.ended_s for row in one] != [row.ended_s for row in other]


def test_the_cluster_is_set_up_once_for_all_scenarios_that_can_share_it() -> None:
    made: list[str] = []

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code is ClusterSetup.__init__.__code__:
            made.append(event)

    sys.setprofile(note)
    try:
        rows = fleet(THREE, "random", count=6)
    finally:
        sys.setprofile(None)
    assert (len(rows), len(made)) == (6, 2)  # where brokers start, and where none does, other times are assumed


def test_where_nobody_can_die_there_is_no_fleet() -> None:
    with pytest.raises(AnalysisError, match="too few brokers"):  # nor a rolling restart of nobody
        fleet(cluster([], *topic((1,), (1,), 1), controller=None), "single", "rolling")


def test_spark_plays_what_this_process_plays(spark: RunningSpark) -> None:
    parameters = FleetParameters(generators=("single", "pair", "rack", "random"), count=20, seed=3)
    arrays = fleet_arrays(THREE)
    assert spark.run(FLEET, arrays, parameters) == run_here(FLEET, arrays, parameters)


def test_a_broker_may_die_so_long_after_another() -> None:
    drill = run(THREE, of_acts([Act(Deed.KILL, (1,)), Act(Deed.KILL, (2,), after_ms=1_000)]))
    assert [row.at_ms for row in drill.timeline.rows if type(row).__name__ == "BrokerCrashed"] == [0, 1_000]
    assert became(drill)[0] == -1
