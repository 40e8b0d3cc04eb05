"""The states of partitions and replicas in the controller's memory, and which moves between them are legal.

Theory of operation: a table maps (state now, state wanted) to the action that this move takes. A move is looked up and
either gives its action, or an IllegalTransition that says which states it could have been made from. Kafka logs an
illegal move and leaves that partition or replica as it is; the others of the batch go on (0.8: the batch ends). No
move is made here.

Source: `kafka.controller.PartitionStateMachine` and `ReplicaStateMachine`, 0.8.0 to 3.9.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Generic, NamedTuple, TypeVar

from model.cluster.ids import TopicPartition
from model.cluster.texts import listed
from model.controller.elections import Liveness
from model.controller.leader_and_isr import LeaderAndIsr

State = TypeVar("State", bound=Enum)
Action = TypeVar("Action", bound=Enum)


@dataclass(frozen=True, slots=True)
class IllegalTransition(Generic[State]):
    """A move that no rule allows."""

    source: State
    target: State
    legal_sources: tuple[State, ...]

    def __str__(self) -> str:
        legal = listed((state.value for state in self.legal_sources), len(self.legal_sources)) or "nowhere"
        return f"{self.target.value} can be reached from {legal}, not from {self.source.value}"


@dataclass(frozen=True, slots=True)
class TransitionTable(Generic[State, Action]):
    """All legal moves of one state machine."""

    moves: Mapping[tuple[State, State], Action]

    def action(self, source: State, target: State) -> Action | IllegalTransition[State]:
        """What a move takes, or why it cannot be made."""
        return self.moves.get((source, target)) or IllegalTransition(source, target, self.sources(target))

    def sources(self, target: State) -> tuple[State, ...]:
        """States from which `target` can be reached (Kafka's `validPreviousStates`)."""
        return tuple(source for source, reached in self.moves if reached == target)

    def rows(self) -> tuple[tuple[str, str, str], ...]:
        """From, to and what it takes, for a table or a diagram in a document or on a screen."""
        return tuple((source.value, target.value, action.value) for (source, target), action in self.moves.items())


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
