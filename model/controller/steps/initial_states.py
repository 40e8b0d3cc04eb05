"""The first state of new partitions: their znodes, leader and ISR. Partitions that have a state are not touched.

Source: `ZkPartitionStateMachine.initializeLeaderAndIsrForPartitions`,
`KafkaZkClient.createTopicPartitionStatesRaw` (3.9).
"""

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
from model.controller.steps.leadership import encode_state
from model.controller.telling import serve
from model.controller.topics import Leadership
from model.controller.zookeeper import Answer, Create
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
        context = context.with_partitions(
            {
                name: msgspec.structs.replace(partition, leadership=created[name], state=PartitionState.ONLINE)
                for name, partition in context.topics.known(created)
            }
        )
        results = {name: "NONE" if name in created else "StateChangeFailed" for name, _ in self.states}
        context = context.replace(results={**context.results, **results})
        context = serve(context, ((name, led.state.isr, True) for name, led in created.items()))
        why = f"{counted(len(created), 'new partition')} online: {CHOSEN}." if created else ""
        return Outcome(context, why=why)
