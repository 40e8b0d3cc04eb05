"""What clients and followers may write and read: leader epochs, acks, limits of reading, offsets, waiting fetches.

It holds no records and no waiting requests. The 0.8.0 way to wait for n > 1 replicas is not here.

Source: `ReplicaManager.getPartitionOrError`, `appendRecords`, `fetchMessages`, `Partition.checkCurrentLeaderEpoch`,
`fetchRecords`, `fetchOffsetForTimestamp`, `lastOffsetForLeaderEpoch`, `DelayedProduce`, `DelayedFetch`,
`KafkaApis.handleListOffsetRequest` (3.9); KIP-320 (2.1).
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from enum import Enum

import msgspec

from model.broker.partition import UNKNOWN_EPOCH, UNKNOWN_OFFSET, Conditions, LogPositions, Partition
from model.cluster.ids import TopicPartition

NO_ERROR = "NONE"


def find_partition(
    name: TopicPartition,
    held: Mapping[TopicPartition, Partition],
    offline: Collection[TopicPartition],
    known: Collection[TopicPartition],
) -> Partition | str:
    """The partition, or Kafka's name of the error. `known`: those that the metadata knows, wherever they are."""
    if name in offline:
        return "KAFKA_STORAGE_ERROR"
    partition = held.get(name)
    if partition is not None:
        return partition
    return "NOT_LEADER_OR_FOLLOWER" if name in known else "UNKNOWN_TOPIC_OR_PARTITION"


def check_leader_epoch(partition: Partition, known_epoch: int | None, *, only_leader: bool = True) -> str:
    """NONE, or the error for whoever sent the leader epoch it knows; None: it did not say.

    Who knows an older epoch must learn the new one first; who knows a newer one waits for this broker to learn it.
    """
    own = partition.state.leader_epoch
    if known_epoch is not None and known_epoch < own:
        return "FENCED_LEADER_EPOCH"
    if known_epoch is not None and known_epoch > own:
        return "UNKNOWN_LEADER_EPOCH"
    if only_leader and not partition.leads:
        return "NOT_LEADER_OR_FOLLOWER"
    return NO_ERROR


ACKS_ALL = -1
"""acks=all: when every in-sync replica has it."""
ACKS_LEADER = 1
ACKS_NONE = 0
"""acks=0: the client hears nothing, not even of errors."""


class WaitingProduce(msgspec.Struct, frozen=True):
    """A produce with acks=all that was appended. `required`: the log end to be reached; `settled`: errors so far."""

    required: Mapping[TopicPartition, int]
    deadline_ms: int
    settled: Mapping[TopicPartition, str]

    @property
    def is_over(self) -> bool:
        """Whether there is nothing left to wait for."""
        return self.settled.keys() >= self.required.keys()


def refuse_produce(partition: Partition, acks: int, conditions: Conditions) -> str:
    """Why a produce is not appended, or NONE. Only acks=all asks for in-sync replicas, and then the committed ISR."""
    if acks not in (ACKS_ALL, ACKS_LEADER, ACKS_NONE):
        return "INVALID_REQUIRED_ACKS"
    if not partition.leads:
        return "NOT_LEADER_OR_FOLLOWER"
    enough = len(partition.state.isr) >= conditions.min_isr(len(partition.assignment.replicas))
    return NO_ERROR if enough or acks != ACKS_ALL else "NOT_ENOUGH_REPLICAS"


def begin_waiting(acks: int, ends: Mapping[TopicPartition, int], deadline_ms: int) -> WaitingProduce | None:
    """What acks=all waits for. `ends`: the log end of each partition after the append, where there was one."""
    return WaitingProduce(ends, deadline_ms, {}) if acks == ACKS_ALL and ends else None


def acknowledge(partition: Partition | str, required_end: int, conditions: Conditions) -> str | None:
    """The outcome for records below `required_end`; None: not yet. `partition` is an error where there is none."""
    if isinstance(partition, str):
        return partition
    if not partition.leads:
        return "NOT_LEADER_OR_FOLLOWER"
    if partition.high_watermark < required_end:
        return None
    enough = len(partition.maximal_isr) >= conditions.min_isr(len(partition.assignment.replicas))
    return NO_ERROR if enough else "NOT_ENOUGH_REPLICAS_AFTER_APPEND"


def settle_produce(
    waiting: WaitingProduce,
    find: Callable[[TopicPartition], Partition | str],
    conditions: Callable[[str], Conditions],
    now_ms: int,
) -> WaitingProduce:
    """What is known by now: an outcome stays, and what the deadline finds open has timed out (it may still commit)."""
    settled = dict(waiting.settled)
    for name, required_end in waiting.required.items():
        if name not in settled:
            outcome = acknowledge(find(name), required_end, conditions(name.topic))
            if outcome is None and now_ms >= waiting.deadline_ms:
                outcome = "REQUEST_TIMED_OUT"
            if outcome is not None:
                settled[name] = outcome
    return msgspec.structs.replace(waiting, settled=settled)


class Isolation(Enum):
    """How far a reader sees."""

    LOG_END = "everything"
    """Followers."""
    HIGH_WATERMARK = "what is committed"
    """Consumers, read_uncommitted."""
    LAST_STABLE_OFFSET = "what is committed and no open transaction comes before"
    """Consumers, read_committed (KIP-98, 0.11)."""


class PartitionFetch(msgspec.Struct, frozen=True, kw_only=True):
    """One partition of a fetch. Epochs are None where the request's version has none, or it says -1."""

    offset: int
    isolation: Isolation
    follower: int | None = None
    """The replica that asks; None: a consumer."""
    leader_epoch: int | None = None
    last_fetched_epoch: int | None = None
    only_leader: bool = True
    """False for consumers that may read from a follower (KIP-392, 2.4)."""


class ReadJudgement(msgspec.Struct, frozen=True):
    """Without error and divergence, records from the asked offset to below `up_to` may be read."""

    error: str = NO_ERROR
    up_to: int = 0
    diverging: tuple[int, int] | None = None
    """An epoch and its end here: what the follower has of it beyond is not the leader's (KIP-595, 2.7)."""

    @property
    def is_progress(self) -> bool:
        """Whether a follower's position can be recorded."""
        return self.error == NO_ERROR and self.diverging is None


def judge_read(partition: Partition, read: PartitionFetch, log: LogPositions, last_stable_offset: int) -> ReadJudgement:
    """In Kafka's order of checks. `last_stable_offset` only counts for LAST_STABLE_OFFSET."""
    error = check_leader_epoch(partition, read.leader_epoch, only_leader=read.only_leader)
    if error != NO_ERROR:
        return ReadJudgement(error)
    if read.follower is not None and not _is_replica(partition, read.follower):
        # With an epoch that fits it is a replica that this leader has not heard of yet: it shall try again.
        return ReadJudgement("NOT_LEADER_OR_FOLLOWER" if read.leader_epoch is None else "UNKNOWN_LEADER_EPOCH")
    if read.last_fetched_epoch is not None:
        epoch, end = log.epochs.end_offset_for(read.last_fetched_epoch, log.end)
        if end == UNKNOWN_OFFSET or epoch == UNKNOWN_EPOCH or read.offset < log.start:
            return ReadJudgement("OFFSET_OUT_OF_RANGE")
        if epoch < read.last_fetched_epoch or end < read.offset:
            return ReadJudgement(diverging=(epoch, end))
    if not log.start <= read.offset <= log.end:
        return ReadJudgement("OFFSET_OUT_OF_RANGE")
    return ReadJudgement(up_to=max(read.offset, read_limit(partition, read.isolation, log, last_stable_offset)))


def read_limit(partition: Partition, isolation: Isolation, log: LogPositions, last_stable_offset: int) -> int:
    """The first offset that a reader does not see."""
    if isolation is Isolation.LOG_END:
        return log.end
    if isolation is Isolation.HIGH_WATERMARK:
        return partition.high_watermark
    return min(last_stable_offset, partition.high_watermark)


def _is_replica(partition: Partition, follower: int) -> bool:
    return partition.leading is not None and follower in partition.leading.followers


LATEST_TIMESTAMP = -1
EARLIEST_TIMESTAMP = -2
MAX_TIMESTAMP = -3
"""The record with the greatest timestamp (KIP-734, 3.0)."""
EARLIEST_LOCAL_TIMESTAMP = -4
NO_TIMESTAMP = -1


class FoundOffset(msgspec.Struct, frozen=True, gc=False):
    """A record's offset, time in ms and leader epoch; -1 where not known."""

    offset: int = UNKNOWN_OFFSET
    timestamp_ms: int = NO_TIMESTAMP
    leader_epoch: int = UNKNOWN_EPOCH


class OffsetAnswer(msgspec.Struct, frozen=True):
    """Offset -1 and no error: there is no such record."""

    error: str = NO_ERROR
    found: FoundOffset = FoundOffset()


class EpochEnd(msgspec.Struct, frozen=True, gc=False):
    """The answer to OffsetForLeaderEpoch; -1, -1: not known."""

    error: str = NO_ERROR
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
    if error != NO_ERROR:
        return OffsetAnswer(error)
    if question.timestamp in (EARLIEST_TIMESTAMP, EARLIEST_LOCAL_TIMESTAMP):
        return OffsetAnswer(found=found or FoundOffset(log.start))
    limit = read_limit(partition, question.isolation, log, last_stable_offset)
    leading = partition.leading
    lags = leading is not None and leading.epoch_start_offset > partition.high_watermark
    unavailable = lags and question.isolation is not Isolation.LOG_END
    if question.timestamp == LATEST_TIMESTAMP:
        latest = FoundOffset(limit, leader_epoch=partition.state.leader_epoch)
        return OffsetAnswer("OFFSET_NOT_AVAILABLE") if unavailable else OffsetAnswer(found=latest)
    if found is not None and found.offset < limit:
        return OffsetAnswer(found=found)
    return OffsetAnswer("OFFSET_NOT_AVAILABLE") if unavailable else OffsetAnswer()


def error_for_version(error: str, list_offsets_version: int) -> str:
    """What an older client is told instead of an error that it does not know."""
    old = error == "OFFSET_NOT_AVAILABLE" and list_offsets_version < 5
    return "LEADER_NOT_AVAILABLE" if old else error


class OldQuestion(msgspec.Struct, frozen=True):
    """One partition of a ListOffsets v0. Consumers see no further than the high watermark."""

    timestamp: int
    most: int
    of_consumer: bool
    only_leader: bool = True


class LogTimes(msgspec.Struct, frozen=True):
    """A log as ListOffsets v0 knows it: where its segments begin and when each was written last (ms), oldest first."""

    segments: tuple[tuple[int, int], ...]
    start: int
    end: int
    end_is_empty: bool
    """Whether the last segment has nothing in it."""


def look_up_old_offsets(
    partition: Partition, question: OldQuestion, log: LogTimes, now_ms: int
) -> tuple[str, tuple[int, ...]]:
    """An error and offsets, the newest first: where segments begin that were written by then, and the log's end.

    Source: `UnifiedLog.legacyFetchOffsetsBefore`, `Partition.legacyFetchOffsetsForTimestamp` (3.9).
    """
    error = check_leader_epoch(partition, None, only_leader=question.only_leader)
    if error != NO_ERROR:
        return error, ()
    if question.timestamp < EARLIEST_TIMESTAMP:
        return "UNSUPPORTED_VERSION", ()
    if question.most < 0:
        return "UNKNOWN_SERVER_ERROR", ()
    known = [(max(base, log.start), written_ms) for base, written_ms in log.segments]
    if not log.end_is_empty:
        known.append((log.end, now_ms))
    if question.timestamp == EARLIEST_TIMESTAMP:
        known = known[:1]
    elif question.timestamp != LATEST_TIMESTAMP:
        while known and known[-1][1] > question.timestamp:
            known.pop()
    offsets = sorted((offset for offset, _ in known[::-1][: question.most]), reverse=True)
    if question.of_consumer and any(offset > partition.high_watermark for offset in offsets):
        replicated = [offset for offset in offsets if offset <= partition.high_watermark]
        offsets = [partition.high_watermark, *replicated]
    return NO_ERROR, tuple(offsets)


def look_up_epoch_end(
    partition: Partition, known_epoch: int | None, asked_epoch: int, log: LogPositions, *, only_leader: bool = True
) -> EpochEnd:
    """The end of an epoch, or of the next one before it that is known here (KIP-101, KIP-279)."""
    error = check_leader_epoch(partition, known_epoch, only_leader=only_leader)
    if error != NO_ERROR:
        return EpochEnd(error)
    return EpochEnd(NO_ERROR, *log.epochs.end_offset_for(asked_epoch, log.end))


class WaitingFetch(msgspec.Struct, frozen=True):
    """`min_bytes` over all partitions; `deadline_ms` since the epoch (the request's max wait from its arrival on)."""

    min_bytes: int
    deadline_ms: int


def is_ready(waiting: WaitingFetch, reads: Iterable[tuple[ReadJudgement, int]], now_ms: int) -> bool:
    """Judgements with the bytes that can be read, of all partitions of the fetch.

    An error and a divergence are told at once; a fetch of nothing has nothing to wait for.
    """
    judged = list(reads)
    if not judged or now_ms >= waiting.deadline_ms:
        return True
    if not all(judgement.is_progress for judgement, _ in judged):
        return True
    return sum(size for _, size in judged) >= waiting.min_bytes
