"""Asks for the quorum of controllers of a KRaft cluster. Nothing is sent here.

Sources: DescribeQuorum (KIP-595, KIP-836), which brokers pass on to the quorum's leader and keep until there is one,
and which other voters answer with NOT_LEADER_OR_FOLLOWER; DescribeCluster at a controller's listener (KIP-919, 3.7).
"""

from collections.abc import Iterator, Mapping

from model.cluster.quorum import Quorum, QuorumReplica
from model.hosts.wire.api_keys import DESCRIBE_CLUSTER, DESCRIBE_QUORUM
from model.hosts.wire.connection import Connection
from model.hosts.wire.errors import UnavailableError, WireError
from model.hosts.wire.messages import Entity, shaped, shapes
from model.hosts.wire.names import error_name

METADATA_TOPIC = "__cluster_metadata"
NEWEST_DESCRIBE_CLUSTER = 1
CONTROLLERS = 2
"""`DescribeClusterRequest.EndpointType`."""
_STATIC, _BOOTSTRAP = "controller.quorum.voters", "controller.quorum.bootstrap.servers"

Address = tuple[str, int]


class NotAllowedError(WireError):
    """Whoever we are must not know the quorum: DESCRIBE on the cluster is missing. It was a controller that said so."""


def describe_quorum(connection: Connection) -> Entity:
    """Of the only partition of the metadata log. Raises UnsupportedVersionError where ZooKeeper holds the metadata."""
    module = shapes(DESCRIBE_QUORUM, connection.newest(DESCRIBE_QUORUM), "request")
    topic = module.TopicData(topic_name=METADATA_TOPIC, partitions=(module.PartitionData(partition_index=0),))
    return module.DescribeQuorumRequest(topics=(topic,))


def described_quorum(response: Entity) -> Quorum:
    """As its leader sees it. Raises NotAllowedError, or UnavailableError where nobody answered for the leader."""
    parts = [each for topic in response.topics for each in topic.partitions]
    errors = [error_name(code) for code in (response.error_code, *(each.error_code for each in parts))]
    if "CLUSTER_AUTHORIZATION_FAILED" in errors:
        raise NotAllowedError("CLUSTER_AUTHORIZATION_FAILED: it takes the right DESCRIBE on the cluster")
    if not parts or any(error != "NONE" for error in errors):
        raise UnavailableError(next((error for error in errors if error != "NONE"), "no answer"))
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


def voters_listening(response: Entity) -> dict[int, frozenset[Address]]:
    """Where voters listen, by id, as DescribeQuorum tells since 3.9."""
    return {
        int(node.node_id): frozenset((str(each.host), int(each.port)) for each in node.listeners)
        for node in getattr(response, "nodes", ())
    }


def describe_controllers(connection: Connection) -> Entity:
    """The controllers that are registered. Raises UnsupportedVersionError before 3.7."""
    module = shapes(DESCRIBE_CLUSTER, connection.newest(DESCRIBE_CLUSTER, NEWEST_DESCRIBE_CLUSTER), "request")
    request = module.DescribeClusterRequest
    return shaped(request, include_cluster_authorized_operations=False, endpoint_type=CONTROLLERS)


def described_controllers(response: Entity) -> dict[int, frozenset[Address]]:
    """Where they listen, by id; none where it was not a controller that answered."""
    if error_name(response.error_code) != "NONE":
        return {}
    return {int(each.broker_id): frozenset({(str(each.host), int(each.port))}) for each in response.brokers}


def voters_configured(config: Mapping[str, str]) -> Iterator[tuple[int | None, Address]]:
    """Voters as a broker's file names them, without an id where it only names where to begin (KIP-853)."""
    for key in (_STATIC, _BOOTSTRAP):
        for text in config.get(key, "").split(","):
            number, at, place = text.strip().rpartition("@")
            host, colon, port = place.rpartition(":")
            if colon and port.isdecimal() and (number.isdecimal() or not at):
                yield int(number) if at else None, (host.strip("[]"), int(port))


def _replica(each: Entity, end: int) -> QuorumReplica:
    reached = int(each.log_end_offset)
    return QuorumReplica(
        id=int(each.replica_id),
        log_end_offset=reached,
        lag_records=max(end - reached, 0) if reached >= 0 else -1,
        caught_up_ms=int(getattr(each, "last_caught_up_timestamp", -1)),
    )
