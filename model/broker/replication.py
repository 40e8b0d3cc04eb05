"""A follower's side of replication: what it fetches where, where it truncates, what its leader's answers mean.

It moves no records and sends nothing.

Source: `AbstractFetcherManager`, `AbstractFetcherThread`, `ReplicaFetcherThread.buildFetch`,
`ReplicaManager.initialFetchOffset` (3.9); KIP-101 (0.11), KIP-279 (2.0), KIP-595 (diverging epochs, 2.7).
"""

from collections.abc import Callable, Iterable
from enum import Enum

import msgspec

from model.broker.commands import Command, FetchState, RestartLog, TruncateLog
from model.broker.partition import UNKNOWN_EPOCH, UNKNOWN_OFFSET, LogPositions, ReplicationRules
from model.cluster.ids import TopicPartition
from model.controller.leader_and_isr import LeaderAndIsr


class TruncationDecision(msgspec.Struct, frozen=True):
    """After the commands, `state` holds, once `settle` knows the log as it is then."""

    state: FetchState
    commands: tuple[Command, ...] = ()
    reasons: tuple[str, ...] = ()


def epoch_to_ask(state: FetchState, log: LogPositions, rules: ReplicationRules) -> int | None:
    """The epoch whose end a truncating follower asks its leader for; None: it cuts at `state.offset` unasked."""
    if not state.truncating or rules.truncation == "high watermark":
        return None
    return log.epochs.latest


def truncate_unasked(state: FetchState, log: LogPositions) -> TruncationDecision:
    """To the high watermark, as up to 0.10, and for logs in formats without leader epochs."""
    return _cut(state, min(state.offset, log.end), log, complete=True, why="nothing says what the leader has above it")


def truncate_by_epoch(state: FetchState, leader_epoch: int, end_offset: int, log: LogPositions) -> TruncationDecision:
    """By the leader's answer: the end of the epoch that was asked for, or of the next one before it that it knows.

    An answer with an epoch that is not known here takes another question, for the epoch before it (KIP-279).
    """
    if end_offset == UNKNOWN_OFFSET:
        return _cut(state, min(state.offset, log.end), log, complete=True, why="the leader does not know its epoch")
    if leader_epoch == UNKNOWN_EPOCH:
        return _cut(state, min(end_offset, log.end), log, complete=True, why="the leader's epoch ends there")
    own_epoch, own_end = log.epochs.end_offset_for(leader_epoch, log.end)
    why = f"epoch {leader_epoch} of the leader ends at offset {end_offset}"
    if own_end == UNKNOWN_OFFSET:
        return _cut(state, min(end_offset, log.end), log, complete=True, why=why)
    if own_epoch != leader_epoch:
        return _cut(state, min(own_end, log.end), log, complete=False, why=f"{why}, and is not known here")
    return _cut(state, min(own_end, end_offset, log.end), log, complete=True, why=why)


def settle(state: FetchState, log: LogPositions, rules: ReplicationRules) -> FetchState:
    """The state for the log as it is after a truncation, an append or a restart."""
    epoch = log.epochs.latest if rules.truncation == "diverging fetch" else None
    return msgspec.structs.replace(state, offset=log.end, last_fetched_epoch=epoch)


def _cut(state: FetchState, offset: int, log: LogPositions, *, complete: bool, why: str) -> TruncationDecision:
    fetching = msgspec.structs.replace(state, offset=offset, truncating=not complete)
    if offset >= log.end and not _ends_with_empty_epoch(log):
        return TruncationDecision(fetching)
    told = f"{state.partition}: the log is cut from offset {log.end} back to {offset}: {why}."
    if offset >= log.end:
        told = (
            f"{state.partition}: leader epoch {log.epochs.latest}, in which nothing was written, is forgotten: {why}."
        )
    return TruncationDecision(fetching, (TruncateLog(state.partition, offset),), (told,))


def _ends_with_empty_epoch(log: LogPositions) -> bool:
    """Whether this broker led, and was overthrown before it wrote a record: its leader never heard of that epoch."""
    latest = log.epochs.latest
    return latest is not None and log.epochs.end_offset_for(latest - 1, log.end)[1] == log.end


def initial_fetch_state(
    partition: TopicPartition, state: LeaderAndIsr, high_watermark: int, log: LogPositions, rules: ReplicationRules
) -> FetchState:
    """From the log's end, where fetches carry its last epoch (2.7); else it truncates first, at worst to the high
    watermark: what lies above it may not be what the leader has."""
    epoch = log.epochs.latest
    if rules.truncation == "diverging fetch" and epoch is not None:
        return FetchState(partition, state.leader, state.leader_epoch, log.end, epoch)
    return FetchState(partition, state.leader, state.leader_epoch, high_watermark, truncating=True)


class FetcherId(msgspec.Struct, frozen=True, order=True):
    """One connection to a leader that fetches; `number` of num.replica.fetchers."""

    leader: int
    number: int = 0


class FetchRound(msgspec.Struct, frozen=True):
    """What one fetcher does next."""

    fetches: tuple[FetchState, ...] = ()
    questions: tuple[tuple[FetchState, int], ...] = ()
    """Truncating partitions, and the epochs to ask for with OffsetForLeaderEpoch."""
    cuts: tuple[FetchState, ...] = ()
    """Truncating partitions with nothing to ask for (`truncate_unasked`)."""
    wake_at_ms: int | None = None
    """When the first back-off ends; None if none is running."""


def fetcher_of(partition: TopicPartition, leader: int, fetchers: int) -> FetcherId:
    """The fetcher of a partition, as in Kafka: by a hash, so that it does not change."""
    number = abs(_int32(31 * _java_hash(partition.topic) + partition.partition))
    return FetcherId(leader, (0 if number == 2**31 else number) % fetchers)


def plan_round(
    states: Iterable[FetchState],
    logs: Callable[[TopicPartition], LogPositions],
    now_ms: int,
    rules: ReplicationRules,
) -> FetchRound:
    """The next round of one fetcher: what is truncating asks or cuts, the rest fetches, and what backs off waits."""
    due = list(states)
    waiting = [state.not_before_ms for state in due if state.not_before_ms > now_ms]
    due = [state for state in due if state.not_before_ms <= now_ms]
    truncating = [(state, epoch_to_ask(state, logs(state.partition), rules)) for state in due if state.truncating]
    return FetchRound(
        fetches=tuple(state for state in due if not state.truncating),
        questions=tuple((state, epoch) for state, epoch in truncating if epoch is not None),
        cuts=tuple(state for state, epoch in truncating if epoch is None),
        wake_at_ms=min(waiting, default=None),
    )


def _java_hash(text: str) -> int:
    """`String.hashCode` of a topic's name, which is ASCII."""
    result = 0
    for character in text:
        result = _int32(31 * result + ord(character))
    return result


def _int32(number: int) -> int:
    return (number + 2**31) % 2**32 - 2**31


class FetchAnswer(msgspec.Struct, frozen=True):
    """A leader's answer for one partition, but for the records. `diverging`: an epoch and its end, where logs part."""

    error: str = "NONE"
    high_watermark: int = -1
    log_start: int = -1
    diverging: tuple[int, int] | None = None


class Verdict(Enum):
    """What is to be done with an answer."""

    APPEND = "append the records, then `settle` and `follow_high_watermark`"
    TRUNCATE = "carry out `truncation`"
    ASK_OFFSETS = "ask the leader for its first and last offset, then `out_of_range`"
    BACK_OFF = "fetch again after replica.fetch.backoff.ms"
    GIVE_UP = "fetch no more until the controller says so"
    IGNORE = "it answers what is not wanted any more"


class FetchJudgement(msgspec.Struct, frozen=True):
    """`truncation` goes with TRUNCATE; `why` is a sentence for all but APPEND and IGNORE."""

    verdict: Verdict
    truncation: TruncationDecision | None = None
    why: str = ""


def judge_fetch(state: FetchState | None, asked: FetchState, answer: FetchAnswer, log: LogPositions) -> FetchJudgement:
    """What an answer means. `asked`: the state that the request was made from; `state`: the one of now."""
    if state is None or state.truncating or (state.offset, state.leader) != (asked.offset, asked.leader):
        return FetchJudgement(Verdict.IGNORE)
    if answer.error == "NONE":
        if answer.diverging is None:
            return FetchJudgement(Verdict.APPEND)
        return FetchJudgement(Verdict.TRUNCATE, truncate_by_epoch(state, *answer.diverging, log))
    why = f"{asked.partition}: broker {asked.leader} answers a fetch at offset {asked.offset} with {answer.error}."
    if answer.error == "OFFSET_OUT_OF_RANGE":
        return FetchJudgement(Verdict.ASK_OFFSETS, why=why)
    if answer.error == "FENCED_LEADER_EPOCH" and state.leader_epoch == asked.leader_epoch:
        # A newer leader is known elsewhere: no retry helps before its LeaderAndIsr is here.
        return FetchJudgement(Verdict.GIVE_UP, why=why)
    return FetchJudgement(Verdict.BACK_OFF, why=why)


def judge_epoch_end(
    state: FetchState | None, asked: FetchState, error: str, end: tuple[int, int], log: LogPositions
) -> FetchJudgement:
    """What the answer to OffsetForLeaderEpoch means for a truncating follower (`fetchAndTruncate` of 3.9)."""
    if state is None or not state.truncating or state.leader_epoch != asked.leader_epoch:
        return FetchJudgement(Verdict.IGNORE)
    if error == "NONE":
        return FetchJudgement(Verdict.TRUNCATE, truncate_by_epoch(state, *end, log))
    why = f"{asked.partition}: broker {asked.leader} answers a question for the end of an epoch with {error}."
    return FetchJudgement(Verdict.GIVE_UP if error == "FENCED_LEADER_EPOCH" else Verdict.BACK_OFF, why=why)


def out_of_range(state: FetchState, leader_start: int, leader_end: int, log: LogPositions) -> TruncationDecision:
    """A leader that ends before this log was elected uncleanly: records are lost here, too. One that starts after it
    has deleted what comes next: all is fetched anew from there."""
    if leader_end < log.end:
        fetching = msgspec.structs.replace(state, offset=leader_end, truncating=False)
        why = (
            f"{state.partition}: the leader's log ends at offset {leader_end}, {log.end - leader_end} records before "
            f"this one: they are cut off, as after an unclean election."
        )
        return TruncationDecision(fetching, (TruncateLog(state.partition, leader_end),), (why,))
    fetching = msgspec.structs.replace(state, offset=max(leader_start, log.end), truncating=False)
    if leader_start <= log.end:
        return TruncationDecision(fetching)
    why = f"{state.partition}: the leader's log starts at offset {leader_start}, past this one: all is fetched anew."
    return TruncationDecision(fetching, (RestartLog(state.partition, leader_start),), (why,))
