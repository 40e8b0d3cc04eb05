"""What a consumer asks brokers, in a version that both know, and what it reads out of the answers. Translation only.

Versions: Fetch from 2 on, ListOffsets from 1 on, Metadata from 1 on, which means brokers from 0.10 on.
"""

import datetime
from collections.abc import Iterator, Mapping
from itertools import groupby

from kio.schema.errors import ErrorCode

from model.cluster.ids import TopicPartition
from model.hosts.wire.api_keys import FETCH, LIST_OFFSETS, METADATA
from model.hosts.wire.connection import Connection
from model.hosts.wire.messages import Entity, shaped, shapes
from model.hosts.zookeeper_consumer.options import FetchSettings

HIGHEST = {FETCH: 11, LIST_OFFSETS: 5, METADATA: 7}
"""Later versions know topics by their ids, or are compact without a need."""
CONSUMER = -1
Address = tuple[str, int]


def metadata_request(connection: Connection, topics: tuple[str, ...]) -> Entity:
    """Who leads the partitions of these topics? Creates none of them."""
    module = shapes(METADATA, connection.newest(METADATA, HIGHEST[METADATA]), "request")
    named = tuple(shaped(module.MetadataRequestTopic, name=topic) for topic in topics)
    return shaped(module.MetadataRequest, topics=named, allow_auto_topic_creation=False)


def leaders_in(response: Entity) -> Mapping[TopicPartition, Address]:
    """Where the leaders are; partitions without one are left out."""
    addresses = {each.node_id: (each.host, each.port) for each in response.brokers}
    return {
        TopicPartition(topic.name, partition.partition_index): addresses[partition.leader_id]
        for topic in response.topics
        for partition in topic.partitions
        if partition.leader_id in addresses
    }


def fetch_request(connection: Connection, offsets: Mapping[TopicPartition, int], settings: FetchSettings) -> Entity:
    """The records from these offsets on."""
    module = shapes(FETCH, connection.newest(FETCH, HIGHEST[FETCH]), "request")
    topics = tuple(
        shaped(
            module.FetchTopic,
            topic=topic,
            partitions=tuple(
                shaped(
                    module.FetchPartition,
                    partition=read.partition,
                    fetch_offset=offsets[read],
                    partition_max_bytes=settings.fetch_message_max_bytes,
                )
                for read in some
            ),
        )
        for topic, some in groupby(sorted(offsets), key=lambda read: read.topic)
    )
    return shaped(
        module.FetchRequest,
        replica_id=CONSUMER,
        max_wait=datetime.timedelta(milliseconds=settings.fetch_wait_max_ms),
        min_bytes=settings.fetch_min_bytes,
        topics=topics,
        forgotten_topics_data=(),
        rack_id="",
    )


def fetched_in(response: Entity) -> Iterator[tuple[TopicPartition, ErrorCode, bytes]]:
    """Of each partition: an error, and bytes of records. An error of the whole response raises nothing: it has none."""
    for topic in response.responses:
        for data in topic.partitions:
            yield TopicPartition(topic.topic, data.partition_index), data.error_code, bytes(data.records or b"")


def offsets_request(connection: Connection, partitions: tuple[TopicPartition, ...], timestamp: int) -> Entity:
    """Where logs begin or end."""
    module = shapes(LIST_OFFSETS, connection.newest(LIST_OFFSETS, HIGHEST[LIST_OFFSETS]), "request")
    topics = tuple(
        shaped(
            module.ListOffsetsTopic,
            name=topic,
            partitions=tuple(
                shaped(module.ListOffsetsPartition, partition_index=read.partition, timestamp=timestamp)
                for read in some
            ),
        )
        for topic, some in groupby(sorted(partitions), key=lambda read: read.topic)
    )
    return shaped(module.ListOffsetsRequest, replica_id=CONSUMER, topics=topics, isolation_level=0)


def offsets_in(response: Entity) -> Mapping[TopicPartition, int]:
    """The offsets of those that were answered without an error."""
    return {
        TopicPartition(topic.name, each.partition_index): each.offset
        for topic in response.topics
        for each in topic.partitions
        if each.error_code is ErrorCode.none
    }
