"""What was played before is not played again, and each row is the same as if everything had been."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model.analyses.fleets.fleet import StagedCluster, played
from model.analyses.fleets.scenarios import GENERATORS, FleetParameters, Generator, scenarios
from model.cluster.cluster_image import ClusterImage
from model.drills import drill
from model.drills.drill import RESTARTING, Burst, Bursts
from model.drills.scenario import Act, Deed, of_acts
from model.drills.setup import ClusterSetup
from tests.model.drills.clusters import cluster, clusters, several, topic
from tests.spark.fleets.plain_rows import plain_row

THREE = cluster([1, 2, 3], *topic((1, 2, 3), (1, 2, 3), 1, min_insync_replicas="2"), *topic((3,), (3,), 3, name="u"))
KILL, STOP, START = Deed.KILL, Deed.STOP, Deed.START


def compare(image: ClusterImage, parameters: FleetParameters, most: int = 24) -> None:
    """Two rounds: the second finds all of the first again."""
    made, stage = scenarios(image, parameters), StagedCluster(image)
    numbers = made.numbers[:: max(len(made) // most, 1)]
    expected = [plain_row(image, number, made[number]) for number in numbers]
    for _ in range(2):
        assert sorted(played(stage, parameters, numbers), key=lambda row: row.number) == expected


@settings(max_examples=8)
@given(clusters(), st.sampled_from(GENERATORS), st.booleans(), st.integers(0, 10**6))
def test_rows_are_those_of_whole_drills(image: ClusterImage, generator: Generator, unclean: bool, seed: int) -> None:
    compare(image, FleetParameters(generators=(generator,), unclean=unclean, count=24, seed=seed))


def test_rows_of_a_cluster_with_several_partitions_are_those_of_whole_drills() -> None:
    placed = {number: ((number % 3) + 1, ((number + 1) % 3) + 1) for number in range(9)}
    image = cluster([1, 2, 3], *several("t", placed), *topic((1, 3), (1, 3), 3, name="other"))
    compare(image, FleetParameters(generators=("random",), count=60), 60)


class Counting:
    """Bursts that are numbered as they are played."""

    def __init__(self) -> None:
        self.played: list[Burst] = []
        self.bursts = Bursts(ClusterSetup(THREE, RESTARTING), (), self._count)

    def _count(self, before: tuple[int, ...], burst: Burst) -> tuple[int, ...]:
        self.played.append(burst)
        return (*before, len(self.played) - 1)

    def numbers(self, *acts: Act) -> tuple[int, ...]:
        found = self.bursts.play(of_acts(acts))
        assert found is not None
        return found.sum


def test_a_burst_that_follows_the_same_ones_is_played_once_whenever_it_begins() -> None:
    counting = Counting()
    dies, other = Act(KILL, (1,)), Act(KILL, (2,))
    assert counting.numbers(dies) == (0,)
    assert counting.numbers(dies, Act(START, (1,), after_ms=60_000)) == (0, 1)
    assert counting.numbers(dies, Act(START, (1,), after_ms=900_000), Act(KILL, (2,), after_ms=60_000)) == (0, 1, 2)
    assert counting.numbers(dies, Act(START, (1,), after_ms=70_000), Act(KILL, (2,), after_ms=80_000)) == (0, 1, 2)
    assert counting.numbers(other, Act(START, (2,), after_ms=60_000)) == (3, 4)


def test_what_begins_before_all_is_quiet_is_of_the_same_burst_and_its_delay_counts() -> None:
    counting = Counting()
    dies = Act(KILL, (1,))
    assert counting.numbers(dies, Act(KILL, (2,), after_ms=100)) == (0,)
    assert counting.numbers(dies, Act(KILL, (2,), after_ms=200)) == (1,)
    assert counting.numbers(dies, Act(KILL, (2,), after_ms=100)) == (0,)
    assert counting.numbers(dies) == (2,)


def test_fractions_of_a_millisecond_count() -> None:
    counting = Counting()
    dies = Act(KILL, (1,))
    assert counting.numbers(dies, Act(START, (1,), after_ms=60_000.25)) == (0, 1)
    assert counting.numbers(dies, Act(START, (1,), after_ms=60_000)) == (0, 2)


def test_what_is_forgotten_is_played_again() -> None:
    counting = Counting()
    assert counting.numbers(Act(KILL, (1,))) == (0,)
    counting.bursts.forget()
    assert (counting.bursts.remembered, counting.numbers(Act(KILL, (1,)))) == (0, (1,))


@pytest.mark.parametrize("acts", [(Act(STOP, (1,), after_ms=5.0),), (Act(KILL, (1,)), Act(STOP, (2,), after_ms=4e6))])
def test_what_begins_later_or_lasts_too_long_is_left_to_a_whole_drill(acts: tuple[Act, ...]) -> None:
    assert Counting().bursts.play(of_acts(acts)) is None


def test_a_fleet_forgets_before_it_takes_too_much_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("model.analyses.fleets.fleet.MOST_ROWS", 10)
    forgotten: list[int] = []
    forget = drill.Bursts.forget

    def forgets(self: Bursts[object]) -> None:
        forgotten.append(self.remembered)
        forget(self)

    monkeypatch.setattr(drill.Bursts, "forget", forgets)
    compare(THREE, FleetParameters(generators=("random",), count=12))
    assert forgotten
