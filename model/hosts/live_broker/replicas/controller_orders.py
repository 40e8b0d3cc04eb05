"""What the controller says, carried out: one request after the other, many partitions in slices.

Kafka 3.9 `ReplicaManager.becomeLeaderOrFollower`, `stopReplicas`, `maybeUpdateMetadataCache`. The decisions are in
`model.broker.controller_requests`.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

import msgspec

from model.broker.commands import CreateLog
from model.broker.controller_requests.leader_and_isr import Replicas, serve_leader_and_isr
from model.broker.controller_requests.metadata_image import BrokerNode
from model.broker.controller_requests.served import Served
from model.broker.controller_requests.stop_replica import serve_stop_replica
from model.broker.controller_requests.update_metadata import forgotten, learn, serve_update_metadata
from model.broker.log_dirs import with_storage_errors
from model.cluster.ids import TopicPartition
from model.controller.requests import BrokerAnswer, LeaderAndIsrRequest, StopReplicaRequest, UpdateMetadataRequest
from model.controller.zookeeper import Code, Read
from model.hosts.live_broker.replicas.command_runner import CommandRunner
from model.hosts.live_broker.replicas.held_replicas import HeldReplicas
from model.hosts.live_broker.replicas.loading import create_logs
from model.hosts.live_broker.replicas.surroundings import AskZooKeeper
from model.znodes.configs import decode_config
from model.znodes.paths import config_path
from model.znodes.reasons import UnusablePayloadError

PARTITIONS_AT_ONCE = 64
"""After so many the event loop gets a chance to do something else."""
OnLeadership = Callable[[TopicPartition, bool, int], None]
OnForgotten = Callable[[TopicPartition], None]
_T = TypeVar("_T")
_LOGGER = logging.getLogger(__name__)


class ControllerOrders:
    """The callbacks are told of each partition that was led or followed anew, and of each that is being deleted."""

    def __init__(
        self,
        held: HeldReplicas,
        runner: CommandRunner,
        ask_zookeeper: AskZooKeeper,
        disk_failed: Callable[[TopicPartition, OSError], None],
        on_leadership: OnLeadership,
        on_forgotten: OnForgotten,
    ) -> None:
        self._disk_failed = disk_failed
        self._on_leadership = on_leadership
        self._on_forgotten = on_forgotten
        self._held = held
        self._runner = runner
        self._ask_zookeeper = ask_zookeeper
        self._turn = asyncio.Lock()

    async def lead_and_follow(self, request: LeaderAndIsrRequest, broker_epoch: int) -> BrokerAnswer:
        """LeaderAndIsr. The answer comes when all is done."""
        held = self._held
        async with self._turn:
            await self.learn_configs({told.partition.topic for told in request.partitions})
            errors: list[tuple[TopicPartition, str]] = []
            for some in _slices(request.partitions):
                part = msgspec.structs.replace(request, partitions=some)
                served = self._serve(part, broker_epoch)
                creations = [command for command in served.commands if isinstance(command, CreateLog)]
                if creations:
                    # They take a while, and other things happen meanwhile: so decide again when the logs are there.
                    await create_logs(held, creations, self._disk_failed)
                    served = self._serve(part, broker_epoch)
                if served.answer.error != "NONE":
                    held.tell_reasons(served.reasons)
                    return served.answer
                self._carry_out(served)
                lost = {told.partition for told in some if told.partition in held.offline}
                errors += with_storage_errors(served.answer, lost).partition_errors
                for partition in served.changed:
                    name = partition.partition
                    if name not in lost and name in held.partitions:
                        self._on_leadership(name, partition.leads, partition.state.leader_epoch)
                await asyncio.sleep(0)
            if not request.partitions:
                return self._serve(request, broker_epoch).answer
            return BrokerAnswer(partition_errors=tuple(errors))

    def _serve(self, request: LeaderAndIsrRequest, broker_epoch: int) -> Served:
        held = self._held
        replicas = Replicas(held.partitions, held.offline, held.positions)
        return serve_leader_and_isr(request, broker_epoch, held.standing, replicas, held.conditions)

    async def stop(self, request: StopReplicaRequest, broker_epoch: int) -> BrokerAnswer:
        """StopReplica. The answer comes when all is done."""
        held = self._held
        async with self._turn:
            errors: list[tuple[TopicPartition, str]] = []
            for some in _slices(request.partitions):
                part = msgspec.structs.replace(request, partitions=some)
                served = serve_stop_replica(part, broker_epoch, held.standing, held.partitions, held.offline)
                if served.answer.error != "NONE":
                    held.tell_reasons(served.reasons)
                    return served.answer
                self._carry_out(served)
                errors += served.answer.partition_errors
                for name in served.removed:
                    self._on_leadership(name, False, -1)
                await asyncio.sleep(0)
            return BrokerAnswer(partition_errors=tuple(errors))

    async def know(
        self, request: UpdateMetadataRequest, nodes: Mapping[int, BrokerNode], broker_epoch: int
    ) -> BrokerAnswer:
        """UpdateMetadata."""
        held = self._held
        served = serve_update_metadata(request, broker_epoch, held.standing)
        held.standing = served.standing
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
        answers = await self._ask_zookeeper([Read(config_path(f"topics/{topic}")) for topic in unknown])
        for topic, answer in zip(unknown, answers, strict=True):
            if answer.ok:
                self._held.settings.configure(topic, _config(topic, answer.data))
            elif answer.code is Code.NO_NODE:
                self._held.settings.configure(topic, {})

    def _carry_out(self, served: Served) -> None:
        held = self._held
        held.standing = served.standing
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
