"""Records read from their leaders: by a consumer, what it owns; by the auditor, every partition to its end.

A consumer reads from where its group stands, and knows no group protocol. The auditor compares all that it reads with
the ledger. Reads only.
"""

import asyncio
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from model.cluster.ids import TopicPartition
from model.hosts.kafka_client.kafka_client import (
    EARLIEST,
    NOBODY,
    KafkaClient,
    fetch_request,
    list_offsets_request,
    listed_offsets,
)
from model.hosts.wire.connection import Connection
from model.hosts.wire.messages import Entity
from model.hosts.wire.names import WireError, error_name
from model.log.records.batch import RecordBatch
from model.log.records.layout import Damage
from model.log.records.record import Record, records_of
from model.log.records.scan import scan
from model.sandbox.load.ledger import Ledger, compare, number_of
from model.sandbox.load.messages import AuditReport
from model.sandbox.load.producer import topics_of

PARTITION_BYTES = 1 << 20
REQUEST_BYTES = 8 << 20


class FetchedPart(msgspec.Struct, frozen=True):
    """What a fetch brought of one partition."""

    partition: TopicPartition
    error: str
    """`NONE`, or Kafka's name of the error."""
    high_watermark: int
    log_start_offset: int
    data: bytes


def waiting_fetch(connection: Connection, positions: Mapping[TopicPartition, int], max_wait_ms: int) -> Entity:
    """A fetch from these offsets on that waits so long for anything new."""
    return fetch_request(
        connection, positions, PARTITION_BYTES, wait_ms=max_wait_ms, min_bytes=1, response_bytes=REQUEST_BYTES
    )


def fetched_parts(response: Entity) -> Iterator[FetchedPart]:
    """Of each partition."""
    for topic in response.responses:
        for each in topic.partitions:
            yield FetchedPart(
                TopicPartition(str(topic.topic), int(each.partition_index)),
                error_name(each.error_code),
                int(each.high_watermark),
                int(getattr(each, "log_start_offset", 0)),
                bytes(each.records or b""),
            )


def records_in(data: bytes, position: int) -> tuple[list[Record], int]:
    """The whole records of a fetch from `position` on, and the offset to go on with."""
    records: list[Record] = []
    for batch in scan(data):
        if not isinstance(batch, RecordBatch) or batch.position + batch.size > len(data):
            break
        if batch.last_offset < position:
            continue
        if not batch.is_control:
            found = (each for each in records_of(data, batch) if not isinstance(each, Damage))
            records += [record for record in found if record.offset >= position]
        position = batch.last_offset + 1
    return records, position


MAX_WAIT_MS = 500
PAUSE_S = 0.2


class Reader:
    """For one event loop."""

    def __init__(self, client: KafkaClient) -> None:
        self.consumed = 0
        """Records, ever."""
        self.error = ""
        self._client = client
        self._positions: dict[TopicPartition, int] = {}
        self._waiting: set[TopicPartition] = set()
        """Partitions whose start is to be asked for."""

    def own(self, starts: Mapping[TopicPartition, int]) -> None:
        """From now on these; -1 stands for the beginning of the log."""
        self._positions = {each: start for each, start in starts.items() if start >= 0}
        self._waiting = starts.keys() - self._positions.keys()

    @property
    def positions(self) -> dict[TopicPartition, int]:
        """The next offset of each partition."""
        return dict(self._positions)

    async def read(self) -> None:
        """Ask every leader once, and take what comes."""
        try:
            by_leader = await self._by_leader()
        except WireError as error:
            self.error = str(error)
            await asyncio.sleep(PAUSE_S)
            return
        self.error = "" if by_leader else "no leader"
        if not by_leader:
            await asyncio.sleep(PAUSE_S)
        await asyncio.gather(*(self._read_from(leader, each) for leader, each in by_leader.items()))

    async def _by_leader(self) -> dict[int, list[TopicPartition]]:
        wanted = [*self._positions, *self._waiting]
        known = self._client.metadata.partitions
        if self.error or any(each not in known or known[each].leader == NOBODY for each in wanted):
            known = (await self._client.refresh(topics_of(wanted))).partitions
        by_leader: dict[int, list[TopicPartition]] = {}
        for partition in wanted:
            if partition in known and known[partition].leader != NOBODY:
                by_leader.setdefault(known[partition].leader, []).append(partition)
        return by_leader

    async def _read_from(self, leader: int, partitions: Iterable[TopicPartition]) -> None:
        try:
            await self._find_starts(leader, self._waiting.intersection(partitions))
            started = {each: self._positions[each] for each in partitions if each in self._positions}
            if started:
                response = await self._client.ask(leader, lambda each: waiting_fetch(each, started, MAX_WAIT_MS))
                for part in fetched_parts(response):
                    self._take(part.partition, started[part.partition], part.error, part.data)
        except WireError as error:
            self.error = str(error)
            await asyncio.sleep(PAUSE_S)

    async def _find_starts(self, leader: int, partitions: Iterable[TopicPartition]) -> None:
        wanted = dict.fromkeys(partitions, EARLIEST)
        if wanted:
            response = await self._client.ask(leader, lambda each: list_offsets_request(each, wanted))
            for partition, error, offset in listed_offsets(response):
                if error == "NONE" and partition in self._waiting:
                    self._waiting.discard(partition)
                    self._positions[partition] = offset

    def _take(self, partition: TopicPartition, asked: int, error: str, data: bytes) -> None:
        if self._positions.get(partition) != asked:
            return  # it was given up meanwhile
        if error == "OFFSET_OUT_OF_RANGE":
            del self._positions[partition]
            self._waiting.add(partition)
        if error != "NONE":
            self.error = f"{partition}: {error}"
            return
        records, self._positions[partition] = records_in(data, asked)
        self.consumed += len(records)


PATIENCE_S = 15.0
"""How long a partition may stay unreadable, or its high watermark below what was acknowledged: a new leader does not
know at once how far its followers are."""
AUDIT_WAIT_MS = 200
AUDIT_PAUSE_S = 0.1


async def audit(
    client: KafkaClient, partitions: Sequence[TopicPartition], run: str, ledger: Ledger, patience_s: float = PATIENCE_S
) -> AuditReport:
    """What became of every record of this run. Nobody may produce meanwhile."""
    waiting_fetch = _AuditReading(client, run, {each: ledger.end_offset(each) for each in partitions})
    deadline = time.monotonic() + patience_s
    while waiting_fetch.unfinished and time.monotonic() < deadline:
        if not await waiting_fetch.go_on():
            await asyncio.sleep(AUDIT_PAUSE_S)
        else:
            deadline = time.monotonic() + patience_s
    return compare(ledger, waiting_fetch.found, waiting_fetch.unread())


class _AuditReading:
    def __init__(self, client: KafkaClient, run: str, ends: Mapping[TopicPartition, int]) -> None:
        self.found: dict[TopicPartition, list[tuple[int, int]]] = {partition: [] for partition in ends}
        self._client = client
        self._run = run
        self._ends = ends
        """The high watermark that is waited for."""
        self._positions: dict[TopicPartition, int] = {}
        self._watermarks: dict[TopicPartition, int] = {}
        self._reasons: dict[TopicPartition, str] = {}

    @property
    def unfinished(self) -> list[TopicPartition]:
        """What is to be read still."""
        return [each for each in self._ends if not self._is_read(each)]

    def unread(self) -> dict[TopicPartition, str]:
        """What could not be read, and why. A log that ends before what was acknowledged was read."""
        return {
            partition: self._reasons.get(partition, "not all of it came in time")
            for partition in self._ends
            if self._reasons.get(partition) or self._positions.get(partition, -1) < self._watermarks.get(partition, 0)
        }

    async def go_on(self) -> bool:
        """Ask every leader once; whether anything came."""
        try:
            metadata = await self._client.refresh(topics_of(self._ends))
        except WireError as error:
            self._reasons |= dict.fromkeys(self.unfinished, str(error))
            return False
        by_leader: dict[int, list[TopicPartition]] = {}
        for partition in self.unfinished:
            place = metadata.partitions.get(partition)
            leader = NOBODY if place is None else place.leader
            if leader == NOBODY:
                self._reasons[partition] = "no leader"
            else:
                by_leader.setdefault(leader, []).append(partition)
        came = await asyncio.gather(*(self._ask(leader, each) for leader, each in by_leader.items()))
        return any(came)

    def _is_read(self, partition: TopicPartition) -> bool:
        position, watermark = self._positions.get(partition, -1), self._watermarks.get(partition, -1)
        return position >= watermark >= self._ends[partition] and not self._reasons.get(partition)

    async def _ask(self, leader: int, partitions: Sequence[TopicPartition]) -> bool:
        try:
            await self._find_starts(leader, partitions)
            started = {each: self._positions[each] for each in partitions if each in self._positions}
            if not started:
                return False
            response = await self._client.ask(
                leader, lambda connection: waiting_fetch(connection, started, AUDIT_WAIT_MS)
            )
        except WireError as error:
            self._reasons |= dict.fromkeys(partitions, str(error))
            return False
        came = False
        for part in fetched_parts(response):
            came |= self._take(part.partition, part.error, part.high_watermark, part.data)
        return came

    async def _find_starts(self, leader: int, partitions: Sequence[TopicPartition]) -> None:
        wanted = {each: EARLIEST for each in partitions if each not in self._positions}
        if not wanted:
            return
        response = await self._client.ask(leader, lambda connection: list_offsets_request(connection, wanted))
        for partition, error, offset in listed_offsets(response):
            if error == "NONE":
                self._positions[partition] = offset
            else:
                self._reasons[partition] = error

    def _take(self, partition: TopicPartition, error: str, watermark: int, data: bytes) -> bool:
        if error != "NONE":
            self._reasons[partition] = error
            return False
        self._reasons.pop(partition, None)
        before = self._positions[partition]
        records, self._positions[partition] = records_in(data, before)
        self._watermarks[partition] = watermark
        for record in records:
            if (number := number_of(record, self._run)) is not None:
                self.found[partition].append((number, record.offset))
        return self._positions[partition] > before
