"""What a controller sends to brokers, as values that no version of the wire protocol shapes. It encodes nothing.

Source: `org.apache.kafka.common.requests.{LeaderAndIsr,UpdateMetadata,StopReplica}Request` (3.9). The receiver's broker
epoch is beside the request (`commands.SendRequest`), so that one value serves all receivers.
"""

import msgspec

from model.cluster.ids import TopicPartition
from model.controller.leader_and_isr import LeaderAndIsr
from model.controller.replica_assignment import ReplicaAssignment

EPOCH_DURING_DELETE = -2
"""StopReplica's leader epoch while the topic is being deleted: stronger than any other."""
NO_EPOCH = -1
"""StopReplica's leader epoch for a partition whose leadership is not known."""


class PartitionToServe(msgspec.Struct, frozen=True, gc=False):
    """A partition in a LeaderAndIsr. `is_new`: the receiver may create its log although a log dir of it has failed."""

    partition: TopicPartition
    state: LeaderAndIsr
    controller_epoch: int
    assignment: ReplicaAssignment
    is_new: bool


class LeaderAndIsrRequest(msgspec.Struct, frozen=True):
    """Lead or follow these partitions; `live_leaders` are the brokers whose addresses go with it."""

    controller: int
    controller_epoch: int
    partitions: tuple[PartitionToServe, ...]
    live_leaders: tuple[int, ...]
    topic_ids: tuple[tuple[str, str | None], ...]


class PartitionToKnow(msgspec.Struct, frozen=True, gc=False):
    """A partition in an UpdateMetadata; leader -2 while its topic is being deleted."""

    partition: TopicPartition
    state: LeaderAndIsr
    controller_epoch: int
    replicas: tuple[int, ...]
    offline_replicas: tuple[int, ...]


class UpdateMetadataRequest(msgspec.Struct, frozen=True):
    """Know this: `live_brokers` replace all the receiver knew, `partitions` only those that are named."""

    controller: int
    controller_epoch: int
    partitions: tuple[PartitionToKnow, ...]
    live_brokers: tuple[int, ...]
    topic_ids: tuple[tuple[str, str | None], ...]


class PartitionToStop(msgspec.Struct, frozen=True, gc=False):
    """A partition in a StopReplica; `delete` its log, too."""

    partition: TopicPartition
    leader_epoch: int
    delete: bool


class StopReplicaRequest(msgspec.Struct, frozen=True):
    """Stop following these partitions."""

    controller: int
    controller_epoch: int
    partitions: tuple[PartitionToStop, ...]


BrokerRequest = LeaderAndIsrRequest | UpdateMetadataRequest | StopReplicaRequest


class BrokerAnswer(msgspec.Struct, frozen=True):
    """A broker's answer: Kafka's names of errors, `NONE` where all is well. A partition left out has no error."""

    error: str = "NONE"
    partition_errors: tuple[tuple[TopicPartition, str], ...] = ()
