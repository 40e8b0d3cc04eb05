"""A member's life in a group: find the coordinator, join, sync, heartbeat, and again. It fetches no records.

As `org.apache.kafka.clients.consumer.internals.AbstractCoordinator` and `ConsumerCoordinator` (3.9) with the eager
protocol: before every rejoin everything is given up.
"""

import asyncio
from collections.abc import Mapping, Sequence

import msgspec

from model.cluster.ids import TopicPartition
from model.consumers.assignors.case import Case, Member
from model.consumers.assignors.strategies import assign, strategy_named
from model.consumers.group_coordinator.consumer_protocol import assigned_partitions, subscribed_topics
from model.hosts.kafka_client.kafka_client import KafkaClient
from model.hosts.wire.channel import Build
from model.hosts.wire.errors import UnavailableError, WireError
from model.hosts.wire.messages import Entity
from model.hosts.wire.names import error_name
from model.sandbox.load import group_requests as say

PAUSE_S = 0.2
HEARTBEAT_S = 1.0
_FORGOTTEN = frozenset({"UNKNOWN_MEMBER_ID", "ILLEGAL_GENERATION", "FENCED_INSTANCE_ID"})
_ELSEWHERE = frozenset({"NOT_COORDINATOR", "COORDINATOR_NOT_AVAILABLE", "COORDINATOR_LOAD_IN_PROGRESS"})


class Generation(msgspec.Struct, frozen=True):
    """What a member is between two rebalances."""

    id: int
    partitions: tuple[TopicPartition, ...]


class RejoinNeeded(Exception):  # noqa: N818 - reads as a fact
    """The group goes on without this member until it joins again. The message is Kafka's name of the error."""


class GroupMember:
    """One member. For one event loop; nothing runs in the background."""

    def __init__(self, client: KafkaClient, group: str, topics: Sequence[str], assignor: str = "range") -> None:
        self._client = client
        self._group = group
        self._topics = topics
        self._assignor = assignor
        self._id = ""
        self._coordinator: tuple[str, int] | None = None

    async def join(self) -> Generation:
        """Join, however long that takes, and learn what is its own."""
        while True:
            try:
                return await self._become(await self._join())
            except (WireError, RejoinNeeded):
                await asyncio.sleep(PAUSE_S)

    async def heartbeat(self, generation: Generation) -> None:
        """Still there. Raises RejoinNeeded, or WireError."""
        await self._ask(lambda connection: say.heartbeat(connection, self._group, generation.id, self._id))

    async def commit(self, generation: Generation, offsets: Mapping[TopicPartition, int]) -> None:
        """Raises RejoinNeeded, or WireError."""
        if offsets:
            response = await self._call(
                lambda connection: say.commit_offsets(connection, self._group, generation.id, self._id, offsets)
            )
            for topic in response.topics:
                for each in topic.partitions:
                    self._check(error_name(each.error_code))

    async def committed(self, partitions: Sequence[TopicPartition]) -> dict[TopicPartition, int]:
        """Where the group stands; -1 where it never committed. Raises RejoinNeeded, or WireError."""
        return say.fetched_offsets(
            await self._ask(lambda connection: say.fetch_offsets(connection, self._group, partitions))
        )

    async def leave(self) -> None:
        """Say goodbye. Raises RejoinNeeded, or WireError."""
        if self._id:
            await self._ask(lambda connection: say.leave_group(connection, self._group, self._id))

    async def _join(self) -> Entity:
        while True:
            response = await self._call(
                lambda connection: say.join_group(connection, self._group, self._id, self._assignor, self._topics)
            )
            error = error_name(response.error_code)
            if error != "MEMBER_ID_REQUIRED":  # KIP-394: the second attempt brings the id that the first was given
                self._check(error)
                self._id = str(response.member_id)
                return response
            self._id = str(response.member_id)

    async def _become(self, joined: Entity) -> Generation:
        """Sync, with everybody's assignment if it is this one's turn to make it."""
        generation = int(joined.generation_id)
        brought = await self._assign(joined) if joined.leader == self._id else {}
        synced = await self._ask(
            lambda each: say.sync_group(each, self._group, generation, self._id, self._assignor, brought)
        )
        return Generation(generation, assigned_partitions(bytes(synced.assignment)))

    async def _assign(self, joined: Entity) -> dict[str, bytes]:
        """The leader's work."""
        metadata = await self._client.refresh()
        counts: dict[str, int] = {}
        for partition in metadata.partitions:
            counts[partition.topic] = counts.get(partition.topic, 0) + 1
        members = {
            str(each.member_id): Member(topics=sorted(subscribed_topics(bytes(each.metadata))))
            for each in joined.members
        }
        case = Case(topics=counts, members=members)
        outcome = assign(case, strategy_named(str(joined.protocol_name)))
        return {
            member: say.assignment(TopicPartition(topic, number) for topic, number in owned)
            for member, owned in outcome.lists().items()
        }

    async def _ask(self, build: Build) -> Entity:
        """Ask the coordinator; a response with an error is none."""
        response = await self._call(build)
        self._check(error_name(response.error_code))
        return response

    async def _call(self, build: Build) -> Entity:
        if self._coordinator is None:
            self._coordinator = await self._find()
        try:
            return await self._client.ask_at(self._coordinator, build)
        except WireError:
            self._coordinator = None
            raise

    async def _find(self) -> tuple[str, int]:
        metadata = await self._client.refresh()
        for broker in metadata.brokers:
            response = await self._client.ask(broker, lambda each: say.find_coordinator(each, self._group))
            if error_name(response.error_code) == "NONE":
                return str(response.host), int(response.port)
        raise UnavailableError(f"nobody coordinates {self._group}")

    def _check(self, error: str) -> None:
        if error == "NONE":
            return
        if error in _ELSEWHERE:
            self._coordinator = None
        if error in _FORGOTTEN:
            self._id = ""
        raise RejoinNeeded(error)
