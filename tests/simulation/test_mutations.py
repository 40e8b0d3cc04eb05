"""Rules of the controller are broken on purpose, and histories notice: the checks can fail."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from model.controller.context import StepOutcome
from model.controller.elections import Ballot, ElectionResult, ElectionStrategy, elected
from model.controller.events_and_commands import Command, LeaderAndIsrRequest, SendRequest
from model.controller.generations import Generation, elect
from model.controller.leader_and_isr import LeaderAndIsr
from model.controller.steps import broker_requests, controller_election, notifications, partitions, reassignment, znodes
from model.controller.steps.broker_requests import SendMetadata, send
from model.controller.steps.deletion import ConfirmDeletions
from model.znodes.cluster import ControllerEpoch
from tests.simulation.history import run
from tests.simulation.violation import ViolationError, play_all

SEEDS = 400


def unfenced_writes(patch: pytest.MonkeyPatch) -> None:
    """A controller does not care whether there is a newer one."""
    patch.setattr(znodes, "fenced", lambda write, _version: write)


def elections_outside_the_isr(patch: pytest.MonkeyPatch) -> None:
    """The first replica that is online will do."""

    def careless(strategy: ElectionStrategy, ballot: Ballot, generation: Generation) -> ElectionResult:
        if strategy is not ElectionStrategy.OFFLINE or not ballot.online:
            return elect(strategy, ballot, generation)
        leader = ballot.online[0]
        isr = tuple(dict.fromkeys((*ballot.current.isr, leader)))
        return elected(ballot, leader, isr, ballot.online, "anybody")

    patch.setattr(partitions, "elect", careless)


def requests_forgotten(patch: pytest.MonkeyPatch) -> None:
    """Brokers are not told what they lead."""

    def silent(context: Any) -> Any:
        context, commands = send(context)
        return context, tuple(each for each in commands if not _tells_leaders(each))

    patch.setattr(broker_requests, "send", silent)


def _tells_leaders(command: Command) -> bool:
    return isinstance(command, SendRequest) and isinstance(command.request, LeaderAndIsrRequest)


def leader_epochs_that_stay(patch: pytest.MonkeyPatch) -> None:
    """Another leader, and the epoch of the one before."""
    patch.setattr(LeaderAndIsr, "with_leader", lambda self, leader, isr: replace(self, leader=leader, isr=isr))


def isrs_on_every_wish(patch: pytest.MonkeyPatch) -> None:
    """A leader of an epoch long past gets its ISR."""

    def generous(current: Any, proposal: Any, _liveness: Any) -> Any:
        return replace(current or LeaderAndIsr(-1, 0, ()), isr=proposal.isr)

    patch.setattr(notifications, "accept_proposal", generous)


def controller_epochs_that_stay(patch: pytest.MonkeyPatch) -> None:
    """Every controller writes the epoch of the one before."""
    patch.setattr(controller_election, "ControllerEpoch", lambda epoch: ControllerEpoch(max(epoch - 1, 0)))


def deletions_that_never_end(patch: pytest.MonkeyPatch) -> None:
    """Brokers confirm, and nobody listens."""
    patch.setattr(ConfirmDeletions, "begin", lambda _self, context: StepOutcome(context))


def leaders_that_hear_of_no_replicas(patch: pytest.MonkeyPatch) -> None:
    """Replicas come and go, and the leader epoch stays."""
    patch.setattr(reassignment, "RaiseLeaderEpoch", lambda partition: SendMetadata((partition,)))


MUTATIONS: tuple[Callable[[pytest.MonkeyPatch], None], ...] = (
    unfenced_writes,
    elections_outside_the_isr,
    requests_forgotten,
    leader_epochs_that_stay,
    isrs_on_every_wish,
    controller_epochs_that_stay,
    deletions_that_never_end,
    leaders_that_hear_of_no_replicas,
)


@pytest.mark.parametrize("break_a_rule", MUTATIONS)
def test_a_broken_rule_is_noticed(
    break_a_rule: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    break_a_rule(monkeypatch)
    with pytest.raises(ViolationError):
        play_all(run, range(SEEDS))
