"""A broker that wants to leave hands over what it leads and stops following, as far as others can take over.

Source: `KafkaController.doControlledShutdown` (3.9), KIP-12; broker epochs: KIP-380 (2.2).
"""

from model.cluster.ids import TopicPartition
from model.cluster.words import counted
from model.controller.ballot import Strategy
from model.controller.commands import AnswerRequest, PartitionOutcome
from model.controller.context import ControllerContext
from model.controller.partition_states import PartitionState
from model.controller.replica_states import PartitionAndReplica, ReplicaState
from model.controller.step import Outcome, Step
from model.controller.steps.metadata import SendBatch
from model.controller.steps.partitions import MovePartitions
from model.controller.steps.replicas import MoveReplicas
from model.controller.telling import stop


class ShutDownBroker(Step, frozen=True):
    """Partitions with a single replica stay: there is nobody to hand over to."""

    request: int
    broker: int
    broker_epoch: int | None

    def begin(self, context: ControllerContext) -> Outcome:
        live = context.live.get(self.broker)
        if live is None:
            return Outcome(context, (AnswerRequest(self.request, "BROKER_NOT_AVAILABLE"),))
        if self.broker_epoch is not None and 0 <= self.broker_epoch < live.epoch:
            return Outcome(context, (AnswerRequest(self.request, "STALE_BROKER_EPOCH"),))
        context = context.replace(shutting_down=context.shutting_down | {self.broker})
        concerned = tuple(
            name
            for name, partition in context.topics.items()
            if self.broker in partition.assignment.replicas
            and len(partition.assignment.replicas) > 1
            and partition.leadership is not None
            and not context.deleting(name.topic)
        )
        leaders = {name: context.leader_of(name) for name in concerned}
        led = tuple(name for name, leader in leaders.items() if leader == self.broker)
        followed = tuple(
            PartitionAndReplica(name, self.broker) for name, leader in leaders.items() if leader != self.broker
        )
        then = (
            MovePartitions(led, PartitionState.ONLINE, Strategy.CONTROLLED_SHUTDOWN),
            StopFollowing(followed),
            MoveReplicas(followed, ReplicaState.OFFLINE),
            AnswerShutdown(self.request, self.broker, concerned),
        )
        why = (
            f"Broker {self.broker} shuts down: {counted(len(led), 'leadership')} to hand over, {len(followed)} to stop."
        )
        return Outcome(context, then=then, why=why)


class StopFollowing(Step, frozen=True):
    """StopReplica goes ahead of all else, so that the broker does not fall out of the ISRs by lagging."""

    copies: tuple[PartitionAndReplica, ...]

    def begin(self, context: ControllerContext) -> Outcome:
        return Outcome(stop(context, self.copies, delete=False), then=(SendBatch(),))


class AnswerShutdown(Step, frozen=True):
    """Name what the broker still leads; it asks again until that is nothing, or leaves anyway."""

    request: int
    broker: int
    concerned: tuple[TopicPartition, ...]

    def begin(self, context: ControllerContext) -> Outcome:
        left = tuple(PartitionOutcome(name) for name in self.concerned if context.leader_of(name) == self.broker)
        return Outcome(context, (AnswerRequest(self.request, partitions=left),))
