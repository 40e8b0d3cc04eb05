"""The states of a partition in the controller's memory, and which moves between them are legal. It makes no move.

Source: `kafka.controller.PartitionStateMachine`, 0.8.0 to 3.9.
"""

from enum import Enum

from model.controller.ballot import Liveness
from model.controller.leader_and_isr import LeaderAndIsr
from model.controller.transitions import TransitionTable


class PartitionState(Enum):
    """The value is Kafka's name."""

    NON_EXISTENT = "NonExistentPartition"
    NEW = "NewPartition"
    ONLINE = "OnlinePartition"
    OFFLINE = "OfflinePartition"

    __hash__ = object.__hash__  # Enum's is a function of Python, and states of partitions are looked up by the million


class PartitionAction(Enum):
    """What a move takes. The value says it for documents."""

    REMEMBER = "memory only: nothing is written, nobody is told"
    INITIALIZE = "create the state znode; LeaderAndIsr (new) to the ISR, UpdateMetadata to all; without it, stay"
    ELECT = "elect a leader, write it one leader epoch later, LeaderAndIsr to the recipients; without one, stay"


PartitionTransitions = TransitionTable[PartitionState, PartitionAction]

_UP_TO_0_8_0 = {
    (PartitionState.NON_EXISTENT, PartitionState.NEW): PartitionAction.REMEMBER,
    (PartitionState.NEW, PartitionState.ONLINE): PartitionAction.INITIALIZE,
    (PartitionState.ONLINE, PartitionState.ONLINE): PartitionAction.ELECT,
    (PartitionState.OFFLINE, PartitionState.ONLINE): PartitionAction.ELECT,
    (PartitionState.NEW, PartitionState.OFFLINE): PartitionAction.REMEMBER,
    (PartitionState.ONLINE, PartitionState.OFFLINE): PartitionAction.REMEMBER,
    (PartitionState.OFFLINE, PartitionState.NON_EXISTENT): PartitionAction.REMEMBER,
}

PARTITIONS_0_8_0: PartitionTransitions = TransitionTable(_UP_TO_0_8_0)
"""0.8.0: a partition that is offline cannot be taken offline again."""

PARTITIONS: PartitionTransitions = TransitionTable(
    _UP_TO_0_8_0 | {(PartitionState.OFFLINE, PartitionState.OFFLINE): PartitionAction.REMEMBER}
)
"""0.8.1 to 3.9."""


def partition_state_at_startup(current: LeaderAndIsr, liveness: Liveness) -> PartitionState:
    """What a new controller takes a partition for. It then tries to elect leaders for all that are new or offline."""
    if not current.exists:
        return PartitionState.NEW
    return PartitionState.ONLINE if liveness.online(current.leader) else PartitionState.OFFLINE


def offline_count_change(source: PartitionState, target: PartitionState, *, deletion_started: bool) -> int:
    """By how much a move changes Kafka's gauge OfflinePartitionsCount.

    Partitions of a topic whose deletion has started are not counted; if it is merely queued, they are.
    """
    if deletion_started:
        return 0
    return (target is PartitionState.OFFLINE) - (source is PartitionState.OFFLINE)
