"""A broker's memory in a virtual cluster, as a value. `model.broker` decides; here is kept what it decided.

There are no logs: a replica is taken to have whatever its leader has, so that all logs have the same end. How leaders
change ISRs is in `leaders`.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec

from model.broker.commands import Command, FetchState, ProposeIsr, StartFetching, StopFetching
from model.broker.controller_requests import (
    BrokerEpochs,
    Replicas,
    RequestOutcome,
    lose_log_dir,
    serve_leader_and_isr,
    serve_stop_replica,
)
from model.broker.isr import AlterPartitionQueue
from model.broker.metadata import UNKNOWN_BROKER, MetadataImage, learn, serve_update_metadata
from model.broker.partition import EMPTY_LOG, Conditions, LogPositions, Partition, ReplicationSettings
from model.cluster.ids import TopicPartition
from model.controller.events_and_commands import (
    BrokerAnswer,
    BrokerRequest,
    LeaderAndIsrRequest,
    PartitionToKnow,
    StopReplicaRequest,
    UpdateMetadataRequest,
)
from model.hosts.memory_zookeeper.persistent_map import PersistentMap

UNREGISTERED: Final = -1
"""The epoch of a broker that has no registration yet: it does not listen."""


class ReceivedMetadata(msgspec.Struct, frozen=True):
    """An UpdateMetadata that held, and those before it: learnt only when somebody asks what a broker knows."""

    request: UpdateMetadataRequest
    before: "ReceivedMetadata | None" = None


class VirtualBroker(msgspec.Struct, frozen=True):
    """A process's memory: all of it is gone when the process is, while `offline` replicas' log dirs would fail again.

    `fetched` are the partitions it was told to follow since it started or was adopted. `joinable` are those that it
    leads, whose ISR lacks a replica and is not being changed. `proposed` are ISRs that it wants and has asked nobody
    for; `queue` has those that the controller is to be asked for, or is being asked.
    """

    epochs: BrokerEpochs
    settings: ReplicationSettings = ReplicationSettings()
    held: PersistentMap[TopicPartition, Partition] = msgspec.field(default_factory=PersistentMap)
    fetched: PersistentMap[TopicPartition, FetchState] = msgspec.field(default_factory=PersistentMap)
    offline: frozenset[TopicPartition] = frozenset()
    controller: int = UNKNOWN_BROKER
    live_brokers: tuple[int, ...] = ()
    told: ReceivedMetadata | None = None
    joinable: frozenset[TopicPartition] = frozenset()
    proposed: tuple[ProposeIsr, ...] = ()
    queue: AlterPartitionQueue = AlterPartitionQueue()

    @property
    def id(self) -> int:
        return self.epochs.broker

    @property
    def epoch(self) -> int:
        return self.epochs.broker_epoch

    @property
    def ruled_by(self) -> tuple[int, int]:
        """The controller that it asks, and the newest controller epoch it knows."""
        return self.controller, self.epochs.controller_epoch

    def replace(self, **changes: object) -> "VirtualBroker":
        return msgspec.structs.replace(self, **changes)

    def with_epochs(self, **changes: object) -> "VirtualBroker":
        """The same with another epoch, or on its way down."""
        return self.replace(epochs=msgspec.structs.replace(self.epochs, **changes))

    def conditions(self, now_ms: int) -> Conditions:
        """`now_ms`: since the epoch."""
        return Conditions(now_ms, frozenset(self.live_brokers), self.settings)

    def leads(self, name: TopicPartition) -> Partition | None:
        """A partition, if this broker takes itself for the leader."""
        partition = self.held.get(name)
        return partition if partition is not None and partition.leads else None

    @property
    def metadata(self) -> Mapping[TopicPartition, PartitionToKnow]:
        """The partitions it knows of. It takes as long as all it was ever told."""
        requests: list[UpdateMetadataRequest] = []
        told = self.told
        while told is not None:
            requests.append(told.request)
            told = told.before
        image = MetadataImage()
        for request in reversed(requests):
            image = learn(request, {}, image)
        return {known.partition: known for partitions in image.topics.values() for known in partitions.values()}


def receive(
    broker: VirtualBroker, request: BrokerRequest, broker_epoch: int, now_ms: int, log: LogPositions = EMPTY_LOG
) -> tuple[VirtualBroker, BrokerAnswer]:
    """What a controller's request makes of a broker, and the answer. `now_ms`: since the epoch."""
    served = _SERVES[type(request)](broker, request, broker_epoch, now_ms, log)
    after = broker.replace(epochs=served.epochs)
    if served.answer.error == "NONE" and isinstance(request, UpdateMetadataRequest):
        told = ReceivedMetadata(request, broker.told)
        after = after.replace(controller=request.controller, live_brokers=request.live_brokers, told=told)
    return keep(after, served.changed, served.commands, served.removed), served.answer


def keep(
    broker: VirtualBroker,
    changed: Sequence[Partition],
    commands: Iterable[Command] = (),
    removed: Iterable[TopicPartition] = (),
) -> VirtualBroker:
    """The broker with these partitions, and without those. Commands for logs come to nothing, ISRs wait to be sent."""
    held: dict[TopicPartition, Partition | None] = {partition.partition: partition for partition in changed}
    held.update(dict.fromkeys(removed))
    fetched: dict[TopicPartition, FetchState | None] = {}
    proposed: list[ProposeIsr] = []
    for command in commands:
        if isinstance(command, StartFetching):
            fetched[command.partition] = command.state
        elif isinstance(command, StopFetching):
            fetched[command.partition] = None
        elif isinstance(command, ProposeIsr):
            proposed.append(command)
    if proposed:
        broker = broker.replace(proposed=(*broker.proposed, *proposed))
    if fetched:
        broker = broker.replace(fetched=broker.fetched.changed(fetched))
    if held:
        joinable = set(broker.joinable).difference(held)
        joinable.update(partition.partition for partition in changed if _lacks_somebody(partition))
        broker = broker.replace(held=broker.held.changed(held), joinable=frozenset(joinable))
    return broker


def lose(broker: VirtualBroker, partitions: Iterable[TopicPartition]) -> VirtualBroker:
    """The log dir with these replicas has failed."""
    lost = lose_log_dir(frozenset(partitions), broker.held, broker.offline)
    return keep(broker.replace(offline=lost.offline), (), lost.commands, lost.removed)


def _lacks_somebody(partition: Partition) -> bool:
    leading = partition.leading
    if leading is None or leading.pending is not None:
        return False
    replicas, isr = partition.assignment.replicas, partition.state.isr
    return len(replicas) > len(isr) or not set(replicas) <= set(isr)


def _lead_and_follow(
    broker: VirtualBroker, request: LeaderAndIsrRequest, broker_epoch: int, now_ms: int, log: LogPositions
) -> RequestOutcome:
    conditions = broker.conditions(now_ms)

    def log_of(_name: TopicPartition) -> LogPositions:
        return log

    replicas = Replicas(broker.held, broker.offline, log_of)
    return serve_leader_and_isr(request, broker_epoch, broker.epochs, replicas, lambda _: conditions)


def _stop(
    broker: VirtualBroker, request: StopReplicaRequest, broker_epoch: int, _now_ms: int, _log: LogPositions
) -> RequestOutcome:
    return serve_stop_replica(request, broker_epoch, broker.epochs, broker.held, broker.offline)


def _know(
    broker: VirtualBroker, request: UpdateMetadataRequest, broker_epoch: int, _now_ms: int, _log: LogPositions
) -> RequestOutcome:
    return serve_update_metadata(request, broker_epoch, broker.epochs)


_SERVES: Final[Mapping[type, Callable[[VirtualBroker, Any, int, int, LogPositions], RequestOutcome]]] = {
    LeaderAndIsrRequest: _lead_and_follow,
    StopReplicaRequest: _stop,
    UpdateMetadataRequest: _know,
}
