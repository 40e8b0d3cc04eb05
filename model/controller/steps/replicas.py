"""Moving copies of partitions between their states, broker by broker in the order of the release (`scala_order`).

Source: `kafka.controller.ZkReplicaStateMachine` (3.9). Brokers take turns, so that two copies of one partition that go
offline together cost two writes and two leader epochs. An illegal move is left out, the others go on.
"""

from collections.abc import Callable, Mapping, Sequence

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
from model.controller.telling import refresh, serve, stop, tell
from model.controller.topics import Partition
from model.controller.transitions import IllegalTransition


class MoveReplicas(Step, frozen=True):
    """Move these copies to a state, then send what that changed."""

    copies: tuple[PartitionAndReplica, ...]
    to: ReplicaState

    def begin(self, context: ControllerContext) -> Outcome:
        turns = context.settings.generation.turns(self.copies)
        moves = (MoveReplicasOf(broker, names, self.to) for broker, names in turns)
        return Outcome(context, then=(*moves, SendBatch()))


class MoveReplicasOf(Step, frozen=True):
    """Move one broker's copies of these partitions to a state."""

    broker: int
    partitions: tuple[TopicPartition, ...]
    to: ReplicaState

    def begin(self, context: ControllerContext) -> Outcome:
        by_action: dict[ReplicaAction, list[tuple[TopicPartition, Partition]]] = {}
        by_state: dict[ReplicaState, list[tuple[TopicPartition, Partition]]] = {}
        illegal: list[str] = []
        table = context.settings.generation.replica_transitions
        for name, partition in context.topics.known(self.partitions):
            state = partition.replica_state(self.broker)
            alike = by_state.get(state)
            if alike is None:
                action = table.action(state, self.to)
                if isinstance(action, IllegalTransition):
                    illegal.append(f"{name} on {self.broker} ({action})")
                    continue
                alike = by_state[state] = by_action.setdefault(action, [])
            alike.append((name, partition))
        then: tuple[Step, ...] = ()
        for action, found in by_action.items():
            context, steps = _CARRY_OUT[action](context, self.broker, found, self.to)
            then += steps
        why = f"Left as they are, for the move is illegal: {listed(illegal)}." if illegal else ""
        return Outcome(context, then=then, why=why)


class StartReplicaStates(Step, frozen=True):
    """After a failover: copies are online or not; then all of them are told, or taken out of the ISRs (from 2.3)."""

    def begin(self, context: ControllerContext) -> Outcome:
        online: list[PartitionAndReplica] = []
        offline: list[PartitionAndReplica] = []
        changes: dict[TopicPartition, Partition] = {}
        # Most partitions share their replicas with others, and then the mapping, too.
        shared: dict[tuple[bool, ...], dict[tuple[int, ...], dict[int, ReplicaState]]] = {}
        table = context.settings.generation.replica_transitions
        at_start = {alive: replica_state_at_startup(table, online=alive) for alive in (True, False)}
        is_online = context.who_is_online()
        for name, partition in context.topics.items():
            replicas = partition.assignment.replicas
            alive = is_online(name, replicas)
            mappings = shared.setdefault(alive, {})
            mapping = mappings.get(replicas)
            if mapping is None:
                pairs = zip(replicas, alive, strict=True)
                mapping = mappings[replicas] = {replica: at_start[lives] for replica, lives in pairs}
            for replica, lives in zip(replicas, alive, strict=True):
                (online if lives else offline).append(PartitionAndReplica(name, replica))
            changes[name] = msgspec.structs.replace(partition, replica_states=mapping)
        moves = [MoveReplicas(tuple(online), ReplicaState.ONLINE)]
        if context.settings.forms.takes_dead_out_of_isrs:
            moves.append(MoveReplicas(tuple(offline), ReplicaState.OFFLINE))
        return Outcome(context.with_partitions(changes), then=tuple(moves))


Done = tuple[ControllerContext, tuple[Step, ...]]
Found = Sequence[tuple[TopicPartition, Partition]]


def _in_state(context: ControllerContext, broker: int, found: Found, state: ReplicaState) -> ControllerContext:
    """The same with one broker's copies of these partitions in a state."""
    return context.with_partitions(
        {
            name: partition.with_replica_state(broker, state)
            for name, partition in found
            if partition.replica_states.get(broker) is not state
        }
    )


def _remember(context: ControllerContext, broker: int, found: Found, to: ReplicaState) -> Done:
    return _in_state(context, broker, found, to), ()


def _start(context: ControllerContext, broker: int, found: Found, to: ReplicaState) -> Done:
    startable = [(name, partition) for name, partition in found if context.leader_of(name) != broker]
    context = serve(context, ((name, (broker,), True) for name in _led(startable)))
    return _in_state(context, broker, startable, to), ()


def _join(context: ControllerContext, broker: int, found: Found, to: ReplicaState) -> Done:
    joined: dict[TopicPartition, Partition] = {}
    for name, partition in found:
        assignment = partition.assignment
        if broker not in assignment.replicas:
            assignment = msgspec.structs.replace(assignment, replicas=(*assignment.replicas, broker))
        joined[name] = msgspec.structs.replace(partition, assignment=assignment).with_replica_state(broker, to)
    return context.with_partitions(joined), ()


def _refresh(context: ControllerContext, broker: int, found: Found, to: ReplicaState) -> Done:
    return _in_state(refresh(context, broker, found), broker, found, to), ()


def _stop(context: ControllerContext, broker: int, found: Found, to: ReplicaState) -> Done:
    context = stop(context, (PartitionAndReplica(name, broker) for name, _ in found), delete=False)
    led, unled = _led(found), _unled(found)
    context = tell(_in_state(context, broker, unled, to), (name for name, _ in unled))
    return context, (TakeOutOfIsr(broker, led),) if led else ()


def _delete(context: ControllerContext, broker: int, found: Found, to: ReplicaState) -> Done:
    context = _in_state(context, broker, found, to)
    return stop(context, (PartitionAndReplica(name, broker) for name, _ in found), delete=True), ()


def _forget(context: ControllerContext, broker: int, found: Found, _to: ReplicaState) -> Done:
    return context.with_partitions({name: partition.without_replica(broker) for name, partition in found}), ()


def _delete_and_forget(context: ControllerContext, broker: int, found: Found, to: ReplicaState) -> Done:
    context = stop(context, (PartitionAndReplica(name, broker) for name, _ in found), delete=True)
    return _forget(context, broker, found, to)


def _leave(context: ControllerContext, broker: int, found: Found, to: ReplicaState) -> Done:
    led = _led(found)
    return _in_state(context, broker, _unled(found), to), (TakeOutOfIsr(broker, led),) if led else ()


def _led(found: Found) -> tuple[TopicPartition, ...]:
    """Those of the partitions that have a state."""
    return tuple(name for name, partition in found if partition.leadership is not None)


def _unled(found: Found) -> Found:
    """Those of the partitions whose state was never written."""
    return [(name, partition) for name, partition in found if partition.leadership is None]


_CARRY_OUT: Mapping[ReplicaAction, Callable[[ControllerContext, int, Found, ReplicaState], Done]] = {
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
