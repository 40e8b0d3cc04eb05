"""Asks for the reassignments that are under way. Nothing is sent here.

Source: ListPartitionReassignments (KIP-455), which controllers since 2.4 answer.
"""

import datetime
from collections.abc import Iterator

from model.cluster.ids import TopicPartition
from model.hosts.wire.api_keys import LIST_PARTITION_REASSIGNMENTS
from model.hosts.wire.connection import Connection
from model.hosts.wire.messages import Entity, shapes

PATIENCE = datetime.timedelta(seconds=5)


def list_reassignments(connection: Connection) -> Entity:
    """All of them."""
    version = connection.newest(LIST_PARTITION_REASSIGNMENTS)
    module = shapes(LIST_PARTITION_REASSIGNMENTS, version, "request")
    return module.ListPartitionReassignmentsRequest(timeout=PATIENCE, topics=None)


def listed_reassignments(response: Entity) -> Iterator[tuple[TopicPartition, tuple[int, ...], tuple[int, ...]]]:
    """Partition, the replicas that are being added, those being removed."""
    for topic in response.topics:
        for each in topic.partitions:
            name = TopicPartition(str(topic.name), int(each.partition_index))
            yield name, tuple(map(int, each.adding_replicas)), tuple(map(int, each.removing_replicas))
