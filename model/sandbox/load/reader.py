"""Reads the partitions that a consumer owns, from where its group stands. It knows no group protocol."""

import asyncio
from collections.abc import Iterable, Mapping

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
from model.sandbox.load.produce_requests import named

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
            known = (await self._client.refresh(named(wanted))).partitions
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
                response = await self._client.ask(leader, lambda each: reading(each, started, MAX_WAIT_MS))
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
