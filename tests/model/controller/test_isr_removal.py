"""What becomes of leader and ISR when a replica goes offline, by generation."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.cluster.ids import NO_LEADER
from model.controller.elections import Ballot, remove_from_isr
from model.controller.generations import GENERATIONS, LATEST, Generation, generation_of
from model.controller.leader_and_isr import LeaderAndIsr
from tests.model.controller.ballots import ballots, broker_ids

ASSIGNED = (1, 2, 3)


@pytest.mark.parametrize(
    ("leader", "isr", "replica", "after"),
    [
        (1, (1, 2), 3, (1, 4, (1, 2))),
        (1, (1, 2), 2, (1, 5, (1,))),
        (1, (1, 2), 1, (NO_LEADER, 5, (2,))),
        (1, (1,), 1, (NO_LEADER, 5, (1,))),
        (NO_LEADER, (1,), 1, (NO_LEADER, 5, (1,))),
    ],
)
@pytest.mark.parametrize("release", ["1.1", "3.9"])
def test_a_replica_goes_offline(
    release: str, leader: int, isr: tuple[int, ...], replica: int, after: tuple[int, int, tuple[int, ...]]
) -> None:
    removal = remove_from_isr(LeaderAndIsr(leader, 4, isr), replica, ASSIGNED, generation_of(release).isr_removal)
    state = removal.leader_and_isr
    assert (state.leader, state.leader_epoch, state.isr) == after
    assert removal.is_written == (replica in isr)
    assert removal.recipients == tuple(other for other in ASSIGNED if other != replica)


@pytest.mark.parametrize(
    ("release", "unclean_allowed", "isr"),
    [
        ("0.8.0", False, ()),
        ("0.8.1", False, ()),
        ("0.8.2", False, (1,)),
        ("0.8.2", True, ()),
        ("1.0", False, (1,)),
        ("1.0", True, ()),
        ("1.1", True, (1,)),
        ("3.9", True, (1,)),
    ],
)
def test_whether_the_last_member_stays(release: str, unclean_allowed: bool, isr: tuple[int, ...]) -> None:
    rules = generation_of(release).isr_removal
    removal = remove_from_isr(LeaderAndIsr(1, 0, (1,)), 1, ASSIGNED, rules, unclean_allowed=unclean_allowed)
    assert removal.leader_and_isr == LeaderAndIsr(NO_LEADER, 1, isr)


@pytest.mark.parametrize(
    ("release", "follower_in_sync", "follower_behind", "leader_itself"),
    [("0.8.0", (1,), (), ()), ("0.8.1", (1,), (1,), ()), ("0.8.2", (1, 3), (1, 2), (2, 3))],
)
def test_who_is_told(
    release: str, follower_in_sync: tuple[int, ...], follower_behind: tuple[int, ...], leader_itself: tuple[int, ...]
) -> None:
    rules, state = generation_of(release).isr_removal, LeaderAndIsr(1, 0, (1, 2))
    assert remove_from_isr(state, 2, ASSIGNED, rules).recipients == follower_in_sync
    assert remove_from_isr(state, 3, ASSIGNED, rules).recipients == follower_behind
    assert remove_from_isr(state, 1, ASSIGNED, rules).recipients == leader_itself


def test_nobody_is_told_of_a_topic_that_is_being_deleted() -> None:
    removal = remove_from_isr(LeaderAndIsr(1, 0, (1, 2)), 2, ASSIGNED, LATEST.isr_removal, deleting=True)
    assert removal.is_written
    assert removal.recipients == ()


@given(ballots(), broker_ids, st.sampled_from(GENERATIONS), st.booleans())
def test_what_holds_for_every_generation(before: Ballot, replica: int, generation: Generation, unclean: bool) -> None:
    state, assigned = before.current, before.assignment.replicas
    removal = remove_from_isr(state, replica, assigned, generation.isr_removal, unclean_allowed=unclean)
    after = removal.leader_and_isr

    assert after.leader != replica
    assert set(after.isr) <= set(state.isr)
    assert after.leader_epoch - state.leader_epoch == removal.is_written
    assert after.leader in (NO_LEADER, *after.isr)
    assert set(removal.recipients) <= set(assigned) - {replica}
    if generation.isr_removal.last_member == "stays":
        assert bool(after.isr) == bool(state.isr)
