"""What a follower makes of its leader's answer to a fetch: append, cut, wait, or give up.

Source: `AbstractFetcherThread.processFetchRequest`, `onPartitionFenced` (3.9).
"""

from enum import Enum

import msgspec

from model.broker.log_positions import LogPositions
from model.broker.replication.fetch_state import FetchState
from model.broker.replication.truncation import TruncationDecision, truncate_by_epoch


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
