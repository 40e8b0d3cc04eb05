"""Requests to brokers: gathered from what the controller knows, and sent when they are due.

The order to each broker is LeaderAndIsr, UpdateMetadata, StopReplica; a broker that is neither live nor shutting down
gets nothing. It changes nothing else that the controller knows.

Source: `kafka.controller.AbstractControllerBrokerRequestBatch` (3.9).
"""

from collections.abc import Iterable, Iterator
from itertools import chain

from model.cluster.ids import LEADER_DURING_DELETE, TopicPartition
from model.controller.context import ControllerContext, RequestBatch, Step, StepOutcome
from model.controller.events_and_commands import (
    EPOCH_DURING_DELETE,
    NO_EPOCH,
    BrokerRequest,
    Command,
    LeaderAndIsrRequest,
    PartitionToKnow,
    PartitionToServe,
    PartitionToStop,
    SendRequest,
    StopReplicaRequest,
    UpdateMetadataRequest,
)
from model.controller.leader_and_isr import LeaderAndIsr
from model.controller.state_machines import PartitionAndReplica
from model.controller.topics import Partition

ToServe = tuple[TopicPartition, Iterable[int], bool]
"""A partition, the brokers to send it to, and whether it is new to them."""


def serve(context: ControllerContext, entries: Iterable[ToServe]) -> ControllerContext:
    """Gather LeaderAndIsr for these; all brokers are told of the partitions as well."""
    wanted = list(entries)
    if not wanted:
        return context
    served: list[tuple[PartitionToServe, Iterable[int]]] = []
    for name, brokers, is_new in wanted:
        partition = context.topics.partition(name)
        if partition is not None and partition.leadership is not None:
            state, epoch = partition.leadership.state, partition.leadership.controller_epoch
            served.append((PartitionToServe(name, state, epoch, partition.assignment, is_new), brokers))
    batch = context.batch.serving(served)
    return tell(context.replace(batch=batch), (name for name, _, _ in wanted))


def refresh(
    context: ControllerContext, broker: int, found: Iterable[tuple[TopicPartition, Partition]]
) -> ControllerContext:
    """Gather LeaderAndIsr of these for one broker, as they are; those without a state are left out."""
    entries = {
        name: PartitionToServe(name, led.state, led.controller_epoch, partition.assignment, False)
        for name, partition in found
        if (led := partition.leadership) is not None
    }
    return tell(context.replace(batch=context.batch.serving_on(broker, entries)), entries)


def stop(context: ControllerContext, copies: Iterable[PartitionAndReplica], *, delete: bool) -> ControllerContext:
    """Gather StopReplica for these copies."""
    entries = [(PartitionToStop(name, _stop_epoch(context, name), delete), broker) for name, broker in copies]
    return context.replace(batch=context.batch.stopping(entries))


def tell(
    context: ControllerContext, partitions: Iterable[TopicPartition], receivers: Iterable[int] | None = None
) -> ControllerContext:
    """Gather UpdateMetadata for `receivers`, all brokers if None. Partitions without a state are left out."""
    to = context.reachable if receivers is None else receivers
    return context.replace(batch=context.batch.telling(tuple(partitions), to))


def send(context: ControllerContext) -> tuple[ControllerContext, tuple[Command, ...]]:
    """The gathered requests as commands, and a context that has told them."""
    batch = context.batch
    commands = [*_serving(context, batch), *_metadata(context, batch), *_stopping(context, batch)]
    return context.replace(batch=RequestBatch()), tuple(commands)


def _stop_epoch(context: ControllerContext, name: TopicPartition) -> int:
    if name.topic in context.deletion.started:
        return EPOCH_DURING_DELETE
    partition = context.topics.partition(name)
    return NO_EPOCH if partition is None or partition.leadership is None else partition.leadership.state.leader_epoch


def _to_know(context: ControllerContext, names: Iterable[TopicPartition]) -> Iterator[PartitionToKnow]:
    is_online = context.who_is_online()
    for name, partition in context.topics.known(names):
        if partition.leadership is None:
            continue
        state = partition.leadership.state
        if context.deleting(name.topic):
            state = LeaderAndIsr(LEADER_DURING_DELETE, 0, state.isr, partition_epoch=state.partition_epoch)
        replicas = partition.assignment.replicas
        online = is_online(name, replicas)
        offline = () if all(online) else tuple(r for r, lives in zip(replicas, online, strict=True) if not lives)
        yield PartitionToKnow(name, state, partition.leadership.controller_epoch, replicas, offline)


def _serving(context: ControllerContext, batch: RequestBatch) -> Iterator[Command]:
    for broker, partitions in sorted(batch.serve.items()):
        entries = tuple(partitions.values())
        leaders = sorted({entry.state.leader for entry in entries} & context.live.keys())
        ids = _topic_ids(context, partitions)
        request = LeaderAndIsrRequest(context.broker_id, context.epoch, entries, tuple(leaders), ids)
        yield from _to(context, broker, request)


def _metadata(context: ControllerContext, batch: RequestBatch) -> Iterator[Command]:
    if not batch.receivers:
        return
    names = dict.fromkeys(chain.from_iterable(batch.know))
    entries = tuple(_to_know(context, names))
    ids = _topic_ids(context, names)
    request = UpdateMetadataRequest(context.broker_id, context.epoch, entries, context.reachable, ids)
    for broker in sorted(batch.receivers):
        yield from _to(context, broker, request)


def _stopping(context: ControllerContext, batch: RequestBatch) -> Iterator[Command]:
    for broker, partitions in sorted(batch.stop.items()):
        yield from _to(
            context, broker, StopReplicaRequest(context.broker_id, context.epoch, tuple(partitions.values()))
        )


def _to(context: ControllerContext, broker: int, request: BrokerRequest) -> Iterator[Command]:
    receiver = context.live.get(broker)
    if receiver is not None:
        yield SendRequest(broker, receiver.epoch, request)


def _topic_ids(context: ControllerContext, partitions: Iterable[TopicPartition]) -> tuple[tuple[str, str | None], ...]:
    names = dict.fromkeys([partition[0] for partition in partitions])
    by_name = context.topics.by_name
    return tuple((name, by_name[name].topic_id) for name in names if name in by_name)


class SendBatch(Step, frozen=True):
    """Send what was gathered: one request of each kind per broker."""

    def begin(self, context: ControllerContext) -> StepOutcome:
        context, commands = send(context)
        return StepOutcome(context, commands)


class SendMetadata(Step, frozen=True):
    """UpdateMetadata of these partitions to these brokers (None: all); without partitions it tells who is live."""

    partitions: tuple[TopicPartition, ...] = ()
    receivers: tuple[int, ...] | None = None

    def begin(self, context: ControllerContext) -> StepOutcome:
        context, commands = send(tell(context, self.partitions, self.receivers))
        return StepOutcome(context, commands)


class SendAllMetadata(Step, frozen=True):
    """UpdateMetadata of every partition that has a state, to these brokers."""

    receivers: tuple[int, ...]

    def begin(self, context: ControllerContext) -> StepOutcome:
        everything = tuple(name for name, _ in context.topics.items())
        return StepOutcome(context, then=(SendMetadata(everything, self.receivers),))
