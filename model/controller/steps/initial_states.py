"""The first state of new partitions: their znodes, leader and ISR. Partitions that have a state are not touched.

Source: `ZkPartitionStateMachine.initializeLeaderAndIsrForPartitions`,
`KafkaZkClient.createTopicPartitionStatesRaw` (3.9).
"""

from collections.abc import Mapping

import msgspec

from model.cluster.ids import TopicPartition
from model.cluster.words import counted, listed
from model.controller.ballot import Ballot, Strategy
from model.controller.context import ControllerContext
from model.controller.generations import elect
from model.controller.leader_and_isr import UNLED, LeaderAndIsr
from model.controller.partition_states import PartitionState
from model.controller.step import Outcome, Step
from model.controller.steps.fencing import fence
from model.controller.steps.leadership import encode_state, reads, states_read
from model.controller.telling import serve
from model.controller.topics import Leadership
from model.controller.zookeeper import Answer, Code, Create
from model.znodes.paths import partition_path, partition_state_path, partitions_path

CHOSEN = "first assigned replica that is online leads, all that are online are in sync"


class CreateStates(Step, frozen=True):
    """Choose leader and ISR for each partition that has an online replica, and create its znodes."""

    partitions: tuple[TopicPartition, ...]

    def begin(self, context: ControllerContext) -> Outcome:
        states: list[tuple[TopicPartition, LeaderAndIsr]] = []
        refused: list[TopicPartition] = []
        for name, partition in context.topics.known(self.partitions):
            ballot = Ballot(UNLED, partition.assignment, context.liveness(name))
            chosen = elect(Strategy.INITIAL, ballot, context.settings.generation).leader_and_isr
            if chosen is None:
                refused.append(name)
            else:
                states.append((name, chosen))
        context = context.replace(results={**context.results, **dict.fromkeys(refused, "NoReplicaOnline")})
        why = f"No leader for {listed(refused)}: no replica is online; it stays new." if refused else ""
        return Outcome(context, then=(CreateFolders(tuple(states)),) if states else (), why=why)


class CreateFolders(Step, frozen=True):
    """`…/partitions` of each topic; it is there already when partitions are added."""

    states: tuple[tuple[TopicPartition, LeaderAndIsr], ...]

    def begin(self, context: ControllerContext) -> Outcome:
        topics = dict.fromkeys(name.topic for name, _ in self.states)
        return Outcome(context, ask=fence(context, (Create(partitions_path(topic)) for topic in topics)))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> Outcome:
        return Outcome(context, then=(CreatePartitions(self.states),))


class CreatePartitions(Step, frozen=True):
    """`…/partitions/N` of each partition."""

    states: tuple[tuple[TopicPartition, LeaderAndIsr], ...]

    def begin(self, context: ControllerContext) -> Outcome:
        paths = (partition_path(name.topic, name.partition) for name, _ in self.states)
        return Outcome(context, ask=fence(context, map(Create, paths)))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> Outcome:
        return Outcome(context, then=(WriteFirstStates(self.states),))


class WriteFirstStates(Step, frozen=True):
    """`…/partitions/N/state`. Where one is there already, somebody else made it, and the partition stays new."""

    states: tuple[tuple[TopicPartition, LeaderAndIsr], ...]

    def begin(self, context: ControllerContext) -> Outcome:
        writes = (
            Create(partition_state_path(name.topic, name.partition), encode_state(context, state))
            for name, state in self.states
        )
        return Outcome(context, ask=fence(context, writes))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> Outcome:
        created = {
            name: Leadership(msgspec.structs.replace(state, partition_epoch=0), context.epoch)
            for (name, state), answer in zip(self.states, answers, strict=True)
            if answer.ok
        }
        there = tuple(
            name for (name, _), answer in zip(self.states, answers, strict=True) if answer.code is Code.NODE_EXISTS
        )
        results = dict.fromkeys((name for name, _ in self.states if name not in created), "StateChangeFailed")
        context = context.replace(results={**context.results, **results})
        why = f"{counted(len(created), 'new partition')} online: {CHOSEN}." if created else ""
        return Outcome(_online(context, created), then=(CheckFirstStates(there),) if there else (), why=why)


class CheckFirstStates(Step, frozen=True):
    """States were there already. Those of this very controller it wrote itself, and the answer got lost on the way.

    Kafka leaves them new until another controller reads them: brokers never hear of their partitions before.
    """

    partitions: tuple[TopicPartition, ...]

    def begin(self, context: ControllerContext) -> Outcome:
        return Outcome(context, ask=reads(self.partitions))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> Outcome:
        found = states_read(self.partitions, answers).states
        mine = {name: led for name, led in found.items() if led.controller_epoch == context.epoch}
        return Outcome(_online(context, mine))


def _online(context: ControllerContext, created: Mapping[TopicPartition, Leadership]) -> ControllerContext:
    """New partitions with their first states, and the replicas in sync to be told."""
    context = context.with_partitions(
        {
            name: msgspec.structs.replace(partition, leadership=created[name], state=PartitionState.ONLINE)
            for name, partition in context.topics.known(created)
        }
    )
    context = context.replace(results={**context.results, **dict.fromkeys(created, "NONE")})
    return serve(context, ((name, led.state.isr, True) for name, led in created.items()))
