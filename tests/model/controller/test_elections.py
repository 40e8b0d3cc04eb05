"""The strategies of Kafka from 1.1 on, and `elect`, by which every generation is asked."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.cluster.ids import NO_LEADER
from model.controller import elections
from model.controller.elections import Ballot, ElectionStrategy, Rule, remove_from_isr
from model.controller.generations import LATEST, elect, generation_of
from model.controller.leader_and_isr import LeaderAndIsr
from tests.model.controller.ballots import ballot, ballots, new_partition

RULES = (
    elections.offline,
    elections.offline_recovering,
    elections.reassign,
    elections.preferred,
    elections.controlled_shutdown,
    elections.controlled_shutdown_untold,
    elections.initial,
)

# The cases of Kafka's PartitionLeaderElectionAlgorithmsTest (3.9); the replicas are 2 and 4.
KAFKAS_CASES: list[tuple[ElectionStrategy, list[int], set[int], set[int], bool, int | None]] = [
    (ElectionStrategy.OFFLINE, [2, 4], {4}, set(), False, 4),
    (ElectionStrategy.OFFLINE, [2], {4}, set(), False, None),
    (ElectionStrategy.OFFLINE, [2], {4}, set(), True, 4),
    (ElectionStrategy.REASSIGN, [2, 4], {4}, set(), False, 4),
    (ElectionStrategy.REASSIGN, [2], set(), set(), False, None),
    (ElectionStrategy.REASSIGN, [], {2}, set(), False, None),
    (ElectionStrategy.PREFERRED, [2, 4], {2, 4}, set(), False, 2),
    (ElectionStrategy.PREFERRED, [2], set(), set(), False, None),
    (ElectionStrategy.PREFERRED, [4], {2, 4}, set(), False, None),
    (ElectionStrategy.PREFERRED, [], set(), set(), False, None),
    (ElectionStrategy.CONTROLLED_SHUTDOWN, [2, 4], {2, 4}, {2}, False, 4),
    (ElectionStrategy.CONTROLLED_SHUTDOWN, [2], {2, 4}, {2}, False, None),
    (ElectionStrategy.CONTROLLED_SHUTDOWN, [2, 4], {2, 4}, {2, 4}, False, None),
]


@pytest.mark.parametrize(("strategy", "isr", "live", "shutting", "unclean", "leader"), KAFKAS_CASES)
@pytest.mark.parametrize("release", ["0.8.2", "1.1", "3.9"])
def test_kafkas_own_cases(
    release: str,
    strategy: ElectionStrategy,
    isr: list[int],
    live: set[int],
    shutting: set[int],
    unclean: bool,
    leader: int,
) -> None:
    asked = ballot([2, 4], isr, live, shutting=shutting, unclean=unclean)
    result = elect(strategy, asked, generation_of(release))

    assert (result.leader_and_isr and result.leader_and_isr.leader) == leader
    assert result.unclean == (unclean and strategy is ElectionStrategy.OFFLINE)
    assert (result.why_not is None) == (leader is not None)


Outcome = tuple[int, int, tuple[int, ...]]


def offline(asked: Ballot, release: str = "3.9") -> Outcome | None:
    return outcome(elect(ElectionStrategy.OFFLINE, asked, generation_of(release)).leader_and_isr)


def outcome(state: LeaderAndIsr | None) -> Outcome | None:
    return state and (state.leader, state.leader_epoch, state.isr)


def dies(state: LeaderAndIsr, replica: int, assigned: list[int]) -> LeaderAndIsr:
    return remove_from_isr(state, replica, tuple(assigned), LATEST.isr_removal).leader_and_isr


def test_the_leader_dies() -> None:
    assert offline(ballot([1, 2, 3], [1, 2, 3], {2, 3}, leader=1)) == (2, 1, (2, 3))


@pytest.mark.parametrize(("release", "leader"), [("0.8.0", 2), ("0.8.1", 2), ("0.8.2", 1), ("1.1", 1), ("3.9", 1)])
def test_the_assignment_orders_candidates_and_the_isr_keeps_its_own_order(release: str, leader: int) -> None:
    asked = ballot([3, 1, 2], [2, 1, 3], {1, 2}, leader=3, epoch=5)
    assert offline(asked, release) == (leader, 6, (2, 1))


def test_the_last_in_sync_dies_and_nobody_follows() -> None:
    state = dies(LeaderAndIsr(1, 1, (1,)), 1, [1, 2])
    assert outcome(state) == (NO_LEADER, 2, (1,))
    assert offline(ballot([1, 2], [1], {2}, epoch=2)) is None


def test_the_last_in_sync_dies_and_data_is_given_up() -> None:
    result = elect(ElectionStrategy.OFFLINE, ballot([1, 2], [1], {2}, epoch=2, unclean=True))
    assert result.leader_and_isr == LeaderAndIsr(2, 3, (2,), recovering=True, partition_epoch=7)
    assert result.unclean
    assert result.rule == elections.UNCLEAN
    assert result.recipients == (2,)


@pytest.mark.parametrize(("release", "recovering"), [("0.8.2", False), ("1.1", False), ("3.1", False), ("3.2", True)])
def test_recovery_is_known_from_3_2_on(release: str, recovering: bool) -> None:
    asked = ballot([1, 2], [1], {2}, unclean=True)
    state = elect(ElectionStrategy.OFFLINE, asked, generation_of(release)).leader_and_isr
    assert state is not None
    assert state.recovering == recovering


def test_a_clean_election_does_not_end_recovery() -> None:
    state = elect(ElectionStrategy.OFFLINE, ballot([1, 2], [2], {2}, recovering=True)).leader_and_isr
    assert state is not None
    assert state.recovering


def test_the_only_replica_dies_and_returns() -> None:
    state = dies(LeaderAndIsr(1, 0, (1,)), 1, [1])
    assert outcome(state) == (NO_LEADER, 1, (1,))
    assert offline(ballot([1], [1], {1}, epoch=1)) == (1, 2, (1,))


def test_the_preferred_replica_takes_over_and_the_isr_stays() -> None:
    result = elect(ElectionStrategy.PREFERRED, ballot([1, 2, 3], [2, 3, 1], {1, 2, 3}, leader=2, epoch=1))
    assert outcome(result.leader_and_isr) == (1, 2, (2, 3, 1))
    assert result.recipients == (1, 2, 3)


def test_the_preferred_replica_is_not_in_sync() -> None:
    result = elect(ElectionStrategy.PREFERRED, ballot([1, 2, 3], [2, 3], {1, 2, 3}, leader=2, epoch=1))
    assert result.leader_and_isr is None
    assert result.why_not is not None
    assert result.why_not.message == "the preferred replica 1 is not online or not in the ISR"


@pytest.mark.parametrize(("release", "recipients"), [("1.1", (2, 3)), ("2.0", (2, 3)), ("2.1", (1, 2, 3))])
def test_a_broker_shuts_down(release: str, recipients: tuple[int, ...]) -> None:
    asked = ballot([1, 2, 3], [1, 2, 3], {1, 2, 3}, leader=1, shutting={1})
    result = elect(ElectionStrategy.CONTROLLED_SHUTDOWN, asked, generation_of(release))
    assert outcome(result.leader_and_isr) == (2, 1, (2, 3))
    assert result.recipients == recipients


def test_the_last_in_sync_cannot_shut_down_but_die() -> None:
    result = elect(ElectionStrategy.CONTROLLED_SHUTDOWN, ballot([3, 1, 2], [1], {1}, leader=1, epoch=7, shutting={1}))
    assert result.why_not is not None
    assert result.why_not.message == "nobody in the ISR 1 can take over from broker 1 shutting down"
    assert outcome(dies(LeaderAndIsr(1, 7, (1,)), 1, [3, 1, 2])) == (NO_LEADER, 8, (1,))


def test_who_left_the_isr_does_not_lead_on_its_return() -> None:
    state = dies(LeaderAndIsr(1, 0, (1, 2)), 2, [1, 2])
    assert outcome(state) == (1, 1, (1,))
    state = dies(state, 1, [1, 2])
    assert outcome(state) == (NO_LEADER, 2, (1,))
    assert offline(ballot([1, 2], [1], {2}, epoch=2)) is None


def test_a_reassigned_partition_is_led_by_the_target_and_keeps_its_isr() -> None:
    result = elect(ElectionStrategy.REASSIGN, ballot([1, 2], [1, 3, 4], {1, 3, 4}, leader=1, target=[4, 3]))
    assert outcome(result.leader_and_isr) == (4, 1, (1, 3, 4))
    assert result.recipients == (4, 3)


@pytest.mark.parametrize("release", ["0.8.0", "0.8.2", "0.10", "1.1", "3.9"])
def test_a_new_partition(release: str) -> None:
    result = elect(ElectionStrategy.INITIAL, new_partition([3, 1, 2], {1, 2}), generation_of(release))
    assert result.leader_and_isr == LeaderAndIsr(1, 0, (1, 2), partition_epoch=-1)
    assert result.recipients == (1, 2)


def test_a_new_partition_without_an_online_replica_stays_new() -> None:
    result = elect(ElectionStrategy.INITIAL, new_partition([1, 2], {3}))
    assert result.why_not is not None
    assert result.why_not.message == "no replica of 1,2 is online"


def test_a_state_is_made_once_and_elections_take_one() -> None:
    assert elect(ElectionStrategy.INITIAL, ballot([1], [1], {1})).leader_and_isr is None
    assert elect(ElectionStrategy.OFFLINE, new_partition([1], {1})).leader_and_isr is None


def test_a_failed_log_dir_is_as_good_as_a_dead_broker() -> None:
    assert offline(ballot([1, 2], [1, 2], {1, 2}, leader=1, offline={1})) == (2, 1, (2,))


@given(ballots(outsiders=True), st.sampled_from(RULES))
def test_who_leads_is_assigned_online_and_in_the_isr_unless_data_is_given_up(asked: Ballot, rule: Rule) -> None:
    result = rule(asked)
    state = result.leader_and_isr
    assert (state is None) == (result.why_not is not None)
    if state is None:
        assert result.recipients == ()
        return
    assert state.leader in asked.assignment.replicas
    assert asked.liveness.online(state.leader)
    assert state.leader in state.isr
    assert state.leader_epoch == asked.current.leader_epoch + 1
    assert state.partition_epoch == asked.current.partition_epoch
    assert set(result.recipients) <= set(asked.assignment.replicas)


@given(ballots(outsiders=True), st.sampled_from(RULES[:-1]))
def test_a_clean_election_loses_nothing(asked: Ballot, rule: Rule) -> None:
    result = rule(asked)
    state = result.leader_and_isr
    if state is None or result.unclean:
        return
    assert state.leader in asked.current.isr
    assert state.isr == tuple(member for member in asked.current.isr if member in state.isr)
    assert state.recovering == asked.current.recovering


@given(ballots(outsiders=True))
def test_data_is_given_up_only_where_it_is_allowed_and_nothing_else_is_left(asked: Ballot) -> None:
    result = elections.offline_recovering(asked)
    in_sync = [replica for replica in asked.online if replica in asked.current.isr]
    nobody = not any(map(asked.liveness.online, asked.current.isr))
    assert result.unclean == (asked.unclean_allowed and bool(asked.online) and nobody)
    assert (result.leader_and_isr is not None) == (bool(in_sync) or result.unclean)
    if result.unclean:
        assert result.leader_and_isr is not None
        assert (result.leader_and_isr.isr, result.leader_and_isr.recovering) == (asked.online[:1], True)
