"""Fetches partitions from whoever leads them, and hands records over: rounds of one task per leader.

A round ends when a leader fails or is none any more; then leaders are looked for again. Source:
`kafka.server.AbstractFetcherThread`, `kafka.consumer.ConsumerFetcherThread` (0.8.2, 1.1).
"""

import asyncio
import logging
from collections.abc import Callable, Mapping

from model.cluster.ids import TopicPartition
from model.hosts.background_tasks import tell_failure
from model.hosts.kafka_client.fetch import fetch_request, fetched_records
from model.hosts.kafka_client.list_offsets import list_offsets_request, listed_offsets
from model.hosts.wire.errors import WireError
from model.hosts.zookeeper_consumer.leader_messages import Address
from model.hosts.zookeeper_consumer.leaders import Leaders
from model.hosts.zookeeper_consumer.options import RESETS, FetchSettings
from model.log.records import Damage, Record, records_of, scan

UNKNOWN = -1
OUT_OF_RANGE = "OFFSET_OUT_OF_RANGE"
Rounds = asyncio.Task[None]
OnRecords = Callable[[Mapping[TopicPartition, tuple[int, int, tuple[Record, ...]]]], None]
"""Of each partition: from which offset on, up to which (exclusive), and the records between."""
_LOGGER = logging.getLogger(__name__)


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
