"""Whether a broker may answer for a partition to somebody who knows a certain leader epoch.

Source: `ReplicaManager.getPartitionOrError`, `Partition.checkCurrentLeaderEpoch`, `getLocalLog` (3.9); KIP-320 (2.1).
"""

from collections.abc import Collection, Mapping

from model.broker.partition.partition import Partition
from model.cluster.ids import TopicPartition

NONE = "NONE"


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
    return NONE
