"""What a controller wants done, requests to brokers included. A host does all of it, in order, and decides nothing.

Requests are values that no version of the wire protocol shapes. The receiver's broker epoch is beside the request, in
`SendRequest`, so that one value serves all receivers.

Source: `org.apache.kafka.common.requests.{LeaderAndIsr,UpdateMetadata,StopReplica}Request` (3.9).
"""

import msgspec

from model.cluster.ids import TopicPartition
from model.controller.leader_and_isr import LeaderAndIsr, ReplicaAssignment
from model.zookeeper.operations import ZooKeeperRequest

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


class Command(msgspec.Struct, frozen=True):
    """Something to do."""


class AskZooKeeper(Command, frozen=True):
    """Send these, pipelined, and tell the answers with ZooKeeperAnswered and the same number."""

    question: int
    requests: tuple[ZooKeeperRequest, ...]


class SendRequest(Command, frozen=True):
    """Send to a broker, in order per broker, again and again until it answers or is gone; tell with RequestAnswered."""

    broker: int
    broker_epoch: int
    request: BrokerRequest


class StartTimer(Command, frozen=True):
    """Tell TimerFired after this time; a timer of that name that still runs starts anew."""

    timer: str
    after_ms: int


class CancelTimer(Command, frozen=True):
    """Do not tell TimerFired any more."""

    timer: str


class PartitionOutcome(msgspec.Struct, frozen=True, gc=False):
    """What became of a partition somebody asked about: Kafka's name of the error, or `NONE`.

    `state` answers a proposed ISR, `assignment` a list of reassignments.
    """

    partition: TopicPartition
    error: str = "NONE"
    state: LeaderAndIsr | None = None
    assignment: ReplicaAssignment | None = None


class ProducerIds(msgspec.Struct, frozen=True, gc=False):
    """Ids that a broker may give out to producers: `count` of them from `first` on."""

    first: int
    count: int


class FeatureOutcome(msgspec.Struct, frozen=True, gc=False):
    """What became of the update of a feature; `message` says why not."""

    feature: str
    error: str = "NONE"
    message: str = ""


class AnswerRequest(Command, frozen=True):
    """Answer whoever waits: an error as a whole, or something for each partition, or what was asked for."""

    request: int
    error: str = "NONE"
    partitions: tuple[PartitionOutcome, ...] = ()
    producer_ids: ProducerIds | None = None
    features: tuple[FeatureOutcome, ...] = ()


class DropRequests(Command, frozen=True):
    """A broker is gone: what waits to be sent to it is not sent any more."""

    broker: int
