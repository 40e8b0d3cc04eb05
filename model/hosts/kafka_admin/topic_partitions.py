"""Asks for partitions with their eligible leader replicas, page by page. Nothing is sent here.

Source: DescribeTopicPartitions as `kafka-topics --describe` sends it (KIP-966, Kafka 3.8).
"""

from collections.abc import Iterator, Sequence

from model.cluster.ids import TopicPartition
from model.hosts.kafka_client.metadata import PartitionPlace
from model.hosts.wire.api_keys import DESCRIBE_TOPIC_PARTITIONS
from model.hosts.wire.connection import Connection
from model.hosts.wire.messages import Entity, shaped, shapes
from model.hosts.wire.names import error_name


def describe_topic_partitions(connection: Connection, topics: Sequence[str], after: Entity | None) -> Entity:
    """Of these topics, `after` being where the page before ended. The broker decides how long a page is."""
    version = connection.newest(DESCRIBE_TOPIC_PARTITIONS)
    module = shapes(DESCRIBE_TOPIC_PARTITIONS, version, "request")
    start = after and module.Cursor(topic_name=after.topic_name, partition_index=after.partition_index)
    named = tuple(shaped(module.TopicRequest, name=topic) for topic in topics)
    return shaped(module.DescribeTopicPartitionsRequest, topics=named, cursor=start)


def described_topic_partitions(response: Entity) -> Iterator[tuple[TopicPartition, PartitionPlace]]:
    """What a page tells; what the broker does not know any more, or must not tell, is not among it."""
    for topic in response.topics:
        for each in topic.partitions if error_name(topic.error_code) == "NONE" else ():
            yield (
                TopicPartition(str(topic.name), int(each.partition_index)),
                PartitionPlace(
                    leader=int(each.leader_id),
                    replicas=_ids(each.replica_nodes),
                    isr=_ids(each.isr_nodes),
                    leader_epoch=int(each.leader_epoch),
                    offline=_ids(each.offline_replicas),
                    elr=_ids(each.eligible_leader_replicas or ()),
                    last_known_elr=_ids(each.last_known_elr or ()),
                ),
            )


def _ids(brokers: Sequence[int]) -> tuple[int, ...]:
    return tuple(map(int, brokers))
