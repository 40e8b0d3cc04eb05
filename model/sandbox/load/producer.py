"""A steady idempotent producer with acks=all: every record is sent until it is acknowledged, and then noted.

One request at a time goes to each leader. It neither reads nor judges what became of the records.
"""

import asyncio
import contextlib
import time
from collections.abc import Sequence

from model.cluster.ids import TopicPartition
from model.hosts.kafka_client.kafka_client import KafkaClient
from model.hosts.kafka_client.metadata import NOBODY
from model.hosts.wire.errors import WireError
from model.log.records.encode_batch import Producer as ProducerId
from model.sandbox.cluster.chronicle import now_ms
from model.sandbox.load.lane import Answer, Lane, answer_to
from model.sandbox.load.ledger import Ledger
from model.sandbox.load.produce_requests import (
    named,
    new_producer,
    new_producer_request,
    produce_answers,
    produce_request,
)

TICK_S = 0.05
PRODUCE_TIMEOUT_MS = 5_000
METADATA_EVERY_S = 5.0
METADATA_AT_MOST_EVERY_S = 0.2
PAUSE_S = 0.1


class Producer:
    """From `start` to `close`. For one event loop."""

    def __init__(self, client: KafkaClient, partitions: Sequence[TopicPartition], run: str, ledger: Ledger) -> None:
        self.rate = 0.0
        """Records a second, over all partitions."""
        self.error = ""
        """What the last answer said that was no acknowledgement; empty once there is nothing to repeat."""
        self._client = client
        self._partitions = partitions
        self._run = run
        self._ledger = ledger
        self._lanes: dict[TopicPartition, Lane] = {}
        self._sending: dict[int, asyncio.Task[None]] = {}
        self._metadata_s = 0.0
        self._is_stale = True
        self._owed = 0.0
        self._turn = 0
        self._work: asyncio.Task[None] | None = None

    @property
    def unacknowledged(self) -> int:
        """Records sent, or about to be, and not acknowledged."""
        return sum(lane.unacknowledged for lane in self._lanes.values())

    async def start(self) -> None:
        """Get a producer id, however long that takes, and begin."""
        producer = await self._new_producer()
        self._lanes = {partition: Lane(partition, self._run, producer) for partition in self._partitions}
        self._work = asyncio.create_task(self._produce())

    async def drain(self, timeout_s: float) -> None:
        """Produce nothing more, and wait until all is acknowledged, or for so long."""
        self.rate = 0.0
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                while self.unacknowledged:
                    await asyncio.sleep(TICK_S)

    async def close(self) -> None:
        """Send nothing more."""
        tasks = [*self._sending.values(), *([self._work] if self._work else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._client.close()

    async def _produce(self) -> None:
        before_s = time.monotonic()
        while True:
            now_s = time.monotonic()
            self._fall_due(self.rate * min(now_s - before_s, 1.0))
            before_s = now_s
            await self._refresh(now_s)
            self._send_all()
            await asyncio.sleep(TICK_S)

    def _fall_due(self, records: float) -> None:
        """Deal out what is due since the last tick, to one partition after the other."""
        self._owed += records
        count, self._owed = int(self._owed), self._owed % 1
        lanes = list(self._lanes.values())
        share, rest = divmod(count, len(lanes))
        for place, lane in enumerate(lanes):
            lane.add(share + ((place - self._turn) % len(lanes) < rest))
        self._turn = (self._turn + rest) % len(lanes)

    async def _refresh(self, now_s: float) -> None:
        age_s = now_s - self._metadata_s
        if age_s < METADATA_AT_MOST_EVERY_S or not (self._is_stale or age_s > METADATA_EVERY_S):
            return
        self._metadata_s = now_s
        try:
            await self._client.refresh(named(self._partitions))
            self._is_stale = False
        except WireError as error:
            self._trouble(str(error))

    def _send_all(self) -> None:
        """A request to every leader that has none under way."""
        by_leader: dict[int, list[Lane]] = {}
        for partition, place in self._client.metadata.partitions.items():
            lane = self._lanes.get(partition)
            if lane is not None and lane.unacknowledged:
                by_leader.setdefault(place.leader, []).append(lane)
        if by_leader.pop(NOBODY, None):
            self._trouble("no leader")
        for leader, lanes in by_leader.items():
            if leader not in self._sending:
                task = self._sending[leader] = asyncio.create_task(self._send(leader, lanes))
                task.add_done_callback(lambda _, leader=leader: self._sending.pop(leader, None))

    async def _send(self, leader: int, lanes: list[Lane]) -> None:
        now = now_ms()
        sent = {lane.partition: batch for lane in lanes if (batch := lane.next_batch(now)) is not None}
        try:
            response = await self._client.ask(
                leader, lambda connection: produce_request(connection, sent, PRODUCE_TIMEOUT_MS)
            )
        except WireError as error:
            self._trouble(f"broker {leader}: {error}")
            await asyncio.sleep(PAUSE_S)
            return
        troubles = ""
        for partition, error, base_offset in produce_answers(response):
            lane = self._lanes[partition]
            # Another leader may have answered for it meanwhile.
            if lane.batch is sent[partition] and await self._settle(lane, error, base_offset):
                troubles = f"{partition}: {error}"
        if troubles:
            self._trouble(troubles)
            await asyncio.sleep(PAUSE_S)
        elif not self._is_stale:
            self.error = ""

    async def _settle(self, lane: Lane, error: str, base_offset: int) -> bool:
        """Do what an answer asks for; whether it was an error."""
        match answer_to(error):
            case Answer.DONE:
                self._ledger.note(lane.partition, lane.done(base_offset, now_ms()))
                return False
            case Answer.NEW_PRODUCER:
                lane.give_up(await self._new_producer())
            case Answer.GIVE_UP:
                lane.give_up()
            case Answer.AGAIN:
                pass
        return True

    async def _new_producer(self) -> ProducerId:
        while True:
            try:
                metadata = await self._client.refresh(named(self._partitions))
                for broker in metadata.brokers:
                    producer = new_producer(await self._client.ask(broker, new_producer_request))
                    if producer is not None:
                        return producer
            except WireError as error:
                self._trouble(str(error))
            await asyncio.sleep(PAUSE_S)

    def _trouble(self, error: str) -> None:
        self.error = error
        self._is_stale = True
