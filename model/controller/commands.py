"""What a controller wants done. A host does it, all of it, in order, and decides nothing."""

import msgspec

from model.cluster.ids import TopicPartition
from model.controller.leader_and_isr import LeaderAndIsr
from model.controller.replica_assignment import ReplicaAssignment
from model.controller.requests import BrokerRequest
from model.controller.zookeeper import ZooKeeperRequest


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
