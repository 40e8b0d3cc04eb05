"""A consumer in a coordinator group: a member and a reader side by side, until it is stopped."""

import asyncio
import contextlib
from collections.abc import Sequence

from model.cluster.ids import TopicPartition
from model.hosts.kafka_client.kafka_client import KafkaClient
from model.hosts.wire.errors import WireError
from model.sandbox.load.consumer_status import ConsumerStatus
from model.sandbox.load.group_member import HEARTBEAT_S, Generation, GroupMember, RejoinNeeded
from model.sandbox.load.reader import Reader


class GroupConsumer:
    """Runs from `start` to `cut_off` or `leave`."""

    def __init__(self, client: KafkaClient, group: str, topics: Sequence[str]) -> None:
        self._client = client
        self._group = group
        self._topics = topics
        self._member = GroupMember(client, group, topics)
        self._reader = Reader(client)
        self._generation: Generation | None = None
        self._work: asyncio.Task[None] | None = None

    @property
    def status(self) -> ConsumerStatus:
        """Whether it owns its share."""
        if self._work is None:
            return "stopped"
        return "joining" if self._generation is None else "consuming"

    @property
    def partitions(self) -> tuple[TopicPartition, ...]:
        """What it owns now."""
        return self._generation.partitions if self._generation else ()

    @property
    def consumed(self) -> int:
        """Records, ever."""
        return self._reader.consumed

    def start(self) -> None:
        """Join and read, again and again; a consumer that was cut off comes back as a new member."""
        self._member = GroupMember(self._client, self._group, self._topics)
        self._work = asyncio.create_task(self._consume())

    async def cut_off(self) -> None:
        """Vanish, as a process that is killed: the coordinator hears nothing more."""
        if self._work is not None:
            self._work.cancel()
            await asyncio.gather(self._work, return_exceptions=True)
            self._work = self._generation = None
        await self._client.close()

    async def _consume(self) -> None:
        while True:
            self._generation = None
            generation = await self._member.join()
            with contextlib.suppress(RejoinNeeded, WireError):
                self._reader.own(await self._member.committed(generation.partitions))
                self._generation = generation
                reading = asyncio.create_task(self._read())
                try:
                    await self._keep(generation)
                finally:
                    reading.cancel()
                    await asyncio.gather(reading, return_exceptions=True)

    async def _read(self) -> None:
        while True:
            await self._reader.read()
            await asyncio.sleep(0)

    async def _keep(self, generation: Generation) -> None:
        """Heartbeat and commit, until the group is rebalanced: what was read before is committed then too."""
        while True:
            await asyncio.sleep(HEARTBEAT_S)
            try:
                await self._member.heartbeat(generation)
            finally:
                with contextlib.suppress(RejoinNeeded, WireError):
                    await self._member.commit(generation, self._reader.positions)
