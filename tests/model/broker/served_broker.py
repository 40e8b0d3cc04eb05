"""A broker's process, as far as a controller's requests change it: its logs are empty but for leader epochs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from model.broker.commands import Command, CreateLog, DeleteLog, StartLeaderEpoch
from model.broker.controller_requests import (
    BrokerEpochs,
    Replicas,
    RequestOutcome,
    serve_leader_and_isr,
    serve_stop_replica,
)
from model.broker.metadata import BrokerNode, MetadataImage, learn, serve_update_metadata
from model.broker.partition import Conditions, LogPositions, Partition
from model.cluster.ids import TopicPartition
from model.controller.events_and_commands import BrokerAnswer, BrokerRequest, LeaderAndIsrRequest, StopReplicaRequest
from model.log.checkpoints import LeaderEpochs


@dataclass
class ServedBroker:
    """`nodes`: the addresses that come with each UpdateMetadata."""

    standing: BrokerEpochs
    nodes: Mapping[int, BrokerNode] = field(default_factory=dict)
    held: dict[TopicPartition, Partition] = field(default_factory=dict)
    image: MetadataImage = field(default_factory=MetadataImage)
    epochs: dict[TopicPartition, LeaderEpochs] = field(default_factory=dict)

    def serve(self, request: BrokerRequest, broker_epoch: int = -1) -> BrokerAnswer:
        """Do what a controller says."""
        served = self._serve(request, broker_epoch)
        self.standing = served.epochs
        for partition in served.changed:
            self.held[partition.partition] = partition
        for name in served.removed:
            del self.held[name]
        for command in served.commands:
            self._carry_out(command)
        return served.answer

    def log(self, name: TopicPartition) -> LogPositions | None:
        """What there is of a log."""
        epochs = self.epochs.get(name)
        return None if epochs is None else LogPositions(epochs=epochs)

    def _serve(self, request: BrokerRequest, broker_epoch: int) -> RequestOutcome:
        if isinstance(request, LeaderAndIsrRequest):
            conditions = Conditions(0, self.image.live_brokers)
            replicas = Replicas(self.held, (), self.log)
            return serve_leader_and_isr(request, broker_epoch, self.standing, replicas, lambda _: conditions)
        if isinstance(request, StopReplicaRequest):
            return serve_stop_replica(request, broker_epoch, self.standing, self.held, ())
        served = serve_update_metadata(request, broker_epoch, self.standing)
        if served.answer.error == "NONE":
            self.image = learn(request, self.nodes, self.image)
        return served

    def _carry_out(self, command: Command) -> None:
        match command:
            case CreateLog(partition=name):
                self.epochs[name] = LeaderEpochs()
            case DeleteLog(partition=name):
                self.epochs.pop(name, None)
            case StartLeaderEpoch(partition=name, leader_epoch=epoch, start_offset=start):
                self.epochs[name] = self.epochs[name].assign(epoch, start)
            case _:
                pass  # nothing is fetched here


def errors(answer: BrokerAnswer) -> tuple[str, dict[TopicPartition, str]]:
    """An answer, whatever the order of its partitions."""
    return answer.error, dict(answer.partition_errors)
