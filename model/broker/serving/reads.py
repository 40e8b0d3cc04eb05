"""What a fetch may read of a partition, and up to where. It reads nothing.

Source: `Partition.fetchRecords`, `readRecords`, `followerReplicaOrThrow`, `UnifiedLog.read` (3.9).
"""

from enum import Enum

import msgspec

from model.broker.log_positions import UNKNOWN_EPOCH, UNKNOWN_OFFSET, LogPositions
from model.broker.partition.partition import Partition
from model.broker.serving.leader_epoch_check import NONE, check_leader_epoch


class Isolation(Enum):
    """How far a reader sees."""

    LOG_END = "everything"
    """Followers."""
    HIGH_WATERMARK = "what is committed"
    """Consumers, read_uncommitted."""
    LAST_STABLE_OFFSET = "what is committed and no open transaction comes before"
    """Consumers, read_committed (KIP-98, 0.11)."""


class Read(msgspec.Struct, frozen=True, kw_only=True):
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

    error: str = NONE
    up_to: int = 0
    diverging: tuple[int, int] | None = None
    """An epoch and its end here: what the follower has of it beyond is not the leader's (KIP-595, 2.7)."""

    @property
    def is_progress(self) -> bool:
        """Whether a follower's position can be recorded."""
        return self.error == NONE and self.diverging is None


def judge_read(partition: Partition, read: Read, log: LogPositions, last_stable_offset: int) -> ReadJudgement:
    """In Kafka's order of checks. `last_stable_offset` only counts for LAST_STABLE_OFFSET."""
    error = check_leader_epoch(partition, read.leader_epoch, only_leader=read.only_leader)
    if error != NONE:
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
