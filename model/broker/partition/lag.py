"""When a follower is out of sync, by the rules of each release. It changes nothing.

Source: `Partition.getOutOfSyncReplicas` (0.8.0, 0.8.1, 0.9, 2.2, 3.9); `ReplicaState.isCaughtUp` (3.9).
"""

from collections.abc import Callable, Mapping

from model.broker.partition.conditions import Conditions
from model.broker.partition.partition import FollowerProgress
from model.broker.replication_rules import LagRule


def is_caught_up(follower: FollowerProgress, leader_end: int, conditions: Conditions) -> bool:
    """Whether it has all the leader has, or had all of it within replica.lag.time.max.ms."""
    settings = conditions.settings
    if settings.rules.log_end_is_caught_up and follower.log_end == leader_end:
        return True
    return conditions.now_ms - follower.caught_up_ms <= settings.replica_lag_time_max_ms


def why_out_of_sync(
    follower: FollowerProgress, leader_end: int, leading_since_ms: int, conditions: Conditions
) -> str | None:
    """Half a sentence to follow the name of a follower; None if it is in sync. A new leader's followers have time."""
    return _RULES[conditions.settings.rules.lag](follower, leader_end, leading_since_ms, conditions)


def _not_caught_up(follower: FollowerProgress, leader_end: int, _since_ms: int, conditions: Conditions) -> str | None:
    if is_caught_up(follower, leader_end, conditions):
        return None
    missing = leader_end - max(follower.log_end, 0)
    return f"had not caught up for {conditions.now_ms - follower.caught_up_ms} ms (it lacks {missing} records)"


def _silent_or_slow(follower: FollowerProgress, leader_end: int, since_ms: int, conditions: Conditions) -> str | None:
    silent_ms = conditions.now_ms - max(follower.fetched_ms, since_ms)
    if silent_ms > conditions.settings.replica_lag_time_max_ms:
        return f"had not fetched for {silent_ms} ms"
    missing = leader_end - follower.log_end
    if follower.log_end >= 0 and missing > conditions.settings.replica_lag_max_messages:
        return f"was {missing} messages behind"
    return None


def _stuck_or_slow(follower: FollowerProgress, leader_end: int, since_ms: int, conditions: Conditions) -> str | None:
    if follower.log_end >= leader_end:
        return None
    return _silent_or_slow(follower, leader_end, since_ms, conditions)


_RULES: Mapping[LagRule, Callable[[FollowerProgress, int, int, Conditions], str | None]] = {
    "behind and silent, or too many messages": _stuck_or_slow,
    "silent, or too many messages": _silent_or_slow,
    "not caught up": _not_caught_up,
}
