"""A consumer in a coordinator group: a member and a reader side by side, until it is stopped.

A member finds the coordinator, joins, syncs, sends heartbeats, and does it again: as
`org.apache.kafka.clients.consumer.internals.AbstractCoordinator` and `ConsumerCoordinator` (3.9) with the eager
protocol, which gives everything up before every rejoin.
"""

import asyncio
import contextlib
import struct
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from itertools import groupby

import msgspec

from model.cluster.ids import TopicPartition
from model.consumers.assignors.case import Case, CaseMember
from model.consumers.assignors.strategies import assign, strategy_named
from model.consumers.group_coordinator.consumer_protocol import assigned_partitions, subscribed_topics
from model.hosts.kafka_client.kafka_client import KafkaClient
from model.hosts.wire.connection import Build, Connection
from model.hosts.wire.messages import Entity, shaped, shapes
from model.hosts.wire.names import (
    FIND_COORDINATOR,
    HEARTBEAT,
    JOIN_GROUP,
    LEAVE_GROUP,
    OFFSET_COMMIT,
    OFFSET_FETCH,
    SYNC_GROUP,
    UnavailableError,
    WireError,
    error_name,
)
from model.sandbox.load.messages import ConsumerStatus
from model.sandbox.load.reading import Reader

SESSION_TIMEOUT_MS = 10_000
REBALANCE_TIMEOUT_MS = 20_000
NEWEST_FIND_COORDINATOR, NEWEST_JOIN, NEWEST_COMMIT, NEWEST_OFFSET_FETCH, NEWEST_LEAVE = 3, 7, 8, 7, 3
PROTOCOL = "consumer"


def find_coordinator(connection: Connection, group: str) -> Entity:
    """Who coordinates the group."""
    module = shapes(FIND_COORDINATOR, connection.newest(FIND_COORDINATOR, NEWEST_FIND_COORDINATOR), "request")
    return shaped(module.FindCoordinatorRequest, key=group, key_type=0)


def join_group(connection: Connection, group: str, member: str, assignor: str, topics: Iterable[str]) -> Entity:
    """`member` is empty for one that has no id yet."""
    module = shapes(JOIN_GROUP, connection.newest(JOIN_GROUP, NEWEST_JOIN), "request")
    return shaped(
        module.JoinGroupRequest,
        group_id=group,
        session_timeout=timedelta(milliseconds=SESSION_TIMEOUT_MS),
        rebalance_timeout=timedelta(milliseconds=REBALANCE_TIMEOUT_MS),
        member_id=member,
        group_instance_id=None,
        protocol_type=PROTOCOL,
        protocols=(module.JoinGroupRequestProtocol(name=assignor, metadata=subscription(topics)),),
    )


def sync_group(
    connection: Connection, group: str, generation: int, member: str, assignor: str, assignments: Mapping[str, bytes]
) -> Entity:
    """The leader brings the assignments; the others bring none."""
    module = shapes(SYNC_GROUP, connection.newest(SYNC_GROUP), "request")
    return shaped(
        module.SyncGroupRequest,
        group_id=group,
        generation_id=generation,
        member_id=member,
        group_instance_id=None,
        protocol_type=PROTOCOL,
        protocol_name=assignor,
        assignments=tuple(
            module.SyncGroupRequestAssignment(member_id=name, assignment=data) for name, data in assignments.items()
        ),
    )


def heartbeat(connection: Connection, group: str, generation: int, member: str) -> Entity:
    """Still there."""
    module = shapes(HEARTBEAT, connection.newest(HEARTBEAT), "request")
    return shaped(
        module.HeartbeatRequest, group_id=group, generation_id=generation, member_id=member, group_instance_id=None
    )


def leave_group(connection: Connection, group: str, member: str) -> Entity:
    """Goodbye."""
    version = connection.newest(LEAVE_GROUP, NEWEST_LEAVE)
    module = shapes(LEAVE_GROUP, version, "request")
    if version < 3:
        return shaped(module.LeaveGroupRequest, group_id=group, member_id=member)
    members = (module.MemberIdentity(member_id=member, group_instance_id=None),)
    return shaped(module.LeaveGroupRequest, group_id=group, members=members)


def commit_offsets(
    connection: Connection, group: str, generation: int, member: str, offsets: Mapping[TopicPartition, int]
) -> Entity:
    """Everything before these offsets is done with."""
    module = shapes(OFFSET_COMMIT, connection.newest(OFFSET_COMMIT, NEWEST_COMMIT), "request")
    topics = tuple(
        module.OffsetCommitRequestTopic(
            name=topic,
            partitions=tuple(
                shaped(
                    module.OffsetCommitRequestPartition,
                    partition_index=each.partition,
                    committed_offset=offsets[each],
                    committed_leader_epoch=-1,
                    committed_metadata="",
                )
                for each in those
            ),
        )
        for topic, those in groupby(sorted(offsets), key=lambda each: each.topic)
    )
    return shaped(
        module.OffsetCommitRequest,
        group_id=group,
        generation_id_or_member_epoch=generation,
        generation_id=generation,
        member_id=member,
        group_instance_id=None,
        retention_time=timedelta(milliseconds=-1),
        topics=topics,
    )


def fetch_offsets(connection: Connection, group: str, partitions: Iterable[TopicPartition]) -> Entity:
    """Where the group stands in these partitions."""
    module = shapes(OFFSET_FETCH, connection.newest(OFFSET_FETCH, NEWEST_OFFSET_FETCH), "request")
    topics = tuple(
        module.OffsetFetchRequestTopic(name=topic, partition_indexes=tuple(each.partition for each in those))
        for topic, those in groupby(sorted(partitions), key=lambda each: each.topic)
    )
    return shaped(module.OffsetFetchRequest, group_id=group, topics=topics, require_stable=False)


def fetched_offsets(response: Entity) -> dict[TopicPartition, int]:
    """Committed offsets, -1 where there is none; partitions with an error are left out."""
    return {
        TopicPartition(str(topic.name), int(each.partition_index)): int(each.committed_offset)
        for topic in response.topics
        for each in topic.partitions
        if error_name(each.error_code) == "NONE"
    }


def subscription(topics: Iterable[str]) -> bytes:
    """A `ConsumerProtocolSubscription` v0 (ConsumerProtocol, 3.9): topics, and no user data."""
    names = sorted(topics)
    return struct.pack(">hi", 0, len(names)) + b"".join(map(_text, names)) + struct.pack(">i", -1)


def assignment(partitions: Iterable[TopicPartition]) -> bytes:
    """A `ConsumerProtocolAssignment` v0."""
    grouped = [
        (topic, [each.partition for each in those])
        for topic, those in groupby(sorted(partitions), key=lambda each: each.topic)
    ]
    body = b"".join(
        _text(topic) + struct.pack(f">i{len(numbers)}i", len(numbers), *numbers) for topic, numbers in grouped
    )
    return struct.pack(">hi", 0, len(grouped)) + body + struct.pack(">i", -1)


def _text(text: str) -> bytes:
    data = text.encode()
    return struct.pack(">h", len(data)) + data


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
        await self._ask(lambda connection: heartbeat(connection, self._group, generation.id, self._id))

    async def commit(self, generation: Generation, offsets: Mapping[TopicPartition, int]) -> None:
        """Raises RejoinNeeded, or WireError."""
        if offsets:
            response = await self._call(
                lambda connection: commit_offsets(connection, self._group, generation.id, self._id, offsets)
            )
            for topic in response.topics:
                for each in topic.partitions:
                    self._check(error_name(each.error_code))

    async def committed(self, partitions: Sequence[TopicPartition]) -> dict[TopicPartition, int]:
        """Where the group stands; -1 where it never committed. Raises RejoinNeeded, or WireError."""
        return fetched_offsets(await self._ask(lambda connection: fetch_offsets(connection, self._group, partitions)))

    async def leave(self) -> None:
        """Say goodbye. Raises RejoinNeeded, or WireError."""
        if self._id:
            await self._ask(lambda connection: leave_group(connection, self._group, self._id))

    async def _join(self) -> Entity:
        while True:
            response = await self._call(
                lambda connection: join_group(connection, self._group, self._id, self._assignor, self._topics)
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
            lambda each: sync_group(each, self._group, generation, self._id, self._assignor, brought)
        )
        return Generation(generation, assigned_partitions(bytes(synced.assignment)))

    async def _assign(self, joined: Entity) -> dict[str, bytes]:
        metadata = await self._client.refresh()
        counts: dict[str, int] = {}
        for partition in metadata.partitions:
            counts[partition.topic] = counts.get(partition.topic, 0) + 1
        members = {
            str(each.member_id): CaseMember(topics=sorted(subscribed_topics(bytes(each.metadata))))
            for each in joined.members
        }
        case = Case(topics=counts, members=members)
        outcome = assign(case, strategy_named(str(joined.protocol_name)))
        return {
            member: assignment(TopicPartition(topic, number) for topic, number in owned)
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
            response = await self._client.ask(broker, lambda each: find_coordinator(each, self._group))
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
        if self._work is None:
            return "stopped"
        return "joining" if self._generation is None else "consuming"

    @property
    def partitions(self) -> tuple[TopicPartition, ...]:
        return self._generation.partitions if self._generation else ()

    @property
    def consumed(self) -> int:
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
