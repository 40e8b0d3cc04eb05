"""Regular work: ISR checks, checkpoints, retention, compaction, deletion; and what happens when a disk fails.

Kafka 3.9 `LogManager.startup`, `ReplicaManager.startup`, `LogCleaner`. Long work is done in slices or on a thread.
When a disk fails under a log dir, its partitions are offline here, and the controller learns of it:
`ReplicaManager.handleLogDirFailure`, `KafkaZkClient.propagateLogDirEvent` (KIP-112).
"""

import asyncio
import contextlib
import logging
import os
import time
from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path

from model.broker.commands import Command, PartitionDecision
from model.broker.controller_requests import lose_log_dir
from model.broker.isr import check_isr
from model.broker.settings.keys import (
    LOG_CLEANER_BACKOFF_MS,
    LOG_CLEANER_ENABLE,
    LOG_FLUSH_OFFSET_CHECKPOINT_INTERVAL_MS,
    LOG_RETENTION_CHECK_INTERVAL_MS,
    REPLICA_HIGH_WATERMARK_CHECKPOINT_INTERVAL_MS,
    REPLICA_LAG_TIME_MAX_MS,
)
from model.cluster.ids import TopicPartition
from model.hosts.live_broker.parts import BrokerSurroundings
from model.hosts.live_broker.replicas.held_replicas import HeldReplicas, News
from model.hosts.live_broker.replicas.log_dirs import HeldLog
from model.log.compaction import Compaction, cleanable_of
from model.log.names import DamagedFileError
from model.znodes.paths import LOG_DIR_EVENTS
from model.znodes.topics import LogDirEvent
from model.zookeeper import Create

_LOGGER = logging.getLogger(__name__)


class DiskFailures:
    """`run` carries out what follows; `on_last_failed` is told when no log dir is left: Kafka's process ends then."""

    def __init__(self, held: HeldReplicas, surroundings: BrokerSurroundings, run: Callable[[Command], None]) -> None:
        self.on_last_failed: Callable[[], None] = lambda: None
        self._held = held
        self._surroundings = surroundings
        self._run = run
        self._telling: set[asyncio.Task[None]] = set()

    def fail_dir_of(self, name: TopicPartition, error: OSError) -> None:
        """The log of a partition could not be made, read or written: it is offline, and all in the same dir."""
        dirs = self._held.log_dirs
        held = dirs.logs.get(name)
        path = held.dir.path if held is not None else Path(error.filename or "")
        if any(path == folder.path for folder in dirs.online):
            self.fail(path, error)
        self._lose([name])

    def fail_dir_with(self, name: TopicPartition, held: HeldLog, error: OSError) -> None:
        """The same of this very log, if it is still in use; one to be takes no partition with it."""
        dirs = self._held.log_dirs
        if dirs.logs.get(name) is held:
            self.fail_dir_of(name, error)
        elif dirs.holds(name, held):
            self.fail(held.dir.path, error)

    def fail(self, path: Path, error: OSError) -> None:
        """A log dir is of no use any more."""
        dirs = self._held.log_dirs
        why = error.strerror or str(error)
        _LOGGER.error("log dir %s has failed: %s", path, why)
        self._lose(dirs.fail(path, why))
        if not dirs.online:
            _LOGGER.error("no log dir is left")
            self.on_last_failed()
        if self._surroundings.log_dir_failed is not None:
            self._surroundings.log_dir_failed(path)
        else:
            self._tell(self._tell_controller())

    def _lose(self, names: list[TopicPartition]) -> None:
        held = self._held
        lost = lose_log_dir(names, held.partitions, held.offline)
        held.offline = lost.offline
        held.remove(lost.removed)
        for command in lost.commands:
            self._run(command)
        held.tell_reasons(lost.reasons)

    async def close(self) -> None:
        for task in self._telling:
            task.cancel()
        await asyncio.gather(*self._telling, return_exceptions=True)

    def _tell(self, telling: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(telling)
        self._telling.add(task)
        task.add_done_callback(self._telling.discard)

    async def _tell_controller(self) -> None:
        data = LogDirEvent(broker=self._held.broker, event=1).to_bytes()
        path = f"{LOG_DIR_EVENTS}/log_dir_event_"
        (answer,) = await self._surroundings.ask_zookeeper((Create(path, data, sequential=True),))
        if not answer.ok:
            _LOGGER.warning("the controller could not be told of the failed log dir: %s", answer.code.name)


SLICE_S = 0.005
"""After so long the event loop gets a chance to do something else."""
DELETION_INTERVAL_MS = 1_000
FLUSH_INTERVAL_MS = 1_000
"""Kafka does it at once when a segment is closed, on a thread."""
PRODUCER_EXPIRY_INTERVAL_MS = 600_000
"""`producer.id.expiration.check.interval.ms`."""


class Upkeep:
    """Works from `start` to `close`."""

    def __init__(
        self,
        held: HeldReplicas,
        failures: DiskFailures,
        apply: Callable[[PartitionDecision], None],
        settle_progress: Callable[[TopicPartition], None],
        drop_idle: Callable[[], None],
    ) -> None:
        self._held = held
        self._failures = failures
        self._apply = apply
        self._settle_progress = settle_progress
        self._drop_idle = drop_idle
        self._tasks: list[asyncio.Task[None]] = []
        self._uncleanable: set[TopicPartition] = set()
        self._slice_began = 0.0

    def start(self) -> None:
        settings = self._held.settings
        works: list[tuple[Callable[[], float], Callable[[], Awaitable[None]]]] = [
            (lambda: settings.broker[REPLICA_LAG_TIME_MAX_MS] / 2, self.check_isrs),
            (lambda: settings.broker[REPLICA_HIGH_WATERMARK_CHECKPOINT_INTERVAL_MS], self.checkpoint_high_watermarks),
            (lambda: settings.broker[LOG_FLUSH_OFFSET_CHECKPOINT_INTERVAL_MS], self.checkpoint),
            (lambda: settings.broker[LOG_RETENTION_CHECK_INTERVAL_MS], self.apply_retention),
            (lambda: DELETION_INTERVAL_MS, self.remove_deleted),
            (lambda: FLUSH_INTERVAL_MS, self.flush_closed),
            (lambda: PRODUCER_EXPIRY_INTERVAL_MS, self.expire_producers),
        ]
        if settings.broker[LOG_CLEANER_ENABLE]:
            works.append((lambda: settings.broker[LOG_CLEANER_BACKOFF_MS], self.compact))
        self._tasks = [asyncio.create_task(self._repeat(interval_ms, work)) for interval_ms, work in works]

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _repeat(self, interval_ms: Callable[[], float], work: Callable[[], Awaitable[None]]) -> None:
        while True:
            await asyncio.sleep(max(interval_ms(), 1) / 1000)
            try:
                await work()
            except Exception:
                _LOGGER.exception("upkeep failed, and is tried again later")

    async def _breathe(self) -> None:
        if time.monotonic() - self._slice_began > SLICE_S:
            await asyncio.sleep(0)
            self._slice_began = time.monotonic()

    def _logs(self) -> list[tuple[TopicPartition, HeldLog]]:
        return self._held.log_dirs.all_logs

    async def check_isrs(self) -> None:
        """Ask for followers that lag to leave."""
        held = self._held
        for name in list(held.partitions):
            await self._breathe()
            partition = held.partitions.get(name)
            if partition is None or partition.leading is None or len(partition.state.isr) < 2:
                continue
            self._settle_progress(name)
            partition, positions = held.partitions[name], held.positions(name)
            if positions is not None:
                self._apply(check_isr(partition, positions, held.conditions(name.topic)))

    async def checkpoint_high_watermarks(self) -> None:
        await self._write(self._held.log_dirs.checkpoint_high_watermarks)

    async def checkpoint(self) -> None:
        """recovery-point-offset-checkpoint and log-start-offset-checkpoint."""
        await self._write(self._held.log_dirs.checkpoint)

    async def _write(self, checkpoint: Callable[[], None]) -> None:
        try:
            await asyncio.to_thread(checkpoint)
        except OSError as error:
            for folder in self._held.log_dirs.online:
                if str(folder.path) == error.filename:
                    self._failures.fail(folder.path, error)

    async def apply_retention(self) -> None:
        """Old segments go."""
        held = self._held
        for name, each in self._logs():
            await self._breathe()
            if not held.log_dirs.holds(name, each):
                continue
            try:
                deletions = each.log.apply_retention(held.now_ms())
            except OSError as error:
                self._failures.fail_dir_with(name, each, error)
                continue
            for deletion in deletions:
                _LOGGER.info("%s: segment %d is deleted: %s", name, deletion.base_offset, deletion.reason)
            if deletions:
                held.news.tell(name, News.COMMITTED)

    async def remove_deleted(self) -> None:
        """Files that were deleted go from the disk."""
        now_ms = self._held.now_ms()
        for _, each in self._logs():
            await self._breathe()
            each.log.remove_deleted_files(now_ms)
        self._held.log_dirs.remove_doomed(now_ms)
        self._drop_idle()

    async def flush_closed(self) -> None:
        """Segments that were closed are synced, so that the next start need not check them."""
        loop, dirs = asyncio.get_running_loop(), self._held.log_dirs
        for name, each in self._logs():
            await self._breathe()
            log = each.log
            if log.segments.active.base_offset <= log.recovery_point:
                continue
            (reached, files), removals = log.closed_and_unflushed(), log.removals
            try:
                await loop.run_in_executor(dirs.threads, _sync, files)
            except OSError as error:
                self._failures.fail_dir_with(name, each, error)
                continue
            if log.removals == removals:
                log.flushed_to(reached)

    async def expire_producers(self) -> None:
        """Producers that wrote nothing for long are forgotten."""
        now_ms = self._held.now_ms()
        for _, each in self._logs():
            await self._breathe()
            each.log.producers.expire(now_ms, each.log.settings.producer_id_expiration_ms)

    async def compact(self) -> None:
        """The dirtiest log that is worth it is compacted, again until none is; none that is moved."""
        while (name := self._dirtiest()) is not None:
            each = self._held.log_dirs.logs[name]
            compaction = Compaction(each.log, each.dir.cleaned_to.get(name), now_ms=self._held.now_ms())
            try:
                for _ in compaction.pieces():
                    await self._breathe()
                done = compaction.compacted
                each.dir.checkpoint_cleaner(*name, done.cleaned_to)
            except OSError as error:
                self._failures.fail_dir_of(name, error)
                continue
            except DamagedFileError as error:
                _LOGGER.warning("%s is not compacted any more: %s", name, error)
                self._uncleanable.add(name)
                continue
            if done.segments_before == 0:
                return
            _LOGGER.info(
                "%s is compacted up to offset %d: %d bytes of %d are left",
                *(name, done.cleaned_to, done.bytes_after, done.bytes_before),
            )

    def _dirtiest(self) -> TopicPartition | None:
        now_ms = self._held.now_ms()
        worst: tuple[float, TopicPartition] | None = None
        dirs = self._held.log_dirs
        for name, each in list(dirs.logs.items()):
            if not each.log.settings.compacts or name in self._uncleanable or name in dirs.futures:
                continue
            dirty = cleanable_of(each.log, each.dir.cleaned_to.get(name), now_ms)
            if dirty.is_due(each.log.settings) and (worst is None or dirty.dirty_ratio > worst[0]):
                worst = (dirty.dirty_ratio, name)
        return None if worst is None else worst[1]


def _sync(files: list[Path]) -> None:
    for path in files:
        with contextlib.suppress(FileNotFoundError):  # deleted or compacted meanwhile
            descriptor = os.open(path, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
