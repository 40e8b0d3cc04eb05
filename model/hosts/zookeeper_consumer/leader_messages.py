"""Asks brokers who leads, in a version that both know. Translation only.

Versions: Metadata from 1 on, which means brokers from 0.10 on.
"""

from collections.abc import Mapping

from model.cluster.ids import TopicPartition
from model.hosts.wire.api_keys import METADATA
from model.hosts.wire.connection import Connection
from model.hosts.wire.messages import Entity, shaped, shapes

NEWEST_METADATA = 7
"""Later versions know topics by their ids, or are compact without a need."""
Address = tuple[str, int]


def metadata_request(connection: Connection, topics: tuple[str, ...]) -> Entity:
    """Who leads the partitions of these topics? Creates none of them."""
    module = shapes(METADATA, connection.newest(METADATA, NEWEST_METADATA), "request")
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
