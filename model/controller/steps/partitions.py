"""Moving partitions between their states, in Kafka's order within one move: new ones get a state, others a leader.

An illegal move is left out, the other partitions go on. What a successful move changed is sent to the brokers at its
end. New partitions that have a state already are not touched.

An election reads the states of partitions, chooses leaders by the rules of `model.controller.elections` and, per
generation, of `generations`, writes them, and goes round again where that failed. Topic configurations are read only
where an unclean election is in question.

Source: `kafka.controller.ZkPartitionStateMachine`, its `initializeLeaderAndIsrForPartitions` and
`electLeaderForPartitions`, `KafkaZkClient.createTopicPartitionStatesRaw` (3.9).
"""

from collections.abc import Iterable, Mapping

import msgspec

from model.cluster.ids import TopicPartition
from model.cluster.texts import counted, listed, replicas
from model.controller.context import ControllerContext, Step, StepOutcome
from model.controller.elections import Ballot, ElectionResult, ElectionStrategy
from model.controller.generations import elect
from model.controller.leader_and_isr import UNLED, LeaderAndIsr
from model.controller.state_machines import (
    IllegalTransition,
    PartitionAction,
    PartitionState,
    partition_state_at_startup,
)
from model.controller.steps.broker_requests import SendBatch, serve
from model.controller.steps.znodes import encode_state, fence, reads, sets, states_read, states_written
from model.controller.topics import Leadership, Partition
from model.znodes.configs import decode_config
from model.znodes.paths import config_path, partition_path, partition_state_path, partitions_path
from model.znodes.payload import UnusablePayloadError
from model.zookeeper import Answer, Code, Create, GetData

UNCLEAN_KEY = "unclean.leader.election.enable"

States = tuple[tuple[TopicPartition, LeaderAndIsr], ...]


class ElectLeaders(Step, frozen=True):
    """Read the states that the elections go by: what the controller remembers may be out of date."""

    partitions: tuple[TopicPartition, ...]
    strategy: ElectionStrategy
    unclean: bool = False

    def begin(self, context: ControllerContext) -> StepOutcome:
        return StepOutcome(context, ask=reads(self.partitions))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> StepOutcome:
        read = states_read(self.partitions, answers, context.epoch)
        states = tuple((name, led.state) for name, led in read.states.items())
        why = f"No election for {listed(f'{name} ({text})' for name, text in read.missing.items())}." * bool(
            read.missing
        )
        if not states:
            return StepOutcome(context, why=why)
        doubtful = (
            () if self.unclean or self.strategy is not ElectionStrategy.OFFLINE else _without_live_isr(context, states)
        )
        if doubtful:
            return StepOutcome(context, then=(AskForUnclean(self, states, doubtful),), why=why)
        allowed = frozenset(name for name, _ in states) if self.unclean else frozenset[TopicPartition]()
        return StepOutcome(context, then=(Choose(self, states, allowed),), why=why)


class AskForUnclean(Step, frozen=True):
    """Nobody in sync is online: read whether these topics allow an unclean election."""

    by: ElectLeaders
    states: States
    topics: tuple[str, ...]

    def begin(self, context: ControllerContext) -> StepOutcome:
        return StepOutcome(context, ask=tuple(GetData(config_path(f"topics/{topic}")) for topic in self.topics))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> StepOutcome:
        default = context.settings.unclean_leader_election_enable
        topics = {topic for topic, answer in zip(self.topics, answers, strict=True) if allows_unclean(answer, default)}
        allowed = frozenset(name for name, _ in self.states if name.topic in topics)
        return StepOutcome(context, then=(Choose(self.by, self.states, allowed),))


class Choose(Step, frozen=True):
    """Choose by the rule of this strategy, and write what was chosen."""

    by: ElectLeaders
    states: States
    unclean_allowed: frozenset[TopicPartition]

    def begin(self, context: ControllerContext) -> StepOutcome:
        elected: list[tuple[TopicPartition, ElectionResult]] = []
        refused: dict[TopicPartition, ElectionResult] = {}
        liveness = context.livenesses()
        for name, state in self.states:
            partition = context.topics.partition(name)
            if partition is None:
                continue
            ballot = Ballot(state, partition.assignment, liveness(name), name in self.unclean_allowed)
            result = elect(self.by.strategy, ballot, context.settings.generation)
            if result.leader_and_isr is None:
                refused[name] = result
            else:
                elected.append((name, result))
        then = (WriteElected(self.by, tuple(elected)),) if elected else ()
        return StepOutcome(context, then=then, why=_refusals(self.by.strategy, refused))


class WriteElected(Step, frozen=True):
    """Write new leaders under the versions they were chosen by; tell the recipients once written."""

    by: ElectLeaders
    elected: tuple[tuple[TopicPartition, ElectionResult], ...]

    def begin(self, context: ControllerContext) -> StepOutcome:
        return StepOutcome(context, ask=sets(context, self._states()))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> StepOutcome:
        written = states_written(context, self._states(), answers)
        context = context.with_partitions(
            {
                name: msgspec.structs.replace(partition, leadership=written.done[name], state=PartitionState.ONLINE)
                for name, partition in context.topics.known(written.done)
            }
        ).replace(elected=context.elected | written.done.keys())
        context = serve(
            context, ((name, result.recipients, False) for name, result in self.elected if name in written.done)
        )
        again = (msgspec.structs.replace(self.by, partitions=written.conflicts),) if written.conflicts else ()
        return StepOutcome(context, then=again, why=self._why(written.done))

    def _states(self) -> dict[TopicPartition, LeaderAndIsr]:
        return {name: result.leader_and_isr for name, result in self.elected if result.leader_and_isr is not None}

    def _why(self, done: Mapping[TopicPartition, object]) -> str:
        texts = [
            f"{name} to {result.leader_and_isr.leader} (epoch {result.leader_and_isr.leader_epoch}, "
            f"ISR {replicas(result.leader_and_isr.isr)})"
            for name, result in self.elected
            if name in done and result.leader_and_isr is not None
        ]
        rules = dict.fromkeys(result.rule for name, result in self.elected if name in done)
        if not texts:
            return ""
        what = f"{self.by.strategy.value} elected leaders of {counted(len(texts), 'partition')}"
        return f"{what} ({'; '.join(rules)}): {listed(texts)}."


def _without_live_isr(context: ControllerContext, states: States) -> tuple[str, ...]:
    """Topics of partitions of which no member of the ISR is online."""
    doubtful = (name.topic for name, state in states if not any(context.online(name, member) for member in state.isr))
    return tuple(dict.fromkeys(doubtful))


def allows_unclean(topic_config: Answer, default: bool) -> bool:
    """Whether a topic's configuration, as it was read, allows unclean elections."""
    if not topic_config.ok:
        return default
    try:
        value = decode_config(topic_config.data).config.get(UNCLEAN_KEY)
    except UnusablePayloadError:
        return default
    return default if value is None else value.strip().lower() == "true"


def _refusals(strategy: ElectionStrategy, refused: Mapping[TopicPartition, ElectionResult]) -> str:
    if not refused:
        return ""
    texts = (
        f"{name} ({result.why_not.message if result.why_not else result.rule})" for name, result in refused.items()
    )
    return f"{strategy.value} elected nobody for {counted(len(refused), 'partition')}: {listed(texts)}."


CHOSEN = "first assigned replica that is online leads, all that are online are in sync"


class CreateStates(Step, frozen=True):
    """Choose leader and ISR for each partition that has an online replica, and create its znodes."""

    partitions: tuple[TopicPartition, ...]

    def begin(self, context: ControllerContext) -> StepOutcome:
        states: list[tuple[TopicPartition, LeaderAndIsr]] = []
        refused: list[TopicPartition] = []
        for name, partition in context.topics.known(self.partitions):
            ballot = Ballot(UNLED, partition.assignment, context.liveness(name))
            chosen = elect(ElectionStrategy.INITIAL, ballot, context.settings.generation).leader_and_isr
            if chosen is None:
                refused.append(name)
            else:
                states.append((name, chosen))
        why = f"No leader for {listed(refused)}: no replica is online; it stays new." if refused else ""
        return StepOutcome(context, then=(CreateFolders(tuple(states)),) if states else (), why=why)


class CreateFolders(Step, frozen=True):
    """`…/partitions` of each topic; it is there already when partitions are added."""

    states: tuple[tuple[TopicPartition, LeaderAndIsr], ...]

    def begin(self, context: ControllerContext) -> StepOutcome:
        topics = dict.fromkeys(name.topic for name, _ in self.states)
        return StepOutcome(context, ask=fence(context, (Create(partitions_path(topic)) for topic in topics)))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> StepOutcome:
        return StepOutcome(context, then=(CreatePartitions(self.states),))


class CreatePartitions(Step, frozen=True):
    """`…/partitions/N` of each partition."""

    states: tuple[tuple[TopicPartition, LeaderAndIsr], ...]

    def begin(self, context: ControllerContext) -> StepOutcome:
        paths = (partition_path(name.topic, name.partition) for name, _ in self.states)
        return StepOutcome(context, ask=fence(context, map(Create, paths)))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> StepOutcome:
        return StepOutcome(context, then=(WriteFirstStates(self.states),))


class WriteFirstStates(Step, frozen=True):
    """`…/partitions/N/state`. Where one is there already, somebody else made it, and the partition stays new."""

    states: tuple[tuple[TopicPartition, LeaderAndIsr], ...]

    def begin(self, context: ControllerContext) -> StepOutcome:
        writes = (
            Create(partition_state_path(name.topic, name.partition), encode_state(context, state))
            for name, state in self.states
        )
        return StepOutcome(context, ask=fence(context, writes))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> StepOutcome:
        created = {
            name: Leadership(msgspec.structs.replace(state, partition_epoch=0), context.epoch)
            for (name, state), answer in zip(self.states, answers, strict=True)
            if answer.ok
        }
        there = tuple(
            name for (name, _), answer in zip(self.states, answers, strict=True) if answer.code is Code.NODE_EXISTS
        )
        why = f"{counted(len(created), 'new partition')} online: {CHOSEN}." if created else ""
        return StepOutcome(_online(context, created), then=(CheckFirstStates(there),) if there else (), why=why)


class CheckFirstStates(Step, frozen=True):
    """States were there already. Those of this very controller it wrote itself, and the answer got lost on the way.

    Kafka leaves them new until another controller reads them: brokers never hear of their partitions before.
    """

    partitions: tuple[TopicPartition, ...]

    def begin(self, context: ControllerContext) -> StepOutcome:
        return StepOutcome(context, ask=reads(self.partitions))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> StepOutcome:
        found = states_read(self.partitions, answers).states
        mine = {name: led for name, led in found.items() if led.controller_epoch == context.epoch}
        return StepOutcome(_online(context, mine))


def _online(context: ControllerContext, created: Mapping[TopicPartition, Leadership]) -> ControllerContext:
    """New partitions with their first states, and the replicas in sync to be told."""
    context = context.with_partitions(
        {
            name: msgspec.structs.replace(partition, leadership=created[name], state=PartitionState.ONLINE)
            for name, partition in context.topics.known(created)
        }
    )
    context = context.replace(elected=context.elected | created.keys())
    return serve(context, ((name, led.state.isr, True) for name, led in created.items()))


class MovePartitions(Step, frozen=True):
    """Move these to a state; `strategy` elects those that have had a leader before.

    `unclean` forces what a topic's configuration would not allow.
    """

    partitions: tuple[TopicPartition, ...]
    to: PartitionState
    strategy: ElectionStrategy = ElectionStrategy.OFFLINE
    unclean: bool = False

    def begin(self, context: ControllerContext) -> StepOutcome:
        by_action: dict[PartitionAction, list[TopicPartition]] = {action: [] for action in PartitionAction}
        illegal: list[str] = []
        table = context.settings.generation.partition_transitions
        for name, partition in context.topics.known(self.partitions):
            action = table.action(partition.state, self.to)
            if isinstance(action, IllegalTransition):
                illegal.append(f"{name} ({action})")
            else:
                by_action[action].append(name)
        context = in_state(
            context.replace(elected=frozenset[TopicPartition]()), by_action[PartitionAction.REMEMBER], self.to
        )
        then: list[Step] = []
        if by_action[PartitionAction.INITIALIZE]:
            then.append(CreateStates(tuple(by_action[PartitionAction.INITIALIZE])))
        if by_action[PartitionAction.ELECT]:
            then.append(ElectLeaders(tuple(by_action[PartitionAction.ELECT]), self.strategy, self.unclean))
        why = f"Left as they are, because the move is illegal: {listed(illegal)}." if illegal else ""
        return StepOutcome(context, then=(*then, SendBatch()) if then else (), why=why)


class ElectOffline(Step, frozen=True):
    """Elect leaders for all partitions that are new or offline, but for topics that are to be deleted.

    Source: `triggerOnlinePartitionStateChange`.
    """

    topic: str | None = None

    def begin(self, context: ControllerContext) -> StepOutcome:
        topics = context.topics
        found = topics.not_online() if self.topic is None else topics.of_topic(self.topic)
        waiting = tuple(
            name
            for name, partition in found
            if partition.state in (PartitionState.NEW, PartitionState.OFFLINE) and not context.deleting(name.topic)
        )
        context = context.replace(elected=frozenset[TopicPartition]())
        return StepOutcome(context, then=(MovePartitions(waiting, PartitionState.ONLINE),) if waiting else ())


class AllowUnclean(Step, frozen=True):
    """Unclean elections are allowed from now on, for one topic or by default: try what is offline again."""

    topic: str | None

    def begin(self, context: ControllerContext) -> StepOutcome:
        if self.topic is None:
            settings = msgspec.structs.replace(context.settings, unclean_leader_election_enable=True)
            context = context.replace(settings=settings)
        why = f"Unclean elections are allowed for {self.topic or 'all topics'}: partitions that are offline try again."
        return StepOutcome(context, then=(ElectOffline(self.topic),), why=why)


class StartPartitionStates(Step, frozen=True):
    """After a failover: each partition is new, online or offline by what was read; then the others get leaders."""

    def begin(self, context: ControllerContext) -> StepOutcome:
        liveness = context.livenesses()

        def started(name: TopicPartition, partition: Partition) -> Partition:
            current = UNLED if partition.leadership is None else partition.leadership.state
            return msgspec.structs.replace(partition, state=partition_state_at_startup(current, liveness(name)))

        changes = {name: started(name, partition) for name, partition in context.topics.items()}
        return StepOutcome(context.with_partitions(changes), then=(ElectOffline(),))


def in_state(
    context: ControllerContext, partitions: Iterable[TopicPartition], state: PartitionState
) -> ControllerContext:
    """The same with these partitions in a state."""
    return context.with_partitions(
        {name: msgspec.structs.replace(partition, state=state) for name, partition in context.topics.known(partitions)}
    )
