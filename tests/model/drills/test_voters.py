"""Drills on KRaft clusters look at the voters: without a majority nothing is elected, and the drill says so."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from model.cluster import records as r
from model.cluster.cluster_image import ClusterImage
from model.cluster.image_parts import Quorum, QuorumReplica
from model.drills.document import document_of
from model.drills.drill import PlayedDrill, run
from model.drills.rows import QuorumShrank
from model.drills.scenario import Act, Deed, Scenario, ScenarioError, of_brokers
from model.drills.voters import LEVELS_UNKNOWN, VOTERS_UNKNOWN, not_forecast
from tests.model.drills.clusters import cluster, topic
from tui.cli.drill import lines


def kraft(voters: Sequence[int] = (1, 2, 3), leader: int = 2, *, timeouts: Sequence[str] = ()) -> ClusterImage:
    """Brokers 1 to 5, of which five partitions each prefer one; the voters are all up to date."""
    quorum = Quorum(leader, 7, 90, tuple(QuorumReplica(number, 90, 0, 1_000) for number in voters))
    return cluster(
        [1, 2, 3, 4, 5],
        *(one for number in range(1, 6) for one in _pair(number, number % 5 + 1)),
        r.GenerationRecognised(generation="kraft"),
        r.QuorumDescribed(quorum=quorum),
        r.ControllerElected(broker=leader),
        *(
            r.ConfigChanged(entity=f"server.properties/{number}", config={"broker.session.timeout.ms": text})
            for number, text in enumerate(timeouts, 1)
        ),
    )


def _pair(leader: int, follower: int) -> list[r.ClusterRecord]:
    return topic((leader, follower), (leader, follower), leader, name=f"t{leader}")


def leaders(drill: PlayedDrill) -> list[int]:
    return [leader for name in sorted(drill.after.topics) for leader in drill.after.topics[name].leader.tolist()]


def test_without_a_majority_nothing_is_elected() -> None:
    drill = run(kraft(), of_brokers([2, 3]))
    assert leaders(drill) == [1, 2, 3, 4, 5]
    assert (drill.summary.newly_offline, drill.summary.leaders_moved, drill.hurts) == (2, 0, True)
    assert {one.partition.topic for one in drill.affected} == {"t2", "t3"}
    assert drill.after.controller.broker is None
    document = json.loads(json.dumps(document_of(drill)))
    assert list(document)[:2] == ["format", "not_forecast"]
    assert document["quorum"] == {"voters": [1, 2, 3], "left": [1], "majority": 2, "candidates": [], "is_lost": True}
    assert document["summary"]["controller"] == [2, None]
    shown = list(lines(drill))
    assert shown[0].startswith("Not forecast on KRaft: the elections, preferred and unclean,")
    assert "quorum             1 of 3 voters is left, and it takes 2: nothing is elected." in "\n".join(shown)
    assert "controller         2 → nobody" in shown


def test_without_a_majority_a_cluster_is_hurt_though_no_partition_is() -> None:
    drill = run(kraft(voters=(1, 8, 9), leader=8), of_brokers([8, 9]))
    assert (drill.summary.newly_offline, drill.hurts, leaders(drill)) == (0, True, [1, 2, 3, 4, 5])


@pytest.mark.parametrize(
    ("dead", "controller", "moved", "offline"),
    [((2,), "2 → one of 1, 3", 1, 0), ((3,), "2", 1, 0), ((4, 5), "2", 1, 1)],
)
def test_with_a_majority_leaders_move_and_one_of_the_voters_that_are_left_controls(
    dead: tuple[int, ...], controller: str, moved: int, offline: int
) -> None:
    drill = run(kraft(), of_brokers(dead))
    assert (drill.summary.leaders_moved, drill.summary.newly_offline) == (moved, offline)
    assert f"controller         {controller}" in list(lines(drill))
    assert drill.before.controller.broker == 2
    assert drill.after.controller.broker == (None if "one of" in controller else 2)


def test_where_the_majority_is_gone_already_the_next_death_is_not_noticed_either() -> None:
    quorum = Quorum(-1, 7, 90, tuple(QuorumReplica(number) for number in (1, 2, 3)), silent=(2, 3), unconfirmed=(2, 3))
    image = cluster(
        [1, 2, 3, 4],
        *topic((4, 1), (4, 1), 4),
        r.GenerationRecognised(generation="kraft"),
        r.QuorumDescribed(quorum=quorum),
        r.ControllerLost(),
    )
    drill = run(image, of_brokers([4]))
    assert (drill.summary.newly_offline, drill.summary.leaders_moved) == (1, 0)


def test_where_nobody_leads_and_nobody_is_known_to_vote_nothing_is_elected() -> None:
    named = (r.GenerationRecognised(generation="kraft"), r.QuorumDescribed(quorum=Quorum(-1, -1)))
    drill = run(cluster([3, 4], *topic((4, 3), (4, 3), 4), *named, controller=None), of_brokers([4]))
    assert (drill.summary.newly_offline, drill.summary.leaders_moved, drill.hurts) == (1, 0, True)
    assert "no controller is active, and who votes is not known: nothing is elected." in "\n".join(lines(drill))


def test_what_follows_a_restart_without_a_majority_is_not_forecast() -> None:
    with pytest.raises(ScenarioError, match=r"1 of 3 voters is left, .* play it without the restart"):
        run(kraft(), Scenario(kill=(2, 3), restart_after_ms=60_000))


@pytest.mark.parametrize(
    ("timeouts", "expected_ms"), [((), 9_000), (("6000",), 6_000), (("6000", "12000"), 12_000), (("junk",), 9_000)]
)
def test_the_session_timeout_is_the_brokers_own(timeouts: tuple[str, ...], expected_ms: float) -> None:
    assert run(kraft(timeouts=timeouts), of_brokers([5])).assumptions.session_timeout_ms == expected_ms


def test_with_zookeeper_nothing_of_this_is_said() -> None:
    image = cluster([1, 2, 3], *topic((1, 2), (1, 2), 1))
    drill = run(image, of_brokers([1]))
    assert (drill.turnout, not_forecast(image), drill.assumptions.session_timeout_ms) == (None, "", 18_000)
    assert not {"quorum", "not_forecast"} & document_of(drill).keys()
    unknown = cluster([1, 2, 3], *topic((1, 2), (1, 2), 1), r.GenerationRecognised(generation="kraft"))
    assert next(lines(run(unknown, of_brokers([1])))) == f"{VOTERS_UNKNOWN} {LEVELS_UNKNOWN}"


def test_voters_that_stop_and_start_again_one_by_one_keep_the_majority() -> None:
    """A rolling restart of two voters, the active controller first, which another voter then is."""
    acts = (Act(Deed.STOP, (2,)), Act(Deed.START, (2,)), Act(Deed.STOP, (3,)))
    drill = run(kraft(), Scenario(then=acts))
    assert drill.turnout is not None
    assert (drill.turnout.left, drill.turnout.is_lost) == ((1, 2), False)
    shrank = [row for row in drill.timeline.rows if isinstance(row, QuorumShrank)]
    assert [(row.candidates, row.moves) for row in shrank] == [((1, 3), True), ((1, 2), True)], (
        "3 may have held the office"
    )
    assert [row.at_ms for row in drill.timeline.rows] == sorted(row.at_ms for row in drill.timeline.rows)
    assert drill.timeline.candidates == drill.turnout.candidates == (1, 2)


@pytest.mark.parametrize(
    "scenario",
    [
        Scenario(kill=(1, 3), then=(Act(Deed.START, (1,)),)),
        Scenario(kill=(1,), then=(Act(Deed.STOP, (2,)),)),
        Scenario(then=(Act(Deed.STOP, (1, 2)),)),
    ],
)
def test_what_comes_after_the_majority_is_lost_is_not_forecast(scenario: Scenario) -> None:
    with pytest.raises(ScenarioError, match=r"1 of 3 voters is left, and it takes 2: .* not forecast"):
        run(kraft(), scenario)
