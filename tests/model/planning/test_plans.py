"""Whatever the cluster and the wish: the plan gives what it promises, and its rollback gives back what was."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from model.cluster.cluster_image import ClusterImage
from model.cluster.ids import TopicPartition
from model.controller.requests import requested_moves
from model.planning.documents import above_percent, batching_in, document_of, forward, rollback
from model.planning.layout import Sizes, balance_of, layout_of
from model.planning.plan import Plan, applied
from model.planning.planner import plan
from model.planning.request import Batching, By, NewBroker, PlanError, PlanRequest, Reach
from tests.model.planning.clusters import cluster, clusters, replicas_of, sizes_for
from tests.model.planning.plain_score import plain_score

Case = tuple[ClusterImage, PlanRequest, Sizes | None]


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """A cluster, some of whose replicas are on dead brokers, and a wish."""
    topics, racks = draw(clusters(dead=True))
    reach: Reach = draw(st.sampled_from(["balance", "forced", "racks", "leaders"]))
    remove, new, factor = (), 0, None
    if reach != "leaders":
        remove = draw(st.lists(st.sampled_from([*racks, 8]), max_size=2, unique=True))
        new = draw(st.integers(0, 2))
        factor = draw(st.none() | st.integers(1, 3))
    named = next(iter(racks.values())) is not None
    request = PlanRequest(
        remove=tuple(remove),
        add=tuple(NewBroker(20 + i, "a" if named else None) for i in range(new)),
        replication_factor=factor,
        reach=reach,
        tolerance_percent=draw(st.sampled_from([0.0, 20.0])),
        topics=draw(st.sampled_from([(), ("*",), (min(topics),)])),
        batching=Batching(draw(st.integers(1, 4))),
    )
    return cluster(topics, racks), request, draw(st.none() | sizes_for(topics))


def planned(case: Case) -> Plan:
    """Its plan; a case that there is none for is not looked at."""
    try:
        return plan(*case)
    except PlanError:
        assume(False)
        raise


@settings(max_examples=40)
@given(cases())
def test_a_plan_done_is_what_it_promised(case: Case) -> None:
    image, request, sizes = case
    made = planned(case)
    before = replicas_of(image)
    done = {**before, **requested_moves(forward(made).encode()).targets} if made.changes else before
    staying = [share.broker for share in made.after.brokers]
    racks = {**{broker.id: broker.rack for broker in image.brokers.values()}, **{n.id: n.rack for n in request.add}}
    for name, replicas in done.items():
        assert len(set(replicas)) == len(replicas)
        assert request.reach != "leaders" or sorted(replicas) == sorted(before[name])
        if replicas != before[name]:
            assert set(replicas) <= set(staying)
            assert request.replication_factor in (None, len(replicas))
            assert request.chooses(name.topic)
    assert balance_of(layout_of(applied(image, made), sizes), staying, racks, racks) == made.after
    if not any(broker in (8, 9) for replicas in (*before.values(), *done.values()) for broker in replicas):
        bytes_of = sizes.bytes if sizes else dict.fromkeys(before, 0)
        score = plain_score(before, done, bytes_of, racks, staying)
        cost, after = made.cost, made.after
        assert (cost.moves, cost.leader_changes, cost.touched) == (
            score["moves"], score["leader_changes"], score["touched"],
        )  # fmt: skip
        assert (after.replicas.spread, after.rack_violations) == (
            score["replicas_max"] - score["replicas_min"], score["rack_violations"],
        )  # fmt: skip
    assert made.bound is not None
    assert made.bound.moves <= made.cost.moves
    assert made.bound.leader_changes <= made.cost.leader_changes


@settings(max_examples=25)
@given(cases())
def test_what_is_rolled_back_is_as_it_was(case: Case) -> None:
    made = planned(case)
    assume(made.changes)
    before = replicas_of(case[0])
    there, back = (requested_moves(text.encode()).targets for text in (forward(made), rollback(made)))
    assert {**before, **there, **back} == before
    assert there.keys() == back.keys()
    current = {TopicPartition(e["topic"], e["partition"]): tuple(e["current"]) for e in entries(forward(made))}
    assert current == {name: before[name] for name in there}
    read = {batching_in(text.encode(), "f") for text in (forward(made), rollback(made))}
    assert read == {made.request.batching}


@settings(max_examples=25)
@given(cases())
def test_batches_in_their_order_are_the_plan(case: Case) -> None:
    made = planned(case)
    parts = [made.changes[batch.first : batch.end] for batch in made.batches]
    assert tuple(change for part in parts for change in part) == made.changes
    assert [entry for part in parts for entry in entries(forward(made, part))] == entries(forward(made))


def entries(text: str) -> list[dict[str, Any]]:
    return json.loads(text)["partitions"]


@pytest.mark.parametrize("remove", [(1,), (8,)])
def test_brokers_that_leave_have_nothing_left(remove: tuple[int, ...]) -> None:
    image = cluster({"t": [[1, 2], [2, 3], [8, 1], [3, 8]]}, {1: "a", 2: "b", 3: "a", 4: "b"})
    made = plan(image, PlanRequest(remove=remove))
    assert made.after.elsewhere == (0 if remove == (8,) else 1)
    assert not any(broker in remove for replicas in replicas_of(applied(image, made)).values() for broker in replicas)


def test_a_dead_broker_may_come_back_and_keeps_what_it_has() -> None:
    image = cluster({"t": [[1, 8], [2, 8]]}, {1: None, 2: None, 3: None})
    made = plan(image, PlanRequest())
    assert made.changes == ()
    assert made.notes == ("Broker 8 is dead and keeps 2 replicas, for it may come back; remove it to move them.",)


def test_a_newcomer_takes_the_very_places() -> None:
    image = cluster({"t": [[1, 2], [2, 1], [2, 3]]}, {1: "a", 2: "b", 3: "c"})
    made = plan(image, PlanRequest(replace=((1, 7),), reach="forced"))
    assert {change.partition: change.after for change in made.changes} == {0: (7, 2), 1: (2, 7)}
    assert made.bound is not None
    assert (made.cost.moves, made.bound.moves, made.cost.leader_changes) == (2, 2, 1)
    assert [share.rack for share in made.after.brokers] == ["b", "c", "a"]


def test_copies_come_from_the_leader_and_what_lost_replicas_goes_first() -> None:
    image = cluster({"t": [[1, 2], [8, 2], [1, 3]]}, {1: None, 2: None, 3: None, 4: None})
    made = plan(image, PlanRequest(remove=(8, 1), reach="forced", batching=Batching(1)))
    assert made.changes[0].before == (8, 2)
    assert {batch.busiest_replicas for batch in made.batches} == {1}


def test_a_plans_document_has_all_of_it() -> None:
    image = cluster({"t": [[1, 2], [1, 2]]}, {1: "a", 2: "b", 3: "b"})
    made = plan(
        image, PlanRequest(remove=(2,)), Sizes({TopicPartition("t", 0): 5, TopicPartition("t", 1): 7}, "a file")
    )
    document = document_of(made, {"beside": 1})
    assert [*document] == [
        "format", "maker", "source", "cluster_id", "zxid", "time_ms", "sizes", "request", "objectives", "cost", "bound",
        "standing", "before", "after", "batches", "pace", "notes", "beside", "partitions",
    ]  # fmt: skip
    assert (document["format"], document["maker"], document["source"]) == ("kdrill.plan/1", "kdrill", "zk://there")
    assert (document["zxid"], document["time_ms"], document["sizes"]) == (77, 1_700_000_000_000, "a file")
    assert document["cost"]["moves"] == made.cost.moves == 2
    assert document["bound"]["above_percent"]["moves"] == 0.0
    assert document["before"]["replicas"]["spread"] == made.before.replicas.spread == 2
    assert document["after"]["leaders"]["spread"] == made.after.leaders.spread
    assert document["partitions"] == [
        {"topic": "t", "partition": change.partition, "replicas": [change.before, change.after], "bytes": change.bytes}
        for change in made.changes
    ]
    assert [above_percent(*pair) for pair in ((3, 3), (0, 0), (5, 0), (5, 4), (4, 3))] == [0.0, 0.0, None, 25.0, 33.33]
    carried = json.loads(forward(made))["kdrill"]
    assert (carried["source"], carried["zxid"], carried["time_ms"]) == ("zk://there", 77, 1_700_000_000_000)
    assert carried["format"] == "kdrill.reassignment/1"


def test_a_plan_says_in_what_order_things_count() -> None:
    image = cluster({"t": [[1, 2], [1, 2]]}, {1: "a", 2: "b", 3: "b"})
    sizes = Sizes({TopicPartition("t", 0): 5, TopicPartition("t", 1): 7}, "a file")

    def objectives(reach: Reach, by: By = "count") -> tuple[str, ...]:
        return plan(image, PlanRequest(reach=reach, by=by), sizes).objectives

    assert objectives("balance", "bytes") == (
        "a broker holds a partition once; as many racks as there can be",
        "replicas even within one, on the brokers of a rack where racks force it",
        "fewest bytes copied, then fewest replicas",
        "preferred leaders even within one",
        "fewest changes of the preferred leader",
        "even disks, then even topics",
    )
    assert objectives("forced") == (
        "a broker holds a partition once",
        "only what must move",
        "fewest replicas copied",
        "as many racks as that allows",
        "fewest changes of the preferred leader",
        "replicas, then preferred leaders, even within one as far as that allows",
        "even disks, then even topics",
    )
    assert plan(image, PlanRequest(remove=(2,), capacity=24), sizes).objectives[0] == (
        "a broker holds a partition once; nothing new on brokers that leave or are dead; "
        "as many racks as there can be; no broker above 24 bytes"
    )
    assert objectives("leaders") == (
        "a broker holds a partition once",
        "no data moves: only the order of replicas changes",
        "preferred leaders even within one",
        "fewest changes of the preferred leader",
    )
