"""Reads all partitions to their ends and compares them with the ledger. Reads only."""

import asyncio
import time
from collections.abc import Mapping, Sequence

from model.cluster.ids import TopicPartition
from model.hosts.kafka_client.kafka_client import KafkaClient
from model.hosts.kafka_client.list_offsets import EARLIEST, list_offsets_request, listed_offsets
from model.hosts.kafka_client.metadata import NOBODY
from model.hosts.wire.errors import WireError
from model.sandbox.load.fetching import (
    fetched_parts,
    reading,
    records_in,
)
from model.sandbox.load.ledger import Ledger, compare
from model.sandbox.load.numbered_record import number_of
from model.sandbox.load.produce_requests import named
from model.sandbox.load.report import AuditReport

PATIENCE_S = 15.0
"""How long a partition may stay unreadable, or its high watermark below what was acknowledged: a new leader does not
know at once how far its followers are."""
MAX_WAIT_MS = 200
PAUSE_S = 0.1


async def audit(
    client: KafkaClient, partitions: Sequence[TopicPartition], run: str, ledger: Ledger, patience_s: float = PATIENCE_S
) -> AuditReport:
    """What became of every record of this run. Nobody may produce meanwhile."""
    reading = _Reading(client, run, {each: ledger.end_offset(each) for each in partitions})
    deadline = time.monotonic() + patience_s
    while reading.unfinished and time.monotonic() < deadline:
        if not await reading.go_on():
            await asyncio.sleep(PAUSE_S)
        else:
            deadline = time.monotonic() + patience_s
    return compare(ledger, reading.found, reading.unread())


class _Reading:
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
            metadata = await self._client.refresh(named(self._ends))
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
            response = await self._client.ask(leader, lambda connection: reading(connection, started, MAX_WAIT_MS))
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
