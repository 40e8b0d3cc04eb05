"""Asks for the quorum of controllers of a KRaft cluster. Nothing is sent here.

Source: DescribeQuorum (KIP-595, KIP-836), which brokers pass on to the quorum's leader.
"""

from model.cluster.quorum import Quorum, QuorumReplica
from model.hosts.wire.api_keys import DESCRIBE_QUORUM
from model.hosts.wire.connection import Connection
from model.hosts.wire.errors import UnavailableError
from model.hosts.wire.messages import Entity, shapes
from model.hosts.wire.names import error_name

METADATA_TOPIC = "__cluster_metadata"


def describe_quorum(connection: Connection) -> Entity:
    """Of the only partition of the metadata log. Raises UnsupportedVersionError where ZooKeeper holds the metadata."""
    module = shapes(DESCRIBE_QUORUM, connection.newest(DESCRIBE_QUORUM), "request")
    topic = module.TopicData(topic_name=METADATA_TOPIC, partitions=(module.PartitionData(partition_index=0),))
    return module.DescribeQuorumRequest(topics=(topic,))


def described_quorum(response: Entity) -> Quorum:
    """As its leader sees it. Raises UnavailableError where nobody answered for the leader."""
    parts = [each for topic in response.topics for each in topic.partitions]
    errors = [error_name(code) for code in (response.error_code, *(each.error_code for each in parts))]
    if not parts or any(error != "NONE" for error in errors):
        raise UnavailableError(f"quorum: {next((error for error in errors if error != 'NONE'), 'no answer')}")
    part = parts[0]
    ends = [int(each.log_end_offset) for each in part.current_voters if each.replica_id == part.leader_id]
    end = max(ends, default=int(part.high_watermark))
    return Quorum(
        leader=int(part.leader_id),
        leader_epoch=int(part.leader_epoch),
        high_watermark=int(part.high_watermark),
        voters=tuple(sorted(_replica(each, end) for each in part.current_voters)),
        observers=tuple(sorted(_replica(each, end) for each in part.observers)),
    )


def _replica(each: Entity, end: int) -> QuorumReplica:
    reached = int(each.log_end_offset)
    return QuorumReplica(
        id=int(each.replica_id),
        log_end_offset=reached,
        lag_records=max(end - reached, 0) if reached >= 0 else -1,
        caught_up_ms=int(getattr(each, "last_caught_up_timestamp", -1)),
    )
