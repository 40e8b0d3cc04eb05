"""Rules of brokers and controllers are broken on purpose, and histories of records notice: the checks can fail."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from model.broker import isr as follower_fetch
from model.broker import isr as isr_answers
from model.broker import isr as isr_changes
from model.broker import partition as high_watermark
from model.broker import roles, serving
from model.broker.commands import FetchState
from model.broker.partition import Conditions, LogPositions, Partition
from model.controller.leader_and_isr import LeaderAndIsr
from model.controller.steps import notifications
from model.log.producers import ProducerState
from tests.simulation.replication import clients, fetching, isr_proposals
from tests.simulation.replication.history import run
from tests.simulation.violation import ViolationError, play_all

SEEDS = 300
Mutation = Callable[[pytest.MonkeyPatch], None]


def followers_cut_at_their_high_watermark(patch: pytest.MonkeyPatch) -> None:
    """As up to 0.10 (KIP-101)."""

    def begin(name: Any, state: LeaderAndIsr, mark: int, _log: object, _rules: object) -> FetchState:
        return FetchState(name, state.leader, state.leader_epoch, mark, truncating=True)

    patch.setattr(roles, "initial_fetch_state", begin)
    patch.setattr("model.broker.replication.epoch_to_ask", lambda *_: None)


def followers_begin_at_their_end_unasked(patch: pytest.MonkeyPatch) -> None:
    """Nobody looks where logs part."""

    def begin(name: Any, state: LeaderAndIsr, _mark: int, log: LogPositions, _rules: object) -> FetchState:
        return FetchState(name, state.leader, state.leader_epoch, log.end)

    patch.setattr(roles, "initial_fetch_state", begin)
    patch.setattr(fetching, "settle", lambda state, log, _: replace(state, offset=log.end))


def all_is_acknowledged_at_once(patch: pytest.MonkeyPatch) -> None:
    """Before the ISR has it."""
    patch.setattr(clients, "acknowledge", lambda *_: "NONE")


def one_in_sync_replica_is_enough(patch: pytest.MonkeyPatch) -> None:
    """Whatever min.insync.replicas says."""
    patch.setattr(Conditions, "min_isr", lambda *_: 1)


def the_leader_alone_counts(patch: pytest.MonkeyPatch) -> None:
    """For the high watermark."""

    def raised(partition: Partition, log: LogPositions, _: Conditions) -> Partition:
        return replace(partition, high_watermark=log.end) if partition.leads else partition

    for module in (follower_fetch, isr_answers, roles):
        patch.setattr(module, "raise_high_watermark", raised)


def who_is_to_join_does_not_count(patch: pytest.MonkeyPatch) -> None:
    """The high watermark does not wait for a follower whose joining is not confirmed."""
    patch.setattr(Partition, "maximal_isr", property(lambda self: self.state.isr))
    patch.setattr(high_watermark, "_about_to_join", lambda *_: False)


def anybody_joins(patch: pytest.MonkeyPatch) -> None:
    """The ISR, however far behind."""
    patch.setattr(follower_fetch, "_is_in_sync", lambda *_: True)


def a_shrink_counts_at_once(patch: pytest.MonkeyPatch) -> None:
    """Before the controller has agreed: it may elect who was to leave."""
    propose = isr_changes._propose

    def shrinking(partition: Partition, isr: tuple[int, ...], joining: int | None, reasons: tuple[str, ...]) -> Any:
        decision = propose(partition, isr, joining, reasons)
        if joining is not None:
            return decision
        state = replace(decision.partition.state, isr=isr)
        return replace(decision, partition=replace(decision.partition, state=state))

    patch.setattr(isr_changes, "_propose", shrinking)


def zombies_are_accepted(patch: pytest.MonkeyPatch) -> None:
    """The controller agrees with a leader of an epoch long past."""

    def generous(current: Any, proposal: Any, _liveness: Any) -> Any:
        return replace(current or LeaderAndIsr(-1, 0, ()), isr=proposal.isr)

    patch.setattr(notifications, "accept_proposal", generous)


def leader_epochs_stay(patch: pytest.MonkeyPatch) -> None:
    """Another leader, and the epoch of the one before."""
    patch.setattr(LeaderAndIsr, "with_leader", lambda self, leader, isr: replace(self, leader=leader, isr=isr))


def isrs_are_written_unconditionally(patch: pytest.MonkeyPatch) -> None:
    """A leader of up to 2.6 overwrites what its controller has written."""
    write = isr_proposals.isr_write
    patch.setattr(isr_proposals, "isr_write", lambda *args: replace(write(*args), version=-1))


def any_broker_answers_as_the_leader(patch: pytest.MonkeyPatch) -> None:
    """Whatever leader epoch is asked for, and whoever leads."""
    patch.setattr("model.broker.serving.check_leader_epoch", lambda *_, **__: "NONE")


def the_end_may_seem_to_go_back(patch: pytest.MonkeyPatch) -> None:
    """A new leader tells its high watermark before it has caught up with the one before (KIP-207)."""

    def told(partition: Partition, question: Any, log: LogPositions, *_: object) -> Any:
        error = serving.check_leader_epoch(partition, question.leader_epoch)
        limit = log.end if question.isolation.name == "LOG_END" else partition.high_watermark
        return serving.OffsetAnswer(error, serving.FoundOffset(limit))

    patch.setattr("tests.simulation.replication.consumers.look_up_offset", told)


def nobody_remembers_batches(patch: pytest.MonkeyPatch) -> None:
    """A batch that comes again is written again."""
    patch.setattr(ProducerState, "duplicate_of", lambda *_: None)
    patch.setattr(ProducerState, "_check_sequence", lambda *_: None)


MUTATIONS: tuple[Mutation, ...] = (
    followers_cut_at_their_high_watermark,
    followers_begin_at_their_end_unasked,
    all_is_acknowledged_at_once,
    one_in_sync_replica_is_enough,
    the_leader_alone_counts,
    who_is_to_join_does_not_count,
    anybody_joins,
    a_shrink_counts_at_once,
    zombies_are_accepted,
    leader_epochs_stay,
    isrs_are_written_unconditionally,
    any_broker_answers_as_the_leader,
    the_end_may_seem_to_go_back,
    nobody_remembers_batches,
)


@pytest.mark.parametrize("break_a_rule", MUTATIONS, ids=lambda mutation: mutation.__name__)
def test_a_broken_rule_is_noticed(break_a_rule: Mutation, monkeypatch: pytest.MonkeyPatch) -> None:
    break_a_rule(monkeypatch)
    with pytest.raises(ViolationError):
        play_all(run, range(SEEDS))
