"""A new controller takes over: what it sets up, reads and starts, in Kafka's order.

Source: `KafkaController.onControllerFailover`, `initializeControllerContext` (3.9). UpdateMetadata goes out before the
state machines start (from 0.10.2), for brokers that are new would reject leaders they do not know of. What earlier
releases leave out or do in another order is in `forms`.
"""

from model.controller.context import Activity, ControllerContext, Step, StepOutcome
from model.controller.events_and_commands import StartTimer
from model.controller.steps.broker_requests import SendMetadata
from model.controller.steps.brokers import ReadBrokers
from model.controller.steps.cluster_wide import ExpireTokens, SetUpFeatures
from model.controller.steps.deletion import ResumeDeletions, deletions_marked
from model.controller.steps.partitions import StartPartitionStates
from model.controller.steps.replicas import StartReplicaStates
from model.controller.steps.requests import REBALANCE_TIMER, ElectPreferredFromZnode, ReassignFromZnode
from model.controller.steps.topics import ReadAllTopics, ReadStates
from model.controller.steps.znodes import DeleteZnodes
from model.controller.topics import DeletionQueues
from model.znodes.paths import DELETIONS, ISR_CHANGES, LOG_DIR_EVENTS, PREFERRED_ELECTION, REASSIGNMENTS
from model.zookeeper import Answer, Exists, GetChildren

FIRST_REBALANCE_MS = 5_000


class TakeOver(Step, frozen=True):
    """All of it."""

    def begin(self, context: ControllerContext) -> StepOutcome:
        forms = context.settings.forms
        tell = (SendMetadata(),)
        then: tuple[Step, ...] = (
            *((SetUpFeatures(),) if forms.feature_version is not None else ()),
            WatchAdminZnodes(),
            *(TakeUpNotifications(folder) for folder in (LOG_DIR_EVENTS, ISR_CHANGES) if folder in forms.paths),
            ReadBrokers(),
            ReadAllTopics(),
            ReadStates(),
            *((ReadDeletions(),) if context.settings.generation.deletes_by_default is not None else ()),
            *(tell if forms.tells_before_states else ()),
            StartReplicaStates(),
            StartPartitionStates(),
            ReassignFromZnode(at_failover=True),
            ResumeDeletions(),
            ElectPreferredFromZnode(at_failover=True),
            *(() if forms.tells_before_states else tell),
            StartTimers(),
        )
        return StepOutcome(context, then=then)


class WatchAdminZnodes(Step, frozen=True):
    """Hear of reassignments and preferred elections that are asked for through ZooKeeper."""

    def begin(self, context: ControllerContext) -> StepOutcome:
        return StepOutcome(context, ask=(Exists(PREFERRED_ELECTION, watch=True), Exists(REASSIGNMENTS, watch=True)))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> StepOutcome:
        return StepOutcome(context)


class TakeUpNotifications(Step, frozen=True):
    """Watch a folder, and delete what is in it unread: everything it tells of is about to be read anyway.

    Up to 1.0 notifications of ISRs stayed, to be read with the next one.
    """

    folder: str

    def begin(self, context: ControllerContext) -> StepOutcome:
        return StepOutcome(context, ask=(GetChildren(self.folder, watch=True),))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> StepOutcome:
        paths = tuple(f"{self.folder}/{name}" for name in answers[0].names)
        drops = context.settings.forms.drops_notifications or self.folder != ISR_CHANGES
        return StepOutcome(context, then=(DeleteZnodes(paths),) if paths and drops else ())


class ReadDeletions(Step, frozen=True):
    """Queue the topics that are marked for deletion; those with offline replicas or being reassigned have to wait."""

    def begin(self, context: ControllerContext) -> StepOutcome:
        return StepOutcome(context, ask=(GetChildren(DELETIONS, watch=True),))

    def resume(self, context: ControllerContext, answers: tuple[Answer, ...]) -> StepOutcome:
        marked = answers[0].names
        if not context.settings.delete_topic_enable:
            return deletions_marked(context, marked)
        waiting = {
            name.topic
            for topic in marked
            for name, partition in context.topics.of_topic(topic)
            if name in context.reassigning
            or not all(context.online(name, replica) for replica in partition.assignment.replicas)
        }
        return StepOutcome(context.replace(deletion=DeletionQueues().enqueue(marked).halt(waiting)))


class StartTimers(Step, frozen=True):
    """All is taken over. Leaders are rebalanced soon after a failover, then at intervals; tokens expire from now on."""

    def begin(self, context: ControllerContext) -> StepOutcome:
        context = context.replace(activity=Activity.ACTIVE)
        rebalances = context.settings.auto_leader_rebalance_enable and context.settings.generation.rebalance is not None
        rebalance = (StartTimer(REBALANCE_TIMER, FIRST_REBALANCE_MS),) if rebalances else ()
        return StepOutcome(context, rebalance, then=(ExpireTokens(),) if context.settings.token_auth_enabled else ())
