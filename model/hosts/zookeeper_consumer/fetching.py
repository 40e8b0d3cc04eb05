"""A consumer's options, where brokers are, and records fetched from the partitions that it owns.

librdkafka finds leaders and fetches, from brokers of 0.10 on. Of groups and offsets it knows nothing: ZooKeeper does.
Brokers are found where ZooKeeper has them, and again whenever none of those that are known can be reached.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence

import msgspec
from confluent_kafka import OFFSET_BEGINNING, OFFSET_END, Consumer, KafkaError, Message
from confluent_kafka import TopicPartition as Assigned

from model.cluster.ids import TopicPartition
from model.consumers.zookeeper_groups.member_state import MemberSettings
from model.hosts.background import tell_failure
from model.hosts.zookeeper.settings import Settings as ZooKeeperSettings
from model.znodes.cluster import decode_broker
from model.znodes.paths import BROKER_IDS
from model.znodes.payload import UnusablePayloadError
from model.zookeeper.operations import Answer, GetChildren, GetData, ZooKeeperRequest

RESETS = {"smallest": (OFFSET_BEGINNING, "earliest"), "largest": (OFFSET_END, "latest")}
"""Values of `auto.offset.reset`, and what librdkafka calls them: as an offset, and as a setting."""


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


Ask = Callable[[Sequence[ZooKeeperRequest]], Awaitable[tuple[Answer, ...]]]


async def bootstrap(ask: Ask, listener: str) -> str:
    """`host:port,…` of the brokers that ZooKeeper has; empty while there are none."""
    (listed,) = await ask((GetChildren(BROKER_IDS),))
    answers = await ask([GetData(f"{BROKER_IDS}/{name}") for name in listed.names])
    return ",".join(filter(None, (_address(answer.data, listener) for answer in answers if answer.ok)))


def _address(data: bytes, listener: str) -> str:
    try:
        listeners = decode_broker(data).listeners
    except UnusablePayloadError:
        return ""
    named = [each for each in listeners if each.listener == listener]
    return next((f"{each.host}:{each.port}" for each in (*named, *listeners)), "")


UNKNOWN = -1
AT_ONCE = 500
WAIT_S = 0.1
OnRecords = Callable[[Mapping[TopicPartition, tuple[int, int, Sequence[Message]]]], None]
"""Of each partition: from which offset on, up to which (exclusive), and the records between."""
_LOGGER = logging.getLogger(__name__)


class Fetching:
    """Started and stopped any number of times. What `on_records` was told counts as consumed.

    `on_failure` is told what ended fetching, which must not happen.
    """

    def __init__(
        self, ask: Ask, options: ConsumerOptions, on_records: OnRecords, on_failure: Callable[[BaseException], object]
    ) -> None:
        self._ask = ask
        self._options = options
        self._on_records = on_records
        self._on_failure = on_failure
        self._offsets: dict[TopicPartition, int] = {}
        self._work: asyncio.Task[None] | None = None
        self._is_lost = False
        self._told = ""

    def start(self, offsets: Mapping[TopicPartition, int]) -> None:
        """Fetch from these offsets on; -1: from where `auto.offset.reset` says."""
        self._offsets = dict(offsets)
        self._work = asyncio.create_task(self._run())
        self._work.add_done_callback(lambda work: tell_failure(work, self._on_failure))

    async def stop(self) -> None:
        """Nothing is handed over once this is done."""
        if self._work is not None:
            self._work.cancel()
            await asyncio.gather(self._work, return_exceptions=True)

    async def _run(self) -> None:
        while self._offsets:
            if brokers := await bootstrap(self._ask, self._options.listener):
                self._is_lost = False
                consumer = self._assigned(brokers)
                while not self._is_lost:
                    self._take(await asyncio.to_thread(consumer.consume, AT_ONCE, WAIT_S))
            await asyncio.sleep(self._options.fetch.refresh_leader_backoff_ms / 1000)

    def _assigned(self, brokers: str) -> Consumer:
        settings = self._options.fetch
        start, reset = RESETS[settings.auto_offset_reset]
        consumer = Consumer(
            {
                "bootstrap.servers": brokers,
                "client.id": self._options.member.consumer_id,
                "group.id": self._options.member.group_id,  # of which nothing is asked
                "enable.auto.commit": False,
                "enable.partition.eof": True,
                "auto.offset.reset": reset,
                "fetch.wait.max.ms": settings.fetch_wait_max_ms,
                "fetch.min.bytes": settings.fetch_min_bytes,
                "max.partition.fetch.bytes": settings.fetch_message_max_bytes,
                "topic.metadata.refresh.fast.interval.ms": settings.refresh_leader_backoff_ms,
                "reconnect.backoff.max.ms": 500,
                "log_level": 0,  # errors are told to the callback
                "error_cb": self._trouble,
            }
        )
        consumer.assign(
            [Assigned(*read, start if offset == UNKNOWN else offset) for read, offset in self._offsets.items()]
        )
        return consumer

    def _take(self, messages: Sequence[Message]) -> None:
        """Nothing waits here: what is taken is told. A partition's end says where a new one begins."""
        taken: dict[TopicPartition, list[Message]] = {}
        ends: dict[TopicPartition, int] = {}
        for message in messages:
            read, offset = TopicPartition(message.topic() or "", message.partition() or 0), message.offset() or 0
            error = message.error()
            if error is None:
                taken.setdefault(read, []).append(message)
                ends[read] = offset + 1
            elif error.code() == KafkaError._PARTITION_EOF:
                ends[read] = offset
            else:
                self._trouble(error)
        told: dict[TopicPartition, tuple[int, int, Sequence[Message]]] = {}
        for read, end in ends.items():
            records, start = taken.get(read, []), self._offsets[read]
            if start == UNKNOWN:
                start = records[0].offset() or 0 if records else end
            if records or self._offsets[read] != end:
                told[read] = start, end, records
        self._offsets |= ends
        if told:
            self._on_records(told)

    def _trouble(self, error: KafkaError) -> None:
        """Said once, not again and again."""
        self._is_lost = self._is_lost or error.code() == KafkaError._ALL_BROKERS_DOWN
        if error.str() != self._told:
            self._told = error.str()
            _LOGGER.warning("brokers cannot be fetched from: %s", self._told)
