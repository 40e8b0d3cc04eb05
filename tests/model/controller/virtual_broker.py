"""A broker that never fails a request: it leads and follows what it is told, and followers are in sync at once.

It has no log, no clock and no network; the cluster that it lives in moves its messages.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from model.cluster.ids import TopicPartition
from model.controller.commands import AnswerRequest
from model.controller.events import AlterPartitionReceived, ProposedIsr
from model.controller.leader_and_isr import LeaderAndIsr
from model.controller.replica_assignment import ReplicaAssignment
from model.controller.requests import (
    BrokerAnswer,
    BrokerRequest,
    LeaderAndIsrRequest,
    StopReplicaRequest,
    UpdateMetadataRequest,
)


@dataclass
class Replica:
    """What a broker was told of a partition it holds."""

    state: LeaderAndIsr
    assignment: ReplicaAssignment


@dataclass
class VirtualBroker:
    """The broker's half that answers a controller; `metadata` are the leaders it was told of."""

    id: int
    replicas: dict[TopicPartition, Replica] = field(default_factory=dict)
    metadata: dict[TopicPartition, int] = field(default_factory=dict)
    live_brokers: tuple[int, ...] = ()
    failed: frozenset[TopicPartition] = frozenset()
    proposed: frozenset[TopicPartition] = frozenset()

    def receive(self, request: BrokerRequest) -> BrokerAnswer:
        """Do what a controller says."""
        if isinstance(request, LeaderAndIsrRequest):
            return self._serve(request)
        if isinstance(request, StopReplicaRequest):
            for entry in request.partitions:
                self.replicas.pop(entry.partition, None)
            return BrokerAnswer()
        return self._learn(request)

    def propose(self, brokers: dict[int, VirtualBroker]) -> list[ProposedIsr]:
        """The ISRs that this broker, as a leader, wants to grow: by one follower each that follows it."""
        proposals: list[ProposedIsr] = []
        for name, replica in self.replicas.items():
            if replica.state.leader != self.id or name in self.proposed:
                continue
            joining = [broker for broker in replica.assignment.replicas if self._follows(brokers.get(broker), name)]
            if joining:
                isr = (*replica.state.isr, joining[0])
                epoch, version = replica.state.leader_epoch, replica.state.partition_epoch
                proposals.append(ProposedIsr(name, epoch, version, isr))
        self.proposed |= {proposal.partition for proposal in proposals}
        return proposals

    def hear(self, asked: AlterPartitionReceived, answer: AnswerRequest) -> None:
        """The controller's answer to a proposal. What it refused waits for news."""
        for outcome in answer.partitions:
            held = self.replicas.get(outcome.partition)
            if outcome.error == "NONE" and held is not None and outcome.state is not None:
                held.state = outcome.state
                self.proposed -= {outcome.partition}
        if answer.error != "NONE":
            self.proposed -= {proposal.partition for proposal in asked.proposals}

    def _follows(self, other: VirtualBroker | None, name: TopicPartition) -> bool:
        mine = self.replicas[name].state
        if other is None or other.id in mine.isr or other.id == self.id:
            return False
        theirs = other.replicas.get(name)
        return theirs is not None and theirs.state.leader == self.id and theirs.state.leader_epoch == mine.leader_epoch

    def _serve(self, request: LeaderAndIsrRequest) -> BrokerAnswer:
        errors: list[tuple[TopicPartition, str]] = []
        for entry in request.partitions:
            held = self.replicas.get(entry.partition)
            if entry.partition in self.failed:
                errors.append((entry.partition, "KAFKA_STORAGE_ERROR"))
            elif held is not None and entry.state.leader_epoch <= held.state.leader_epoch:
                errors.append((entry.partition, "STALE_CONTROLLER_EPOCH"))
            else:
                self.replicas[entry.partition] = Replica(entry.state, entry.assignment)
                self.proposed -= {entry.partition}
        return BrokerAnswer(partition_errors=tuple(errors))

    def _learn(self, request: UpdateMetadataRequest) -> BrokerAnswer:
        if request.live_brokers != self.live_brokers:
            self.live_brokers, self.proposed = request.live_brokers, frozenset()
        for entry in request.partitions:
            self.metadata[entry.partition] = entry.state.leader
        return BrokerAnswer()
