"""The replicas of a live broker: what the pure decisions of `model.broker` want done is done here, nothing else.

Kafka 3.9 `kafka.server.ReplicaManager`. It puts its parts together, and is what the other parts of the process see.
"""

import logging
from collections.abc import Mapping
from pathlib import Path

import msgspec

from model.broker.commands import FetchState, PartitionDecision, ProposeIsr
from model.broker.controller_requests import BrokerEpochs
from model.broker.metadata import BrokerNode, MetadataImage
from model.broker.metadata_log import LocalChanges
from model.broker.partition import Partition
from model.broker.settings.keys import MAX_INCREMENTAL_FETCH_SESSION_CACHE_SLOTS, NUM_REPLICA_FETCHERS
from model.broker.settings.settings import Settings
from model.cluster.ids import TopicPartition
from model.controller.events_and_commands import (
    BrokerAnswer,
    LeaderAndIsrRequest,
    StopReplicaRequest,
    UpdateMetadataRequest,
)
from model.hosts.live_broker.parts import BrokerSurroundings, MetadataCache
from model.hosts.live_broker.replicas.controller_orders import (
    CommandEffects,
    CommandRunner,
    ControllerOrders,
    OnForgotten,
    OnLeadership,
    close_logs,
    load_logs,
)
from model.hosts.live_broker.replicas.fetcher import FetcherParts, Fetchers
from model.hosts.live_broker.replicas.fetches import Fetches, FetchSessions
from model.hosts.live_broker.replicas.held_replicas import HeldReplicas
from model.hosts.live_broker.replicas.isr_proposals import IsrProposals
from model.hosts.live_broker.replicas.log_dir_moves import LogDirMoves
from model.hosts.live_broker.replicas.log_dirs import LogDirs
from model.hosts.live_broker.replicas.produces import Offsets, ProduceOutcome, Produces
from model.hosts.live_broker.replicas.upkeep import DiskFailures, Upkeep
from model.log.names import FolderRole, LogError
from model.log.partition_log import PartitionLog
from model.log.producers import Origin

_LOGGER = logging.getLogger(__name__)


class ReplicaManager:
    """Made on an event loop; open from `load` to `close`. `log_dirs` are held by this process already.

    `on_leadership` is told of each partition that was led or followed anew: partition, whether this broker leads it,
    the leader epoch; `on_forgotten` of each whose topic is being deleted; `failures.on_last_failed` that no log dir is
    left.
    """

    def __init__(self, broker: int, settings: Settings, log_dirs: LogDirs, surroundings: BrokerSurroundings) -> None:
        self.held = held = HeldReplicas(broker, settings, log_dirs, surroundings.now_ms)
        self.on_leadership: OnLeadership = lambda partition, leads, leader_epoch: None
        self.on_forgotten: OnForgotten = lambda partition: None
        self._surroundings = surroundings
        self._runner = CommandRunner(held, self._doing())
        self.failures = DiskFailures(held, surroundings, self._runner.run)
        self._fetchers = Fetchers(FetcherParts(held, self._address, self._runner.run, self.failures.fail_dir_of))
        self._proposals = IsrProposals(held, surroundings, self.apply)
        self._orders = ControllerOrders(held, self._runner, surroundings, self._disk_failed, self._led, self._forgot)
        self.fetches = Fetches(held, self.apply, self.failures.fail_dir_of)
        self.sessions = FetchSessions(settings[MAX_INCREMENTAL_FETCH_SESSION_CACHE_SLOTS])
        self.produces = Produces(held, self.fetches.settle_progress, self.failures.fail_dir_of)
        self.offsets = Offsets(held, self.failures.fail_dir_of)
        self.moves = LogDirMoves(held, self.failures)
        self._upkeep = Upkeep(held, self.failures, self.apply, self.fetches.settle_progress, self._fetchers.drop_idle)

    def _doing(self) -> CommandEffects:
        # By way of methods: these parts are made after the one that asks them.
        return CommandEffects(
            start_fetching=self._start_fetching,
            stop_fetching=self._stop_fetching,
            propose=self._propose,
            disk_failed=self._disk_failed,
        )

    def _led(self, name: TopicPartition, leads: bool, leader_epoch: int) -> None:
        self.on_leadership(name, leads, leader_epoch)
        self.moves.resume(name)

    def _forgot(self, name: TopicPartition) -> None:
        self.on_forgotten(name)

    def _start_fetching(self, state: FetchState) -> None:
        self._fetchers.start(state)

    def _stop_fetching(self, name: TopicPartition) -> None:
        self._fetchers.stop(name)

    def _propose(self, command: ProposeIsr) -> None:
        self._proposals.propose(command)

    def _disk_failed(self, name: TopicPartition, error: OSError) -> None:
        self.failures.fail_dir_of(name, error)

    def _address(self, broker: int) -> tuple[str, int] | None:
        node = self.metadata.image.brokers.get(broker)
        place = None if node is None else node.endpoint(self._surroundings.listener)
        return None if place is None else (place.host, place.port)

    # What is known.

    @property
    def broker(self) -> int:
        return self.held.broker

    @property
    def settings(self) -> Settings:
        return self.held.settings.broker

    @property
    def metadata(self) -> MetadataCache:
        """What controllers said of the cluster."""
        return self.held.metadata

    @property
    def epochs(self) -> BrokerEpochs:
        return self.held.epochs

    @property
    def log_dirs(self) -> LogDirs:
        return self.held.log_dirs

    @property
    def partitions(self) -> Mapping[TopicPartition, Partition]:
        """What this broker serves."""
        return self.held.partitions

    # Life.

    async def load(self, *, recover: bool) -> None:
        """Open all logs (`LoadLogs`), with the configurations that ZooKeeper has for their topics.

        What is checked is said by the mark of each log dir; `recover` is the same for all of them, for the operator.
        """
        if recover:
            _LOGGER.info("logs are recovered")
        self.log_dirs.remove_leftovers()
        found = [each for role in (FolderRole.CURRENT, FolderRole.FUTURE) for each in self.log_dirs.found(role)]
        await self._orders.learn_configs({name.topic for _, name in found})
        await load_logs(self.held, found, self._disk_failed)
        self._upkeep.start()

    def registered(self, broker_epoch: int) -> None:
        self.held.epochs = msgspec.structs.replace(self.epochs, broker_epoch=broker_epoch)

    def shut_down_soon(self) -> None:
        """A controlled shutdown has begun: nobody is followed any more."""
        self.held.epochs = msgspec.structs.replace(self.epochs, shutting_down=True)

    async def close(self) -> None:
        """Stop fetching, flush, checkpoint and close all logs (part of `StopServing`)."""
        await self._stop_work()
        self.held.partitions.clear()
        await close_logs(self.held, self._disk_failed)
        await self._upkeep.checkpoint_high_watermarks()
        await self._upkeep.checkpoint()
        await self.failures.close()

    async def abandon(self) -> None:
        """Stop all work and let the folders go as they are: nothing is flushed, and the next start recovers."""
        await self._stop_work()
        await self.failures.close()
        for _, held in self.log_dirs.all_logs:
            for segment in held.log.segments:
                segment.close()
        self.log_dirs.release()

    async def _stop_work(self) -> None:
        await self._fetchers.close()
        await self.moves.close()
        await self._upkeep.close()
        await self._proposals.close()

    def mark_clean_shutdown(self) -> None:
        """Say in every log dir that has not failed that all is on disk (`MarkCleanShutdown`), and let them go."""
        self.log_dirs.mark_clean_shutdown(self.epochs.broker_epoch)
        self.log_dirs.release()

    def apply(self, decision: PartitionDecision) -> None:
        """What was decided about a partition holds, and is carried out."""
        self._runner.apply(decision)

    # What the controller says, as values: they come over the wire through data_apis.

    async def take_leader_and_isr(self, request: LeaderAndIsrRequest, broker_epoch: int) -> BrokerAnswer:
        """Lead and follow as told; the answer comes when it is done."""
        return await self._orders.lead_and_follow(request, broker_epoch)

    async def take_stop_replica(self, request: StopReplicaRequest, broker_epoch: int) -> BrokerAnswer:
        """Stop following, and delete where told."""
        return await self._orders.stop(request, broker_epoch)

    def places(self) -> Mapping[TopicPartition, Path]:
        """The log dir that each replica lies in."""
        return {name: each.dir.path for name, each in self.log_dirs.logs.items() if name in self.partitions}

    async def take_metadata(self, image: MetadataImage, changes: LocalChanges, *, is_first: bool) -> None:
        """What the metadata log says, done when this returns. The first time also of what was missed while away."""
        await self._orders.follow_log(image, changes, is_first=is_first)

    async def alter_log_dirs(self, places: Mapping[TopicPartition, str]) -> Mapping[TopicPartition, str]:
        """Move replicas to these log dirs, which begins now (KIP-113). Returns Kafka's names of the errors."""
        async with self._orders.turn:
            return {name: await self.moves.order(name, place) for name, place in places.items()}

    async def take_update_metadata(
        self, request: UpdateMetadataRequest, nodes: Mapping[int, BrokerNode], broker_epoch: int
    ) -> BrokerAnswer:
        """Know the cluster as told; `metadata` has it then. `nodes`: the addresses that came with it."""
        return await self._orders.know(request, nodes, broker_epoch)

    # Data.

    async def append(
        self,
        records: Mapping[TopicPartition, bytes],
        *,
        acks: int,
        timeout_ms: int,
        origin: Origin = Origin.CLIENT,
        internal: bool = False,
    ) -> Mapping[TopicPartition, ProduceOutcome]:
        """Append to partitions that this broker leads, and wait as acks says. `internal` may write internal topics."""
        return await self.produces.append(records, acks=acks, timeout_ms=timeout_ms, origin=origin, internal=internal)

    def read(self, partition: TopicPartition, offset: int, max_bytes: int) -> bytes:
        """Whole batches from `offset` on, from the local log up to its end, replicated or not; empty at the end.

        Raises LookupError where there is no such log or offset here, OSError and DamagedFileError.
        """
        try:
            return self._log(partition).read(offset, max_bytes=max_bytes).data
        except LogError as error:
            raise LookupError(str(error)) from None

    def start_offset(self, partition: TopicPartition) -> int:
        """The first offset of the local log. Raises LookupError."""
        return self._log(partition).start_offset

    def end_offset(self, partition: TopicPartition) -> int:
        """The end of the local log. Raises LookupError."""
        return self._log(partition).end_offset

    def high_watermark(self, partition: TopicPartition) -> int:
        """Up to where all is replicated. Raises LookupError."""
        return self._log(partition).high_watermark

    def _log(self, partition: TopicPartition) -> PartitionLog:
        log = self.held.log(partition)
        if log is None:
            raise LookupError(f"{partition} has no log here")
        return log

    # Configuration.

    def apply_topic_config(self, topic: str, config: Mapping[str, str]) -> None:
        """What `/config/topics/…` says of a topic, from now on; empty: nothing of its own."""
        if self.held.settings.configure(topic, config):
            self._settle_settings(topic)

    def apply_broker_settings(self, settings: Settings) -> None:
        """Other settings of the broker (dynamic broker configurations); those of topics stay over them."""
        before = self.settings
        self.held.settings.set_broker(settings)
        self._settle_settings(None)
        if settings[NUM_REPLICA_FETCHERS] != before[NUM_REPLICA_FETCHERS]:
            self._fetchers.spread()

    def _settle_settings(self, topic: str | None) -> None:
        for name, each in self.log_dirs.all_logs:
            if topic is None or name.topic == topic:
                each.log.settings = self.held.settings.of(name.topic).log
