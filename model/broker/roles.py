"""What a broker does when it comes to lead or to follow a partition, whoever says so: a request or the metadata log.

Source: `Partition.makeLeader`, `makeFollower`, `Replica.resetReplicaState`, `ReplicaManager.makeLeaders`,
`makeFollowers` (3.9).
"""

from collections.abc import Mapping

import msgspec

from model.broker.commands import PartitionDecision, StartFetching, StartLeaderEpoch, StopFetching
from model.broker.partition import (
    Conditions,
    FollowerProgress,
    Leading,
    LogPositions,
    Partition,
    raise_high_watermark,
)
from model.broker.replication import initial_fetch_state
from model.cluster.ids import TopicPartition
from model.controller.events_and_commands import PartitionToServe

_UNKNOWN = FollowerProgress()


def take_on(name: TopicPartition, broker: int, log: LogPositions) -> Partition:
    """A partition that this broker has not served since it started; its high watermark comes from the checkpoint."""
    high_watermark = max(log.start, min(log.checkpointed_high_watermark, log.end))
    return Partition(name, broker, topic_id=log.topic_id, high_watermark=high_watermark)


def become_leader(
    partition: Partition, told: PartitionToServe, log: LogPositions, conditions: Conditions
) -> PartitionDecision:
    """Lead. What is older than the partition epoch known here changes nothing: an answer to a proposal outran it."""
    if told.state.partition_epoch < partition.state.partition_epoch:
        return PartitionDecision(partition)
    now_ms = conditions.now_ms
    started = told.state.leader_epoch > partition.state.leader_epoch
    before = partition.leading
    known: Mapping[int, FollowerProgress] = {} if before is None else before.followers
    followers: dict[int, FollowerProgress] = {}
    for replica in told.assignment.replicas:
        if replica != partition.broker:
            progress = known.get(replica, _UNKNOWN)
            if started:
                progress = _reset(progress, log.end, now_ms if replica in told.state.isr else 0, fresh=before is None)
            followers[replica] = progress
    if started or before is None:
        leading = Leading(log.end, now_ms, followers)
    else:
        leading = msgspec.structs.replace(before, followers=followers, pending=None)
    led = _told(partition, told, leading)
    after = raise_high_watermark(led, log, conditions)
    if not started:
        return PartitionDecision(after)
    name, epoch = partition.partition, told.state.leader_epoch
    why = f"{name}: broker {partition.broker} leads in epoch {epoch} from offset {log.end}, ISR {[*told.state.isr]}."
    return PartitionDecision(after, (StopFetching(name), StartLeaderEpoch(name, epoch, log.end)), (why,))


def become_follower(partition: Partition, told: PartitionToServe, log: LogPositions) -> PartitionDecision:
    """Follow. A new leader epoch restarts the fetching even from the same leader."""
    if told.state.partition_epoch < partition.state.partition_epoch:
        return PartitionDecision(partition)
    after = _told(partition, told, None)
    if told.state.leader_epoch <= partition.state.leader_epoch:
        return PartitionDecision(after)
    name, state = partition.partition, told.state
    why = f"{name}: broker {partition.broker} follows broker {state.leader} in epoch {state.leader_epoch}."
    return PartitionDecision(after, (StopFetching(name),), (why,))


def start_fetching(decision: PartitionDecision, log: LogPositions, conditions: Conditions) -> PartitionDecision:
    """What a new follower does next, unless its broker is on its way down: fetch from its leader."""
    partition = decision.partition
    state = initial_fetch_state(
        partition.partition, partition.state, partition.high_watermark, log, conditions.settings.rules
    )
    return decision.then(PartitionDecision(partition, (StartFetching(partition.partition, state),)))


def _told(partition: Partition, told: PartitionToServe, leading: Leading | None) -> Partition:
    # A leader counts as recovered at once: it says so with the next ISR that it proposes (KIP-704).
    state = told.state
    if leading is not None and state.recovering:
        state = msgspec.structs.replace(state, recovering=False)
    return msgspec.structs.replace(
        partition, state=state, controller_epoch=told.controller_epoch, assignment=told.assignment, leading=leading
    )


def _reset(progress: FollowerProgress, leader_end: int, caught_up_ms: int, *, fresh: bool) -> FollowerProgress:
    """`caught_up_ms`: now for an in-sync follower: it gets as long as any other to show that it still is. Else 0."""
    if fresh:
        return FollowerProgress(leader_end_at_fetch=-1, caught_up_ms=caught_up_ms)
    return msgspec.structs.replace(
        progress, leader_end_at_fetch=leader_end, fetched_ms=caught_up_ms, caught_up_ms=caught_up_ms
    )
