"""What a leader makes of a follower's fetch: its progress, the ISR it may join, the high watermark.

Source: `Partition.updateFollowerFetchState`, `maybeExpandIsr`, `Replica.updateFetchStateOrThrow` (3.9).
"""

from model.broker.decision import PartitionDecision
from model.broker.log_positions import LogPositions
from model.broker.partition.conditions import Conditions
from model.broker.partition.high_watermark import raise_high_watermark
from model.broker.partition.isr_changes import propose_joining
from model.broker.partition.partition import FollowerProgress, Partition


def record_fetch(
    partition: Partition,
    follower: int,
    fetch_offset: int,
    log: LogPositions,
    conditions: Conditions,
    follower_log_start: int = -1,
) -> PartitionDecision:
    """The follower has everything below `fetch_offset`. Only for a fetch that was read without error or divergence.

    A broker that is no replica of the partition, or no leader: nothing follows.
    """
    before = partition.leading.followers.get(follower) if partition.leading else None
    if partition.leading is None or before is None:
        return PartitionDecision(partition)
    progress = _progress(before, fetch_offset, follower_log_start, log.end, conditions.now_ms)
    recorded = partition.lead(followers={**partition.leading.followers, follower: progress})
    decision = PartitionDecision(recorded)
    if _is_in_sync(recorded, progress, conditions):
        decision = propose_joining(recorded, follower, conditions)
    if progress.log_end == before.log_end:
        return decision
    return decision.then(PartitionDecision(raise_high_watermark(decision.partition, log, conditions)))


def record_append(partition: Partition, log: LogPositions, conditions: Conditions) -> Partition:
    """After the leader wrote to its own log: alone in the ISR, it needs to wait for nobody."""
    return raise_high_watermark(partition, log, conditions)


def _progress(
    before: FollowerProgress, fetch_offset: int, log_start: int, leader_end: int, now_ms: int
) -> FollowerProgress:
    """It is caught up as of now if it has all; as of its last fetch if it now has all there was then."""
    caught_up_ms = before.caught_up_ms
    if fetch_offset >= leader_end:
        caught_up_ms = max(caught_up_ms, now_ms)
    elif fetch_offset >= before.leader_end_at_fetch:
        caught_up_ms = max(caught_up_ms, before.fetched_ms)
    leader_end_at_fetch = max(leader_end, before.leader_end_at_fetch)
    return FollowerProgress(fetch_offset, log_start, leader_end_at_fetch, now_ms, caught_up_ms)


def _is_in_sync(partition: Partition, progress: FollowerProgress, conditions: Conditions) -> bool:
    """From the start of the epoch on: the leader's own high watermark may still be that of a lagging follower."""
    assert partition.leading is not None
    needed = partition.high_watermark
    if conditions.settings.rules.joins_after_epoch_start:
        needed = max(needed, partition.leading.epoch_start_offset)
    return progress.log_end >= needed
