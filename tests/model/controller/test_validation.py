"""What is refused when a topic is created, and in which order."""

from collections.abc import Mapping, Sequence

import pytest

from model.controller import Refusal
from model.controller.topic_validation import (
    TopicCreation,
    creation_problem,
    creation_request_problem,
    deletion_problem,
)

GOOD = {0: [0, 1, 2], 1: [1, 2, 3]}


@pytest.mark.parametrize(
    ("assignment", "message"),
    [
        ({}, "All partitions should have the same number of replicas"),
        ({0: [0, 1], 1: [0]}, "All partitions should have the same number of replicas"),
        ({0: [0, 0]}, "Duplicate replica assignment found: 0 -> 0,0"),
        ({1: [1, 2], 2: [1, 2]}, "partitions should be a consecutive 0-based integer sequence"),
        ({0: [1, 2], 3: [1, 2]}, "partitions should be a consecutive 0-based integer sequence"),
        ({-1: [1], 1: [1], 2: [1], 4: [1]}, "partitions should be a consecutive 0-based integer sequence"),
        ({0: [1], 1: [1], 5: [1], 0 - 3: [1]}, "partitions should be a consecutive 0-based integer sequence"),
    ],
)
def test_assignments_that_are_refused(assignment: Mapping[int, Sequence[int]], message: str) -> None:
    problem = creation_problem(TopicCreation(topic="test", assignment=assignment))
    assert problem == Refusal("INVALID_REPLICA_ASSIGNMENT", message)


def test_a_good_one_may_name_any_brokers() -> None:
    assert creation_problem(TopicCreation(topic="test", assignment=GOOD)) is None


@pytest.mark.parametrize(
    ("topic", "error", "message"),
    [
        ("a b", "INVALID_TOPIC_EXCEPTION", None),
        ("leaving", "TOPIC_ALREADY_EXISTS", "Topic 'leaving' is marked for deletion."),
        ("a.b", "TOPIC_ALREADY_EXISTS", "Topic 'a.b' already exists."),
        ("a_b", "INVALID_TOPIC_EXCEPTION", "Topic 'a_b' collides with existing topics: a.b"),
        ("fine", "INVALID_REPLICA_ASSIGNMENT", None),
    ],
)
def test_the_name_comes_before_the_replicas(topic: str, error: str, message: str | None) -> None:
    existing, marked = ["a.b", "leaving"], ["leaving"]
    problem = creation_problem(TopicCreation(topic=topic, assignment={}, existing=existing, marked_for_deletion=marked))
    assert problem is not None
    assert problem.error == error
    assert message in (None, problem.message)


def test_collisions_were_allowed_once() -> None:
    creation = TopicCreation(topic="a_b", assignment=GOOD, existing=["a.b"], forbids_collisions=False)
    assert creation_problem(creation) is None


def test_what_a_broker_refuses_before_it_places_replicas() -> None:
    assert creation_request_problem("t", ["t"], configs={"a": None}) == Refusal(
        "TOPIC_ALREADY_EXISTS", "Topic 't' already exists."
    )
    assert creation_request_problem("t", [], configs={"a": None, "b": "1"}, partitions=1, has_assignment=True) == (
        Refusal("INVALID_CONFIG", "Null value not supported for topic configs: a")
    )
    for partitions, replication_factor in ((1, -1), (-1, 1)):
        problem = creation_request_problem(
            "t", [], has_assignment=True, partitions=partitions, replication_factor=replication_factor
        )
        assert problem is not None
        assert problem.error == "INVALID_REQUEST"
    assert creation_request_problem("t", [], has_assignment=True) is None
    assert creation_request_problem("t", [], partitions=3, configs={"b": "1"}) is None


@pytest.mark.parametrize(
    ("topic", "error"),
    [("t", None), ("gone", "UNKNOWN_TOPIC_OR_PARTITION"), ("going", "TopicAlreadyMarkedForDeletionException")],
)
def test_a_topic_is_marked_for_deletion_once(topic: str, error: str | None) -> None:
    problem = deletion_problem(topic, existing={"t", "going"}, marked_for_deletion={"going"})
    assert (None if problem is None else problem.error) == error
