"""`__consumer_offsets` as the coordinator uses it: one batch appended, a whole partition read, which ones it leads.

It decides nothing. Kafka 3.9 `GroupMetadataManager.scheduleLoadGroupAndOffsets` and `removeGroupsForPartition`. For
one event loop.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from model.broker.settings import keys
from model.broker.settings.settings import Settings
from model.cluster.ids import OFFSETS_TOPIC, TopicPartition
from model.consumers.group_coordinator.group import Group
from model.consumers.group_coordinator.stored_formats import (
    CoordinatorRole,
    OffsetsTopicRecord,
    UnreadableRecordError,
    read_record,
    value_versions,
    write_record,
)
from model.consumers.group_coordinator.stored_groups import LoadedRecords
from model.hosts.live_broker.parts import MetadataCache
from model.hosts.live_broker.replicas.produces import ProduceOutcome
from model.log.names import LogError
from model.log.producers import Origin
from model.log.records import Damage, Record, RecordBatch, encode_batch, end_transaction_marker, records_of, scan

READ_BYTES = 64 << 10
"""A piece of the log that is read before others get their turn."""
_LOGGER = logging.getLogger(__name__)


class OffsetsReplicas(Protocol):
    """What is needed of a ReplicaManager."""

    @property
    def metadata(self) -> MetadataCache:
        """What controllers said of the cluster."""
        ...

    async def append(
        self,
        records: Mapping[TopicPartition, bytes],
        *,
        acks: int,
        timeout_ms: int,
        origin: Origin,
        internal: bool,
    ) -> Mapping[TopicPartition, ProduceOutcome]: ...

    def read(self, partition: TopicPartition, offset: int, max_bytes: int) -> bytes: ...

    def start_offset(self, partition: TopicPartition) -> int: ...

    def end_offset(self, partition: TopicPartition) -> int: ...


class OffsetsLog:
    """Writes as inter.broker.protocol.version says. Times are the coordinator's, by `now_ms`."""

    def __init__(self, replicas: OffsetsReplicas, settings: Settings, now_ms: Callable[[], int]) -> None:
        self._replicas = replicas
        self._now_ms = now_ms
        self._versions = value_versions(settings[keys.INTER_BROKER_PROTOCOL_VERSION])
        self._timeout_ms = settings[keys.OFFSETS_COMMIT_TIMEOUT_MS]

    async def append(
        self, partition: TopicPartition, records: Sequence[OffsetsTopicRecord], *, wait: bool
    ) -> ProduceOutcome:
        """All in one batch; `wait` for the whole ISR. It is in the local log before this waits for the first time."""
        at_ms = self._now_ms()
        pairs = [write_record(record, self._versions) for record in records]
        batch = encode_batch([Record(number, at_ms, *pair) for number, pair in enumerate(pairs)])
        try:
            outcomes = await self._replicas.append(
                {partition: batch},
                acks=-1 if wait else 0,
                timeout_ms=self._timeout_ms,
                origin=Origin.COORDINATOR,
                internal=True,
            )
        except (OSError, LogError) as error:
            _LOGGER.warning("%s: a group's records are not written: %s", partition, error)
            return ProduceOutcome("KAFKA_STORAGE_ERROR")
        return outcomes[partition]

    async def read_groups(self, partition: TopicPartition) -> tuple[Group, ...]:
        """All groups of a partition, from its start to its end. Raises LookupError, LogError and OSError."""
        loaded = LoadedRecords()
        offset = self._replicas.start_offset(partition)
        while offset < self._replicas.end_offset(partition):
            data = self._replicas.read(partition, offset, READ_BYTES)
            following = _take(loaded, partition, data)
            if following is None:
                break
            offset = following
            await asyncio.sleep(0)
        return loaded.groups(self._now_ms())


def _take(loaded: LoadedRecords, partition: TopicPartition, data: bytes) -> int | None:
    """The offset after the data; None where there is no batch. Raises LogError for damage."""
    following: int | None = None
    for batch in scan(data):
        if isinstance(batch, Damage):
            raise LogError(
                "CORRUPT_MESSAGE", f"{partition}: {batch.kind} at byte {batch.position} after offset {following}"
            )
        _take_batch(loaded, partition, data, batch)
        following = batch.next_offset
    return following


def _take_batch(loaded: LoadedRecords, partition: TopicPartition, data: bytes, batch: RecordBatch) -> None:
    for record in records_of(data, batch):
        if isinstance(record, Damage):
            raise LogError("CORRUPT_MESSAGE", f"{partition}: {record.kind} in the batch at offset {batch.base_offset}")
        if batch.is_control:
            marker = end_transaction_marker(record)
            if marker is not None:
                loaded.end_transaction(batch.producer_id, committed=marker.committed)
            continue
        try:
            read = read_record(record.key, record.value)
        except UnreadableRecordError as error:
            _LOGGER.warning("%s: the record at offset %d is passed over: %s", partition, record.offset, error)
            continue
        if read is not None:
            loaded.take(read, batch.base_offset, batch.producer_id if batch.is_transactional else None)


OnLoaded = Callable[[int, tuple[Group, ...]], None]


class LedPartitions:
    """`loaded` is told of a partition's groups, `lost` of a partition whose groups are another broker's now."""

    def __init__(self, log: OffsetsLog, loaded: OnLoaded, lost: Callable[[int], None]) -> None:
        self._log = log
        self._loaded = loaded
        self._lost = lost
        self._epochs: dict[int, int] = {}
        self._standings: dict[int, CoordinatorRole] = {}
        self._tasks: dict[int, asyncio.Task[None]] = {}

    @property
    def is_loading(self) -> bool:
        """Whether any partition is being read."""
        return CoordinatorRole.LOADING in self._standings.values()

    def role(self, partition: int) -> CoordinatorRole:
        """What this broker is to the groups of a partition."""
        return self._standings.get(partition, CoordinatorRole.STRANGER)

    def change(self, partition: int, leader_epoch: int, *, leads: bool) -> None:
        """A controller says who leads. What was said before a newer word is not heeded."""
        if leader_epoch < self._epochs.get(partition, leader_epoch):
            return
        self._epochs[partition] = leader_epoch
        if not leads:
            self.give_up(partition)
        elif partition not in self._standings:
            self._standings[partition] = CoordinatorRole.LOADING
            self._tasks[partition] = asyncio.create_task(self._load(partition))

    def give_up(self, partition: int) -> None:
        """Be a stranger to the groups of a partition."""
        task = self._tasks.pop(partition, None)
        if task is not None:
            task.cancel()
        if self._standings.pop(partition, None) is not None:
            self._lost(partition)

    async def close(self) -> None:
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _load(self, partition: int) -> None:
        name = TopicPartition(OFFSETS_TOPIC, partition)
        try:
            groups = await self._log.read_groups(name)
        except (LookupError, LogError, OSError) as error:
            # Kafka serves such a partition as if it were empty, and consumers begin anew. Better no coordinator.
            _LOGGER.error("%s cannot be read, its groups are not served: %s", name, error)
            del self._standings[partition], self._tasks[partition]
            return
        self._standings[partition] = CoordinatorRole.COORDINATOR
        del self._tasks[partition]
        self._loaded(partition, groups)
