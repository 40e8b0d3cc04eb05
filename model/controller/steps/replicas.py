"""Moving replicas between their states, broker by broker in the order of the release (`scala_order`).

Brokers take turns, so that two replicas of one partition that go offline together cost two writes and two leader
epochs. A replica that goes offline leaves the ISR, and with it the leadership if it had it; nobody is elected here. An
illegal move is left out, the others go on.

Source: `kafka.controller.ZkReplicaStateMachine`, its `removeReplicasFromIsr` (3.9). The rules are in
`model.controller.elections`.
"""

from collections.abc import Callable, Mapping, Sequence

import msgspec

from model.cluster.ids import NO_LEADER, TopicPartition
from model.cluster.texts import counted, listed, replicas
from model.controller.context import ControllerContext, Step, StepOutcome
from model.controller.elections import IsrRemoval, remove_from_isr
from model.controller.leader_and_isr import LeaderAndIsr
from model.controller.state_machines import (
    IllegalTransition,
    PartitionAndReplica,
    ReplicaAction,
    ReplicaState,
    replica_state_at_startup,
)
from model.controller.steps.broker_requests import SendBatch, refresh, serve, stop, tell
from model.controller.steps.partitions import allows_unclean
from model.controller.steps.znodes import reads, sets, states_read, states_written
from model.controller.topics import Leadership, Partition
from model.znodes.paths import config_path
from model.zookeeper import Answer, GetData

Removals = tuple[tuple[TopicPartition, IsrRemoval], ...]


class TakeOutOfIsr(Step, frozen=True):
    """Read the states."""

    broker: int
    partitions: tuple[TopicPartition, ...]

    def begin(self, context: ControllerContext) -> StepOutcome:
        return StepOutcome(context, ask=reads(self.partitions))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> StepOutcome:
        read = states_read(self.partitions, answers, context.epoch)
        gone = [name for name in read.missing if not context.deleting(name.topic)]
        texts = listed(f"{name} ({read.missing[name]})" for name in gone)
        why = f"Replicas on broker {self.broker} not taken out of ISRs: {texts}."
        states = tuple((name, led.state) for name, led in read.states.items())
        doubtful = tuple(dict.fromkeys(name.topic for name, state in states if state.isr == (self.broker,)))
        asks = doubtful and context.settings.generation.isr_removal.last_member == "stays unless unclean is allowed"
        remove = RemoveFromIsrs(self.broker, states)
        return StepOutcome(context, then=(AskTopics(remove, doubtful) if asks else remove,), why=why if gone else "")


class AskTopics(Step, frozen=True):
    """The last members of ISRs leave where an unclean election is allowed (0.8.2 to 1.0): read what topics say."""

    remove: "RemoveFromIsrs"
    topics: tuple[str, ...]

    def begin(self, context: ControllerContext) -> StepOutcome:
        return StepOutcome(context, ask=tuple(GetData(config_path(f"topics/{topic}")) for topic in self.topics))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> StepOutcome:
        default = context.settings.unclean_leader_election_enable
        allowed = zip(self.topics, answers, strict=True)
        unclean = frozenset(topic for topic, answer in allowed if allows_unclean(answer, default))
        return StepOutcome(context, then=(msgspec.structs.replace(self.remove, unclean=unclean),))


class RemoveFromIsrs(Step, frozen=True):
    """Decide what becomes of each state. `unclean` are topics that allow an unclean election, as far as it matters."""

    broker: int
    states: tuple[tuple[TopicPartition, LeaderAndIsr], ...]
    unclean: frozenset[str] = frozenset()

    def begin(self, context: ControllerContext) -> StepOutcome:
        states = dict(self.states)
        removals: list[tuple[TopicPartition, IsrRemoval]] = []
        for name, partition in context.topics.known(states):
            removal = remove_from_isr(
                states[name],
                self.broker,
                partition.assignment.replicas,
                context.settings.generation.isr_removal,
                unclean_allowed=name.topic in self.unclean,
                deleting=context.deleting(name.topic),
            )
            removals.append((name, removal))
        return StepOutcome(context, then=(WriteIsrs(self.broker, tuple(removals)),))


class WriteIsrs(Step, frozen=True):
    """Write the ISRs that changed; remember all of them; the copies are then offline."""

    broker: int
    removals: Removals

    def begin(self, context: ControllerContext) -> StepOutcome:
        return StepOutcome(context, ask=sets(context, self._states()))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> StepOutcome:
        written = states_written(context, self._states(), answers)
        done = dict(written.done)
        for name, removal in self.removals:
            if not removal.is_written:
                done[name] = Leadership(removal.leader_and_isr, context.epoch)
        context = context.with_partitions(
            {name: self._offline(partition, done[name]) for name, partition in context.topics.known(done)}
        )
        told = ((name, removal.recipients, False) for name, removal in self.removals if name in done)
        context = serve(context, (entry for entry in told if not context.deleting(entry[0].topic)))
        again = (TakeOutOfIsr(self.broker, written.conflicts),) if written.conflicts else ()
        return StepOutcome(context, then=again, why=self._why(written.done))

    def _states(self) -> dict[TopicPartition, LeaderAndIsr]:
        return {name: removal.leader_and_isr for name, removal in self.removals if removal.is_written}

    def _offline(self, partition: Partition, leadership: Leadership) -> Partition:
        moved = partition.with_replica_state(self.broker, ReplicaState.OFFLINE)
        return msgspec.structs.replace(moved, leadership=leadership)

    def _why(self, done: dict[TopicPartition, Leadership]) -> str:
        if not done:
            return ""
        texts = (f"{name} ({_described(led.state)})" for name, led in done.items())
        rules = "; ".join(dict.fromkeys(removal.rule for name, removal in self.removals if name in done))
        what = f"Replica {self.broker} of {counted(len(done), 'partition')} is offline"
        return f"{what}, {rules}: {listed(texts)}."


def _described(state: LeaderAndIsr) -> str:
    leader = "no leader" if state.leader == NO_LEADER else f"leader {state.leader}"
    return f"{leader}, epoch {state.leader_epoch}, ISR {replicas(state.isr)}"


class MoveReplicas(Step, frozen=True):
    """Move these copies to a state, then send what that changed."""

    copies: tuple[PartitionAndReplica, ...]
    to: ReplicaState

    def begin(self, context: ControllerContext) -> StepOutcome:
        turns = context.settings.generation.turns(self.copies)
        moves = (MoveReplicasOf(broker, names, self.to) for broker, names in turns)
        return StepOutcome(context, then=(*moves, SendBatch()))


class MoveReplicasOf(Step, frozen=True):
    """Move one broker's copies of these partitions to a state."""

    broker: int
    partitions: tuple[TopicPartition, ...]
    to: ReplicaState

    def begin(self, context: ControllerContext) -> StepOutcome:
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
        why = f"Left as they are, because the move is illegal: {listed(illegal)}." if illegal else ""
        return StepOutcome(context, then=then, why=why)


class StartReplicaStates(Step, frozen=True):
    """After a failover: copies are online or not; then all of them are told, or taken out of the ISRs (from 2.3)."""

    def begin(self, context: ControllerContext) -> StepOutcome:
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
        return StepOutcome(context.with_partitions(changes), then=tuple(moves))


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
