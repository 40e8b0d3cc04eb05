"""The broker's half of the control plane as a value: what it was told, and what it answers. It has no log and no clock.

Source: `kafka.server.ReplicaManager.becomeLeaderOrFollower`, `stopReplicas`, `maybeUpdateMetadataCache`,
`kafka.server.KafkaApis.handleLeaderAndIsrRequest` (3.9). How leaders change ISRs is in `isr_changes`.
"""

from collections.abc import Iterator, Mapping

import msgspec

from model.cluster.ids import LEADER_DURING_DELETE, TopicPartition
from model.controller.leader_and_isr import LeaderAndIsr
from model.controller.replica_assignment import ReplicaAssignment
from model.controller.requests import (
    EPOCH_DURING_DELETE,
    NO_EPOCH,
    BrokerAnswer,
    BrokerRequest,
    LeaderAndIsrRequest,
    PartitionToKnow,
    PartitionToServe,
    PartitionToStop,
    StopReplicaRequest,
    UpdateMetadataRequest,
)
from model.hosts.memory_zookeeper.persistent_map import PersistentMap

NOBODY = -1
UNREGISTERED = -1
"""The epoch of a broker that has no registration yet: it does not listen."""


class Replica(msgspec.Struct, frozen=True, gc=False):
    """What a broker was told of a partition it holds. `stopped`: it serves and fetches no more, until told anew."""

    state: LeaderAndIsr
    assignment: ReplicaAssignment
    topic_id: str | None = None
    stopped: bool = False


class Told(msgspec.Struct, frozen=True):
    """An UpdateMetadata, and those before it: looked through only when somebody asks what a broker knows."""

    request: UpdateMetadataRequest
    before: "Told | None" = None


class VirtualBroker(msgspec.Struct, frozen=True):
    """A process's memory: all of it is gone when the process is, while `failed` log dirs would be failed again.

    `behind` are partitions led here with replicas missing from the ISR. `pending` are those whose ISR it asked to
    change and has no answer, `stuck` those where the answer was that it is out of date: it waits for a LeaderAndIsr.
    """

    id: int
    epoch: int = UNREGISTERED
    controller: int = NOBODY
    controller_epoch: int = 0
    replicas: PersistentMap[TopicPartition, Replica] = msgspec.field(default_factory=PersistentMap)
    live_brokers: tuple[int, ...] = ()
    told: Told | None = None
    behind: frozenset[TopicPartition] = frozenset()
    pending: frozenset[TopicPartition] = frozenset()
    stuck: frozenset[TopicPartition] = frozenset()
    failed: frozenset[TopicPartition] = frozenset()

    def replace(self, **changes: object) -> "VirtualBroker":
        """The same with other fields."""
        return msgspec.structs.replace(self, **changes)

    def leads(self, name: TopicPartition) -> Replica | None:
        """Its replica of a partition, if it is the leader as far as it knows."""
        replica = self.replicas.get(name)
        return replica if replica is not None and replica.state.leader == self.id and not replica.stopped else None

    @property
    def metadata(self) -> Mapping[TopicPartition, PartitionToKnow]:
        """The partitions it knows of (`MetadataCache`). It takes as long as all it was ever told."""
        requests: list[UpdateMetadataRequest] = []
        told = self.told
        while told is not None:
            requests.append(told.request)
            told = told.before
        known: dict[TopicPartition, PartitionToKnow] = {}
        for request in reversed(requests):
            for entry in request.partitions:
                known[entry.partition] = entry
        return {name: entry for name, entry in known.items() if entry.state.leader != LEADER_DURING_DELETE}


Served = tuple[VirtualBroker, BrokerAnswer]


def receive(broker: VirtualBroker, request: BrokerRequest, broker_epoch: int) -> Served:
    """Do what a controller says, unless it speaks to the process before this one, or is not the controller any more."""
    if broker_epoch < broker.epoch:
        return broker, BrokerAnswer("STALE_BROKER_EPOCH")
    if request.controller_epoch < broker.controller_epoch:
        return broker, BrokerAnswer("STALE_CONTROLLER_EPOCH")
    if (request.controller_epoch, request.controller) != (broker.controller_epoch, broker.controller):
        # What was asked of the controller before this one will not be answered.
        broker = broker.replace(
            controller=request.controller,
            controller_epoch=request.controller_epoch,
            pending=frozenset[TopicPartition](),
        )
    if isinstance(request, LeaderAndIsrRequest):
        return _serve(broker, request)
    if isinstance(request, StopReplicaRequest):
        return _stop(broker, request)
    return broker.replace(live_brokers=request.live_brokers, told=Told(request, broker.told)), BrokerAnswer()


def _serve(broker: VirtualBroker, request: LeaderAndIsrRequest) -> Served:
    errors: list[tuple[TopicPartition, str]] = []
    ids = dict(request.topic_ids)
    replicas: dict[TopicPartition, Replica | None] = {}
    behind = set(broker.behind)
    for entry in request.partitions:
        name = entry.partition
        error = _problem(broker, entry, ids.get(name.topic))
        if error:
            errors.append((name, error))
        elif entry.state.leader == broker.id or entry.state.leader in broker.live_brokers:
            replicas[name] = Replica(entry.state, entry.assignment, ids.get(name.topic))
            (behind.add if _is_behind(broker.id, entry) else behind.discard)(name)
    broker = broker.replace(
        replicas=broker.replicas.changed(replicas),
        behind=frozenset(behind),
        pending=broker.pending.difference(replicas),
        stuck=broker.stuck.difference(replicas),
    )
    return broker, BrokerAnswer(partition_errors=tuple(errors))


def _problem(broker: VirtualBroker, entry: PartitionToServe, topic_id: str | None) -> str:
    held = broker.replicas.get(entry.partition)
    if broker.failed and entry.partition in broker.failed:
        return "KAFKA_STORAGE_ERROR"
    if held is not None:
        if held.topic_id != topic_id and held.topic_id is not None and topic_id is not None:
            return "INCONSISTENT_TOPIC_ID"
        if entry.state.leader_epoch <= held.state.leader_epoch:
            return "STALE_CONTROLLER_EPOCH"
    return "" if broker.id in entry.assignment.replicas else "UNKNOWN_TOPIC_OR_PARTITION"


def _is_behind(broker: int, entry: PartitionToServe) -> bool:
    return entry.state.leader == broker and not set(entry.assignment.replicas) <= set(entry.state.isr)


def _stop(broker: VirtualBroker, request: StopReplicaRequest) -> Served:
    errors: list[tuple[TopicPartition, str]] = []
    replicas: dict[TopicPartition, Replica | None] = {}
    for entry in request.partitions:
        held = broker.replicas.get(entry.partition)
        if entry.partition in broker.failed:
            errors.append((entry.partition, "KAFKA_STORAGE_ERROR"))
        elif held is not None and not _may_stop(held, entry):
            errors.append((entry.partition, "FENCED_LEADER_EPOCH"))
        elif held is not None:
            replicas[entry.partition] = None if entry.delete else msgspec.structs.replace(held, stopped=True)
    broker = broker.replace(
        replicas=broker.replicas.changed(replicas),
        behind=broker.behind.difference(replicas),
        pending=broker.pending.difference(replicas),
        stuck=broker.stuck.difference(replicas),
    )
    return broker, BrokerAnswer(partition_errors=tuple(errors))


def _may_stop(held: Replica, entry: PartitionToStop) -> bool:
    return entry.leader_epoch in (EPOCH_DURING_DELETE, NO_EPOCH) or entry.leader_epoch >= held.state.leader_epoch


def led(broker: VirtualBroker) -> Iterator[tuple[TopicPartition, Replica]]:
    """What it leads as far as it knows; it takes as long as it has replicas."""
    for name, replica in broker.replicas.items():
        if replica.state.leader == broker.id and not replica.stopped:
            yield name, replica
