"""How far a partition's records are on all in-sync replicas: the high watermark of a leader and of a follower.

Source: `Partition.maybeIncrementLeaderHW`, `UnifiedLog.updateHighWatermark` (3.9).
"""

import msgspec

from model.broker.log_positions import LogPositions
from model.broker.partition.conditions import Conditions
from model.broker.partition.lag import is_caught_up
from model.broker.partition.partition import FollowerProgress, Partition


def raise_high_watermark(partition: Partition, log: LogPositions, conditions: Conditions) -> Partition:
    """With a leader's high watermark as far on as its followers allow. It never goes back while this broker leads.

    The maximal ISR counts, so that a follower whose joining is not confirmed yet cannot miss a committed record.
    """
    leading = partition.leading
    if leading is None or log.end <= partition.high_watermark or not _may_advance(partition, conditions):
        return partition
    isr = partition.maximal_isr
    ends = [
        progress.log_end
        for follower, progress in leading.followers.items()
        if follower in isr or _about_to_join(follower, progress, log, conditions)
    ]
    reached = min(ends, default=log.end)
    if min(reached, log.end) <= partition.high_watermark:
        return partition
    return msgspec.structs.replace(partition, high_watermark=min(reached, log.end))


def follow_high_watermark(partition: Partition, leader_high_watermark: int, log: LogPositions) -> Partition:
    """With a follower's high watermark: its leader's, as far as its own log goes. It may go back, as the leader's may
    when the leader is another one."""
    reached = max(log.start, min(leader_high_watermark, log.end))
    if reached == partition.high_watermark:
        return partition
    return msgspec.structs.replace(partition, high_watermark=reached)


def _may_advance(partition: Partition, conditions: Conditions) -> bool:
    if not conditions.settings.rules.stops_below_min_isr:
        return True
    return len(partition.state.isr) >= conditions.min_isr(len(partition.assignment.replicas))


def _about_to_join(follower: int, progress: FollowerProgress, log: LogPositions, conditions: Conditions) -> bool:
    """Waiting for it now spares it from chasing a high watermark that it could never reach."""
    if not conditions.settings.rules.waits_for_caught_up or not conditions.may_join(follower):
        return False
    return is_caught_up(progress, log.end, conditions)
