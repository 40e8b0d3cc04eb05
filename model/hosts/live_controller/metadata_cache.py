"""What controllers told this broker of the cluster: who is live, who leads. It asks nobody.

Source: `kafka.server.metadata.ZkMetadataCache` (3.9). Live brokers are replaced as a whole, partitions one by one.
"""

import asyncio
import contextlib
import uuid
from collections.abc import Callable, Iterable, Mapping
from datetime import timedelta

import msgspec

from model.cluster.ids import LEADER_DURING_DELETE, NO_LEADER, TopicPartition


class KnownBroker(msgspec.Struct, frozen=True):
    """Host and port by listener name."""

    endpoints: Mapping[str, tuple[str, int]]
    rack: str | None


class KnownPartition(msgspec.Struct, frozen=True, gc=False):
    """A partition as brokers are told of it."""

    leader: int
    leader_epoch: int
    isr: tuple[int, ...]
    replicas: tuple[int, ...]
    offline: tuple[int, ...]


class MetadataCache:
    """Empty until the first controller speaks."""

    def __init__(self) -> None:
        self.controller = -1
        self.brokers: Mapping[int, KnownBroker] = {}
        self.topics: dict[str, dict[int, KnownPartition]] = {}
        self.topic_ids: dict[str, uuid.UUID] = {}
        self._news = asyncio.Event()

    def learn(
        self,
        controller: int,
        brokers: Mapping[int, KnownBroker],
        partitions: Iterable[tuple[TopicPartition, KnownPartition]],
        topic_ids: Mapping[str, uuid.UUID],
    ) -> None:
        """Take in an UpdateMetadata."""
        self.controller = controller
        self.brokers = brokers
        self.topic_ids.update(topic_ids)
        for name, partition in partitions:
            if partition.leader == LEADER_DURING_DELETE:
                self._forget(name)
            else:
                self.topics.setdefault(name.topic, {})[name.partition] = partition

        self._news.set()
        self._news = asyncio.Event()

    def has_leaders(self, topic: str) -> bool:
        """Whether a topic is known, and each of its partitions has a leader."""
        known = self.topics.get(topic)
        return known is not None and all(partition.leader != NO_LEADER for partition in known.values())

    async def wait_until(self, condition: Callable[[], bool], patience: timedelta) -> None:
        """Wait until that is so, or as long as there is patience for."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(patience.total_seconds()):
                while not condition():
                    await self._news.wait()

    def _forget(self, name: TopicPartition) -> None:
        partitions = self.topics.get(name.topic, {})
        partitions.pop(name.partition, None)
        if not partitions:
            self.topics.pop(name.topic, None)
            self.topic_ids.pop(name.topic, None)
