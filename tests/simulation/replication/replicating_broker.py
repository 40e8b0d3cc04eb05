"""A broker's process that carries out what `model.broker` decides, on logs in memory. It sends nothing by itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from model.broker.commands import (
    AssignTopicId,
    Command,
    CreateLog,
    DeleteLog,
    FetchState,
    PartitionDecision,
    ProposeIsr,
    StartFetching,
    StartLeaderEpoch,
    StopFetching,
    TruncateLog,
)
from model.broker.controller_requests import (
    BrokerEpochs,
    Replicas,
    RequestOutcome,
    serve_leader_and_isr,
    serve_stop_replica,
)
from model.broker.metadata import MetadataImage, learn, serve_update_metadata
from model.broker.partition import Conditions, LogPositions, Partition, ReplicationSettings
from model.cluster.ids import TopicPartition
from model.controller.events_and_commands import BrokerAnswer, BrokerRequest, LeaderAndIsrRequest, StopReplicaRequest
from tests.simulation.replication.memory_log import MemoryLog

Logs = dict[TopicPartition, MemoryLog]


class Observers(NamedTuple):
    """Who is told: of a partition that is another one, of a log that lost records, of an ISR that is wanted."""

    changed: Callable[[ReplicatingBroker, Partition | None, Partition], None]
    cut: Callable[[ReplicatingBroker, TopicPartition], None]
    wanted: Callable[[ReplicatingBroker, ProposeIsr], None]


class ReplicatingBroker:
    """One process; `logs` outlive it. `now_ms`: since the epoch."""

    def __init__(
        self, broker: int, logs: Logs, settings: ReplicationSettings, now_ms: Callable[[], int], observers: Observers
    ) -> None:
        self.id = broker
        self.logs = logs
        self.settings = settings
        self.held: dict[TopicPartition, Partition] = {}
        self.followed: dict[TopicPartition, FetchState] = {}
        self.image = MetadataImage()
        self._epochs = BrokerEpochs(broker)
        self._now_ms = now_ms
        self._observers = observers

    @property
    def conditions(self) -> Conditions:
        """Of now."""
        return Conditions(self._now_ms(), self.image.live_brokers, self.settings)

    def positions(self, name: TopicPartition) -> LogPositions | None:
        """Of a log, if there is one."""
        log = self.logs.get(name)
        return None if log is None else log.positions

    def serve(self, request: BrokerRequest) -> BrokerAnswer:
        """Do what a controller says."""
        served = self._serve(request)
        self._epochs = served.epochs
        for name in served.removed:
            del self.held[name]
        # The logs first: what is looked at when a partition changes is to be found.
        self._carry_out(command for command in served.commands if isinstance(command, CreateLog))
        for partition in served.changed:
            self.put(partition)
        self._carry_out(command for command in served.commands if not isinstance(command, CreateLog))
        return served.answer

    def do(self, decision: PartitionDecision) -> None:
        """The partition as decided, then the commands."""
        self.put(decision.partition)
        self._carry_out(decision.commands)

    def put(self, partition: Partition) -> None:
        """The partition as it is from now on."""
        before = self.held.get(partition.partition)
        if before is not partition:
            self.held[partition.partition] = partition
            self._observers.changed(self, before, partition)

    def _serve(self, request: BrokerRequest) -> RequestOutcome:
        if isinstance(request, LeaderAndIsrRequest):
            replicas = Replicas(self.held, (), self.positions)
            return serve_leader_and_isr(request, -1, self._epochs, replicas, lambda _: self.conditions)
        if isinstance(request, StopReplicaRequest):
            return serve_stop_replica(request, -1, self._epochs, self.held, ())
        served = serve_update_metadata(request, -1, self._epochs)
        if served.answer.error == "NONE":
            self.image = learn(request, {}, self.image)
        return served

    def _carry_out(self, commands: Iterable[Command]) -> None:
        for command in commands:
            self.carry_out(command)

    def carry_out(self, command: Command) -> None:
        """One command."""
        name = command.partition
        match command:
            case CreateLog():
                self.logs.setdefault(name, MemoryLog(command.topic_id))
            case DeleteLog():
                if self.logs.pop(name, None) is not None:
                    self._observers.cut(self, name)
            case AssignTopicId():
                self.logs[name].topic_id = command.topic_id
            case StartLeaderEpoch():
                self.logs[name].start_epoch(command.leader_epoch, command.start_offset)
            case TruncateLog():
                self.logs[name].truncate(command.end_offset)
                self._observers.cut(self, name)
            case StartFetching():
                self.followed[name] = command.state
            case StopFetching():
                self.followed.pop(name, None)
            case ProposeIsr():
                self._observers.wanted(self, command)
            case _:
                raise TypeError(f"nobody does {command}")
