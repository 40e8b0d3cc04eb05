"""What can happen to a controller, and which ZooKeeper watch means which event. Facts only: `decide` has what follows.

Source: the events of `kafka.controller.KafkaController` (3.9), named as past participles, and its ZNodeChangeHandlers
and ZNodeChildChangeHandlers. Deletions of znodes other than `/controller` mean nothing: whoever waits for a znode to
appear looks again by itself.
"""

import msgspec

from model.cluster.ids import TopicPartition
from model.controller.commands import BrokerAnswer, BrokerRequest
from model.controller.features import FeatureUpdate
from model.znodes import paths
from model.znodes.catalogue import ZnodeKind
from model.znodes.paths import recognise
from model.zookeeper.operations import Answer
from model.zookeeper.znodes import EventKind


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
