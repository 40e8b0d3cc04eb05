"""What operators, the clock or a broker ask for: elections, controlled shutdown, reassignments.

A broker that wants to leave hands over what it leads and stops following, as far as others can take over.

Source: `KafkaController.processReplicaLeaderElection`, `onReplicaElection`, `checkAndTriggerAutoLeaderRebalance`,
`doControlledShutdown` (3.9), KIP-12; broker epochs: KIP-380 (2.2).
"""

from model.cluster.ids import TopicPartition
from model.cluster.texts import counted, listed
from model.controller import Refusal
from model.controller.context import ControllerContext, Step, StepOutcome
from model.controller.elections import ElectionStrategy
from model.controller.events_and_commands import (
    AnswerRequest,
    PartitionOutcome,
    PreferredElectionZnodeCreated,
    StartTimer,
)
from model.controller.leader_and_isr import ReplicaAssignment
from model.controller.requests import (
    STRATEGY,
    ElectionKind,
    election_problem,
    partitions_to_rebalance,
    reassign_by_request,
    reassign_by_znode,
    reassign_unkept,
)
from model.controller.state_machines import PartitionAndReplica, PartitionState, ReplicaState
from model.controller.steps.broker_requests import SendBatch, stop
from model.controller.steps.partitions import MovePartitions
from model.controller.steps.reassignment import Reassign, RemoveFromZnode, ResumeReassignments, entries_in
from model.controller.steps.replicas import MoveReplicas
from model.controller.steps.znodes import fence
from model.znodes.paths import PREFERRED_ELECTION, REASSIGNMENTS
from model.znodes.payload import UnusablePayloadError
from model.znodes.topics import decode_preferred_election
from model.zookeeper import Answer, Delete, Exists, GetData

REBALANCE_TIMER = "auto-leader-rebalance"


class ElectByRequest(Step, frozen=True):
    """ElectLeaders: elect where there is something to elect, and answer for each partition."""

    request: int
    kind: ElectionKind
    partitions: tuple[TopicPartition, ...]

    def begin(self, context: ControllerContext) -> StepOutcome:
        problems = {name: _problem(context, self.kind, name) for name in self.partitions}
        electable = tuple(name for name, problem in problems.items() if problem is None)
        refused = tuple(
            PartitionOutcome(name, problem.error) for name, problem in problems.items() if problem is not None
        )
        unclean = self.kind == "unclean"
        move = MovePartitions(electable, PartitionState.ONLINE, STRATEGY[self.kind], unclean)
        return StepOutcome(context, then=(move, AnswerElections(self.request, self.kind, electable, refused)))


class AnswerElections(Step, frozen=True):
    """What became of each."""

    request: int
    kind: ElectionKind
    tried: tuple[TopicPartition, ...]
    refused: tuple[PartitionOutcome, ...]

    def begin(self, context: ControllerContext) -> StepOutcome:
        failure = "ELIGIBLE_LEADERS_NOT_AVAILABLE" if self.kind == "unclean" else "PREFERRED_LEADER_NOT_AVAILABLE"
        tried = tuple(PartitionOutcome(name, "NONE" if name in context.elected else failure) for name in self.tried)
        return StepOutcome(context, (AnswerRequest(self.request, partitions=tried + self.refused),))


class ElectPreferredFromZnode(Step, frozen=True):
    """`/admin/preferred_replica_election`; at a failover it is deleted whether it is there or not."""

    at_failover: bool = False

    def begin(self, context: ControllerContext) -> StepOutcome:
        return StepOutcome(context, ask=(Exists(PREFERRED_ELECTION, watch=True), GetData(PREFERRED_ELECTION)))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> StepOutcome:
        if not answers[1].ok and not self.at_failover:
            return StepOutcome(context)
        needless = context.settings.generation.elects_needlessly and not self.at_failover
        accepted = {None, "ELECTION_NOT_NEEDED"} if needless else {None}
        problems = {name: _problem(context, "preferred", name) for name in _asked_for(answers[1])}
        electable = tuple(name for name, problem in problems.items() if (problem and problem.error) in accepted)
        move = MovePartitions(electable, PartitionState.ONLINE, ElectionStrategy.PREFERRED)
        return StepOutcome(context, then=(move, DeletePreferredZnode()) if electable else (DeletePreferredZnode(),))


class DeletePreferredZnode(Step, frozen=True):
    """It is done; look again in case there is a new one by then."""

    def begin(self, context: ControllerContext) -> StepOutcome:
        return StepOutcome(context, ask=fence(context, [Delete(PREFERRED_ELECTION)]))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> StepOutcome:
        return StepOutcome(context, queue=(PreferredElectionZnodeCreated(at_ms=context.now_ms),))


class RebalanceLeaders(Step, frozen=True):
    """Lead partitions back to their preferred replicas where too many of a broker's are led elsewhere."""

    def begin(self, context: ControllerContext) -> StepOutcome:
        settings = context.settings
        rules = settings.generation.rebalance
        timer = StartTimer(REBALANCE_TIMER, settings.leader_imbalance_check_interval_ms)
        if rules is None:
            return StepOutcome(context)
        ballots = {
            name: context.ballot(name, partition)
            for name, partition in context.topics.items()
            if not context.deleting(name.topic)
        }
        chosen = partitions_to_rebalance(
            ballots,
            rules,
            reassigning=bool(context.reassigning),
            percentage=settings.leader_imbalance_per_broker_percentage,
        )
        if not chosen:
            return StepOutcome(context, (timer,))
        limit = settings.leader_imbalance_per_broker_percentage
        what = f"{counted(len(chosen), 'partition')} back to the preferred replica"
        why = f"{what}: more than {limit} % of those that prefer a broker were led elsewhere."
        move = MovePartitions(chosen, PartitionState.ONLINE, ElectionStrategy.PREFERRED)
        return StepOutcome(context, (timer,), then=(move,), why=why)


def _problem(context: ControllerContext, kind: ElectionKind, name: TopicPartition) -> Refusal | None:
    partition = context.topics.partition(name)
    ballot = None if partition is None else context.ballot(name, partition)
    return election_problem(kind, ballot, deleting=context.deleting(name.topic))


def _asked_for(answer: Answer) -> tuple[TopicPartition, ...]:
    if not answer.ok:
        return ()
    try:
        entries = decode_preferred_election(answer.data).partitions
    except UnusablePayloadError:
        return ()
    return tuple(dict.fromkeys(TopicPartition(entry.topic, entry.partition) for entry in entries))


class ShutDownBroker(Step, frozen=True):
    """Partitions with a single replica stay: there is nobody to hand over to."""

    request: int
    broker: int
    broker_epoch: int | None

    def begin(self, context: ControllerContext) -> StepOutcome:
        live = context.live.get(self.broker)
        if live is None:
            return StepOutcome(context, (AnswerRequest(self.request, "BROKER_NOT_AVAILABLE"),))
        if self.broker_epoch is not None and 0 <= self.broker_epoch < live.epoch:
            return StepOutcome(context, (AnswerRequest(self.request, "STALE_BROKER_EPOCH"),))
        context = context.replace(shutting_down=context.shutting_down | {self.broker})
        concerned = tuple(
            name
            for name, partition in context.topics.items()
            if self.broker in partition.assignment.replicas
            and len(partition.assignment.replicas) > 1
            and partition.leadership is not None
            and not context.deleting(name.topic)
        )
        leaders = {name: context.leader_of(name) for name in concerned}
        led = tuple(name for name, leader in leaders.items() if leader == self.broker)
        followed = tuple(
            PartitionAndReplica(name, self.broker) for name, leader in leaders.items() if leader != self.broker
        )
        then = (
            MovePartitions(led, PartitionState.ONLINE, ElectionStrategy.CONTROLLED_SHUTDOWN),
            StopFollowing(followed),
            MoveReplicas(followed, ReplicaState.OFFLINE),
            AnswerShutdown(self.request, self.broker, concerned),
        )
        why = (
            f"Broker {self.broker} shuts down: {counted(len(led), 'leadership')} to hand over, {len(followed)} to stop."
        )
        return StepOutcome(context, then=then, why=why)


class StopFollowing(Step, frozen=True):
    """StopReplica goes ahead of all else, so that the broker does not fall out of the ISRs by lagging."""

    copies: tuple[PartitionAndReplica, ...]

    def begin(self, context: ControllerContext) -> StepOutcome:
        return StepOutcome(stop(context, self.copies, delete=False), then=(SendBatch(),))


class AnswerShutdown(Step, frozen=True):
    """Name what the broker still leads; it asks again until that is nothing, or leaves anyway."""

    request: int
    broker: int
    concerned: tuple[TopicPartition, ...]

    def begin(self, context: ControllerContext) -> StepOutcome:
        left = tuple(PartitionOutcome(name) for name in self.concerned if context.leader_of(name) == self.broker)
        return StepOutcome(context, (AnswerRequest(self.request, partitions=left),))


class ReassignByRequest(Step, frozen=True):
    """AlterPartitionReassignments. It overtakes what the znode asks of the same partitions."""

    request: int
    targets: tuple[tuple[TopicPartition, tuple[int, ...] | None], ...]

    def begin(self, context: ControllerContext) -> StepOutcome:
        if not context.settings.forms.reassigning.keeps_goal:
            return StepOutcome(context, (AnswerRequest(self.request, "UNSUPPORTED_VERSION"),))
        steps: list[Reassign] = []
        outcomes: list[PartitionOutcome] = []
        refusals: list[str] = []
        live = context.live.keys() - context.shutting_down
        for name, target in self.targets:
            known = context.topics.partition(name)
            current = None if known is None else known.assignment
            wanted = reassign_by_request(current, target, live, deleting=context.deleting(name.topic))
            if isinstance(wanted, Refusal):
                outcomes.append(PartitionOutcome(name, wanted.error))
                refusals.append(f"{name} ({wanted.message})")
            else:
                outcomes.append(PartitionOutcome(name))
                steps.append(Reassign(name, wanted))
        overtaken = tuple((step.partition, None) for step in steps)
        then = (RemoveFromZnode(overtaken), *steps, AnswerReassignments(self.request, tuple(outcomes)))
        return StepOutcome(context, then=then, why=f"Reassignments refused: {listed(refusals)}." if refusals else "")


class AnswerReassignments(Step, frozen=True):
    """All that could set out has."""

    request: int
    outcomes: tuple[PartitionOutcome, ...]

    def begin(self, context: ControllerContext) -> StepOutcome:
        return StepOutcome(context, (AnswerRequest(self.request, partitions=self.outcomes),))


class ListReassignments(Step, frozen=True):
    """ListPartitionReassignments: what is being added and removed; partitions at rest are left out."""

    request: int
    partitions: tuple[TopicPartition, ...] | None

    def begin(self, context: ControllerContext) -> StepOutcome:
        wanted = sorted(context.reassigning) if self.partitions is None else self.partitions
        found = tuple(
            PartitionOutcome(name, assignment=partition.assignment)
            for name, partition in context.topics.known(dict.fromkeys(wanted))
            if partition.assignment.is_being_reassigned
        )
        return StepOutcome(context, (AnswerRequest(self.request, partitions=found),))


class ReassignFromZnode(Step, frozen=True):
    """`/admin/reassign_partitions`; at a failover, what it does not name goes on where it was."""

    at_failover: bool = False

    def begin(self, context: ControllerContext) -> StepOutcome:
        return StepOutcome(context, ask=(Exists(REASSIGNMENTS, watch=True), GetData(REASSIGNMENTS)))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> StepOutcome:
        steps: list[Step] = []
        started: set[TopicPartition] = set()
        failed: list[TopicPartition] = []
        refusals: list[str] = []
        for entry in entries_in(answers[1]):
            name = TopicPartition(entry.topic, entry.partition)
            known = context.topics.partition(name)
            current = None if known is None else known.assignment
            wanted = _wanted(context, name, current, entry.replicas)
            if isinstance(wanted, Refusal):
                failed.append(name)
                refusals.append(f"{name} ({wanted.message})")
            else:
                steps.append(Reassign(name, wanted))
                started.add(name)
        if failed:
            steps.append(RemoveFromZnode(tuple((name, None) for name in failed)))
        if self.at_failover:
            steps.append(ResumeReassignments(besides=frozenset(started)))
        why = f"Reassignments refused: {listed(refusals)}." if refusals else ""
        return StepOutcome(context, then=tuple(steps), why=why)


def _wanted(
    context: ControllerContext, name: TopicPartition, current: ReplicaAssignment | None, target: tuple[int, ...]
) -> ReplicaAssignment | Refusal:
    rules, deleting = context.settings.forms.reassigning, context.deleting(name.topic)
    if rules.keeps_goal:
        return reassign_by_znode(current, target, deleting=deleting)
    live = context.live.keys() - context.shutting_down
    return reassign_unkept(current, target, rules, live, deleting=deleting)
