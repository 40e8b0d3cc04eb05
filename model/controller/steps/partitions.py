"""Moving partitions between their states, in Kafka's order within one move: new ones get a state, others a leader.

Source: `kafka.controller.ZkPartitionStateMachine` (3.9). An illegal move is left out, the other partitions go on.
What a successful move changed is sent to the brokers at its end. How a leader is chosen is in `elections`.
"""

from collections.abc import Iterable

import msgspec

from model.cluster.ids import TopicPartition
from model.cluster.words import listed
from model.controller.ballot import Strategy
from model.controller.context import ControllerContext
from model.controller.leader_and_isr import UNLED
from model.controller.partition_states import (
    PartitionAction,
    PartitionState,
    partition_state_at_startup,
)
from model.controller.step import Outcome, Step
from model.controller.steps.elections import ElectLeaders
from model.controller.steps.initial_states import CreateStates
from model.controller.steps.metadata import SendBatch
from model.controller.topics import Partition
from model.controller.transitions import IllegalTransition


class MovePartitions(Step, frozen=True):
    """Move these to a state; `strategy` elects those that have had a leader before.

    `unclean` forces what a topic's configuration would not allow.
    """

    partitions: tuple[TopicPartition, ...]
    to: PartitionState
    strategy: Strategy = Strategy.OFFLINE
    unclean: bool = False

    def begin(self, context: ControllerContext) -> Outcome:
        by_action: dict[PartitionAction, list[TopicPartition]] = {action: [] for action in PartitionAction}
        illegal: list[str] = []
        table = context.settings.generation.partition_transitions
        for name, partition in context.topics.known(self.partitions):
            action = table.action(partition.state, self.to)
            if isinstance(action, IllegalTransition):
                illegal.append(f"{name} ({action})")
            else:
                by_action[action].append(name)
        context = in_state(context.replace(results={}), by_action[PartitionAction.REMEMBER], self.to)
        then: list[Step] = []
        if by_action[PartitionAction.INITIALIZE]:
            then.append(CreateStates(tuple(by_action[PartitionAction.INITIALIZE])))
        if by_action[PartitionAction.ELECT]:
            then.append(ElectLeaders(tuple(by_action[PartitionAction.ELECT]), self.strategy, self.unclean))
        why = f"Left as they are, for the move is illegal: {listed(illegal)}." if illegal else ""
        return Outcome(context, then=(*then, SendBatch()) if then else (), why=why)


class ElectOffline(Step, frozen=True):
    """Elect leaders for all partitions that are new or offline, but for topics that are to be deleted.

    `results` then has an entry for each partition that was tried (`triggerOnlinePartitionStateChange`).
    """

    topic: str | None = None

    def begin(self, context: ControllerContext) -> Outcome:
        topics = context.topics
        found = topics.not_online() if self.topic is None else topics.of_topic(self.topic)
        waiting = tuple(
            name
            for name, partition in found
            if partition.state in (PartitionState.NEW, PartitionState.OFFLINE) and not context.deleting(name.topic)
        )
        return Outcome(
            context.replace(results={}), then=(MovePartitions(waiting, PartitionState.ONLINE),) if waiting else ()
        )


class AllowUnclean(Step, frozen=True):
    """Unclean elections are allowed from now on, for one topic or by default: try what is offline again."""

    topic: str | None

    def begin(self, context: ControllerContext) -> Outcome:
        if self.topic is None:
            settings = msgspec.structs.replace(context.settings, unclean_leader_election_enable=True)
            context = context.replace(settings=settings)
        why = f"Unclean elections are allowed for {self.topic or 'all topics'}: partitions that are offline try again."
        return Outcome(context, then=(ElectOffline(self.topic),), why=why)


class StartPartitionStates(Step, frozen=True):
    """After a failover: each partition is new, online or offline by what was read; then the others get leaders."""

    def begin(self, context: ControllerContext) -> Outcome:
        liveness = context.livenesses()

        def started(name: TopicPartition, partition: Partition) -> Partition:
            current = UNLED if partition.leadership is None else partition.leadership.state
            return msgspec.structs.replace(partition, state=partition_state_at_startup(current, liveness(name)))

        changes = {name: started(name, partition) for name, partition in context.topics.items()}
        return Outcome(context.with_partitions(changes), then=(ElectOffline(),))


def in_state(
    context: ControllerContext, partitions: Iterable[TopicPartition], state: PartitionState
) -> ControllerContext:
    """The same with these partitions in a state."""
    return context.with_partitions(
        {name: msgspec.structs.replace(partition, state=state) for name, partition in context.topics.known(partitions)}
    )
