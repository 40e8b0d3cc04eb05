"""Which ISRs a controller accepts from a leader: ControllerIntegrationTest's table (3.9), in its order of checks."""

from __future__ import annotations

import pytest

from model.cluster.ids import TopicPartition
from model.controller.elections import Liveness, Rejection, accept_proposal
from model.controller.events_and_commands import ProposedIsr
from model.controller.leader_and_isr import LeaderAndIsr

CURRENT = LeaderAndIsr(leader=1, leader_epoch=5, isr=(1, 2), partition_epoch=7)
UNCLEAN = LeaderAndIsr(leader=1, leader_epoch=5, isr=(1,), recovering=True, partition_epoch=7)
LIVE = Liveness(live=frozenset({1, 2, 3, 4}), shutting_down=frozenset({4}))


def propose(isr: tuple[int, ...], leader_epoch: int = 5, version: int = 7, recovering: bool = False) -> ProposedIsr:
    return ProposedIsr(TopicPartition("t", 0), leader_epoch, version, isr, recovering)


@pytest.mark.parametrize(
    ("current", "proposal", "error"),
    [
        (None, propose((1, 2, 3)), "UNKNOWN_TOPIC_OR_PARTITION"),
        (CURRENT, propose((1, 2, 3), leader_epoch=6), "NOT_CONTROLLER"),
        (CURRENT, propose((1, 2, 3), version=8), "NOT_CONTROLLER"),
        (CURRENT, propose((1, 2, 3), leader_epoch=4), "FENCED_LEADER_EPOCH"),
        (CURRENT, propose((1, 2, 3), leader_epoch=4, recovering=True), "FENCED_LEADER_EPOCH"),
        (CURRENT, propose((1, 2)), "NONE"),
        (CURRENT, propose((1, 2), version=6), "NONE"),
        (CURRENT, propose((1,), version=6), "INVALID_UPDATE_VERSION"),
        (CURRENT, propose((1,), recovering=True), "INVALID_REQUEST"),
        (UNCLEAN, propose((1, 2), recovering=True), "INVALID_REQUEST"),
        (CURRENT, propose((1, 2, 4)), "INELIGIBLE_REPLICA"),
        (CURRENT, propose((1, 2, 9)), "INELIGIBLE_REPLICA"),
    ],
)
def test_what_is_refused(current: LeaderAndIsr | None, proposal: ProposedIsr, error: str) -> None:
    refused = accept_proposal(current, proposal, LIVE)
    assert isinstance(refused, Rejection)
    assert refused.error == error


def test_what_is_accepted_keeps_leader_and_leader_epoch() -> None:
    assert accept_proposal(CURRENT, propose((1, 2, 3)), LIVE) == LeaderAndIsr(1, 5, (1, 2, 3), partition_epoch=7)


def test_a_leader_that_has_recovered_says_so_with_its_next_isr() -> None:
    assert accept_proposal(UNCLEAN, propose((1, 2)), LIVE) == LeaderAndIsr(1, 5, (1, 2), partition_epoch=7)
