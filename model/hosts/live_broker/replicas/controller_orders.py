"""What the controller says, carried out: one request after the other, many partitions in slices, commands in order.

Kafka 3.9 `ReplicaManager.becomeLeaderOrFollower`, `stopReplicas`, `maybeUpdateMetadataCache`. The decisions are in
`model.broker.controller_requests`. Many logs are opened, made and closed at a time, on threads, for most of the time
goes into waiting for the disk: `LogManager.loadLogs`, `shutdown`.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, TypeVar

import msgspec

from model.broker.commands import (
    AssignTopicId,
    Command,
    CreateLog,
    DeleteLog,
    FetchState,
    PartitionDecision,
    ProposeIsr,
    RestartLog,
    StartFetching,
    StartLeaderEpoch,
    StopFetching,
    TruncateLog,
)
from model.broker.controller_requests import (
    NO_BROKER_EPOCH,
    Replicas,
    RequestOutcome,
    TopicIds,
    serve_leader_and_isr,
    serve_metadata,
    serve_stop_replica,
    with_storage_errors,
)
from model.broker.metadata import BrokerNode, MetadataImage, forgotten, learn, serve_update_metadata
from model.broker.metadata_log import LocalChanges, strays
from model.cluster.ids import TopicPartition
from model.controller.events_and_commands import (
    EPOCH_DURING_DELETE,
    BrokerAnswer,
    LeaderAndIsrRequest,
    PartitionToServe,
    PartitionToStop,
    StopReplicaRequest,
    UpdateMetadataRequest,
)
from model.hosts.live_broker.parts import BrokerSurroundings
from model.hosts.live_broker.replicas.held_replicas import HeldReplicas
from model.hosts.live_broker.replicas.log_dirs import HeldLog
from model.log.log_folder import LogFolder
from model.log.names import DamagedFileError, PartitionFolder
from model.znodes.configs import decode_config
from model.znodes.paths import config_path
from model.znodes.payload import UnusablePayloadError
from model.zookeeper import Code, GetData

_LOGGER = logging.getLogger(__name__)
OnDiskFailure = Callable[[TopicPartition, OSError], None]


async def load_logs(
    held: HeldReplicas, found: Iterable[tuple[LogFolder, PartitionFolder]], failed: OnDiskFailure
) -> None:
    """Open these logs. A log that cannot be opened is offline; `failed` hears of those whose disk fails."""
    wanted = [
        _Wanted(place, TopicPartition(each.topic, each.partition), future_id=each.unique_id) for place, each in found
    ]
    _LOGGER.info("opening %d logs", len(wanted))
    await _open_all(held, wanted, failed)
    _LOGGER.info("all logs are open")


async def create_logs(held: HeldReplicas, commands: Sequence[CreateLog], failed: OnDiskFailure) -> None:
    """Make these logs. `failed` hears of those that cannot be made."""
    for anywhere in (True, False):
        some = [command for command in commands if command.is_new is anywhere]
        try:
            places = held.log_dirs.places([command.partition for command in some], anywhere=anywhere)
        except OSError as error:
            for command in some:
                failed(command.partition, error)
            continue
        wanted = [_Wanted(place, each.partition, each.topic_id) for place, each in zip(places, some, strict=True)]
        await _open_all(held, wanted, failed)


class _Wanted(NamedTuple):
    """A log to be opened, or made; `future_id` is of one that is to take the current one's place."""

    folder: LogFolder
    name: TopicPartition
    topic_id: str | None = None
    future_id: str = ""


async def _open_all(held: HeldReplicas, wanted: Iterable[_Wanted], failed: OnDiskFailure) -> None:
    loop, dirs, now_ms = asyncio.get_running_loop(), held.log_dirs, held.now_ms()

    async def open_one(folder: LogFolder, name: TopicPartition, topic_id: str | None, future_id: str) -> None:
        settings = held.settings.of(name.topic).log
        opening = partial(dirs.open, folder, name, settings, now_ms, topic_id, future_id)
        try:
            opened = await loop.run_in_executor(dirs.threads, opening)
        except OSError as error:
            failed(name, error)
        except DamagedFileError as error:
            _LOGGER.error("the log of %s in %s cannot be opened: %s", name, folder.path, error)
            if not future_id:
                held.offline |= {name}
        else:
            (dirs.futures if future_id else dirs.logs)[name] = opened

    await asyncio.gather(*(open_one(*each) for each in wanted))


async def close_logs(held: HeldReplicas, failed: OnDiskFailure) -> None:
    """Flush and close all logs. `failed` hears of those whose disk fails: nobody is to take them for clean."""
    loop, dirs, now_ms = asyncio.get_running_loop(), held.log_dirs, held.now_ms()

    async def close_one(name: TopicPartition, each: HeldLog) -> None:
        try:
            await loop.run_in_executor(dirs.threads, partial(each.log.close, now_ms=now_ms))
        except OSError as error:
            failed(name, error)

    await asyncio.gather(*(close_one(name, each) for name, each in dirs.all_logs))


@dataclass(frozen=True)
class CommandEffects:
    """Who does what is no work on a log."""

    start_fetching: Callable[[FetchState], None]
    stop_fetching: Callable[[TopicPartition], None]
    propose: Callable[[ProposeIsr], None]
    disk_failed: Callable[[TopicPartition, OSError], None]
    """The partition is offline by then."""


class CommandRunner:
    """A command for a log that is gone meanwhile, with its dir or its topic, does nothing. Logs are made elsewhere."""

    def __init__(self, held: HeldReplicas, doing: CommandEffects) -> None:
        self._held = held
        self._doing = doing

    def apply(self, decision: PartitionDecision) -> None:
        """The partition as decided, then the commands."""
        self._held.put(decision.partition)
        self.run_all(decision.commands)
        self._held.tell_reasons(decision.reasons)

    def run_all(self, commands: Iterable[Command]) -> None:
        for command in commands:
            self.run(command)

    def run(self, command: Command) -> None:
        name = command.partition
        match command:
            case StartFetching():
                if name in self._held.partitions:
                    self._doing.start_fetching(command.state)
            case StopFetching():
                self._doing.stop_fetching(name)
            case ProposeIsr():
                self._doing.propose(command)
            case _:
                try:
                    self._work_on_log(command)
                except OSError as error:
                    self._doing.disk_failed(name, error)

    def _work_on_log(self, command: Command) -> None:
        held, name = self._held, command.partition
        now_ms = held.now_ms()
        if isinstance(command, DeleteLog):
            held.log_dirs.delete(name, now_ms)
            return
        log = held.log(name)
        if log is None:
            return
        match command:
            case AssignTopicId():
                held.log_dirs.assign_topic_id(name, command.topic_id)
            case StartLeaderEpoch():
                log.assign_epoch(command.leader_epoch, command.start_offset)
            case TruncateLog():
                log.truncate_to(command.end_offset, now_ms=now_ms)
                held.log_was_cut(name)
            case RestartLog():
                log.truncate_fully_and_start_at(command.start_offset, now_ms=now_ms)
                held.log_was_cut(name)
            case _:
                raise TypeError(f"nobody does {command}")


PARTITIONS_AT_ONCE = 64
"""After so many the event loop gets a chance to do something else."""
OnLeadership = Callable[[TopicPartition, bool, int], None]
OnForgotten = Callable[[TopicPartition], None]
_T = TypeVar("_T")


class ControllerOrders:
    """The callbacks are told of each partition that was led or followed anew, and of each that is being deleted."""

    def __init__(
        self,
        held: HeldReplicas,
        runner: CommandRunner,
        surroundings: BrokerSurroundings,
        disk_failed: Callable[[TopicPartition, OSError], None],
        on_leadership: OnLeadership,
        on_forgotten: OnForgotten,
    ) -> None:
        self._disk_failed = disk_failed
        self._on_leadership = on_leadership
        self._on_forgotten = on_forgotten
        self._held = held
        self._runner = runner
        self._surroundings = surroundings
        self.turn = asyncio.Lock()
        """Whoever has it is the only one who changes which logs there are."""

    async def lead_and_follow(self, request: LeaderAndIsrRequest, broker_epoch: int) -> BrokerAnswer:
        """LeaderAndIsr. The answer comes when all is done."""
        held = self._held
        async with self.turn:
            await self.learn_configs({told.partition.topic for told in request.partitions})
            errors: list[tuple[TopicPartition, str]] = []
            for some in _slices(request.partitions):
                part = msgspec.structs.replace(request, partitions=some)
                served = await self._serve_some(partial(self._serve, part, broker_epoch))
                if served.answer.error != "NONE":
                    held.tell_reasons(served.reasons)
                    return served.answer
                lost = {told.partition for told in some if told.partition in held.offline}
                errors += with_storage_errors(served.answer, lost).partition_errors
                await asyncio.sleep(0)
            if not request.partitions:
                return self._serve(request, broker_epoch).answer
            return BrokerAnswer(partition_errors=tuple(errors))

    def _serve(self, request: LeaderAndIsrRequest, broker_epoch: int) -> RequestOutcome:
        held = self._held
        replicas = Replicas(held.partitions, held.offline, held.positions)
        return serve_leader_and_isr(request, broker_epoch, held.epochs, replicas, held.conditions)

    async def _serve_some(self, serve: Callable[[], RequestOutcome]) -> RequestOutcome:
        """What was decided, and done unless the request was refused; then who led or follows anew is told."""
        held = self._held
        served = serve()
        creations = [command for command in served.commands if isinstance(command, CreateLog)]
        if creations:
            # They take a while, and other things happen meanwhile: so decide again when the logs are there.
            await create_logs(held, creations, self._disk_failed)
            served = serve()
        if served.answer.error != "NONE":
            return served
        before = {partition.partition: held.partitions.get(partition.partition) for partition in served.changed}
        self._carry_out(served)
        for partition in served.changed:
            name, was = partition.partition, before[partition.partition]
            is_news = was is None or was.state.leader_epoch != partition.state.leader_epoch
            if is_news and name in held.partitions:
                self._on_leadership(name, partition.leads, partition.state.leader_epoch)
        return served

    async def follow_log(self, image: MetadataImage, changes: LocalChanges, *, is_first: bool) -> None:
        """What the metadata log says: who has the replicas that are gone has no more of them, then all others."""
        held = self._held
        async with self.turn:
            held.metadata.learn(image)
            removed = list(changes.removed)
            if is_first:
                logs = [(name, each.topic_id) for name, each in held.log_dirs.logs.items()]
                removed += strays(logs, image, held.broker)
            for some in _slices(removed):
                told = tuple(PartitionToStop(name, EPOCH_DURING_DELETE, delete=True) for name in some)
                self._stop_some(StopReplicaRequest(0, held.epochs.controller_epoch, told), NO_BROKER_EPOCH)
                await asyncio.sleep(0)
            for name in changes.gone:
                self._on_forgotten(name)
                if name.topic not in image.topics:
                    held.settings.forget(name.topic)
            await self.learn_configs({told.partition.topic for told in changes.served})
            for some in _slices(changes.served):
                await self._serve_some(partial(self._serve_logged, some, changes.topic_ids))
                await asyncio.sleep(0)

    def _serve_logged(self, partitions: Sequence[PartitionToServe], topic_ids: TopicIds) -> RequestOutcome:
        held = self._held
        replicas = Replicas(held.partitions, held.offline, held.positions)
        return serve_metadata(partitions, topic_ids, held.epochs, replicas, held.conditions)

    async def stop(self, request: StopReplicaRequest, broker_epoch: int) -> BrokerAnswer:
        """StopReplica. The answer comes when all is done."""
        async with self.turn:
            errors: list[tuple[TopicPartition, str]] = []
            for some in _slices(request.partitions):
                answer = self._stop_some(msgspec.structs.replace(request, partitions=some), broker_epoch)
                if answer.error != "NONE":
                    return answer
                errors += answer.partition_errors
                await asyncio.sleep(0)
            return BrokerAnswer(partition_errors=tuple(errors))

    def _stop_some(self, request: StopReplicaRequest, broker_epoch: int) -> BrokerAnswer:
        held = self._held
        served = serve_stop_replica(request, broker_epoch, held.epochs, held.partitions, held.offline)
        if served.answer.error != "NONE":
            held.tell_reasons(served.reasons)
            return served.answer
        epochs = {name: held.partitions[name].state.leader_epoch for name in served.removed}
        self._carry_out(served)
        for name, leader_epoch in epochs.items():
            self._on_leadership(name, False, leader_epoch)
        return served.answer

    async def know(
        self, request: UpdateMetadataRequest, nodes: Mapping[int, BrokerNode], broker_epoch: int
    ) -> BrokerAnswer:
        held = self._held
        served = serve_update_metadata(request, broker_epoch, held.epochs)
        held.epochs = served.epochs
        held.tell_reasons(served.reasons)
        if served.answer.error != "NONE":
            return served.answer
        image = learn(request, nodes, held.metadata.image)
        held.metadata.learn(image)
        for name in forgotten(request):
            self._on_forgotten(name)
            if name.topic not in image.topics:
                held.settings.forget(name.topic)
        return served.answer

    async def learn_configs(self, topics: Iterable[str]) -> None:
        """Read the configurations of topics that were not told yet."""
        unknown = sorted(topic for topic in topics if not self._held.settings.knows(topic))
        if not unknown:
            return
        topic_config = self._surroundings.topic_config
        if topic_config is not None:
            for topic in unknown:
                config = topic_config(topic)
                if config is not None:
                    self._held.settings.configure(topic, config)
            return
        answers = await self._surroundings.ask_zookeeper([GetData(config_path(f"topics/{topic}")) for topic in unknown])
        for topic, answer in zip(unknown, answers, strict=True):
            if answer.ok:
                self._held.settings.configure(topic, _config(topic, answer.data))
            elif answer.code is Code.NO_NODE:
                self._held.settings.configure(topic, {})

    def _carry_out(self, served: RequestOutcome) -> None:
        held = self._held
        held.epochs = served.epochs
        changed = {partition.partition for partition in served.changed}
        for partition in served.changed:
            held.put(partition)
        held.remove(served.removed)
        self._runner.run_all(served.commands)
        held.tell_reasons(served.reasons)
        for name in changed & held.offline:
            held.remove((name,))


def _slices(entries: Sequence[_T]) -> Iterator[tuple[_T, ...]]:
    for start in range(0, len(entries), PARTITIONS_AT_ONCE):
        yield tuple(entries[start : start + PARTITIONS_AT_ONCE])


def _config(topic: str, payload: bytes) -> Mapping[str, str]:
    try:
        return decode_config(payload).config
    except UnusablePayloadError as error:
        _LOGGER.warning("the configuration of topic %s is not used: %s", topic, error)
        return {}
