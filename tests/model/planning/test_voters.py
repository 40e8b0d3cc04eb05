"""A plan that removes voters of a KRaft quorum says so, and what it leads to is drilled without them."""

from __future__ import annotations

from model.analyses.plans import figures_of
from model.cluster import records as r
from model.cluster.cluster_image import ClusterImage
from model.cluster.image_parts import Quorum, QuorumReplica
from model.planning.plan import applied
from model.planning.planner import plan
from model.planning.request import PlanRequest
from tests.model.drills.clusters import cluster, topic
from tui.cli.plan_text import lines


def kraft(*, is_kraft: bool = True) -> ClusterImage:
    """Brokers 1 to 4 of which the first three vote, and topics with two replicas."""
    quorum = Quorum(1, 7, 90, tuple(QuorumReplica(number, 90, 0, 1_000) for number in (1, 2, 3)))
    named = [r.GenerationRecognised(generation="kraft"), r.QuorumDescribed(quorum=quorum)] if is_kraft else []
    pairs = ((1, 2), (2, 3), (3, 4), (4, 1))
    topics = (one for pair in pairs for one in topic(pair, pair, pair[0], name=f"t{pair[0]}"))
    return cluster([1, 2, 3, 4], *topics, *named)


def test_a_broker_that_votes_takes_its_vote_along() -> None:
    image = kraft()
    made = plan(image, PlanRequest(remove=(2,)), None)
    assert made.notes[0].startswith(
        "Broker 2 is a voter: switched off as it is, 2 of 3 voters are left, and it takes 2: no other may be lost."
    )
    before, after = figures_of(image), figures_of(applied(image, made))
    assert before.broker is not None
    assert after.broker is not None
    assert (before.broker.quorum_lost, after.broker.quorum_lost) == (False, True)
    shown = list(lines(made, (before, after)))
    heading = next(place for place, line in enumerate(shown) if line.startswith("drills: "))
    assert shown[heading - 2].startswith("Not forecast on KRaft: the elections")
    assert "NO QUORUM" in shown[heading + 1]


def test_two_of_three_voters_are_too_many() -> None:
    made = plan(kraft(), PlanRequest(remove=(2, 3)), None)
    assert "1 of 3 voters is left, and it takes 2: nothing is elected." in made.notes[0]


def test_who_does_not_vote_and_zookeeper_clusters_have_no_such_note() -> None:
    assert not any("voter" in note for note in plan(kraft(), PlanRequest(remove=(4,)), None).notes)
    assert not any("voter" in note for note in plan(kraft(is_kraft=False), PlanRequest(remove=(2,)), None).notes)
    assert figures_of(kraft(is_kraft=False)).not_forecast == ""
