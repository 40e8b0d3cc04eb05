"""The ISRs that a leader asks for, and what it makes of the answers (Kafka's PartitionTest)."""

from __future__ import annotations

import msgspec
import pytest

from model.broker.commands import PartitionDecision, ProposeIsr
from model.broker.isr import REACTIONS, check_isr, hear_isr_answer, record_fetch
from model.broker.partition import Partition
from model.controller.events_and_commands import PartitionOutcome, ProposedIsr
from model.controller.leader_and_isr import LeaderAndIsr
from tests.model.broker.partitions import NAME, START_MS, at, leader_of, log_to

LOG = log_to(10)
LATE = at(START_MS + 30_001)


def joining(leader_epoch: int = 0) -> PartitionDecision:
    """Broker 3, out of the ISR, has just caught up."""
    partition = leader_of(LOG, isr=(1, 2), leader_epoch=leader_epoch, high_watermark=4)
    return record_fetch(partition, 3, 10, LOG, at())


def proposal_of(decision: PartitionDecision) -> ProposedIsr:
    (command,) = decision.commands
    assert isinstance(command, ProposeIsr)
    return command.proposal


def answered(partition: Partition, asked: ProposedIsr, error: str = "NONE", **state: object) -> PartitionDecision:
    accepted = LeaderAndIsr(1, asked.leader_epoch, asked.isr, partition_epoch=asked.partition_epoch + 1)
    told = msgspec.structs.replace(accepted, **state) if error == "NONE" else None
    return hear_isr_answer(partition, asked, PartitionOutcome(NAME, error, told), LOG, at())


def test_who_has_caught_up_joins_at_the_end() -> None:
    decision = joining(leader_epoch=5)
    assert proposal_of(decision) == ProposedIsr(NAME, 5, 0, (1, 2, 3))
    assert decision.reasons == ("orders-0: broker 3 has caught up at offset 10, it may join the ISR.",)
    assert decision.partition.state.isr == (1, 2)


@pytest.mark.parametrize(("release", "joins"), [("2.0", True), ("2.1", False)])
def test_since_2_1_not_before_it_has_reached_the_start_of_the_epoch(release: str, joins: bool) -> None:
    now = at(release=release)
    partition = leader_of(LOG, isr=(1, 2), conditions=now, high_watermark=4)
    assert bool(record_fetch(partition, 3, 6, LOG, now).commands) == joins
    assert not record_fetch(partition, 3, 3, LOG, now).commands


@pytest.mark.parametrize(("release", "joins"), [("3.2", True), ("3.3", False)])
def test_since_3_3_not_unless_it_is_live(release: str, joins: bool) -> None:
    now = msgspec.structs.replace(at(release=release), live_brokers=frozenset({1, 2}))
    partition = leader_of(LOG, isr=(1, 2), conditions=now)
    assert bool(record_fetch(partition, 3, 10, LOG, now).commands) == joins


def test_a_stranger_does_not_join() -> None:
    partition = leader_of(LOG, isr=(1, 2))
    assert record_fetch(partition, 9, 10, LOG, at()) == PartitionDecision(partition)


def test_one_change_at_a_time() -> None:
    partition = joining().partition
    assert record_fetch(partition, 3, 10, LOG, at()).commands == ()
    assert check_isr(partition, LOG, LATE).commands == ()


def test_a_proposed_shrink_does_not_count_before_the_answer() -> None:
    partition = record_fetch(leader_of(LOG), 2, 10, LOG, at()).partition
    shrunk = check_isr(partition, log_to(11), LATE)
    assert proposal_of(shrunk).isr == (1,)
    assert shrunk.partition.maximal_isr == (1, 2, 3)
    asked = proposal_of(shrunk)
    outcome = PartitionOutcome(NAME, state=LeaderAndIsr(1, 0, asked.isr, partition_epoch=1))
    done = hear_isr_answer(shrunk.partition, asked, outcome, LOG, LATE)
    assert done.partition.high_watermark == 10
    assert done.reasons == ("orders-0: the ISR is [1] as of partition epoch 1.",)


def test_what_is_accepted_is_committed() -> None:
    decision = joining()
    done = answered(decision.partition, proposal_of(decision)).partition
    assert done.state.isr == (1, 2, 3)
    assert done.state.partition_epoch == 1
    assert done.leading is not None
    assert done.leading.pending is None


def test_the_isr_of_the_answer_holds_even_if_it_is_another_one() -> None:
    decision = joining()
    done = answered(decision.partition, proposal_of(decision), isr=(1, 3), partition_epoch=0).partition
    assert done.state.isr == (1, 3)


@pytest.mark.parametrize("state", [{"leader_epoch": 9}, {"partition_epoch": -1}], ids=["leader epoch", "older"])
def test_an_answer_about_another_state_changes_nothing(state: dict[str, int]) -> None:
    partition = joining().partition
    assert answered(partition, proposal_of(joining()), "NONE", **state).partition == partition


@pytest.mark.parametrize(
    ("error", "reaction"), [*REACTIONS.items(), ("UNKNOWN_SERVER_ERROR", "ask again"), ("NOT_CONTROLLER", "ask again")]
)
def test_each_error_has_its_reaction(error: str, reaction: str) -> None:
    decision = joining()
    asked = proposal_of(decision)
    after = answered(decision.partition, asked, error)
    expected = {"roll back": (1, 2), "stay pending": (1, 2, 3), "ask again": (1, 2, 3)}
    assert after.partition.maximal_isr == expected[reaction]
    assert [command for command in after.commands if isinstance(command, ProposeIsr)] == (
        [ProposeIsr(NAME, asked, 1)] if reaction == "ask again" else []
    )
    assert f"refused with {error}" in after.reasons[0]


def test_after_a_roll_back_the_same_follower_is_proposed_again() -> None:
    decision = joining()
    rolled_back = answered(decision.partition, proposal_of(decision), "INELIGIBLE_REPLICA").partition
    assert proposal_of(record_fetch(rolled_back, 3, 10, LOG, at())).isr == (1, 2, 3)


def test_up_to_2_6_a_lost_race_for_the_znode_is_tried_again_at_the_next_check() -> None:
    decision = joining()
    outcome = PartitionOutcome(NAME, "INVALID_UPDATE_VERSION")
    old = at(release="2.6")
    after = hear_isr_answer(decision.partition, proposal_of(decision), outcome, LOG, old).partition
    assert after.maximal_isr == (1, 2)
    assert record_fetch(after, 3, 10, LOG, old).commands


def test_an_answer_that_comes_too_late_changes_nothing() -> None:
    decision = joining()
    asked = proposal_of(decision)
    done = answered(decision.partition, asked).partition
    assert answered(done, asked, "INELIGIBLE_REPLICA").partition == done
    assert answered(leader_of(LOG, isr=(1, 2)), asked).partition == leader_of(LOG, isr=(1, 2))


def test_a_follower_that_is_no_replica_any_more_leaves() -> None:
    partition = leader_of(LOG)
    assert partition.leading is not None
    without_3 = partition.lead(followers={2: partition.leading.followers[2]})
    assert proposal_of(check_isr(without_3, LOG, at())).isr == (1, 2)


def fetched(
    broker_epoch: int, offset: int = 10, *, known: int = 103, before: Partition | None = None
) -> PartitionDecision:
    """By broker 3, which is registered with the epoch `known`."""
    now = msgspec.structs.replace(at(), broker_epochs={3: known})
    partition = before or leader_of(LOG, isr=(1, 2), high_watermark=4)
    return record_fetch(partition, 3, offset, LOG, now, follower_epoch=broker_epoch)


def test_a_follower_joins_in_the_life_in_which_it_fetched() -> None:
    assert proposal_of(fetched(103)).broker_epochs == (-1, -1, 103)
    assert not fetched(101).commands  # it has registered anew since
    assert not fetched(103, known=104).commands


def test_a_fetch_of_an_earlier_life_says_nothing() -> None:
    partition = fetched(103, 5, before=leader_of(LOG, isr=(1, 2), high_watermark=9)).partition
    late = fetched(101, before=partition)
    assert late.partition is partition
    assert not late.commands
