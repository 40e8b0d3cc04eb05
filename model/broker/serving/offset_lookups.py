"""Which offset a client is told for a timestamp, and which for a leader epoch. The log itself is searched elsewhere.

Source: `Partition.fetchOffsetForTimestamp`, `lastOffsetForLeaderEpoch`, `KafkaApis.handleListOffsetRequest` (3.9).
"""

import msgspec

from model.broker.log_positions import UNKNOWN_EPOCH, UNKNOWN_OFFSET, LogPositions
from model.broker.partition.partition import Partition
from model.broker.serving.leader_epoch_check import NONE, check_leader_epoch
from model.broker.serving.reads import Isolation, read_limit

LATEST = -1
EARLIEST = -2
MAX_TIMESTAMP = -3
"""The record with the greatest timestamp (KIP-734, 3.0)."""
EARLIEST_LOCAL = -4
NO_TIMESTAMP = -1


class FoundOffset(msgspec.Struct, frozen=True, gc=False):
    """A record's offset, time in ms and leader epoch; -1 where not known."""

    offset: int = UNKNOWN_OFFSET
    timestamp_ms: int = NO_TIMESTAMP
    leader_epoch: int = UNKNOWN_EPOCH


class OffsetAnswer(msgspec.Struct, frozen=True):
    """Offset -1 and no error: there is no such record."""

    error: str = NONE
    found: FoundOffset = FoundOffset()


class EpochEnd(msgspec.Struct, frozen=True, gc=False):
    """The answer to OffsetForLeaderEpoch; -1, -1: not known."""

    error: str = NONE
    leader_epoch: int = UNKNOWN_EPOCH
    end_offset: int = UNKNOWN_OFFSET


class OffsetQuestion(msgspec.Struct, frozen=True, kw_only=True):
    """One partition of a ListOffsets. LOG_END: a follower asks. `timestamp`: in ms, or a constant above."""

    timestamp: int
    isolation: Isolation
    leader_epoch: int | None = None
    only_leader: bool = True


def look_up_offset(
    partition: Partition,
    question: OffsetQuestion,
    log: LogPositions,
    last_stable_offset: int,
    found: FoundOffset | None,
) -> OffsetAnswer:
    """The answer. `found`: what the log knows for a timestamp that is none of LATEST and EARLIEST; None: nothing.

    A new leader's high watermark may lag behind what clients have seen: until it has reached the start of the leader's
    epoch they are told OFFSET_NOT_AVAILABLE rather than an offset that seems to go back (KIP-207, 2.2).
    """
    error = check_leader_epoch(partition, question.leader_epoch, only_leader=question.only_leader)
    if error != NONE:
        return OffsetAnswer(error)
    if question.timestamp in (EARLIEST, EARLIEST_LOCAL):
        return OffsetAnswer(found=found or FoundOffset(log.start))
    limit = read_limit(partition, question.isolation, log, last_stable_offset)
    leading = partition.leading
    lags = leading is not None and leading.epoch_start_offset > partition.high_watermark
    unavailable = lags and question.isolation is not Isolation.LOG_END
    if question.timestamp == LATEST:
        latest = FoundOffset(limit, leader_epoch=partition.state.leader_epoch)
        return OffsetAnswer("OFFSET_NOT_AVAILABLE") if unavailable else OffsetAnswer(found=latest)
    if found is not None and found.offset < limit:
        return OffsetAnswer(found=found)
    return OffsetAnswer("OFFSET_NOT_AVAILABLE") if unavailable else OffsetAnswer()


def error_for_version(error: str, list_offsets_version: int) -> str:
    """What an older client is told instead of an error that it does not know."""
    old = error == "OFFSET_NOT_AVAILABLE" and list_offsets_version < 5
    return "LEADER_NOT_AVAILABLE" if old else error


def look_up_epoch_end(
    partition: Partition, known_epoch: int | None, asked_epoch: int, log: LogPositions, *, only_leader: bool = True
) -> EpochEnd:
    """The end of an epoch, or of the next one before it that is known here (KIP-101, KIP-279)."""
    error = check_leader_epoch(partition, known_epoch, only_leader=only_leader)
    if error != NONE:
        return EpochEnd(error)
    return EpochEnd(NONE, *log.epochs.end_offset_for(asked_epoch, log.end))
