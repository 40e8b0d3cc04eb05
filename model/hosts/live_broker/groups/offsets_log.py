"""`__consumer_offsets` as the coordinator uses it: one batch appended, a whole partition read. It decides nothing."""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from model.broker.settings import broker_keys, client_keys
from model.broker.settings.settings import Settings
from model.cluster.ids import TopicPartition
from model.consumers.group_coordinator.byte_reader import UnreadableError
from model.consumers.group_coordinator.group import Group
from model.consumers.group_coordinator.loading import LoadedRecords
from model.consumers.group_coordinator.record_codec import read_record, value_versions, write_record
from model.consumers.group_coordinator.records import OffsetsTopicRecord
from model.hosts.live_broker.replicas.metadata_cache import MetadataCache
from model.hosts.live_broker.replicas.produces import ProduceOutcome
from model.log.errors import LogError
from model.log.producers.producer_state import Origin
from model.log.records import Damage, Record, RecordBatch, encode_batch, end_transaction_marker, records_of, scan

READ_BYTES = 64 << 10
"""A piece of the log that is read before others get their turn."""
_LOGGER = logging.getLogger(__name__)


class Replicas(Protocol):
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

    def __init__(self, replicas: Replicas, settings: Settings, now_ms: Callable[[], int]) -> None:
        self._replicas = replicas
        self._now_ms = now_ms
        self._versions = value_versions(settings[broker_keys.INTER_BROKER_PROTOCOL_VERSION])
        self._timeout_ms = settings[client_keys.OFFSETS_COMMIT_TIMEOUT_MS]

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
        except UnreadableError as error:
            _LOGGER.warning("%s: the record at offset %d is passed over: %s", partition, record.offset, error)
            continue
        if read is not None:
            loaded.take(read, batch.base_offset, batch.producer_id if batch.is_transactional else None)
