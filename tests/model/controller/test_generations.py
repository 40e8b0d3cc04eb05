"""Which release decides how."""

from itertools import pairwise

import pytest

from model.controller.elections import ElectionStrategy
from model.controller.generations import GENERATIONS, LATEST, Generation, default_settings, generation_of


@pytest.mark.parametrize(
    ("release", "since"),
    [
        ("0.8", "0.8.0"),
        ("0.8.0-beta1", "0.8.0"),
        ("0.8.1.1", "0.8.1"),
        ("0.8.2.2", "0.8.2"),
        ("0.9.0.1", "0.9"),
        ("0.10.2.0", "0.10.2"),
        ("1.1.1", "1.1"),
        ("2.0.0", "2.0"),
        ("2.2", "2.2"),
        ("3.9.1", "3.4"),
    ],
)
def test_a_release_belongs_to_the_last_change_before_it(release: str, since: str) -> None:
    assert generation_of(release).since == since


@pytest.mark.parametrize("release", ["0.7.2", "kraft", "", "v3.9"])
def test_what_is_no_release_is_refused_in_one_line(release: str) -> None:
    with pytest.raises(ValueError, match=r"is not a release of Kafka that kdrill knows: name one from 0\.8\.0 on"):
        generation_of(release)


def test_every_row_of_the_history_changes_something() -> None:
    def rest(generation: object) -> list[object]:
        return [getattr(generation, field) for field in LATEST.__struct_fields__ if field != "since"]

    assert not [after.since for before, after in pairwise(GENERATIONS) if rest(before) == rest(after)]
    assert LATEST is GENERATIONS[-1]


@pytest.mark.parametrize(
    ("release", "unclean", "deletes", "longest", "collisions", "racks"),
    [
        ("0.8.0", True, None, 255, False, False),
        ("0.8.2.2", True, False, 255, False, False),
        ("0.9", True, False, 255, True, False),
        ("0.10.2", True, False, 249, True, True),
        ("0.11", False, False, 249, True, True),
        ("1.1.1", False, True, 249, True, True),
        ("3.9.1", False, True, 249, True, True),
    ],
)
def test_defaults(
    release: str, unclean: bool, deletes: bool | None, longest: int, collisions: bool, racks: bool
) -> None:
    generation = generation_of(release)
    assert generation.unclean_by_default == unclean
    assert generation.deletes_by_default == deletes
    assert generation.longest_topic_name == longest
    assert generation.forbids_collisions == collisions
    assert generation.knows_racks == racks


@pytest.mark.parametrize(
    ("release", "rebalances"), [("0.8.0", False), ("0.8.1", False), ("0.8.2", True), ("3.9.1", True)]
)
def test_leaders_go_back_by_themselves_by_default_since_0_8_2(release: str, rebalances: bool) -> None:
    assert default_settings(1, generation_of(release)).auto_leader_rebalance_enable is rebalances


@pytest.mark.parametrize("generation", GENERATIONS, ids=lambda generation: generation.since)
def test_every_generation_knows_every_strategy_of_its_time(generation: Generation) -> None:
    gone = {ElectionStrategy.NO_OP} if generation.since >= "1.1" else set()
    assert set(generation.rules) == set(ElectionStrategy) - gone
