"""A consumer's options, who leads which partition, and rounds of fetches from those leaders.

A round has one task per leader. It ends when a leader fails or stops leading; then leaders are looked up again, by
Metadata from version 1 on, which means brokers from 0.10 on. Source: `kafka.server.AbstractFetcherThread`,
`kafka.consumer.ConsumerFetcherThread`, `kafka.consumer.ConsumerFetcherManager.LeaderFinderThread` (0.8.2, 1.1).
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence

import msgspec

from model.cluster.ids import TopicPartition
from model.consumers.zookeeper_groups.member_state import MemberSettings
from model.hosts.background import tell_failure
from model.hosts.kafka_client.kafka_client import fetch_request, fetched_records, list_offsets_request, listed_offsets
from model.hosts.wire.connection import Channel, Connection
from model.hosts.wire.messages import Entity, shaped, shapes
from model.hosts.wire.names import METADATA, WireError
from model.hosts.zookeeper.settings import Settings as ZooKeeperSettings
from model.log.records import Damage, Record, records_of, scan
from model.znodes.cluster import decode_broker
from model.znodes.paths import BROKER_IDS
from model.znodes.payload import UnusablePayloadError
from model.zookeeper.operations import Answer, GetChildren, GetData, ZooKeeperRequest

EARLIEST = -2
LATEST = -1
RESETS = {"smallest": EARLIEST, "largest": LATEST}
"""Values of `auto.offset.reset`, and the timestamps that ListOffsets knows them by."""


class FetchSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Settings by the names of their keys; `fetch_message_max_bytes` is for one partition."""

    auto_offset_reset: str = "smallest"
    fetch_message_max_bytes: int = 1 << 20
    fetch_min_bytes: int = 1
    fetch_wait_max_ms: int = 100
    refresh_leader_backoff_ms: int = 200


class ConsumerOptions(msgspec.Struct, frozen=True, kw_only=True):
    """`listener`: through which listener of the brokers; where one has none of that name, through its first."""

    zookeeper: ZooKeeperSettings
    member: MemberSettings
    fetch: FetchSettings = FetchSettings()
    listener: str = "PLAINTEXT"
    tell_values: bool = False


NEWEST_METADATA = 7
"""Later versions know topics by their ids, or are compact without a need."""
Address = tuple[str, int]


def metadata_request(connection: Connection, topics: tuple[str, ...]) -> Entity:
    """Who leads the partitions of these topics? Creates none of them."""
    module = shapes(METADATA, connection.newest(METADATA, NEWEST_METADATA), "request")
    named = tuple(shaped(module.MetadataRequestTopic, name=topic) for topic in topics)
    return shaped(module.MetadataRequest, topics=named, allow_auto_topic_creation=False)


def leaders_in(response: Entity) -> Mapping[TopicPartition, Address]:
    """Where the leaders are; partitions without one are left out."""
    addresses = {each.node_id: (each.host, each.port) for each in response.brokers}
    return {
        TopicPartition(topic.name, partition.partition_index): addresses[partition.leader_id]
        for topic in response.topics
        for partition in topic.partitions
        if partition.leader_id in addresses
    }


Ask = Callable[[Sequence[ZooKeeperRequest]], Awaitable[tuple[Answer, ...]]]
REQUEST_TIMEOUT_S = 30.0
_LOGGER = logging.getLogger(__name__)


class Leaders:
    """For one event loop."""

    def __init__(self, ask: Ask, listener: str, client_id: str) -> None:
        self._ask = ask
        self._listener = listener
        self._client_id = client_id
        self._channels: dict[Address, Channel] = {}

    async def of(self, topics: tuple[str, ...]) -> Mapping[TopicPartition, Address]:
        """What the first broker that answers says; nothing if none does."""
        for address in await self._brokers():
            try:
                return leaders_in(await self.channel(address).ask(lambda known: metadata_request(known, topics)))
            except WireError as error:
                _LOGGER.warning("broker at %s:%d tells no leaders: %s", *address, error)
        return {}

    def channel(self, address: Address) -> Channel:
        """The way to a broker."""
        if address not in self._channels:
            self._channels[address] = Channel(*address, self._client_id, REQUEST_TIMEOUT_S)
        return self._channels[address]

    async def close(self) -> None:
        """End all connections."""
        for channel in self._channels.values():
            await channel.close()

    async def _brokers(self) -> list[Address]:
        (listed,) = await self._ask((GetChildren(BROKER_IDS),))
        answers = await self._ask([GetData(f"{BROKER_IDS}/{name}") for name in listed.names])
        return [address for answer in answers if answer.ok and (address := self._address(answer.data)) is not None]

    def _address(self, data: bytes) -> Address | None:
        try:
            listeners = decode_broker(data).listeners
        except UnusablePayloadError:
            return None
        named = [each for each in listeners if each.listener == self._listener]
        return next(((each.host, each.port) for each in (*named, *listeners)), None)


UNKNOWN = -1
OUT_OF_RANGE = "OFFSET_OUT_OF_RANGE"
Rounds = asyncio.Task[None]
OnRecords = Callable[[Mapping[TopicPartition, tuple[int, int, tuple[Record, ...]]]], None]
"""Of each partition: from which offset on, up to which (exclusive), and the records between."""


class Fetching:
    """Started and stopped any number of times. What `on_records` was told counts as consumed.

    `on_failure` is told what ended fetching, which must not happen.
    """

    def __init__(
        self,
        leaders: Leaders,
        settings: FetchSettings,
        on_records: OnRecords,
        on_failure: Callable[[BaseException], object],
    ) -> None:
        self._leaders = leaders
        self._settings = settings
        self._on_records = on_records
        self._on_failure = on_failure
        self._offsets: dict[TopicPartition, int] = {}
        self._rounds: Rounds | None = None
        self._told: dict[Address, str] = {}

    def start(self, offsets: Mapping[TopicPartition, int]) -> None:
        """Fetch from these offsets on; -1: from where `auto.offset.reset` says."""
        self._offsets = dict(offsets)
        self._rounds = asyncio.create_task(self._run())
        self._rounds.add_done_callback(lambda rounds: tell_failure(rounds, self._on_failure))

    async def stop(self) -> None:
        """Nothing is handed over once this is done."""
        if self._rounds is not None:
            self._rounds.cancel()
            await asyncio.gather(self._rounds, return_exceptions=True)

    async def _run(self) -> None:
        topics = tuple(sorted({read.topic for read in self._offsets}))
        while True:
            leaders = await self._leaders.of(topics)
            by_leader: dict[Address, list[TopicPartition]] = {}
            for read in self._offsets:
                if read in leaders:
                    by_leader.setdefault(leaders[read], []).append(read)
            work = [asyncio.create_task(self._fetch_all(*each)) for each in by_leader.items()]
            if any(read not in leaders for read in self._offsets):
                work.append(asyncio.create_task(self._pause()))
            try:
                await asyncio.wait(work, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for task in work:
                    task.cancel()
                ends = await asyncio.gather(*work, return_exceptions=True)
            for error in ends:
                if isinstance(error, Exception):
                    raise error
            await self._pause()

    async def _pause(self) -> None:
        await asyncio.sleep(self._settings.refresh_leader_backoff_ms / 1000)

    async def _fetch_all(self, leader: Address, partitions: list[TopicPartition]) -> None:
        """Until something is wrong with one of them."""
        try:
            while await self._fetch(leader, partitions):
                self._told.pop(leader, None)
        except WireError as error:
            if self._told.get(leader) != str(error):  # once, not five times a second
                _LOGGER.warning("broker at %s:%d cannot be fetched from: %s", *leader, error)
            self._told[leader] = str(error)

    async def _fetch(self, leader: Address, partitions: list[TopicPartition]) -> bool:
        channel = self._leaders.channel(leader)
        lost = tuple(read for read in partitions if self._offsets[read] == UNKNOWN)
        if lost:
            reset = RESETS[self._settings.auto_offset_reset]
            asked = dict.fromkeys(lost, reset)
            listed = listed_offsets(await channel.ask(lambda known: list_offsets_request(known, asked)))
            found = {partition: offset for partition, error, offset in listed if error == "NONE"}
            self._offsets.update(found)
            self._on_records({read: (offset, offset, ()) for read, offset in found.items()})
            if len(found) < len(lost):
                return False
        wanted = {read: self._offsets[read] for read in partitions}
        settings = self._settings
        response = await channel.ask(
            lambda known: fetch_request(
                known,
                wanted,
                settings.fetch_message_max_bytes,
                wait_ms=settings.fetch_wait_max_ms,
                min_bytes=settings.fetch_min_bytes,
            )
        )
        return self._take(list(fetched_records(response)))

    def _take(self, fetched: list[tuple[TopicPartition, str, bytes]]) -> bool:
        """Whether the leader may be asked again. Nothing waits here: what is taken is told."""
        taken: dict[TopicPartition, tuple[int, int, tuple[Record, ...]]] = {}
        for read, error, data in fetched:
            start = self._offsets[read]
            if error == OUT_OF_RANGE:
                self._offsets[read] = UNKNOWN
            elif error == "NONE" and data:
                records, end = _records(read, data, start)
                if end > start:
                    self._offsets[read] = end
                    taken[read] = (start, end, records)
        if taken:
            self._on_records(taken)
        return all(error in ("NONE", OUT_OF_RANGE) for _, error, _ in fetched)


def _records(read: TopicPartition, data: bytes, start: int) -> tuple[tuple[Record, ...], int]:
    """The records from `start` on, and the offset after the last whole batch; the last batch is often cut off."""
    records, end = list[Record](), start
    for batch in scan(data):
        if isinstance(batch, Damage):
            break
        for record in () if batch.is_control else records_of(data, batch):
            if isinstance(record, Damage):
                _LOGGER.warning("%s: records from %d on cannot be read: %s", read, end, record.cause)
            elif record.offset >= start:
                records.append(record)
        end = max(end, batch.next_offset)
    return tuple(records), end
