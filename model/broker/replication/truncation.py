"""Where a follower cuts its log so that it is a part of its leader's.

Source: `AbstractFetcherThread.getOffsetTruncationState`, `maybeTruncate`, `truncateToHighWatermark` (3.9); KIP-101
(0.11), KIP-279 (2.0), KIP-595 (diverging epochs in fetch responses, 2.7).
"""

import msgspec

from model.broker.commands import Command, TruncateLog
from model.broker.log_positions import UNKNOWN_EPOCH, UNKNOWN_OFFSET, LogPositions
from model.broker.replication.fetch_state import FetchState
from model.broker.replication_rules import ReplicationRules


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
