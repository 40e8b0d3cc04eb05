"""Moving copies of partitions between their states, broker by broker in the order of their ids.

Source: `kafka.controller.ZkReplicaStateMachine` (3.9). Brokers take turns, so that two copies of one partition that go
offline together cost two writes and two leader epochs. An illegal move is left out, the others go on.
"""

from collections.abc import Callable, Iterable, Mapping

import msgspec

from model.cluster.ids import TopicPartition
from model.cluster.words import listed
from model.controller.context import ControllerContext
from model.controller.replica_states import (
    PartitionAndReplica,
    ReplicaAction,
    ReplicaState,
    replica_state_at_startup,
)
from model.controller.step import Outcome, Step
from model.controller.steps.isr import TakeOutOfIsr
from model.controller.steps.metadata import SendBatch
from model.controller.telling import serve, stop, tell
from model.controller.topics import Partition
from model.controller.transitions import IllegalTransition


class MoveReplicas(Step, frozen=True):
    """Move these copies to a state, then send what that changed."""

    copies: tuple[PartitionAndReplica, ...]
    to: ReplicaState

    def begin(self, context: ControllerContext) -> Outcome:
        by_broker: dict[int, list[TopicPartition]] = {}
        for name, replica in self.copies:
            by_broker.setdefault(replica, []).append(name)
        moves = (MoveReplicasOf(broker, tuple(names), self.to) for broker, names in sorted(by_broker.items()))
        return Outcome(context, then=(*moves, SendBatch()))


class MoveReplicasOf(Step, frozen=True):
    """Move one broker's copies of these partitions to a state."""

    broker: int
    partitions: tuple[TopicPartition, ...]
    to: ReplicaState

    def begin(self, context: ControllerContext) -> Outcome:
        by_action: dict[ReplicaAction, list[TopicPartition]] = {}
        illegal: list[str] = []
        table = context.settings.generation.replica_transitions
        for name, partition in context.topics.known(self.partitions):
            action = table.action(partition.replica_state(self.broker), self.to)
            if isinstance(action, IllegalTransition):
                illegal.append(f"{name} on {self.broker} ({action})")
            else:
                by_action.setdefault(action, []).append(name)
        then: tuple[Step, ...] = ()
        for action, names in by_action.items():
            context, steps = _CARRY_OUT[action](context, self.broker, tuple(names), self.to)
            then += steps
        why = f"Left as they are, for the move is illegal: {listed(illegal)}." if illegal else ""
        return Outcome(context, then=then, why=why)


class StartReplicaStates(Step, frozen=True):
    """After a failover: copies are online or not; then all of them are told, or taken out of the ISRs."""

    def begin(self, context: ControllerContext) -> Outcome:
        online: list[PartitionAndReplica] = []
        offline: list[PartitionAndReplica] = []
        changes: dict[TopicPartition, Partition] = {}
        shared: dict[tuple[tuple[int, ReplicaState], ...], dict[int, ReplicaState]] = {}
        table = context.settings.generation.replica_transitions
        at_start = {alive: replica_state_at_startup(table, online=alive) for alive in (True, False)}
        for name, partition in context.topics.items():
            states: list[tuple[int, ReplicaState]] = []
            for replica in partition.assignment.replicas:
                is_online = context.online(name, replica)
                states.append((replica, at_start[is_online]))
                (online if is_online else offline).append(PartitionAndReplica(name, replica))
            # Most partitions share their replicas with others, and then the mapping, too.
            mapping = shared.setdefault(tuple(states), dict(states))
            changes[name] = msgspec.structs.replace(partition, replica_states=mapping)
        moves = (
            MoveReplicas(tuple(online), ReplicaState.ONLINE),
            MoveReplicas(tuple(offline), ReplicaState.OFFLINE),
        )
        return Outcome(context.with_partitions(changes), then=moves)


Done = tuple[ControllerContext, tuple[Step, ...]]


def in_replica_state(
    context: ControllerContext, broker: int, partitions: Iterable[TopicPartition], state: ReplicaState
) -> ControllerContext:
    """The same with one broker's copies of these partitions in a state."""
    return context.with_partitions(
        {
            name: partition.with_replica_state(broker, state)
            for name, partition in context.topics.known(partitions)
            if partition.replica_states.get(broker) is not state
        }
    )


def _remember(context: ControllerContext, broker: int, names: tuple[TopicPartition, ...], to: ReplicaState) -> Done:
    return in_replica_state(context, broker, names, to), ()


def _start(context: ControllerContext, broker: int, names: tuple[TopicPartition, ...], to: ReplicaState) -> Done:
    startable = [name for name in names if context.leader_of(name) != broker]
    context = serve(context, ((name, (broker,), True) for name in _led(context, startable)))
    return in_replica_state(context, broker, startable, to), ()


def _join(context: ControllerContext, broker: int, names: tuple[TopicPartition, ...], to: ReplicaState) -> Done:
    joined: dict[TopicPartition, Partition] = {}
    for name, partition in context.topics.known(names):
        assignment = partition.assignment
        if broker not in assignment.replicas:
            assignment = msgspec.structs.replace(assignment, replicas=(*assignment.replicas, broker))
        joined[name] = msgspec.structs.replace(partition, assignment=assignment).with_replica_state(broker, to)
    return context.with_partitions(joined), ()


def _refresh(context: ControllerContext, broker: int, names: tuple[TopicPartition, ...], to: ReplicaState) -> Done:
    context = serve(context, ((name, (broker,), False) for name in _led(context, names)))
    return in_replica_state(context, broker, names, to), ()


def _stop(context: ControllerContext, broker: int, names: tuple[TopicPartition, ...], to: ReplicaState) -> Done:
    context = stop(context, (PartitionAndReplica(name, broker) for name in names), delete=False)
    led, unled = _led(context, names), _unled(context, names)
    context = tell(in_replica_state(context, broker, unled, to), unled)
    return context, (TakeOutOfIsr(broker, led),) if led else ()


def _delete(context: ControllerContext, broker: int, names: tuple[TopicPartition, ...], to: ReplicaState) -> Done:
    context = in_replica_state(context, broker, names, to)
    return stop(context, (PartitionAndReplica(name, broker) for name in names), delete=True), ()


def _forget(context: ControllerContext, broker: int, names: tuple[TopicPartition, ...], _to: ReplicaState) -> Done:
    known = context.topics.known(names)
    return context.with_partitions({name: partition.without_replica(broker) for name, partition in known}), ()


def _delete_and_forget(
    context: ControllerContext, broker: int, names: tuple[TopicPartition, ...], to: ReplicaState
) -> Done:
    context = stop(context, (PartitionAndReplica(name, broker) for name in names), delete=True)
    return _forget(context, broker, names, to)


def _leave(context: ControllerContext, broker: int, names: tuple[TopicPartition, ...], to: ReplicaState) -> Done:
    led, unled = _led(context, names), _unled(context, names)
    return in_replica_state(context, broker, unled, to), (TakeOutOfIsr(broker, led),) if led else ()


def _led(context: ControllerContext, names: Iterable[TopicPartition]) -> tuple[TopicPartition, ...]:
    """Those of the partitions that have a state."""
    return tuple(name for name, partition in context.topics.known(names) if partition.leadership is not None)


def _unled(context: ControllerContext, names: Iterable[TopicPartition]) -> tuple[TopicPartition, ...]:
    """Those of the partitions whose state was never written."""
    return tuple(name for name, partition in context.topics.known(names) if partition.leadership is None)


_CARRY_OUT: Mapping[
    ReplicaAction, Callable[[ControllerContext, int, tuple[TopicPartition, ...], ReplicaState], Done]
] = {
    ReplicaAction.REMEMBER: _remember,
    ReplicaAction.START: _start,
    ReplicaAction.JOIN: _join,
    ReplicaAction.REFRESH: _refresh,
    ReplicaAction.STOP: _stop,
    ReplicaAction.LEAVE: _leave,
    ReplicaAction.DELETE: _delete,
    ReplicaAction.FORGET: _forget,
    ReplicaAction.DELETE_AND_FORGET: _delete_and_forget,
}
