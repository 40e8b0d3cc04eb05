"""Which partitions of `__consumer_offsets` this broker leads, and which of them it has read.

Kafka 3.9 `GroupMetadataManager.scheduleLoadGroupAndOffsets` and `removeGroupsForPartition`. For one event loop.
"""

import asyncio
import logging
from collections.abc import Callable

from model.cluster.ids import OFFSETS_TOPIC, TopicPartition
from model.consumers.group_coordinator.group import Group
from model.consumers.group_coordinator.offsets_topic import Standing
from model.hosts.live_broker.groups.offsets_log import OffsetsLog
from model.log.errors import LogError

_LOGGER = logging.getLogger(__name__)
OnLoaded = Callable[[int, tuple[Group, ...]], None]


class LedPartitions:
    """`loaded` is told of a partition's groups, `lost` of a partition whose groups are another broker's now."""

    def __init__(self, log: OffsetsLog, loaded: OnLoaded, lost: Callable[[int], None]) -> None:
        self._log = log
        self._loaded = loaded
        self._lost = lost
        self._epochs: dict[int, int] = {}
        self._standings: dict[int, Standing] = {}
        self._tasks: dict[int, asyncio.Task[None]] = {}

    @property
    def is_loading(self) -> bool:
        """Whether any partition is being read."""
        return Standing.LOADING in self._standings.values()

    def standing(self, partition: int) -> Standing:
        """What this broker is to the groups of a partition."""
        return self._standings.get(partition, Standing.STRANGER)

    def change(self, partition: int, leader_epoch: int, *, leads: bool) -> None:
        """A controller says who leads. What was said before a newer word is not heeded."""
        if leader_epoch < self._epochs.get(partition, leader_epoch):
            return
        self._epochs[partition] = leader_epoch
        if not leads:
            self.give_up(partition)
        elif partition not in self._standings:
            self._standings[partition] = Standing.LOADING
            self._tasks[partition] = asyncio.create_task(self._load(partition))

    def give_up(self, partition: int) -> None:
        """Be a stranger to the groups of a partition."""
        task = self._tasks.pop(partition, None)
        if task is not None:
            task.cancel()
        if self._standings.pop(partition, None) is not None:
            self._lost(partition)

    async def close(self) -> None:
        """Read no more."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _load(self, partition: int) -> None:
        name = TopicPartition(OFFSETS_TOPIC, partition)
        try:
            groups = await self._log.read_groups(name)
        except (LookupError, LogError, OSError) as error:
            # Kafka serves such a partition as if it were empty, and consumers begin anew. Better no coordinator.
            _LOGGER.error("%s cannot be read, its groups are not served: %s", name, error)
            del self._standings[partition], self._tasks[partition]
            return
        self._standings[partition] = Standing.COORDINATOR
        del self._tasks[partition]
        self._loaded(partition, groups)
