"""The arithmetic of reassignments, with the cases of Kafka's ControllerContextTest."""

import pytest
from hypothesis import given

from model.controller.leader_and_isr import ReplicaAssignment
from tests.model.controller.ballots import assignments, replica_lists


def plain(*replicas: int) -> ReplicaAssignment:
    return ReplicaAssignment(replicas)


def test_a_reassignment_and_another_before_it_is_done_and_back() -> None:
    first = plain(1, 2, 3).reassign_to((4, 5, 6))
    assert first == ReplicaAssignment((4, 5, 6, 1, 2, 3), adding=(4, 5, 6), removing=(1, 2, 3))
    second = first.reassign_to((7, 8, 9))
    assert second == ReplicaAssignment((7, 8, 9, 1, 2, 3), adding=(7, 8, 9), removing=(1, 2, 3))
    assert second.dropped_from(first) == (4, 5, 6)
    assert second.reassign_to((1, 2, 3)) == second.cancel() == plain(1, 2, 3)


@pytest.mark.parametrize(
    ("origin", "target", "replicas", "adding", "removing"),
    [
        ((1, 2, 3, 4), (4, 2, 5, 3), (4, 2, 5, 3, 1), (5,), (1,)),
        ((1, 2, 3), (3, 1, 2), (3, 1, 2), (), ()),
        ((1, 2, 3), (3, 0), (3, 0, 1, 2), (0,), (1, 2)),
        ((1,), (1, 2), (1, 2), (2,), ()),
        ((1, 2, 3), (1,), (1, 2, 3), (), (2, 3)),
    ],
)
def test_full_lists(
    origin: tuple[int, ...],
    target: tuple[int, ...],
    replicas: tuple[int, ...],
    adding: tuple[int, ...],
    removing: tuple[int, ...],
) -> None:
    assignment = plain(*origin).reassign_to(target)
    assert assignment == ReplicaAssignment(replicas, adding, removing)
    assert assignment.is_being_reassigned == bool(adding or removing)
    assert assignment.complete() == plain(*target)


def test_an_override_drops_what_it_does_not_want() -> None:
    stalled = plain(1, 2).reassign_to((1, 3))
    override = stalled.reassign_to((1, 0))
    assert override == ReplicaAssignment((1, 0, 2), adding=(0,), removing=(2,))
    assert override.dropped_from(stalled) == (3,)


def test_a_cancelled_reassignment_keeps_the_new_order() -> None:
    assert plain(1, 2, 3).reassign_to((3, 1, 4)).cancel() == plain(3, 1, 2)


def test_a_replica_that_is_gone_is_gone_everywhere() -> None:
    assignment = plain(1, 2).reassign_to((2, 3))
    assert assignment.remove(1) == ReplicaAssignment((2, 3), adding=(3,))
    assert assignment.remove(3) == ReplicaAssignment((2, 1), removing=(1,))


def test_it_is_complete_when_the_target_is_in_sync() -> None:
    assignment = plain(1, 2).reassign_to((2, 3))
    assert not assignment.is_complete((1, 2))
    assert assignment.is_complete((1, 3, 2))
    assert plain(1, 2).is_complete(())


@given(assignments, replica_lists)
def test_what_holds_for_any_reassignment(before: ReplicaAssignment, target: list[int]) -> None:
    after = before.reassign_to(target)
    assert after.target == tuple(target)
    assert set(after.origin) == set(before.origin)
    assert set(after.replicas) == set(target) | set(before.origin)
    assert len(set(after.replicas)) == len(after.replicas)
    assert after.reassign_to(target) == after
    assert after.replicas[: len(target)] == tuple(target)
    assert set(after.cancel().replicas) == set(before.origin)
    assert not after.cancel().is_being_reassigned
    assert set(after.dropped_from(before)) == set(before.adding) - set(target)
