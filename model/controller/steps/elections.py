"""Elections: read the states of partitions, choose leaders by the rules, write them, go round again where it failed.

Source: `ZkPartitionStateMachine.electLeaderForPartitions` (3.9). The rules are in `model.controller.elections`
and, per generation, in `generations`. Topic configurations are read only where an unclean election is in question.
"""

from collections.abc import Mapping

import msgspec

from model.cluster.ids import TopicPartition
from model.cluster.texts import counted, listed, replicas
from model.controller.context import ControllerContext, Step, StepOutcome
from model.controller.elections import Ballot, ElectionResult, Strategy
from model.controller.generations import elect
from model.controller.leader_and_isr import LeaderAndIsr
from model.controller.state_machines import PartitionState
from model.controller.steps.broker_requests import serve
from model.controller.steps.znodes import reads, sets, states_read, states_written
from model.znodes.configs import decode_config
from model.znodes.paths import config_path
from model.znodes.payload import UnusablePayloadError
from model.zookeeper.operations import Answer, GetData

UNCLEAN_KEY = "unclean.leader.election.enable"

States = tuple[tuple[TopicPartition, LeaderAndIsr], ...]


class ElectLeaders(Step, frozen=True):
    """Read the states that the elections go by: what the controller remembers may be out of date."""

    partitions: tuple[TopicPartition, ...]
    strategy: Strategy
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
        doubtful = () if self.unclean or self.strategy is not Strategy.OFFLINE else _without_live_isr(context, states)
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


def _refusals(strategy: Strategy, refused: Mapping[TopicPartition, ElectionResult]) -> str:
    if not refused:
        return ""
    texts = (
        f"{name} ({result.why_not.message if result.why_not else result.rule})" for name, result in refused.items()
    )
    return f"{strategy.value} elected nobody for {counted(len(refused), 'partition')}: {listed(texts)}."
