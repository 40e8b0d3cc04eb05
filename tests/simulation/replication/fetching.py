"""Followers fetch: what they ask of their leaders, and what they make of the answers, which take their time.

The order is that of `model.hosts.live_broker.replicas.fetcher`: first where logs part, then records.
"""

from __future__ import annotations

from typing import NamedTuple

from model.broker.commands import FetchState
from model.broker.isr import record_fetch
from model.broker.partition import follow_high_watermark
from model.broker.replication import (
    FetchAnswer,
    FetchJudgement,
    TruncationDecision,
    Verdict,
    judge_epoch_end,
    judge_fetch,
    out_of_range,
    plan_round,
    settle,
    truncate_unasked,
)
from model.broker.serving import (
    LATEST_TIMESTAMP,
    EpochEnd,
    Isolation,
    OffsetQuestion,
    PartitionFetch,
    judge_read,
    look_up_epoch_end,
    look_up_offset,
)
from model.cluster.ids import TopicPartition
from model.log.records import RecordBatch
from tests.simulation.replication.replicating_broker import ReplicatingBroker

RECORDS_AT_ONCE = 3


class Fetched(NamedTuple):
    """A leader's answer to a fetch, on its way."""

    asked: FetchState
    answer: FetchAnswer
    records: list[RecordBatch]


class EpochEnded(NamedTuple):
    """A leader's answer to a question for the end of an epoch, on its way."""

    asked: FetchState
    end: EpochEnd


def ask(follower: ReplicatingBroker, leader: ReplicatingBroker, state: FetchState) -> Fetched | EpochEnded | None:
    """The leader's answer to what the follower asks next about a partition; None: it cuts its log unasked."""
    log = follower.logs[state.partition]
    plan = plan_round([state], lambda _: log.positions, follower.conditions.now_ms, follower.settings.rules)
    for each in plan.cuts:
        _truncate(follower, truncate_unasked(each, log.positions))
    for each, epoch in plan.questions:
        return EpochEnded(each, _epoch_end(leader, each, epoch))
    for each in plan.fetches:
        return _serve_fetch(leader, follower.id, each)
    return None


def hear(follower: ReplicatingBroker, leader: ReplicatingBroker | None, answered: Fetched | EpochEnded) -> None:
    """An answer arrives; `leader`: whoever could be asked once more, now."""
    asked = answered.asked
    log, partition = follower.logs.get(asked.partition), follower.held.get(asked.partition)
    state = follower.followed.get(asked.partition)
    if log is None or partition is None:
        return
    if isinstance(answered, EpochEnded):
        end = answered.end
        judged = judge_epoch_end(state, asked, end.error, (end.leader_epoch, end.end_offset), log.positions)
    else:
        judged = judge_fetch(state, asked, answered.answer, log.positions)
        if judged.verdict is Verdict.APPEND:
            log.append_as_follower(answered.records)
            follower.put(follow_high_watermark(partition, answered.answer.high_watermark, log.positions))
            _settle(follower, asked.partition)
        elif judged.verdict is Verdict.ASK_OFFSETS and leader is not None:
            _ask_offsets(follower, leader, asked)
    _follow(follower, asked, judged)


def _follow(follower: ReplicatingBroker, asked: FetchState, judged: FetchJudgement) -> None:
    if judged.truncation is not None:
        _truncate(follower, judged.truncation)
    elif judged.verdict is Verdict.GIVE_UP:
        follower.followed.pop(asked.partition, None)


def _serve_fetch(leader: ReplicatingBroker, follower: int, state: FetchState) -> Fetched:
    name = state.partition
    partition, log = leader.held.get(name), leader.logs.get(name)
    if partition is None or log is None:
        return Fetched(state, FetchAnswer("NOT_LEADER_OR_FOLLOWER"), [])
    read = PartitionFetch(
        offset=state.offset,
        isolation=Isolation.LOG_END,
        follower=follower,
        leader_epoch=_known_epoch(leader, state),
        last_fetched_epoch=state.last_fetched_epoch,
    )
    judged = judge_read(partition, read, log.positions, 0)
    if judged.is_progress:
        leader.do(record_fetch(partition, follower, state.offset, log.positions, leader.conditions))
    answer = FetchAnswer(judged.error, leader.held[name].high_watermark, 0, judged.diverging)
    return Fetched(state, answer, log.records[state.offset : state.offset + RECORDS_AT_ONCE])


def _epoch_end(leader: ReplicatingBroker, state: FetchState, epoch: int) -> EpochEnd:
    partition, log = leader.held.get(state.partition), leader.logs.get(state.partition)
    if partition is None or log is None:
        return EpochEnd("NOT_LEADER_OR_FOLLOWER")
    return look_up_epoch_end(partition, _known_epoch(leader, state), epoch, log.positions)


def _ask_offsets(follower: ReplicatingBroker, leader: ReplicatingBroker, asked: FetchState) -> None:
    partition, log = leader.held.get(asked.partition), leader.logs.get(asked.partition)
    own, state = follower.logs[asked.partition], follower.followed.get(asked.partition)
    if partition is None or log is None or state is None or state != asked:
        return
    question = OffsetQuestion(
        timestamp=LATEST_TIMESTAMP, isolation=Isolation.LOG_END, leader_epoch=_known_epoch(leader, asked)
    )
    told = look_up_offset(partition, question, log.positions, 0, None)
    if told.error == "NONE":
        _truncate(follower, out_of_range(state, 0, told.found.offset, own.positions))


def _truncate(follower: ReplicatingBroker, decision: TruncationDecision) -> None:
    name = decision.state.partition
    for command in decision.commands:
        follower.carry_out(command)
    partition = follower.held[name]
    follower.put(follow_high_watermark(partition, partition.high_watermark, follower.logs[name].positions))
    if name in follower.followed:
        follower.followed[name] = decision.state
        _settle(follower, name)


def _settle(follower: ReplicatingBroker, name: TopicPartition) -> None:
    state, log = follower.followed[name], follower.logs[name]
    follower.followed[name] = settle(state, log.positions, follower.settings.rules)


def _known_epoch(leader: ReplicatingBroker, state: FetchState) -> int | None:
    return state.leader_epoch if leader.settings.rules.leader_epochs_are_checked else None


InFlight = dict[tuple[TopicPartition, int], Fetched | EpochEnded]
"""Answers on their way to a follower, by partition and leader: one fetcher asks one thing at a time."""
