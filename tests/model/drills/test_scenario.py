"""Drills that make no sense are refused in one line that says what could be done."""

from __future__ import annotations

import msgspec
import pytest

from model.cluster.cluster_image import ClusterImage
from model.cluster.records import GenerationRecognised
from model.drills.document import notes_on
from model.drills.drill import run
from model.drills.scenario import Act, Deed, Scenario, ScenarioError, of_acts, of_brokers, of_rack
from tests.model.drills.clusters import cluster, topic

IMAGE = cluster([1, 2, 3], *topic((1, 2), (1, 2), 1))
DEAD = cluster([1, 2], *topic((9, 1), (1,), 1))


@pytest.mark.parametrize(
    ("image", "scenario", "reason"),
    [
        (IMAGE, of_brokers([]), "nobody to kill: name a broker or a rack"),
        (IMAGE, of_brokers([9, 2, 8]), "brokers 8, 9: not alive here; alive: 1, 2, 3"),
        (IMAGE, of_brokers([1, 2, 3]), "that is every live broker (1, 2, 3): nobody is left to take over"),
        (cluster([], controller=None), of_brokers([1]), "no broker is alive: there is nothing to kill"),
        (IMAGE, of_acts([Act(Deed.STOP, (4,))]), "broker 4: not alive here; alive: 1, 2, 3"),
        (IMAGE, of_acts([Act(Deed.KILL, (1,)), Act(Deed.STOP, (1,))]), "broker 1: not alive then; alive: 2, 3"),
        (IMAGE, of_acts([Act(Deed.START, (3,))]), "broker 3: alive already; dead: nobody"),
        (DEAD, of_acts([Act(Deed.START, (3,))]), "broker 3: unknown here, no replica is assigned to it; dead: 9"),
        (
            IMAGE,
            of_acts([Act(Deed.KILL, (1,)), Act(Deed.STOP, (2, 3))]),
            "nobody is alive then: nobody is left to take over",
        ),
    ],
)
def test_it_is_refused(image: ClusterImage, scenario: Scenario, reason: str) -> None:
    with pytest.raises(ScenarioError) as refused:
        run(image, scenario)
    assert str(refused.value) == reason


def test_a_kraft_cluster_is_played_by_the_latest_rules() -> None:
    drill = run(cluster([1, 2], *topic((1, 2), (1, 2), 1), GenerationRecognised(generation="kraft")), of_brokers([1]))
    assert [topic.leader.tolist() for topic in drill.after.topics.values()] == [[2]]
    assert "Leaders do not go back to the preferred replicas by themselves." in notes_on(drill)


def test_racks_are_made_of_their_live_brokers() -> None:
    assert of_rack(IMAGE, "r1").kill == (1,)
    with pytest.raises(ScenarioError, match="no live broker is in rack 'r9'; racks: r0, r1, r2"):
        of_rack(IMAGE, "r9")
    bare = msgspec.structs.replace(
        IMAGE, brokers={id: msgspec.structs.replace(broker, rack=None) for id, broker in IMAGE.brokers.items()}
    )
    with pytest.raises(ScenarioError, match="no broker names its rack"):
        of_rack(bare, "r1")


def test_victims_are_sorted_and_named_once() -> None:
    assert of_brokers([3, 1, 3]).kill == (1, 3)
