"""Which steps an event sets off: the table of contents of the controller. It takes none of them.

Source: `KafkaController.process` (3.9). What only the controller in office may do is ignored by all others.
"""

from collections.abc import Callable, Mapping
from typing import Any

from model.controller import events
from model.controller.context import ControllerContext
from model.controller.events import Event
from model.controller.replica_states import PartitionAndReplica
from model.controller.requests import LeaderAndIsrRequest, StopReplicaRequest
from model.controller.step import Step
from model.controller.steps.alter_partition import AlterPartitions
from model.controller.steps.brokers import ReadBroker, ReadBrokers
from model.controller.steps.controlled_shutdown import ShutDownBroker
from model.controller.steps.deletion import ConfirmDeletions, FailDeletions, ReadMarkers
from model.controller.steps.features import UpdateFeatures
from model.controller.steps.notifications import ListNotifications, NoteLogDirs
from model.controller.steps.office import Elect, ForgetSession, ResignIfMoved, steps_at_start, steps_on_session
from model.controller.steps.partitions import AllowUnclean
from model.controller.steps.preferred import REBALANCE_TIMER, ElectByRequest, ElectPreferredFromZnode, Rebalance
from model.controller.steps.producer_ids import AllocateProducerIds
from model.controller.steps.reassignment import LookAtReassigned
from model.controller.steps.reassignment_requests import ListReassignments, ReassignByRequest, ReassignFromZnode
from model.controller.steps.tokens import TOKEN_TIMER, ExpireTokens
from model.controller.steps.topics import CompareAssignment, CompareTopics
from model.controller.zookeeper import ISR_CHANGES, LOG_DIR_EVENTS

Steps = tuple[Step, ...]


def steps_for(event: Event, context: ControllerContext) -> Steps:
    """What to do about an event; nothing where it is not this broker's to act."""
    anybody = _ANYBODY.get(type(event))
    if anybody is not None:
        return anybody(event)
    return _IN_OFFICE[type(event)](event) if context.active else ()


def _answered(event: events.RequestAnswered) -> Steps:
    if isinstance(event.sent, LeaderAndIsrRequest):
        return _log_dirs(event, event.sent) if event.answer.error == "NONE" else ()
    return _stopped(event, event.sent) if isinstance(event.sent, StopReplicaRequest) else ()


def _log_dirs(event: events.RequestAnswered, sent: LeaderAndIsrRequest) -> Steps:
    errors = [(name, error) for name, error in event.answer.partition_errors if error != "NONE"]
    served = frozenset(entry.partition for entry in sent.partitions)
    failed = served.intersection(name for name, error in errors if error == "KAFKA_STORAGE_ERROR")
    working = served.difference(name for name, _ in errors)
    return (NoteLogDirs(event.broker, failed, working),)


def _stopped(event: events.RequestAnswered, sent: StopReplicaRequest) -> Steps:
    """Only answers about copies that were to be deleted count.

    A request that is refused as a whole (a stale broker or controller epoch) names no copies, and nothing follows.
    """
    errors = dict(event.answer.partition_errors)
    unnamed = "NONE" if event.answer.error == "NONE" else None
    deleted: list[PartitionAndReplica] = []
    failed: list[PartitionAndReplica] = []
    for entry in sent.partitions:
        error = errors.get(entry.partition, unnamed)
        if entry.delete and error is not None:
            ok = event.answer.error == "NONE" and error == "NONE"
            (deleted if ok else failed).append(PartitionAndReplica(entry.partition, event.broker))
    steps: Steps = (FailDeletions(tuple(failed)),) if failed else ()
    return (*steps, ConfirmDeletions(tuple(deleted))) if deleted else steps


_TIMERS: Mapping[str, Steps] = {REBALANCE_TIMER: (Rebalance(),), TOKEN_TIMER: (ExpireTokens(),)}
_ANYBODY: Mapping[type[Event], Callable[[Any], Steps]] = {
    events.BrokerStarted: steps_at_start,
    events.SessionEstablished: steps_on_session,
    events.SessionExpired: lambda _: (ForgetSession(),),
    # Kafka only looks whether to resign. If that controller is gone by now, no watch was left to tell: stand, too.
    events.ControllerChanged: lambda _: (ResignIfMoved(), Elect()),
    events.ControllerZnodeDeleted: lambda _: (ResignIfMoved(), Elect()),
}
_IN_OFFICE: Mapping[type[Event], Callable[[Any], Steps]] = {
    events.BrokersChanged: lambda _: (ReadBrokers(compare=True),),
    events.BrokerModified: lambda event: (ReadBroker(event.broker),),
    events.TopicsChanged: lambda _: (CompareTopics(),),
    events.PartitionsModified: lambda event: (CompareAssignment(event.topic),),
    events.DeletionsRequested: lambda _: (ReadMarkers(),),
    events.ReassignmentZnodeCreated: lambda _: (ReassignFromZnode(),),
    events.PreferredElectionZnodeCreated: lambda _: (ElectPreferredFromZnode(),),
    events.IsrChangesNotified: lambda _: (ListNotifications(ISR_CHANGES),),
    events.LogDirsFailed: lambda _: (ListNotifications(LOG_DIR_EVENTS),),
    events.UncleanElectionAllowed: lambda event: (AllowUnclean(event.topic),),
    events.ReassignmentsRequested: lambda event: (ReassignByRequest(event.request, event.targets),),
    events.ElectionRequested: lambda event: (
        ElectByRequest(event.request, "unclean" if event.unclean else "preferred", event.partitions),
    ),
    events.ControlledShutdownRequested: lambda event: (
        ShutDownBroker(event.request, event.broker, event.broker_epoch),
    ),
    events.AlterPartitionReceived: lambda event: (
        AlterPartitions(event.request, event.broker, event.broker_epoch, event.proposals),
    ),
    events.ReassignmentListRequested: lambda event: (ListReassignments(event.request, event.partitions),),
    events.ProducerIdsRequested: lambda event: (AllocateProducerIds(event.request, event.broker, event.broker_epoch),),
    events.FeatureUpdatesRequested: lambda event: (UpdateFeatures(event.request, event.updates),),
    events.ReassignedStateWritten: lambda event: (LookAtReassigned(event.partition),),
    events.RequestAnswered: _answered,
    events.TimerFired: lambda event: _TIMERS.get(event.timer, ()),
}
