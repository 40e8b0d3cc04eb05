"""Reassignments of anybody: which there are, and taking them back."""

from __future__ import annotations

import pytest

from model.actions.proposal import ActionRefused, ApiCall, Basis
from model.actions.reassignments import cancel_reassignments, under_way
from model.cluster.ids import TopicPartition
from model.cluster.records import GenerationRecognised, ReassignmentsRequested, TopicAssigned
from tests.model.cluster.build import brokers, image, state, written

MOVED, ASKED = TopicPartition("orders", 0), TopicPartition("orders", 1)
SEEN = image(
    *brokers(1, 2, 3),
    TopicAssigned(topic="orders", replicas={0: (3, 2, 1), 1: (1, 2)}, adding={0: (3,)}, removing={0: (1,)}),
    written("orders", state(0, 1, (1, 2)), state(1, 1, (1, 2))),
    ReassignmentsRequested(targets={ASKED: (2, 3), TopicPartition("gone", 0): (1,)}),
)


def test_what_is_under_way_and_was_not_begun_from_here() -> None:
    assert under_way(SEEN) == {MOVED: (3, 2), ASKED: (2, 3)}
    assert under_way(SEEN, {MOVED}) == {ASKED: (2, 3)}


def test_what_was_to_be_added_goes_again() -> None:
    proposal = cancel_reassignments(Basis(SEEN), [MOVED])
    assert proposal.steps == (
        ApiCall("AlterPartitionReassignments", {"topics": {"orders": {"0": None}}}, {"orders-0": [3, 2, 1]}),
    )
    assert proposal.changes == ("orders-0: 3,2,1 → 2,1",)
    assert proposal.type_to_confirm == "1"


@pytest.mark.parametrize(
    "basis",
    [Basis(SEEN, found={}), Basis(image(GenerationRecognised(generation="0.9-1.x"), base=SEEN))],
)
def test_through_zookeeper_and_of_old_brokers_nothing_is_taken_back(basis: Basis) -> None:
    with pytest.raises(ActionRefused, match=r"name brokers of 2\.4 or later with --bootstrap; before 2\.4 .* waited"):
        cancel_reassignments(basis, [MOVED])
