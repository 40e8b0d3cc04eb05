"""The states of a replica in the controller's memory, and which moves between them are legal. It makes no move.

Source: `kafka.controller.ReplicaStateMachine`, 0.8.0 to 3.9.
"""

from enum import Enum
from typing import NamedTuple

from model.cluster.ids import TopicPartition
from model.controller.transitions import TransitionTable


class PartitionAndReplica(NamedTuple):
    """One copy of a partition: the partition and the broker that holds it (Kafka's `PartitionAndReplica`)."""

    partition: TopicPartition
    replica: int


class ReplicaState(Enum):
    """The value is Kafka's name."""

    NON_EXISTENT = "NonExistentReplica"
    NEW = "NewReplica"
    ONLINE = "OnlineReplica"
    OFFLINE = "OfflineReplica"
    DELETION_STARTED = "ReplicaDeletionStarted"
    DELETION_SUCCESSFUL = "ReplicaDeletionSuccessful"
    DELETION_INELIGIBLE = "ReplicaDeletionIneligible"

    __hash__ = object.__hash__  # Enum's is a function of Python, and states of partitions are looked up by the million


class ReplicaAction(Enum):
    """What a move takes. The value says it for documents."""

    REMEMBER = "memory only: nobody is told"
    START = "LeaderAndIsr (new) to it, if there is a leader; refused if it is the leader itself"
    JOIN = "append it to the assignment in memory, if it is missing there"
    REFRESH = "LeaderAndIsr to it, if there is a leader"
    STOP = "StopReplica to it; out of the ISR; LeaderAndIsr to those who stay"
    LEAVE = "out of the ISR; LeaderAndIsr to the leader, if the ISR changed"
    DELETE = "StopReplica (delete) to it"
    FORGET = "out of the assignment in memory"
    DELETE_AND_FORGET = "StopReplica (delete) to it; out of the assignment in memory"


ReplicaTransitions = TransitionTable[ReplicaState, ReplicaAction]

_COMMON = {
    (ReplicaState.NON_EXISTENT, ReplicaState.NEW): ReplicaAction.START,
    (ReplicaState.NEW, ReplicaState.ONLINE): ReplicaAction.JOIN,
    (ReplicaState.ONLINE, ReplicaState.ONLINE): ReplicaAction.REFRESH,
    (ReplicaState.OFFLINE, ReplicaState.ONLINE): ReplicaAction.REFRESH,
}

REPLICAS_0_8_0: ReplicaTransitions = TransitionTable(
    _COMMON
    | {
        (ReplicaState.NEW, ReplicaState.OFFLINE): ReplicaAction.LEAVE,
        (ReplicaState.ONLINE, ReplicaState.OFFLINE): ReplicaAction.LEAVE,
        (ReplicaState.OFFLINE, ReplicaState.NON_EXISTENT): ReplicaAction.DELETE_AND_FORGET,
    }
)
"""0.8.0: four states, for topics cannot be deleted."""

_SEVEN_STATES = _COMMON | {
    (ReplicaState.DELETION_INELIGIBLE, ReplicaState.ONLINE): ReplicaAction.REFRESH,
    (ReplicaState.NEW, ReplicaState.OFFLINE): ReplicaAction.STOP,
    (ReplicaState.ONLINE, ReplicaState.OFFLINE): ReplicaAction.STOP,
    (ReplicaState.OFFLINE, ReplicaState.OFFLINE): ReplicaAction.STOP,
    (ReplicaState.DELETION_INELIGIBLE, ReplicaState.OFFLINE): ReplicaAction.STOP,
    (ReplicaState.OFFLINE, ReplicaState.DELETION_STARTED): ReplicaAction.DELETE,
    (ReplicaState.DELETION_STARTED, ReplicaState.DELETION_SUCCESSFUL): ReplicaAction.REMEMBER,
    (ReplicaState.DELETION_STARTED, ReplicaState.DELETION_INELIGIBLE): ReplicaAction.REMEMBER,
    (ReplicaState.DELETION_SUCCESSFUL, ReplicaState.NON_EXISTENT): ReplicaAction.FORGET,
}

REPLICAS_0_8_1: ReplicaTransitions = TransitionTable(_SEVEN_STATES)
"""0.8.1 to 2.2: deletion can be found impossible only once it was tried."""

REPLICAS: ReplicaTransitions = TransitionTable(
    _SEVEN_STATES | {(ReplicaState.OFFLINE, ReplicaState.DELETION_INELIGIBLE): ReplicaAction.REMEMBER}
)
"""2.3 to 3.9."""


def replica_state_at_startup(transitions: ReplicaTransitions, *, online: bool) -> ReplicaState:
    """What a new controller takes a replica for.

    From 0.8.1 on an offline one is DELETION_INELIGIBLE, in case its topic is to be deleted; all of them are
    then moved to OFFLINE.
    """
    if online:
        return ReplicaState.ONLINE
    deletes = transitions.sources(ReplicaState.DELETION_INELIGIBLE)
    return ReplicaState.DELETION_INELIGIBLE if deletes else ReplicaState.OFFLINE
