"""A copy that went offline leaves the ISR, and with it the leadership if it had it. Nobody is elected here.

Source: `ZkReplicaStateMachine.removeReplicasFromIsr` (3.9). The rules are in `isr_removal`.
"""

import msgspec

from model.cluster.ids import NO_LEADER, TopicPartition
from model.cluster.words import counted, listed, replicas
from model.controller.context import ControllerContext
from model.controller.isr_removal import IsrRemoval, remove_from_isr
from model.controller.leader_and_isr import LeaderAndIsr
from model.controller.replica_states import ReplicaState
from model.controller.step import Outcome, Step
from model.controller.steps.elections import allows_unclean
from model.controller.steps.leadership import reads, sets, states_read, states_written
from model.controller.telling import serve
from model.controller.topics import Leadership, Partition
from model.controller.zookeeper import Answer, Read
from model.znodes.paths import config_path

Removals = tuple[tuple[TopicPartition, IsrRemoval], ...]


class TakeOutOfIsr(Step, frozen=True):
    """Read the states."""

    broker: int
    partitions: tuple[TopicPartition, ...]

    def begin(self, context: ControllerContext) -> Outcome:
        return Outcome(context, ask=reads(self.partitions))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> Outcome:
        read = states_read(self.partitions, answers, context.epoch)
        gone = [name for name in read.missing if not context.deleting(name.topic)]
        texts = listed(f"{name} ({read.missing[name]})" for name in gone)
        why = f"Replicas on broker {self.broker} not taken out of ISRs: {texts}."
        states = tuple((name, led.state) for name, led in read.states.items())
        doubtful = tuple(dict.fromkeys(name.topic for name, state in states if state.isr == (self.broker,)))
        asks = doubtful and context.settings.generation.isr_removal.last_member == "stays unless unclean is allowed"
        remove = RemoveFromIsrs(self.broker, states)
        return Outcome(context, then=(AskTopics(remove, doubtful) if asks else remove,), why=why if gone else "")


class AskTopics(Step, frozen=True):
    """The last members of ISRs leave where an unclean election is allowed (0.8.2 to 1.0): read what topics say."""

    remove: "RemoveFromIsrs"
    topics: tuple[str, ...]

    def begin(self, context: ControllerContext) -> Outcome:
        return Outcome(context, ask=tuple(Read(config_path(f"topics/{topic}")) for topic in self.topics))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> Outcome:
        default = context.settings.unclean_leader_election_enable
        allowed = zip(self.topics, answers, strict=True)
        unclean = frozenset(topic for topic, answer in allowed if allows_unclean(answer, default))
        return Outcome(context, then=(msgspec.structs.replace(self.remove, unclean=unclean),))


class RemoveFromIsrs(Step, frozen=True):
    """Decide what becomes of each state. `unclean` are topics that allow an unclean election, as far as it matters."""

    broker: int
    states: tuple[tuple[TopicPartition, LeaderAndIsr], ...]
    unclean: frozenset[str] = frozenset()

    def begin(self, context: ControllerContext) -> Outcome:
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
        return Outcome(context, then=(WriteIsrs(self.broker, tuple(removals)),))


class WriteIsrs(Step, frozen=True):
    """Write the ISRs that changed; remember all of them; the copies are then offline."""

    broker: int
    removals: Removals

    def begin(self, context: ControllerContext) -> Outcome:
        return Outcome(context, ask=sets(context, self._states()))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> Outcome:
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
        return Outcome(context, then=again, why=self._why(written.done))

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
