"""What a request to move replicas is answered."""

import pytest

from model.controller import Refusal
from model.controller.leader_and_isr import ReplicaAssignment
from model.controller.requests import reassign_by_request, reassign_by_znode

CURRENT = ReplicaAssignment((1, 2, 3))
LIVE = {1, 2, 4}


def test_a_move_to_live_brokers() -> None:
    assert reassign_by_request(CURRENT, (1, 4), LIVE) == CURRENT.reassign_to((1, 4))


def test_replicas_that_stay_may_be_dead() -> None:
    assert reassign_by_request(CURRENT, (3, 4), LIVE) == CURRENT.reassign_to((3, 4))


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ((), "Empty replica list specified in partition reassignment."),
        ((1, 1), "Duplicate replica ids in partition reassignment replica list: 1,1"),
        ((1, -1), "Invalid broker id in replica list: 1,-1"),
        (
            (1, 5),
            "Replica assignment has brokers that are not alive. Replica list: 5, live broker list: 1,2,4",
        ),
    ],
)
def test_targets_that_are_refused(target: tuple[int, ...], message: str) -> None:
    assert reassign_by_request(CURRENT, target, LIVE) == Refusal("INVALID_REPLICA_ASSIGNMENT", message)


def test_there_has_to_be_something_to_cancel() -> None:
    moving = CURRENT.reassign_to((4,))
    assert reassign_by_request(moving, None, LIVE) == CURRENT
    for nothing in (CURRENT, None):
        refusal = reassign_by_request(nothing, None, LIVE)
        assert isinstance(refusal, Refusal)
        assert refusal.error == "NO_REASSIGNMENT_IN_PROGRESS"


def test_a_partition_that_does_not_exist_or_soon_will_not() -> None:
    gone = Refusal("UNKNOWN_TOPIC_OR_PARTITION", "The partition does not exist.")
    assert reassign_by_request(None, (1,), LIVE) == gone
    assert reassign_by_request(CURRENT, (1,), LIVE, deleting=True) == gone
    assert reassign_by_znode(None, (1,)) == gone
    assert reassign_by_znode(CURRENT, (1,), deleting=True) == gone


def test_the_replicas_are_looked_at_first() -> None:
    refusal = reassign_by_request(None, (9,), LIVE, deleting=True)
    assert isinstance(refusal, Refusal)
    assert refusal.error == "INVALID_REPLICA_ASSIGNMENT"


def test_a_znode_may_name_dead_brokers() -> None:
    assert reassign_by_znode(CURRENT, (9,)) == CURRENT.reassign_to((9,))
