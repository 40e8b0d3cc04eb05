"""What a plan does not touch, and the sentences that say so."""

from __future__ import annotations

from model.cluster import records as r
from model.cluster.ids import TopicPartition
from model.planning.layout import Sizes, layout_of
from model.planning.plan import Plan
from model.planning.planner import plan
from model.planning.request import NewBroker, PlanRequest
from tests.model.planning.clusters import Racks, cluster

RACKS: Racks = {1: "a", 2: "b", 3: "c", 4: "a"}


def touched(made: Plan) -> set[str]:
    return {str(change.name) for change in made.changes}


def test_partitions_that_are_being_reassigned_or_deleted() -> None:
    moving = r.TopicAssigned(topic="t", replicas={0: (1, 2, 3), 1: (1, 2)}, adding={0: (3,)}, removing={0: (1,)})
    asked = r.ReassignmentsRequested(targets={TopicPartition("u", 0): (2,)})
    dying = r.TopicDeletionRequested(topic="v")
    image = cluster({"t": [[1, 2], [1, 2]], "u": [[1]], "v": [[1]]}, RACKS, moving, asked, dying)
    assert [str(name) for name in layout_of(image).names([0, 2, 3])] == ["t-0", "u-0", "v-0"]
    assert layout_of(image).busy.tolist() == [True, False, True, True]
    made = plan(image, PlanRequest(remove=(1,)))
    assert touched(made) == {"t-1"}
    assert made.notes[:3] == (
        "3 partitions (t-0 and more) being reassigned or deleted: left as is.",
        "While reassignments run, Kafka's tool takes more only with --additional.",
        "3 partitions (t-0 and more) still on broker 1: plan again for what was left as it is.",
    )


def test_partitions_without_a_live_leader() -> None:
    made = plan(cluster({"t": [[8], [8, 2]]}, RACKS), PlanRequest(remove=(8,)))
    assert touched(made) == {"t-1"}
    assert made.notes[:2] == (
        "1 partition (t-0) without a live leader: nobody could copy from there; left as is.",
        "1 partition (t-0) still on broker 8: plan again for what was left as it is.",
    )
    assert made.notes[-1] == "The rollback names broker 8, dead now: until that changes Kafka refuses that part."


def test_topics_that_were_not_chosen() -> None:
    image = cluster({"a": [[1, 2]], "b": [[1, 2]], "c": [[1, 2]]}, RACKS)
    assert touched(plan(image, PlanRequest(remove=(1,), topics=("a", "b"), exclude=("b",)))) == {"a-0"}
    grown = plan(image, PlanRequest(replication_factor=3, topics=("b",), reach="forced"))
    assert [(str(change.name), len(change.after), change.after[:2]) for change in grown.changes] == [("b-0", 3, (1, 2))]


def test_brokers_and_sizes_that_are_not_known() -> None:
    image = cluster({"t": [[1, 2], [2, 1]]}, {1: "a", 2: "a", 3: None})
    sizes = Sizes({TopicPartition("t", 0): 5}, "a file")
    made = plan(image, PlanRequest(add=(NewBroker(7, "a"),)), sizes)
    assert made.notes[:3] == (
        "Broker 7 is not alive: Kafka refuses the plan before it registers.",
        "Broker 3 names no rack: racks are not looked at. Add it as ID:RACK to say which.",
        "1 partition without a known size: taken to be as large as the others on average.",
    )
    assert made.after.rack_violations is None
    known = cluster({"t": [[1, 2], [2, 1]]}, {1: "a", 2: "b", 3: None})
    alone = plan(known, PlanRequest())
    assert alone.notes == ("Broker 3 names no rack: it counts as a rack of its own. Add it as ID:RACK to say which.",)
    named = plan(image, PlanRequest(add=(NewBroker(3, "c"),)), sizes)
    assert named.after.rack_violations == 0
    assert made.sizes == "a file"


def test_what_must_move_anyway_leaves_the_dead_too() -> None:
    made = plan(cluster({"t": [[1, 8], [2, 8]]}, {1: None, 2: None, 3: None}), PlanRequest(remove=(1,), reach="forced"))
    assert {str(change.name): set(change.after) for change in made.changes} == {"t-0": {2, 3}}
    assert made.notes[:2] == (
        "1 partition (t-0) also on broker 8, dead: leaves there, too, as it moves anyway.",
        "Broker 8 is dead and keeps 1 replica, for it may come back; remove it to move them.",
    )


def test_a_cluster_without_partitions_has_nothing_to_move() -> None:
    made = plan(cluster({}, {1: "a", 2: "b"}), PlanRequest(remove=(2,)))
    assert (made.changes, made.batches, made.notes, made.cost.moves) == ((), (), (), 0)
    assert made.after.replicas.spread == made.after.topic_spread == 0
