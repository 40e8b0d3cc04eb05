"""Elections that somebody or the clock asks for: preferred replicas back in the lead, or any replica if need be.

Source: `KafkaController.processReplicaLeaderElection`, `onReplicaElection`, `checkAndTriggerAutoLeaderRebalance` (3.9).
"""

from model.cluster.ids import TopicPartition
from model.cluster.words import counted
from model.controller.ballot import Strategy
from model.controller.commands import AnswerRequest, PartitionOutcome, StartTimer
from model.controller.context import ControllerContext
from model.controller.election_request import STRATEGY, ElectionKind, election_problem
from model.controller.events import PreferredElectionZnodeCreated
from model.controller.leader_imbalance import partitions_to_rebalance
from model.controller.partition_states import PartitionState
from model.controller.refusal import Refusal
from model.controller.step import Outcome, Step
from model.controller.steps.fencing import fence
from model.controller.steps.partitions import MovePartitions
from model.controller.zookeeper import PREFERRED_ELECTION, Answer, Delete, Exists, Read
from model.znodes.admin import decode_preferred_election
from model.znodes.reasons import UnusablePayloadError

REBALANCE_TIMER = "auto-leader-rebalance"


class ElectByRequest(Step, frozen=True):
    """ElectLeaders: elect where there is something to elect, and answer for each partition."""

    request: int
    kind: ElectionKind
    partitions: tuple[TopicPartition, ...]

    def begin(self, context: ControllerContext) -> Outcome:
        problems = {name: _problem(context, self.kind, name) for name in self.partitions}
        electable = tuple(name for name, problem in problems.items() if problem is None)
        refused = tuple(
            PartitionOutcome(name, problem.error) for name, problem in problems.items() if problem is not None
        )
        unclean = self.kind == "unclean"
        move = MovePartitions(electable, PartitionState.ONLINE, STRATEGY[self.kind], unclean)
        return Outcome(context, then=(move, AnswerElections(self.request, self.kind, electable, refused)))


class AnswerElections(Step, frozen=True):
    """What became of each."""

    request: int
    kind: ElectionKind
    tried: tuple[TopicPartition, ...]
    refused: tuple[PartitionOutcome, ...]

    def begin(self, context: ControllerContext) -> Outcome:
        failure = "ELIGIBLE_LEADERS_NOT_AVAILABLE" if self.kind == "unclean" else "PREFERRED_LEADER_NOT_AVAILABLE"
        tried = tuple(
            PartitionOutcome(name, "NONE" if context.results.get(name) == "NONE" else failure) for name in self.tried
        )
        return Outcome(context, (AnswerRequest(self.request, partitions=tried + self.refused),))


class ElectPreferredFromZnode(Step, frozen=True):
    """`/admin/preferred_replica_election`; at a failover it is deleted whether it is there or not."""

    at_failover: bool = False

    def begin(self, context: ControllerContext) -> Outcome:
        return Outcome(context, ask=(Exists(PREFERRED_ELECTION, watch=True), Read(PREFERRED_ELECTION)))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> Outcome:
        if not answers[1].ok and not self.at_failover:
            return Outcome(context)
        needless = context.settings.generation.elects_needlessly and not self.at_failover
        accepted = {None, "ELECTION_NOT_NEEDED"} if needless else {None}
        problems = {name: _problem(context, "preferred", name) for name in _asked_for(answers[1])}
        electable = tuple(name for name, problem in problems.items() if (problem and problem.error) in accepted)
        move = MovePartitions(electable, PartitionState.ONLINE, Strategy.PREFERRED)
        return Outcome(context, then=(move, DeletePreferredZnode()) if electable else (DeletePreferredZnode(),))


class DeletePreferredZnode(Step, frozen=True):
    """It is done; look again in case there is a new one by then."""

    def begin(self, context: ControllerContext) -> Outcome:
        return Outcome(context, ask=fence(context, [Delete(PREFERRED_ELECTION)]))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> Outcome:
        return Outcome(context, queue=(PreferredElectionZnodeCreated(at_ms=context.now_ms),))


class Rebalance(Step, frozen=True):
    """Lead partitions back to their preferred replicas where too many of a broker's are led elsewhere."""

    def begin(self, context: ControllerContext) -> Outcome:
        settings = context.settings
        rules = settings.generation.rebalance
        timer = StartTimer(REBALANCE_TIMER, settings.leader_imbalance_check_interval_ms)
        if rules is None:
            return Outcome(context)
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
            return Outcome(context, (timer,))
        limit = settings.leader_imbalance_per_broker_percentage
        what = f"{counted(len(chosen), 'partition')} back to the preferred replica"
        why = f"{what}: more than {limit} % of those that prefer a broker were led elsewhere."
        move = MovePartitions(chosen, PartitionState.ONLINE, Strategy.PREFERRED)
        return Outcome(context, (timer,), then=(move,), why=why)


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
