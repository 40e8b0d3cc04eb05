"""Where a new follower begins to fetch.

Source: `ReplicaManager.initialFetchOffset`, `AbstractFetcherThread.partitionFetchState` (3.9).
"""

from model.broker.log_positions import LogPositions
from model.broker.replication.fetch_state import FetchState
from model.broker.replication_rules import ReplicationRules
from model.cluster.ids import TopicPartition
from model.controller.leader_and_isr import LeaderAndIsr


def initial_fetch_state(
    partition: TopicPartition, state: LeaderAndIsr, high_watermark: int, log: LogPositions, rules: ReplicationRules
) -> FetchState:
    """From the log's end, where fetches carry its last epoch (2.7); else it truncates first, at worst to the high
    watermark: what lies above it may not be what the leader has."""
    epoch = log.epochs.latest
    if rules.truncation == "diverging fetch" and epoch is not None:
        return FetchState(partition, state.leader, state.leader_epoch, log.end, epoch)
    return FetchState(partition, state.leader, state.leader_epoch, high_watermark, truncating=True)
