"""Produce and InitProducerId as this load's producer says them. Nothing is sent here."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import timedelta
from itertools import groupby

from model.cluster.ids import TopicPartition
from model.hosts.wire.api_keys import INIT_PRODUCER_ID, PRODUCE
from model.hosts.wire.connection import Connection
from model.hosts.wire.messages import Entity, shaped, shapes
from model.hosts.wire.names import error_name
from model.log.records.encode_batch import Producer
from model.sandbox.load.lane import Batch

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


def named(partitions: Iterable[TopicPartition]) -> list[str]:
    """The topics of these partitions."""
    return sorted({partition.topic for partition in partitions})
