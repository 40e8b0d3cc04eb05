"""Each rule of replication is needed: without it, one history among two hundred loses or changes a record."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest

from model.broker import isr as follower_fetch
from model.broker import isr as isr_answers
from model.broker import isr as isr_changes
from model.broker import partition as high_watermark
from model.broker import roles
from model.broker.commands import FetchState
from model.broker.partition import Conditions, LogPositions, Partition, ReplicationSettings
from model.broker.replication import FetchAnswer, FetchJudgement, judge_fetch
from model.controller.leader_and_isr import LeaderAndIsr
from tests.model.broker import network
from tests.model.broker.histories import play, random_history

Mutation = Callable[[pytest.MonkeyPatch], None]
SEEDS = range(200)


def the_isr_alone_counts(patch: pytest.MonkeyPatch) -> None:
    """Not the follower that was proposed to join."""
    patch.setattr(Partition, "maximal_isr", property(lambda self: self.state.isr))
    patch.setattr(high_watermark, "_about_to_join", lambda *_: False)


def the_leader_alone_counts(patch: pytest.MonkeyPatch) -> None:
    def raised(partition: Partition, log: LogPositions, _: Conditions) -> Partition:
        return msgspec.structs.replace(partition, high_watermark=log.end) if partition.leads else partition

    for module in (follower_fetch, isr_answers, roles):
        patch.setattr(module, "raise_high_watermark", raised)


def anybody_joins(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(follower_fetch, "_is_in_sync", lambda *_: True)


def a_shrink_counts_at_once(patch: pytest.MonkeyPatch) -> None:
    """Before the controller has agreed: it may elect who was to leave."""
    propose = isr_changes._propose

    def shrinking(partition: Partition, isr: tuple[int, ...], joining: int | None, reasons: tuple[str, ...]) -> object:
        decision = propose(partition, isr, joining, reasons)
        if joining is not None:
            return decision
        state = msgspec.structs.replace(decision.partition.state, isr=isr)
        return msgspec.structs.replace(decision, partition=msgspec.structs.replace(decision.partition, state=state))

    patch.setattr(isr_changes, "_propose", shrinking)


def divergence_is_ignored(patch: pytest.MonkeyPatch) -> None:
    def judged(state: FetchState | None, asked: FetchState, answer: FetchAnswer, log: LogPositions) -> FetchJudgement:
        return judge_fetch(state, asked, msgspec.structs.replace(answer, diverging=None), log)

    patch.setattr(network, "judge_fetch", judged)


def followers_begin_at_their_end_unasked(patch: pytest.MonkeyPatch) -> None:
    def begin(partition: object, state: LeaderAndIsr, _hw: int, log: LogPositions, _rules: object) -> FetchState:
        return FetchState(network.NAME, state.leader, state.leader_epoch, log.end)

    patch.setattr(roles, "initial_fetch_state", begin)
    patch.setattr(network, "settle", lambda state, log, _: msgspec.structs.replace(state, offset=log.end))


def all_is_acknowledged_at_once(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(network, "acknowledge", lambda *_: "NONE")


@pytest.mark.parametrize(
    "mutation",
    [
        the_isr_alone_counts,
        the_leader_alone_counts,
        anybody_joins,
        a_shrink_counts_at_once,
        divergence_is_ignored,
        followers_begin_at_their_end_unasked,
        all_is_acknowledged_at_once,
    ],
    ids=lambda mutation: mutation.__name__.replace("_", " "),
)
def test_without_it_something_breaks(mutation: Mutation, monkeypatch: pytest.MonkeyPatch) -> None:
    mutation(monkeypatch)
    with pytest.raises(AssertionError):  # noqa: PT012 - which history breaks is not known
        for seed in SEEDS:
            play(random_history(seed), ReplicationSettings())
