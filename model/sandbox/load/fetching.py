"""Reads partitions from their leaders, as a consumer does. It remembers nothing but where it asked last."""

from collections.abc import Iterator, Mapping

import msgspec

from model.cluster.ids import TopicPartition
from model.hosts.kafka_client.fetch import fetch_request
from model.hosts.wire.connection import Connection
from model.hosts.wire.messages import Entity
from model.hosts.wire.names import error_name
from model.log.records.batch import RecordBatch
from model.log.records.contents import records_of
from model.log.records.damage import Damage
from model.log.records.record import Record
from model.log.records.scan import scan

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


def reading(connection: Connection, positions: Mapping[TopicPartition, int], max_wait_ms: int) -> Entity:
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
