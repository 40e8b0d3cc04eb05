"""A partition of `__consumer_offsets` with its replicas: what is appended, copied, elected and lost.

Only replicas in sync are elected. Who leads is known to brokers when they are told: until then an old leader appends
to a log of its own, and nobody copies it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import NamedTuple

from model.consumers.group_coordinator.stored_formats import OffsetsTopicRecord, read_record
from model.hosts.live_broker.replicas.produces import ProduceOutcome
from model.log.records import Record, RecordBatch, records_of, scan, stamp
from tests.simulation.groups.network import Network


class Batch(NamedTuple):
    """A batch as it is in a log."""

    base_offset: int
    next_offset: int
    data: bytes

    def records(self) -> Iterator[OffsetsTopicRecord]:
        """What it says."""
        (batch,) = scan(self.data)
        assert isinstance(batch, RecordBatch)
        for record in records_of(self.data, batch):
            assert isinstance(record, Record)
            read = read_record(record.key, record.value)
            assert read is not None
            yield read


class OffsetsPartition:
    """`durable` is told of every batch that has come below the high watermark, in order, once."""

    def __init__(self, number: int, brokers: tuple[int, ...], network: Network, durable: Callable[[Batch], None]):
        self.number = number
        self.leader: int = brokers[number % len(brokers)]
        self.epoch = 0
        self.isr = set(brokers)
        self.copies: dict[int, list[Batch]] = {broker: [] for broker in brokers}
        self.believed: dict[int, int] = {}
        """Brokers that take themselves for the leader, with the epoch in which they do."""
        self._network = network
        self._tell_durable = durable
        self._durable = 0
        self._matched: dict[int, int] = {}
        """How far followers have fetched from this leader."""
        self._changed = asyncio.Event()

    def end(self, broker: int) -> int:
        """The end of a broker's log."""
        copy = self.copies[broker]
        return copy[-1].next_offset if copy else 0

    def is_led_by(self, broker: int) -> bool:
        """In truth, and it knows."""
        return self.leader == broker and self.believed.get(broker) == self.epoch

    async def append(self, broker: int, data: bytes, *, wait: bool, timeout_ms: int) -> ProduceOutcome:
        """What became of it; without waiting, as far as this broker can tell."""
        epoch = self.believed.get(broker)
        if epoch is None:
            return ProduceOutcome("NOT_LEADER_OR_FOLLOWER")
        base = self.end(broker)
        (batch,) = scan(data)
        assert isinstance(batch, RecordBatch)
        stamped = bytearray(data)
        stamp(stamped, batch, base + batch.last_offset_delta, leader_epoch=epoch)
        self.copies[broker].append(Batch(base, base + batch.last_offset_delta + 1, bytes(stamped)))
        self.replicate()
        if not wait:
            return ProduceOutcome("NONE", base)
        try:
            async with asyncio.timeout(timeout_ms / 1000):
                return await self._replicated(broker, epoch, base)
        except TimeoutError:
            return ProduceOutcome("REQUEST_TIMED_OUT", base)

    async def _replicated(self, broker: int, epoch: int, base: int) -> ProduceOutcome:
        while self.believed.get(broker) == epoch:
            if self.is_led_by(broker) and self._durable > base:
                return ProduceOutcome("NONE", base)
            await self._changed.wait()
        return ProduceOutcome("NOT_LEADER_OR_FOLLOWER")

    def replicate(self) -> None:
        """Followers that can, fetch after a while; who has everything is in sync again."""
        for broker in self.copies:
            if broker != self.leader:
                asyncio.get_running_loop().call_later(self._network.delay_s(), self._fetch, broker, self.epoch)
        self._advance()

    def _fetch(self, follower: int, epoch: int) -> None:
        if epoch != self.epoch or follower in self.believed or not self._network.are_linked(follower, self.leader):
            return
        self.copies[follower] = list(self.copies[self.leader])
        self._matched[follower] = self.end(self.leader)
        self.isr.add(follower)
        self._advance()

    def _advance(self) -> None:
        if not self.is_led_by(self.leader):
            return
        matched = {**self._matched, self.leader: self.end(self.leader)}
        high_watermark = min(matched.get(broker, 0) for broker in self.isr)
        if high_watermark <= self._durable:
            return
        for batch in self.copies[self.leader]:
            if self._durable <= batch.base_offset < high_watermark:
                self._durable = batch.next_offset
                self._tell_durable(batch)
        self.changed()

    def drop(self, broker: int) -> None:
        """Out of the ISR, unless it is the last one."""
        if len(self.isr) > 1:
            self.isr.discard(broker)
            self._advance()

    def elect(self, broker: int) -> None:
        """Somebody in sync leads from now on. Nobody has been told yet."""
        assert broker in self.isr
        self.leader = broker
        self.epoch += 1
        self._matched.clear()

    def changed(self) -> None:
        """Whoever waits for something looks again."""
        self._changed.set()
        self._changed = asyncio.Event()
