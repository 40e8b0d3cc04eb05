"""Copies that went offline, with their broker or with a log dir: leaders first, then ISRs, then deletions.

Source: `KafkaController.onReplicasBecomeOffline` (3.9). Elections come before ISRs, therefore a leader that dies under
a living controller costs one leader epoch and not two.
"""

from model.controller.context import ControllerContext
from model.controller.partition_states import PartitionState
from model.controller.replica_states import PartitionAndReplica, ReplicaState
from model.controller.step import Outcome, Step
from model.controller.steps.deletion import FailDeletions
from model.controller.steps.metadata import SendMetadata
from model.controller.steps.partitions import ElectOffline, MovePartitions
from model.controller.steps.replicas import MoveReplicas


class LoseReplicas(Step, frozen=True):
    """Elect where the leader was lost, then take the copies out of the ISRs."""

    copies: tuple[PartitionAndReplica, ...]

    def begin(self, context: ControllerContext) -> Outcome:
        copies = context.settings.generation.lost(self.copies)
        for_deletion = tuple(copy for copy in copies if context.deleting(copy.partition.topic))
        others = tuple(copy for copy in copies if not context.deleting(copy.partition.topic))
        led_offline = tuple(name for name in context.led_offline() if not context.deleting(name.topic))
        then: list[Step] = [MovePartitions(led_offline, PartitionState.OFFLINE), ElectOffline()]
        then.append(MoveReplicas(others, ReplicaState.OFFLINE) if others else TellUnlessElected())
        if for_deletion:
            then.append(FailDeletions(for_deletion))
        return Outcome(context, then=tuple(then))


class TellUnlessElected(Step, frozen=True):
    """Nobody was sent anything yet: tell all brokers who is live."""

    def begin(self, context: ControllerContext) -> Outcome:
        elected = "NONE" in context.results.values()
        return Outcome(context, then=() if elected else (SendMetadata(),))
