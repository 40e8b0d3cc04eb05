"""Moves between the log dirs of one broker: a log to be is filled from the current one, and takes its place (KIP-113).

Kafka 3.9 `ReplicaManager.alterReplicaLogDirs`, `ReplicaAlterLogDirsThread`. The log to be lies in a folder whose name
ends in `-future`: a move that was cut off goes on when the partition is next led or followed.
"""

import asyncio
import logging
import uuid
from functools import partial

from model.broker.settings.keys import REPLICA_FETCH_BACKOFF_MS, REPLICA_FETCH_MAX_BYTES
from model.cluster.ids import TopicPartition
from model.hosts.live_broker.replicas.held_replicas import HeldReplicas
from model.hosts.live_broker.replicas.log_dirs import HeldLog
from model.hosts.live_broker.replicas.upkeep import DiskFailures
from model.log.checkpoints import UNKNOWN_END
from model.log.names import LONGEST_NAME, DamagedFileError, FolderRole, LogError
from model.log.partition_log import PartitionLog

_LOGGER = logging.getLogger(__name__)


class LogDirMoves:
    """Moves one partition after the other, in the order of their names, from the first order on until `close`."""

    def __init__(self, held: HeldReplicas, failures: DiskFailures) -> None:
        self._held = held
        self._failures = failures
        self._compared: dict[TopicPartition, int] = {}
        """How often the current log had been cut when the two were last compared."""
        self._stuck: set[TopicPartition] = set()
        self._woken = asyncio.Event()
        self._running: asyncio.Task[None] | None = None

    async def order(self, name: TopicPartition, place: str) -> str:
        """Move a replica to a log dir, or stop moving it where it is there. Returns Kafka's name of the error.

        One that is not here yet will be made there.
        """
        held, dirs = self._held, self._held.log_dirs
        future_id = uuid.uuid4().hex
        if _length(name, future_id) > LONGEST_NAME:
            return "INVALID_TOPIC_EXCEPTION"
        path = next((each for each in dirs.paths if str(each.absolute()) == place), None)
        if path is None:
            return "LOG_DIR_NOT_FOUND"
        found = held.find(name)
        if path in dirs.failed or found == "KAFKA_STORAGE_ERROR":
            return "KAFKA_STORAGE_ERROR"
        future = dirs.futures.get(name)
        if future is not None and future.dir.path != path:
            self._give_up(name)
        source = dirs.logs.get(name)
        if source is None or source.dir.path != path:
            dirs.preferred[name] = path
        if source is None or isinstance(found, str):
            return "UNKNOWN_TOPIC_OR_PARTITION" if found == "UNKNOWN_TOPIC_OR_PARTITION" else "REPLICA_NOT_AVAILABLE"
        if source.dir.path == path or name in dirs.futures:
            dirs.preferred.pop(name, None)
            self.resume(name)
            return "NONE"
        if dirs.failed:  # the log to be may lie there
            return "KAFKA_STORAGE_ERROR"
        return await self._begin(name, source, future_id)

    async def _begin(self, name: TopicPartition, source: HeldLog, future_id: str) -> str:
        held, dirs = self._held, self._held.log_dirs
        path = dirs.preferred.pop(name)
        folder = next(each for each in dirs.online if each.path == path)
        settings = held.settings.of(name.topic).log
        opening = partial(dirs.open, folder, name, settings, held.now_ms(), source.topic_id, future_id)
        try:
            future = await asyncio.get_running_loop().run_in_executor(dirs.threads, opening)
        except OSError as error:
            self._failures.fail(path, error)
            return "KAFKA_STORAGE_ERROR"
        if dirs.logs.get(name) is not source or path in dirs.failed:  # a disk failed meanwhile
            return "KAFKA_STORAGE_ERROR"
        dirs.futures[name] = future
        source.log.removals += 1  # a compaction that is under way is given up
        _LOGGER.info("%s: moved from %s to %s", name, source.dir.path, path)
        self.resume(name)
        return "NONE"

    def resume(self, name: TopicPartition) -> None:
        """The partition is led or followed anew: go on with its move, if there is one."""
        dirs = self._held.log_dirs
        future = dirs.futures.get(name)
        if future is None:
            return
        source = dirs.logs.get(name)
        if source is not None and source.dir is future.dir:
            self._give_up(name)
            return
        self._compared.pop(name, None)
        self._stuck.discard(name)
        self._woken.set()
        if self._running is None:
            self._running = asyncio.create_task(self._run())

    async def close(self) -> None:
        """Leave all moves as they are."""
        if self._running is not None:
            self._running.cancel()
            await asyncio.gather(self._running, return_exceptions=True)

    def _give_up(self, name: TopicPartition) -> None:
        self._held.log_dirs.delete_future(name, self._held.now_ms())
        self._compared.pop(name, None)

    async def _run(self) -> None:
        name: TopicPartition | None = None
        while True:
            self._woken.clear()
            if name is None or not self._is_due(name):
                name = min(filter(self._is_due, self._held.log_dirs.futures), default=None)
            if name is None:
                await self._woken.wait()
            elif self._held.moving.is_exceeded:
                await asyncio.sleep(self._held.settings.broker[REPLICA_FETCH_BACKOFF_MS] / 1000)
            else:
                try:
                    self._step(name)
                except Exception as error:
                    _LOGGER.exception("%s: a step failed", name)
                    self._stop_at(name, error)
                await asyncio.sleep(0)

    def _is_due(self, name: TopicPartition) -> bool:
        dirs = self._held.log_dirs
        is_here = name in self._held.partitions and name in dirs.logs
        return is_here and name in dirs.futures and name not in self._stuck

    def _step(self, name: TopicPartition) -> None:
        """A piece of one partition, and the swap where that was the last."""
        source, future = self._held.log_dirs.logs[name], self._held.log_dirs.futures[name]
        try:
            data = self._next_piece(name, source.log, future.log)
        except OSError as error:
            self._failures.fail_dir_of(name, error)
            return
        except (LogError, DamagedFileError) as error:
            self._stop_at(name, error)
            return
        try:
            self._take(name, source.log, future.log, data)
        except OSError as error:
            self._failures.fail(future.dir.path, error)
        except LogError as error:
            self._stop_at(name, error)

    def _next_piece(self, name: TopicPartition, source: PartitionLog, future: PartitionLog) -> bytes:
        now_ms = self._held.now_ms()
        if self._compared.get(name) != source.removals:
            self._compared[name] = source.removals
            future.truncate_to(_common_end(source, future), now_ms=now_ms)
        if future.end_offset < source.start_offset:
            future.truncate_fully_and_start_at(source.start_offset, now_ms=now_ms)
        most = self._held.settings.broker[REPLICA_FETCH_MAX_BYTES]
        return source.read(future.end_offset, max_bytes=most).data

    def _take(self, name: TopicPartition, source: PartitionLog, future: PartitionLog, data: bytes) -> None:
        held, now_ms = self._held, self._held.now_ms()
        if data:
            held.space.take(len(data))
            future.append_as_follower(data, now_ms=now_ms)
            held.moving.record(len(data))
        future.set_high_watermark(source.high_watermark)
        future.advance_start(min(source.start_offset, future.high_watermark))
        if future.end_offset < source.end_offset:
            return
        for each in source.epochs.starts:  # epochs in which nothing was written
            if future.epochs.latest is None or each.epoch > future.epochs.latest:
                future.assign_epoch(*each)
        held.log_dirs.swap(name, now_ms)
        self._compared.pop(name, None)
        _LOGGER.info("%s: is in %s now", name, future.folder.parent)

    def _stop_at(self, name: TopicPartition, error: Exception) -> None:
        _LOGGER.warning("%s: its move stops: %s", name, error)
        self._stuck.add(name)


def _length(name: TopicPartition, unique_id: str) -> int:
    return len(f"{name}.{unique_id}-{FolderRole.FUTURE}")


def _common_end(source: PartitionLog, future: PartitionLog) -> int:
    """Up to where both have the same records, as a follower finds it out (KIP-101, KIP-279)."""
    end, epochs = min(future.end_offset, source.end_offset), future.epochs.truncate_from_end(source.end_offset)
    while epochs.latest is not None:
        theirs = source.epochs.end_offset_for(epochs.latest, source.end_offset)
        if theirs == UNKNOWN_END:
            break
        own = epochs.end_offset_for(theirs.epoch, end)
        end = min(end, theirs.end_offset, end if own == UNKNOWN_END else own.end_offset)
        if theirs.epoch == epochs.latest:
            return end
        epochs = epochs.truncate_from_end(end)
    return min(end, future.high_watermark)
