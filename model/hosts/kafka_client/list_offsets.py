"""Asks for offsets by time: where logs begin and end. Nothing is sent here."""

from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any

from model.cluster.ids import TopicPartition
from model.hosts.wire.api_keys import LIST_OFFSETS
from model.hosts.wire.connection import Connection
from model.hosts.wire.messages import Entity, shaped, shapes
from model.hosts.wire.names import error_name

NEWEST_LIST_OFFSETS = 5
EARLIEST, LATEST = -2, -1
"""Times that ListOffsets takes for the ends of a log."""
CONSUMER = -1
"""The replica id of whoever is no replica."""


def list_offsets_request(connection: Connection, times: Mapping[TopicPartition, int]) -> Entity:
    """The offsets at these times, ms or EARLIEST or LATEST."""
    module = shapes(LIST_OFFSETS, connection.newest(LIST_OFFSETS, NEWEST_LIST_OFFSETS), "request")
    topics = tuple(
        module.ListOffsetsTopic(
            name=topic,
            partitions=tuple(
                shaped(
                    module.ListOffsetsPartition,
                    partition_index=partition.partition,
                    current_leader_epoch=-1,
                    timestamp=times[partition],
                )
                for partition in group
            ),
        )
        for topic, group in groupby(sorted(times), key=lambda partition: partition.topic)
    )
    return shaped(module.ListOffsetsRequest, replica_id=CONSUMER, isolation_level=0, topics=topics)


def listed_offsets(response: Entity) -> Iterator[tuple[TopicPartition, str, int]]:
    """Partition, Kafka's name of the error, and the offset."""
    for topic in response.topics:
        for each in topic.partitions:
            place: Any = each
            partition = TopicPartition(str(topic.name), int(place.partition_index))
            yield partition, error_name(place.error_code), int(place.offset)
