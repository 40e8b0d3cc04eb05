"""Asks a cluster: any broker for its metadata, a broker by its id for the rest. It does not repeat what failed.

Of several brokers that may know the same, one is asked after the other, but a slow one does not keep the next from
being asked. `ReadingClient` can only read: what is not on its list of reads is refused before anything is sent.
What is asked, and answers as values: Metadata, ListOffsets, and Fetch as consumers send it (3.9), without a fetch
session (KIP-227). No record is read here.
"""

import asyncio
import datetime
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby
from typing import Any, TypeVar

import msgspec

from model.cluster.ids import TopicPartition
from model.hosts.wire.connection import PLAINTEXT, Build, Channel, Connection, Security
from model.hosts.wire.messages import Encoded, Entity, name_of, shaped
from model.hosts.wire.names import (
    ZERO_ID,
    ApiKey,
    DeniedError,
    UnavailableError,
    UnsupportedVersionError,
    WireError,
    error_name,
    topic_id_text,
)

NOBODY = -1
_BROKER_HEARTBEAT = 63
"""Only controllers of KRaft hear it; brokers' listeners do not offer it. Controllers know no Metadata (KIP-919)."""
NEWEST_METADATA = 12
"""The first whose topic ids can be relied on (3.1), and the last without errors that only clients of 4.0 know."""


class PartitionPlace(msgspec.Struct, frozen=True):
    """Where a partition is."""

    leader: int
    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    leader_epoch: int = -1
    """-1 where the broker is older than 2.1."""
    offline: tuple[int, ...] = ()
    """Replicas on brokers that are down, or in log folders that failed (KIP-112)."""
    elr: tuple[int, ...] | None = None
    """Eligible leader replicas (KIP-966); None where nobody was asked, or told."""
    last_known_elr: tuple[int, ...] | None = None


class Metadata(msgspec.Struct, frozen=True):
    """One answer."""

    brokers: Mapping[int, tuple[str, int]] = {}
    """Host and port of each live broker, on the listener that was asked."""
    racks: Mapping[int, str] = {}
    cluster_id: str | None = None
    topic_ids: Mapping[str, str] = {}
    controller: int = NOBODY
    partitions: Mapping[TopicPartition, PartitionPlace] = {}

    def leaders(self) -> Iterator[tuple[TopicPartition, int]]:
        """Every partition with its leader, NOBODY for none."""
        return ((partition, place.leader) for partition, place in self.partitions.items())


def metadata_request(connection: Connection, topics: Sequence[str] | None = None) -> Entity:
    """Asks for these topics, or all; creates none. Raises UnsupportedVersionError, saying so at a controller's port."""
    if ApiKey.METADATA not in connection.versions and _BROKER_HEARTBEAT in connection.versions:
        raise UnsupportedVersionError("this is a controller's listener: name a broker's")
    module = connection.request_shapes(ApiKey.METADATA, NEWEST_METADATA)
    named = (shaped(module.MetadataRequestTopic, name=topic, topic_id=ZERO_ID) for topic in topics or ())
    return shaped(
        module.MetadataRequest,
        topics=None if topics is None else tuple(named),
        allow_auto_topic_creation=False,
        include_cluster_authorized_operations=False,
        include_topic_authorized_operations=False,
    )


def metadata_of(response: Entity) -> Metadata:
    """The values of a MetadataResponse v1 to v12."""
    return Metadata(
        brokers={int(each.node_id): (each.host, int(each.port)) for each in response.brokers},
        racks={int(each.node_id): str(each.rack) for each in response.brokers if each.rack is not None},
        cluster_id=getattr(response, "cluster_id", None),
        topic_ids={
            str(topic.name): text
            for topic in response.topics
            if (text := topic_id_text(getattr(topic, "topic_id", None))) is not None
        },
        controller=int(response.controller_id),
        partitions={
            TopicPartition(str(topic.name), int(each.partition_index)): PartitionPlace(
                leader=int(each.leader_id),
                replicas=tuple(map(int, each.replica_nodes)),
                isr=tuple(map(int, each.isr_nodes)),
                leader_epoch=int(getattr(each, "leader_epoch", -1)),
                offline=tuple(map(int, getattr(each, "offline_replicas", ()))),
            )
            for topic in response.topics
            for each in topic.partitions
        },
    )


NEWEST_LIST_OFFSETS = 5
EARLIEST, LATEST = -2, -1
"""Times that ListOffsets takes for the ends of a log."""
CONSUMER_REPLICA_ID = -1
"""The replica id of whoever is no replica."""


def list_offsets_request(connection: Connection, times: Mapping[TopicPartition, int]) -> Entity:
    """The offsets at these times, ms or EARLIEST or LATEST."""
    module = connection.request_shapes(ApiKey.LIST_OFFSETS, NEWEST_LIST_OFFSETS)
    topics = tuple(
        module.ListOffsetsTopic(
            name=topic,
            partitions=tuple(
                shaped(
                    module.ListOffsetsPartition,
                    partition_index=partition.partition,
                    current_leader_epoch=-1,
                    timestamp=times[partition],
                )
                for partition in group
            ),
        )
        for topic, group in groupby(sorted(times), key=lambda partition: partition.topic)
    )
    return shaped(module.ListOffsetsRequest, replica_id=CONSUMER_REPLICA_ID, isolation_level=0, topics=topics)


def listed_offsets(response: Entity) -> Iterator[tuple[TopicPartition, str, int]]:
    """Partition, Kafka's name of the error, and the offset."""
    for topic in response.topics:
        for each in topic.partitions:
            place: Any = each
            partition = TopicPartition(str(topic.name), int(place.partition_index))
            yield partition, error_name(place.error_code), int(place.offset)


NEWEST_FETCH = 11
"""Version 12 is compact without a need, and from 13 on topics have ids."""


MOST_BYTES = (1 << 31) - 1


def fetch_request(
    connection: Connection,
    offsets: Mapping[TopicPartition, int],
    partition_bytes: int,
) -> Entity:
    """What is there from these offsets on, at most so many bytes of each partition, or one batch if that is larger."""
    module = connection.request_shapes(ApiKey.FETCH, NEWEST_FETCH)
    topics = tuple(
        shaped(
            module.FetchTopic,
            topic=topic,
            partitions=tuple(
                shaped(
                    module.FetchPartition,
                    partition=partition.partition,
                    fetch_offset=offsets[partition],
                    partition_max_bytes=partition_bytes,
                )
                for partition in group
            ),
        )
        for topic, group in groupby(sorted(offsets), key=lambda partition: partition.topic)
    )
    return shaped(
        module.FetchRequest,
        replica_id=CONSUMER_REPLICA_ID,
        max_wait=datetime.timedelta(),
        min_bytes=0,
        max_bytes=MOST_BYTES,
        topics=topics,
        forgotten_topics_data=(),
        rack_id="",
    )


def fetched_records(response: Entity) -> Iterator[tuple[TopicPartition, str, bytes]]:
    """Partition, Kafka's name of the error, and whole batches, of which the last may be cut short."""
    for topic in response.responses:
        for data in topic.partitions:
            partition = TopicPartition(str(topic.topic), int(data.partition_index))
            yield partition, error_name(data.error_code), bytes(data.records or b"")


HEAD_START_S = 1.0
"""Who has not answered for so long is not waited for alone any more."""

T = TypeVar("T")


async def first_answer(asks: Iterable[Callable[[], Awaitable[T]]], head_start_s: float = HEAD_START_S) -> T:
    """What the first one gives that answers; each begins when the one before it failed, or took this long.

    Raises the WireError that came last where all of them fail, and UnsupportedVersionError at once.
    """
    waiting, running = list(asks)[::-1], set[asyncio.Future[T]]()
    failed: WireError = UnavailableError("nobody is known")
    try:
        while waiting or running:
            if waiting:
                running.add(asyncio.ensure_future(waiting.pop()()))
            timeout_s = head_start_s if waiting else None
            done, running = await asyncio.wait(running, timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED)
            for one in done:
                try:
                    return one.result()
                except UnsupportedVersionError:
                    raise
                except WireError as error:
                    failed = error
        raise failed
    finally:
        for one in running:
            one.cancel()
        await asyncio.gather(*running, return_exceptions=True)


Address = tuple[str, int]


class KafkaClient:
    """For one event loop; connections are opened when there is something to ask."""

    def __init__(
        self,
        bootstrap: Iterable[Address],
        client_id: str,
        timeout_s: float = 30.0,
        security: Security = PLAINTEXT,
    ) -> None:
        """`timeout_s` is how long a connection or an answer may take."""
        self.metadata = Metadata()
        self.answers = 0
        """So many questions were answered."""
        self._bootstrap = list(bootstrap)
        self._client_id = client_id
        self.timeout_s = timeout_s
        self._security = security
        self.answered: Address | None = None
        """Who told the metadata last, and is asked first."""
        self._channels: dict[Address, Channel] = {}

    async def refresh(self, topics: Sequence[str] | None = None) -> Metadata:
        """Ask for these topics, or all, one broker after the other until one answers. Raises WireError."""
        build = partial(metadata_request, topics=topics)

        async def told_by(address: Address) -> tuple[Address, Metadata]:
            try:
                return address, metadata_of(await self.ask_at(address, build))
            except WireError as error:
                raise _at(address, error) from error

        known = (*([self.answered] if self.answered else ()), *self.metadata.brokers.values(), *self._bootstrap)
        try:
            self.answered, self.metadata = await first_answer(partial(told_by, each) for each in dict.fromkeys(known))
        except DeniedError:
            raise
        except WireError as failed:
            raise UnavailableError(f"no broker answers: {failed}") from failed
        return self.metadata

    async def ask(self, broker: int, build: Build) -> Entity:
        """Ask one broker. Raises UnavailableError, also where its address is not known, or another WireError."""
        address = self._address(broker)
        try:
            return await self.ask_at(address, build)
        except WireError as error:
            raise type(error)(f"broker {broker}: {error}") from None

    async def ask_at(self, address: Address, build: Build) -> Entity:
        """Ask whoever is there."""
        answer = await self._channel(address).ask(build)
        self.answers += 1
        return answer

    async def connected(self, address: Address) -> Connection:
        """An open connection, for what the broker said of itself when it was opened. Raises UnavailableError or
        another WireError."""
        return await self._channel(address).connected()

    async def hang_up(self, address: Address) -> None:
        """End the connection to whoever is there: a broker takes up nothing before it has answered what was asked."""
        if address in self._channels:
            await self._channels[address].close()

    @property
    def connections(self) -> int:
        """How many were made, those that ended included."""
        return sum(channel.connections for channel in list(self._channels.values()))

    async def close(self) -> None:
        """End all connections."""
        await asyncio.gather(*(channel.close() for channel in self._channels.values()))
        self._channels.clear()

    def _address(self, broker: int) -> Address:
        address = self.metadata.brokers.get(broker)
        if address is None:
            raise UnavailableError(f"broker {broker} is not known")
        return address

    def _channel(self, address: Address) -> Channel:
        if address not in self._channels:
            self._channels[address] = Channel(*address, self._client_id, self.timeout_s, self._security)
        return self._channels[address]


def _at(address: Address, error: WireError) -> WireError:
    """The same, saying where."""
    host, port = address
    return error if f"{host}:{port}" in str(error) else type(error)(f"{host}:{port}: {error}")


def address_of(text: str) -> Address:
    """Host and port of `127.0.0.1:40011`."""
    host, _, port = text.rpartition(":")
    return host, int(port)


READS = frozenset(
    {
        ApiKey.FETCH, ApiKey.LIST_OFFSETS, ApiKey.METADATA, ApiKey.OFFSET_FETCH, ApiKey.DESCRIBE_GROUPS,
        ApiKey.LIST_GROUPS, ApiKey.DESCRIBE_CONFIGS, ApiKey.DESCRIBE_LOG_DIRS, ApiKey.LIST_PARTITION_REASSIGNMENTS,
        ApiKey.DESCRIBE_QUORUM, ApiKey.CONSUMER_GROUP_DESCRIBE, ApiKey.SHARE_GROUP_DESCRIBE, ApiKey.DESCRIBE_CLUSTER,
        ApiKey.DESCRIBE_TOPIC_PARTITIONS,
    }
)  # fmt: skip
"""All that is ever asked, beside ApiVersions and the login, which every connection begins with."""

_ENCODED = frozenset({ApiKey.SHARE_GROUP_DESCRIBE})
"""Of these, what may come as bytes, which nobody looks into here: none of their fields changes anything."""


class NotAReadError(Exception):
    """A defect in kdrill: something that may change a cluster was about to be asked."""


class ReadingClient(KafkaClient):
    """Asks for nothing that changes a cluster. Raises NotAReadError instead."""

    async def ask_at(self, address: Address, build: Build) -> Entity:
        def checked(connection: Connection) -> Entity:
            request = build(connection)
            is_encoded = isinstance(request, Encoded)
            key = request.api_key if is_encoded else request.__api_key__
            if key not in (_ENCODED if is_encoded else READS):
                raise NotAReadError(f"{name_of(key)} is no read")
            if getattr(request, "allow_auto_topic_creation", False):
                raise NotAReadError("metadata that may create a topic is no read")
            return request

        return await super().ask_at(address, checked)
