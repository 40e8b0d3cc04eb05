"""What can happen to a controller, and what it wants done, requests to brokers included.

Facts and orders only: `decide` has what follows from an event; a host carries commands out, all of them, in order, and
decides nothing. Here too: which ZooKeeper watch means which event.
"""

import msgspec

from model.cluster.ids import TopicPartition
from model.controller.features import FeatureUpdate
from model.controller.leader_and_isr import LeaderAndIsr, ReplicaAssignment
from model.znodes import paths
from model.znodes.catalogue import ZnodeKind
from model.znodes.paths import recognise
from model.zookeeper import Answer, EventKind, ZooKeeperRequest

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


class ProducerIdRange(msgspec.Struct, frozen=True, gc=False):
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
    producer_ids: ProducerIdRange | None = None
    features: tuple[FeatureOutcome, ...] = ()


class DropRequests(Command, frozen=True):
    """A broker is gone: what waits to be sent to it is not sent any more."""

    broker: int


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """`at_ms`: when, in ms since the epoch, by the host's clock (real or virtual)."""

    at_ms: int = 0


class BrokerStarted(Event, frozen=True):
    """The broker has its first ZooKeeper session; `registration` is the payload of its znode (Kafka's `Startup`).

    `session` tells its own znode from another broker's; a host that has no connection to lose may leave it out.
    `proposed_cluster_id` names a cluster that has no name yet.
    """

    registration: bytes
    proposed_cluster_id: str
    session: int = 0


class SessionEstablished(Event, frozen=True):
    """A new ZooKeeper session after `previous_session` expired (Kafka's `RegisterBrokerAndReelect`)."""

    registration: bytes
    previous_session: int
    session: int = 0


class SessionExpired(Event, frozen=True):
    """The ZooKeeper session is gone, and with it every right that hung on it (`Expire`).

    Until SessionEstablished a host answers everything with SESSION_EXPIRED. It must not use the new session before:
    what waits from before the loss could win the election with it, which this event then makes the controller forget.
    """


class ControllerChanged(Event, frozen=True):
    """`/controller` was created or written (`ControllerChange`)."""


class ControllerZnodeDeleted(Event, frozen=True):
    """`/controller` is gone (`Reelect`)."""


class BrokersChanged(Event, frozen=True):
    """Brokers came or went (`BrokerChange`)."""


class BrokerModified(Event, frozen=True):
    """A broker wrote its registration anew (`BrokerModifications`)."""

    broker: int


class TopicsChanged(Event, frozen=True):
    """Topics came or went (`TopicChange`)."""


class PartitionsModified(Event, frozen=True):
    """A topic's assignment was written (`PartitionModifications`)."""

    topic: str


class DeletionsRequested(Event, frozen=True):
    """Topics were marked for deletion (`TopicDeletion`)."""


class ReassignmentZnodeCreated(Event, frozen=True):
    """`/admin/reassign_partitions` is there (`ZkPartitionReassignment`)."""


class PreferredElectionZnodeCreated(Event, frozen=True):
    """`/admin/preferred_replica_election` is there (`ReplicaLeaderElection`, ZkTriggered)."""


class IsrChangesNotified(Event, frozen=True):
    """Leaders wrote ISRs by themselves, as brokers did before 2.7 (`IsrChangeNotification`)."""


class UncleanElectionAllowed(Event, frozen=True):
    """unclean.leader.election.enable became true for a topic, or by default (None) (`UncleanLeaderElectionEnable`)."""

    topic: str | None = None


class ReassignedStateWritten(Event, frozen=True):
    """The state of a partition that is being reassigned was written, perhaps by its leader
    (`PartitionReassignmentIsrChange`).
    """

    partition: TopicPartition


class LogDirsFailed(Event, frozen=True):
    """Brokers lost log dirs (`LogDirEventNotification`)."""


class RequestReceived(Event, frozen=True, kw_only=True):
    """Somebody waits for an answer with this `request` number."""

    request: int


class ReassignmentsRequested(RequestReceived, frozen=True):
    """AlterPartitionReassignments (KIP-455, 2.4); target None cancels (`ApiPartitionReassignment`)."""

    targets: tuple[tuple[TopicPartition, tuple[int, ...] | None], ...]


class ElectionRequested(RequestReceived, frozen=True):
    """ElectLeaders (KIP-183, KIP-460): of preferred replicas, or of any if `unclean`."""

    partitions: tuple[TopicPartition, ...]
    unclean: bool = False


class ControlledShutdownRequested(RequestReceived, frozen=True):
    """A broker wants to leave. `broker_epoch` None: a broker before 2.2 does not say."""

    broker: int
    broker_epoch: int | None = None


class ProposedIsr(msgspec.Struct, frozen=True, gc=False):
    """What a leader wants a partition's ISR to be."""

    partition: TopicPartition
    leader_epoch: int
    partition_epoch: int
    isr: tuple[int, ...]
    recovering: bool = False
    broker_epochs: tuple[int, ...] = ()
    """Of the lives in which members of `isr` fetched last, in their order; -1: not known, or the leader itself.

    Empty: of none is it known.
    """


class AlterPartitionReceived(RequestReceived, frozen=True):
    """Leaders want their ISRs changed (KIP-497, 2.7)."""

    broker: int
    broker_epoch: int
    proposals: tuple[ProposedIsr, ...]


class ReassignmentListRequested(RequestReceived, frozen=True):
    """ListPartitionReassignments (KIP-455, 2.4): of these partitions, of all if None (`ListPartitionReassignments`)."""

    partitions: tuple[TopicPartition, ...] | None = None


class ProducerIdsRequested(RequestReceived, frozen=True):
    """A broker needs producer ids to give out (KIP-730, 3.0; `AllocateProducerIds`)."""

    broker: int
    broker_epoch: int


class FeatureUpdatesRequested(RequestReceived, frozen=True):
    """UpdateFeatures (KIP-584, 2.7)."""

    updates: tuple[FeatureUpdate, ...]


class RequestAnswered(Event, frozen=True):
    """A broker answered what the controller sent."""

    broker: int
    sent: BrokerRequest
    answer: BrokerAnswer


class TimerFired(Event, frozen=True):
    """Time is up."""

    timer: str


class ZooKeeperAnswered(Event, frozen=True):
    """The answers to a question (`commands.AskZooKeeper`), one for each request."""

    question: int
    answers: tuple[Answer, ...]


_MEANING: dict[tuple[str, EventKind], type[Event]] = {
    (paths.CONTROLLER, EventKind.CREATED): ControllerChanged,
    (paths.CONTROLLER, EventKind.DATA_CHANGED): ControllerChanged,
    (paths.CONTROLLER, EventKind.DELETED): ControllerZnodeDeleted,
    (paths.BROKER_IDS, EventKind.CHILDREN_CHANGED): BrokersChanged,
    (paths.TOPICS, EventKind.CHILDREN_CHANGED): TopicsChanged,
    (paths.DELETIONS, EventKind.CHILDREN_CHANGED): DeletionsRequested,
    (paths.REASSIGNMENTS, EventKind.CREATED): ReassignmentZnodeCreated,
    (paths.PREFERRED_ELECTION, EventKind.CREATED): PreferredElectionZnodeCreated,
    (paths.ISR_CHANGES, EventKind.CHILDREN_CHANGED): IsrChangesNotified,
    (paths.LOG_DIR_EVENTS, EventKind.CHILDREN_CHANGED): LogDirsFailed,
}


def event_for(path: str, change: EventKind, at_ms: int) -> Event | None:
    """The event that a watch stands for; None if a controller does not care."""
    known = _MEANING.get((path, change))
    if known is not None:
        return known(at_ms=at_ms)
    if change is not EventKind.DATA_CHANGED:
        return None
    znode = recognise(path)
    if znode.kind is ZnodeKind.BROKER:
        return BrokerModified(broker=znode.broker_id, at_ms=at_ms)
    if znode.kind is ZnodeKind.TOPIC:
        return PartitionsModified(topic=znode.topic, at_ms=at_ms)
    if znode.kind is ZnodeKind.PARTITION_STATE:
        return ReassignedStateWritten(partition=TopicPartition(znode.topic, znode.partition), at_ms=at_ms)
    return None
