"""What happens when a disk fails under a log dir: its partitions are offline here, and the controller learns of it.

Kafka 3.9 `ReplicaManager.handleLogDirFailure`, `KafkaZkClient.propagateLogDirEvent` (KIP-112).
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from pathlib import Path

from model.broker.commands import Command
from model.broker.log_dirs import lose_log_dir
from model.cluster.ids import TopicPartition
from model.controller.zookeeper import LOG_DIR_EVENTS, Create
from model.hosts.live_broker.replicas.held_replicas import HeldReplicas
from model.hosts.live_broker.replicas.surroundings import AskZooKeeper
from model.znodes.notifications import LogDirEvent

_LOGGER = logging.getLogger(__name__)


class DiskFailures:
    """`run` carries out what follows; `on_last_failed` is told when no log dir is left: Kafka's process ends then."""

    def __init__(self, held: HeldReplicas, ask_zookeeper: AskZooKeeper, run: Callable[[Command], None]) -> None:
        self.on_last_failed: Callable[[], None] = lambda: None
        self._held = held
        self._ask_zookeeper = ask_zookeeper
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

    def fail(self, path: Path, error: OSError) -> None:
        """A log dir is of no use any more."""
        dirs = self._held.log_dirs
        why = error.strerror or str(error)
        _LOGGER.error("log dir %s has failed: %s", path, why)
        self._lose(dirs.fail(path, why))
        if not dirs.online:
            _LOGGER.error("no log dir is left")
            self.on_last_failed()
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
        """Tell nobody any more."""
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
        (answer,) = await self._ask_zookeeper((Create(path, data, sequential=True),))
        if not answer.ok:
            _LOGGER.warning("the controller could not be told of the failed log dir: %s", answer.code.name)
