"""The leader selectors of 0.8.0 to 1.0: what they had in common with later releases, and what not."""

import pytest
from hypothesis import given

from model.controller import elections
from model.controller.elections import Ballot, ElectionStrategy
from model.controller.generations import elect, generation_of
from tests.model.controller.ballots import ballot, ballots


@pytest.mark.parametrize(("release", "leader"), [("0.8.0", 1), ("0.8.1", 1), ("0.8.2", None), ("1.0", None)])
def test_unclean_elections_can_be_forbidden_from_0_8_2_on(release: str, leader: int | None) -> None:
    result = elect(ElectionStrategy.OFFLINE, ballot([1, 2], [2], {1}), generation_of(release))
    assert (result.leader_and_isr and result.leader_and_isr.leader) == leader
    assert result.unclean == (leader is not None)
    if leader is None:
        assert result.why_not is not None
        assert result.why_not.error == "NoReplicaOnlineException"


@pytest.mark.parametrize(("release", "leader"), [("0.8.0", 3), ("0.8.1", 4), ("1.0", 4)])
def test_0_8_0_trusts_that_the_target_is_in_sync(release: str, leader: int) -> None:
    asked = ballot([1, 2], [1, 4], {1, 3, 4}, leader=1, target=[3, 4])
    result = elect(ElectionStrategy.REASSIGN, asked, generation_of(release))
    assert result.leader_and_isr is not None
    assert (result.leader_and_isr.leader, result.leader_and_isr.isr) == (leader, (1, 4))
    assert result.recipients == (3, 4)


@pytest.mark.parametrize(("release", "error"), [("0.8.0", "StateChangeFailed"), ("0.8.1", "NoReplicaOnline")])
def test_a_dead_target(release: str, error: str) -> None:
    result = elect(ElectionStrategy.REASSIGN, ballot([1], [1], {1}, leader=1, target=[3]), generation_of(release))
    assert result.why_not is not None
    assert result.why_not.error == f"{error}Exception"


@pytest.mark.parametrize(
    ("release", "error"),
    [("0.8.0", "LeaderElectionNotNeededException"), ("1.0", "LeaderElectionNotNeededException"), ("1.1", None)],
)
def test_the_selector_itself_finds_that_the_preferred_replica_leads(release: str, error: str | None) -> None:
    result = elect(ElectionStrategy.PREFERRED, ballot([1, 2], [1, 2], {1, 2}, leader=1), generation_of(release))
    assert (result.why_not and result.why_not.error) == error


@pytest.mark.parametrize(
    ("release", "leader", "isr"), [("0.8.0", 3, (3,)), ("0.8.1", 3, (3, 2)), ("0.9", 3, (3, 2)), ("0.10", 2, (3, 2))]
)
def test_who_takes_over_from_a_broker_shutting_down(release: str, leader: int, isr: tuple[int, ...]) -> None:
    """The leader 2 stays up; 0.8.0 counts it out all the same."""
    asked = ballot([1, 2, 3], [3, 1, 2], {1, 2, 3}, leader=2, shutting={1})
    result = elect(ElectionStrategy.CONTROLLED_SHUTDOWN, asked, generation_of(release))
    assert result.leader_and_isr is not None
    assert (result.leader_and_isr.leader, result.leader_and_isr.isr) == (leader, isr)
    assert result.recipients == (1, 2, 3)


def test_no_op_elects_nobody() -> None:
    asked = ballot([1, 2], [2], {1, 2}, leader=2, epoch=4)
    result = elect(ElectionStrategy.NO_OP, asked, generation_of("1.0"))
    assert result.leader_and_isr is asked.current
    assert result.recipients == (1, 2)
    assert not result.unclean


@pytest.mark.parametrize("release", ["0.8.0", "0.8.1"])
def test_nobody_can_take_over_from_the_last_in_sync(release: str) -> None:
    asked = ballot([1, 2], [1], {1, 2}, leader=1, shutting={1})
    result = elect(ElectionStrategy.CONTROLLED_SHUTDOWN, asked, generation_of(release))
    assert result.leader_and_isr is None
    assert result.why_not is not None
    assert result.why_not.message == "nobody in the ISR 1 can take over from broker 1 shutting down"


def test_no_op_is_gone_from_1_1_on() -> None:
    with pytest.raises(KeyError):
        elect(ElectionStrategy.NO_OP, ballot([1], [1], {1}), generation_of("1.1"))


@pytest.mark.parametrize(
    ("release", "leader"), [("0.8.1", 2), ("0.8.2", None), ("1.0", None), ("1.1", None), ("2.4", None), ("3.9", None)]
)
def test_while_a_member_of_the_isr_is_online_no_election_is_unclean(release: str, leader: int | None) -> None:
    """Also one that is not assigned: 0.8.0 and 0.8.1 let it lead, later releases nobody."""
    result = elect(ElectionStrategy.OFFLINE, ballot([1], [2], {1, 2}, unclean=True), generation_of(release))
    assert (result.leader_and_isr and result.leader_and_isr.leader) == leader
    assert not result.unclean
    if leader is None:
        assert result.why_not is not None
        assert result.why_not.error == "StateChangeFailedException"
        assert result.why_not.message == "the members 2 of the ISR that are online are not assigned"


@given(ballots(outsiders=True))
def test_from_0_8_2_on_offline_partitions_are_led_as_today(asked: Ballot) -> None:
    old, new = elections.offline_in_assignment_order(asked), elections.offline(asked)
    assert (old.leader_and_isr, old.recipients, old.unclean) == (new.leader_and_isr, new.recipients, new.unclean)


@given(ballots())
def test_0_8_0_chooses_from_the_same_isr_in_another_order(asked: Ballot) -> None:
    old, new = elections.offline_in_isr_order(asked), elections.offline(asked)
    assert (old.leader_and_isr is not None) == bool(asked.online)
    if old.leader_and_isr is not None and not old.unclean:
        assert new.leader_and_isr is not None
        assert old.leader_and_isr.isr == new.leader_and_isr.isr
        assert old.leader_and_isr.leader == old.leader_and_isr.isr[0]


@given(ballots())
def test_a_controlled_shutdown_shrinks_the_isr_alike(asked: Ballot) -> None:
    old, new = elections.controlled_shutdown_in_isr_order(asked), elections.controlled_shutdown(asked)
    if old.leader_and_isr is not None and new.leader_and_isr is not None:
        assert old.leader_and_isr.isr == new.leader_and_isr.isr
