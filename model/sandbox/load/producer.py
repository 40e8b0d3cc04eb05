"""A steady idempotent producer with acks=all: every record is sent until it is acknowledged, and then noted.

One request at a time goes to each leader, and one batch at a time of each partition, so that order and sequences are
right whatever goes wrong (KIP-98, with one request in flight). It neither reads nor judges what became of the
records.
"""

import asyncio
import contextlib
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from enum import Enum
from itertools import groupby

import msgspec

from model.cluster.ids import TopicPartition
from model.hosts.kafka_client.kafka_client import NOBODY, KafkaClient
from model.hosts.wire.connection import Connection
from model.hosts.wire.messages import Entity, shaped, shapes
from model.hosts.wire.names import INIT_PRODUCER_ID, PRODUCE, WireError, error_name
from model.log.records.encoding import Producer, encode_batch
from model.log.records.encoding import Producer as ProducerId
from model.log.records.layout import add_sequence
from model.sandbox.control.messages import now_ms
from model.sandbox.load.ledger import UNKNOWN_OFFSET, Acknowledged, Ledger, numbered_record

MOST_WAITING = 1000
"""A partition that takes no records gets no more of them."""
MOST_IN_BATCH = 500


class BatchVerdict(Enum):
    """What an error means for the batch it is about."""

    DONE = "acknowledged"
    AGAIN = "send it again, perhaps elsewhere"
    NEW_PRODUCER = "the log has lost this producer, or what it wrote: go on as another"
    GIVE_UP = "never"


_OTHER_VERDICTS = {
    "NONE": BatchVerdict.DONE,
    "DUPLICATE_SEQUENCE_NUMBER": BatchVerdict.DONE,
    "OUT_OF_ORDER_SEQUENCE_NUMBER": BatchVerdict.NEW_PRODUCER,
    "UNKNOWN_PRODUCER_ID": BatchVerdict.NEW_PRODUCER,
    "INVALID_PRODUCER_EPOCH": BatchVerdict.NEW_PRODUCER,
    "MESSAGE_TOO_LARGE": BatchVerdict.GIVE_UP,
    "RECORD_LIST_TOO_LARGE": BatchVerdict.GIVE_UP,
    "INVALID_RECORD": BatchVerdict.GIVE_UP,
    "TOPIC_AUTHORIZATION_FAILED": BatchVerdict.GIVE_UP,
}


def verdict_on(error: str) -> BatchVerdict:
    """By Kafka's name of the error; everything else may pass (`Errors`, RetriableException, 3.9)."""
    return _OTHER_VERDICTS.get(error, BatchVerdict.AGAIN)


class Batch(msgspec.Struct, frozen=True):
    """What is sent."""

    first_number: int
    count: int
    data: bytes


class PendingRecords:
    """Numbers go up; sequences too, as long as the producer is the same."""

    def __init__(self, partition: TopicPartition, run: str, producer: Producer) -> None:
        self.partition = partition
        self.batch: Batch | None = None
        self.waiting = 0
        """Records that are due and in no batch yet."""
        self._run = run
        self._producer = producer
        self._next_number = 0

    @property
    def unacknowledged(self) -> int:
        """Records that are waiting, or sent and not answered."""
        return self.waiting + (self.batch.count if self.batch else 0)

    def add(self, count: int) -> None:
        self.waiting = min(self.waiting + count, MOST_WAITING)

    def next_batch(self, now_ms: int) -> Batch | None:
        """What to send: the same again until it is answered; None if nothing is due."""
        if self.batch is None and self.waiting:
            count = min(self.waiting, MOST_IN_BATCH)
            records = [
                numbered_record(self._run, self._next_number + place, now_ms, offset=place) for place in range(count)
            ]
            self.batch = Batch(self._next_number, count, encode_batch(records, producer=self._producer))
            self.waiting -= count
        return self.batch

    def done(self, base_offset: int, now_ms: int) -> Acknowledged:
        batch = self._forget()
        sequence = add_sequence(self._producer.base_sequence, batch.count)
        self._producer = msgspec.structs.replace(self._producer, base_sequence=sequence)
        offset = base_offset if base_offset >= 0 else UNKNOWN_OFFSET
        return Acknowledged(batch.first_number, batch.count, offset, now_ms)

    def give_up(self, producer: Producer | None = None) -> None:
        """The batch will not be acknowledged; the next ones are another producer's, if there is one."""
        self._forget()
        self._producer = producer or self._producer

    def _forget(self) -> Batch:
        batch = self.batch
        assert batch is not None
        self._next_number = batch.first_number + batch.count
        self.batch = None
        return batch


NEWEST_PRODUCE = 9
ALL_IN_SYNC = -1


def produce_request(connection: Connection, batches: Mapping[TopicPartition, Batch], timeout_ms: int) -> Entity:
    """These batches, with acks=all."""
    module = shapes(PRODUCE, connection.newest(PRODUCE, NEWEST_PRODUCE), "request")
    topics = tuple(
        module.TopicProduceData(
            name=topic,
            partition_data=tuple(
                module.PartitionProduceData(index=partition.partition, records=batches[partition].data)
                for partition in group
            ),
        )
        for topic, group in groupby(sorted(batches), key=lambda partition: partition.topic)
    )
    return shaped(
        module.ProduceRequest,
        transactional_id=None,
        acks=ALL_IN_SYNC,
        timeout=timedelta(milliseconds=timeout_ms),
        topic_data=topics,
    )


def produce_answers(response: Entity) -> Iterator[tuple[TopicPartition, str, int]]:
    """Partition, Kafka's name of the error, and the base offset."""
    for topic in response.responses:
        for each in topic.partition_responses:
            partition = TopicPartition(str(topic.name), int(each.index))
            yield partition, error_name(each.error_code), int(each.base_offset)


def new_producer_request(connection: Connection) -> Entity:
    """Asks for a producer id, for a producer that is idempotent and not transactional."""
    module = shapes(INIT_PRODUCER_ID, connection.newest(INIT_PRODUCER_ID), "request")
    return shaped(
        module.InitProducerIdRequest,
        transactional_id=None,
        transaction_timeout=timedelta(milliseconds=2**31 - 1),
        producer_id=-1,
        producer_epoch=-1,
    )


def new_producer(response: Entity) -> Producer | None:
    """The producer; None where there was an error."""
    if error_name(response.error_code) != "NONE":
        return None
    return Producer(int(response.producer_id), int(response.producer_epoch))


def topics_of(partitions: Iterable[TopicPartition]) -> list[str]:
    """The topics of these partitions."""
    return sorted({partition.topic for partition in partitions})


TICK_S = 0.05
PRODUCE_TIMEOUT_MS = 5_000
METADATA_EVERY_S = 5.0
METADATA_AT_MOST_EVERY_S = 0.2
PAUSE_S = 0.1


class LoadProducer:
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
        self._lanes: dict[TopicPartition, PendingRecords] = {}
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
        self._lanes = {partition: PendingRecords(partition, self._run, producer) for partition in self._partitions}
        self._work = asyncio.create_task(self._produce())

    async def drain(self, timeout_s: float) -> None:
        """Produce nothing more, and wait until all is acknowledged, or for so long."""
        self.rate = 0.0
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                while self.unacknowledged:
                    await asyncio.sleep(TICK_S)

    async def close(self) -> None:
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
            await self._client.refresh(topics_of(self._partitions))
            self._is_stale = False
        except WireError as error:
            self._trouble(str(error))

    def _send_all(self) -> None:
        """A request to every leader that has none under way."""
        by_leader: dict[int, list[PendingRecords]] = {}
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

    async def _send(self, leader: int, lanes: list[PendingRecords]) -> None:
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

    async def _settle(self, lane: PendingRecords, error: str, base_offset: int) -> bool:
        """Do what an answer asks for; whether it was an error."""
        match verdict_on(error):
            case BatchVerdict.DONE:
                self._ledger.note(lane.partition, lane.done(base_offset, now_ms()))
                return False
            case BatchVerdict.NEW_PRODUCER:
                lane.give_up(await self._new_producer())
            case BatchVerdict.GIVE_UP:
                lane.give_up()
            case BatchVerdict.AGAIN:
                pass
        return True

    async def _new_producer(self) -> ProducerId:
        while True:
            try:
                metadata = await self._client.refresh(topics_of(self._partitions))
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
