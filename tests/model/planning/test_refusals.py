"""Wishes and files that make no sense here: one line that names what is wrong."""

from __future__ import annotations

import json
from typing import Any

import pytest

from model.cluster import records as r
from model.cluster.ids import TopicPartition
from model.planning.documents import batching_in
from model.planning.planner import plan, read_moves, score
from model.planning.request import Batching, NewBroker, PlanError, PlanRequest
from tests.model.planning.clusters import cluster

IMAGE = cluster({"orders": [[1, 2], [2, 3]], "payments": [[1, 3]]}, {1: "a", 2: "b", 3: "c"})


@pytest.mark.parametrize(
    ("request_", "reason"),
    [
        (PlanRequest(remove=(9,)), "broker 9: neither alive nor holding a replica; there are 1, 2, 3"),
        (PlanRequest(remove=(1, 2, 3)), "no broker would stay: name one to add"),
        (PlanRequest(remove=(1, 2)), "orders-0 needs 2 replicas and 1 broker would stay: add brokers, or lower the"),
        (PlanRequest(replication_factor=4), "orders-0 needs 4 replicas and 3 brokers would stay"),
        (PlanRequest(add=(NewBroker(1, "b"),)), "broker 1 says it is in rack 'a', not 'b'"),
        (PlanRequest(remove=(1,), add=(NewBroker(1),)), "broker 1 cannot both leave and come"),
        (PlanRequest(replace=((1, 7), (2, 7))), "a broker is named twice"),
        (PlanRequest(topics=("ordres",)), "no topic matches 'ordres': did you mean 'orders'?"),
        (PlanRequest(exclude=("x*",)), "no topic matches 'x*'"),
        (PlanRequest(by="bytes"), "no size of a partition is known: name a file that has them"),
        (PlanRequest(capacity=10), "no size of a partition is known"),
        (PlanRequest(replace=((1, 2),), reach="forced"), "broker 2 has a replica of orders-0 already and cannot take"),
    ],
)
def test_a_wish_that_cannot_be_fulfilled(request_: PlanRequest, reason: str) -> None:
    with pytest.raises(PlanError) as error:
        plan(IMAGE, request_)
    assert str(error.value).startswith(reason)
    assert "\n" not in str(error.value)


def moving(*rows: tuple[str, int, list[int]]) -> bytes:
    entries: list[dict[str, Any]] = [{"topic": t, "partition": p, "replicas": r} for t, p, r in rows]
    return json.dumps({"version": 1, "partitions": entries}).encode()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (b"", "their.json: not a file of Kafka's reassignment tool: Input data was truncated"),
        (b"[" * 100_000, "their.json: "),
        (b'{"version":2,"partitions":[]}', "their.json: Not supported version field value 2"),
        (moving(), "their.json: Partition reassignment list cannot be empty"),
        (moving(("orders", 0, [])), "their.json: Partition replica list cannot be empty"),
        (moving(("orders", 0, [1, 1])), "their.json: Partition replica lists may not contain duplicate entries"),
        (moving(("orders", 0, [1]), ("orders", 0, [2])), "their.json: Partition reassignment contains duplicate"),
        (moving(("ordres", 0, [1])), "their.json: topic ordres: not in this cluster"),
        (moving(("orders", 2, [1])), "their.json: orders-2: no such partition in this cluster"),
        (moving(("orders", 0, [1, 9])), "their.json: broker 9: not in this cluster; add those that are to come"),
    ],
)
def test_a_file_that_does_not_fit(text: bytes, reason: str) -> None:
    with pytest.raises(PlanError) as error:
        score(IMAGE, read_moves(text, "their.json"), PlanRequest(), "their.json")
    assert str(error.value).startswith(reason)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("replicas", [0, -1, "20"])
def test_batches_in_a_file_that_are_none(replicas: object) -> None:
    text = json.dumps({"version": 1, "partitions": [], "kdrill": {"batching": {"replicas": replicas}}})
    with pytest.raises(PlanError, match=r"f: what kdrill wrote into it was changed: Expected `int") as error:
        batching_in(text.encode(), "f")
    assert "\n" not in str(error.value)


def test_what_others_wrote_says_nothing_of_batches() -> None:
    assert batching_in(moving(("orders", 0, [1])), "f") == batching_in(b"Current partition ...", "f") == Batching()


def test_kafka_would_not_move_anything_to_the_dead() -> None:
    image = cluster({"t": [[1, 8], [1, 2]]}, {1: None, 2: None})
    with pytest.raises(PlanError, match="t-1 is to go to broker 8, which is not alive: Kafka refuses that"):
        score(image, read_moves(moving(("t", 1, [8, 2])), "f"), PlanRequest(), "f")
    assert score(image, read_moves(moving(("t", 0, [8, 1])), "f"), PlanRequest(), "f").cost.moves == 0


def test_another_tools_plan_is_measured_like_ours() -> None:
    made = score(IMAGE, read_moves(moving(("orders", 0, [3, 2]), ("payments", 0, [3, 1])), "f"), PlanRequest(), "f")
    assert (made.maker, made.bound) == ("f", None)
    assert (made.cost.moves, made.cost.leader_changes, made.cost.reorders) == (1, 2, 1)
    assert made.after.replicas.spread == 2
    assert {change.name: change.after for change in made.changes} == {
        TopicPartition("orders", 0): (3, 2),
        TopicPartition("payments", 0): (3, 1),
    }
    ours = plan(IMAGE, PlanRequest(remove=(1,)))
    theirs = read_moves(moving(("orders", 0, [3, 2]), ("payments", 0, [2, 3])), "f")
    from model.planning.optimum.solving import solve  # noqa: PLC0415

    held_against = score(IMAGE, theirs, PlanRequest(remove=(1,)), "f", solve=solve)
    assert held_against.bound == ours.bound
    assert held_against.after.elsewhere == 0


def test_what_is_under_way_is_told() -> None:
    moving_now = r.TopicAssigned(topic="t", replicas={0: (3, 1)}, adding={0: (3,)}, removing={0: (1,)})
    image = cluster({"t": [[1]]}, {1: None, 2: None, 3: None}, moving_now)
    made = score(image, read_moves(moving(("t", 0, [2])), "f"), PlanRequest(), "f")
    assert made.notes[0] == "1 partition (t-0) being reassigned or deleted already: this would take its place."
