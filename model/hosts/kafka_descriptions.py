"""What brokers describe beyond metadata: cluster, configurations, log folders, quorum, reassignments, ELRs.

Questions, and answers as values; nothing is sent here. Sources, as Kafka's tools send them: DescribeCluster by
`kafka-cluster list-endpoints --include-fenced-brokers` (KIP-1073, 4.0), and at a controller's listener (KIP-919,
3.7); DescribeConfigs by `kafka-configs --describe`, `DescribeConfigsResponse.ConfigSource` (3.9), only what somebody
has set; DescribeLogDirs by `kafka-log-dirs --describe` (KIP-113, KIP-827); DescribeTopicPartitions by `kafka-topics
--describe`, page by page (KIP-966, 3.8); ListPartitionReassignments (KIP-455), which controllers since 2.4 answer;
DescribeQuorum (KIP-595, KIP-836), which brokers pass on to the quorum's leader and keep until there is one, and which
other voters answer with NOT_LEADER_OR_FOLLOWER.
"""

import datetime
from collections.abc import Collection, Iterator, Mapping, Sequence

from model.cluster.ids import TopicPartition
from model.cluster.image_parts import LogDir, Quorum, QuorumReplica
from model.cluster.texts import HIDDEN
from model.hosts.kafka_client import PartitionPlace
from model.hosts.wire.connection import Connection
from model.hosts.wire.messages import Entity, shaped, shapes
from model.hosts.wire.names import (
    ApiKey,
    UnavailableError,
    UnsupportedVersionError,
    WireError,
    error_name,
    topic_id_text,
)

FENCED_SINCE = 2
"""The first version that tells of fenced brokers."""


def describe_cluster(connection: Connection) -> Entity:
    """All brokers that are registered. Raises UnsupportedVersionError before 4.0, which tells those that serve only."""
    version = connection.newest(ApiKey.DESCRIBE_CLUSTER)
    if version < FENCED_SINCE:
        raise UnsupportedVersionError("the broker does not tell of fenced brokers")
    request = shapes(ApiKey.DESCRIBE_CLUSTER, version, "request").DescribeClusterRequest
    return shaped(request, include_cluster_authorized_operations=False, include_fenced_brokers=True)


def fenced_brokers(response: Entity, serving: Collection[int]) -> Mapping[int, tuple[str, int, str | None]]:
    """Host, port and rack of each broker that is fenced, or was when metadata named those that serve.

    Raises UnavailableError where the broker cannot tell.
    """
    if (error := error_name(response.error_code)) != "NONE":
        raise UnavailableError(f"fenced brokers: {error}")
    return {
        int(each.broker_id): (str(each.host), int(each.port), each.rack)
        for each in response.brokers
        if each.is_fenced or int(each.broker_id) not in serving
    }


NEWEST_DESCRIBE_CONFIGS = 4
TOPIC_RESOURCE, BROKER_RESOURCE = 2, 4
"""`ConfigResource.Type`."""
_SET_ON_TOPIC, _SET_ON_BROKER, _SET_ON_BROKERS, _IN_FILE = 1, 2, 3, 4
_ENTITIES = {
    (TOPIC_RESOURCE, _SET_ON_TOPIC): "topics/{}",
    (BROKER_RESOURCE, _SET_ON_BROKER): "brokers/{}",
    (BROKER_RESOURCE, _SET_ON_BROKERS): "brokers/<default>",
    (BROKER_RESOURCE, _IN_FILE): "server.properties/{}",
}
"""Kind of entity, and where a value comes from → the entity it is set on. Defaults are nowhere."""


def describe_configs(connection: Connection, kind: int, names: Sequence[str]) -> Entity:
    """All settings of these."""
    module = connection.request_shapes(ApiKey.DESCRIBE_CONFIGS, NEWEST_DESCRIBE_CONFIGS)
    resources = tuple(
        module.DescribeConfigsResource(resource_type=kind, resource_name=name, configuration_keys=None)
        for name in names
    )
    request = module.DescribeConfigsRequest
    return shaped(request, resources=resources, include_synonyms=False, include_documentation=False)


def described_configs(response: Entity) -> Iterator[tuple[str, str, dict[str, dict[str, str]]]]:
    """Name, Kafka's name of the error, and entity → what is set on it, the named one among them.

    A broker's own file counts as the entity `server.properties/1`. Before 1.1 brokers do not tell where a value is
    from: then all that differs from the default counts as set on the thing itself.
    """
    for result in response.results:
        kind, name = int(result.resource_type), str(result.resource_name)
        own = _ENTITIES[kind, 1 if kind == TOPIC_RESOURCE else 2]
        found: dict[str, dict[str, str]] = {own.format(name): {}}
        for each in result.configs:
            place = own if getattr(each, "is_default", True) is False else _entity_of(kind, each)
            if place:
                text = HIDDEN if each.is_sensitive else str(each.value or "")
                found.setdefault(place.format(name), {})[str(each.name)] = text
        yield name, error_name(result.error_code), found


def _entity_of(kind: int, config: Entity) -> str:
    return _ENTITIES.get((kind, int(getattr(config, "config_source", -1))), "")


UNKNOWN_BYTES = -1


def describe_log_dirs(connection: Connection) -> Entity:
    """All of them, with all replicas."""
    module = connection.request_shapes(ApiKey.DESCRIBE_LOG_DIRS)
    return module.DescribeLogDirsRequest(topics=None)


def described_log_dirs(response: Entity) -> tuple[LogDir, ...]:
    """In the order of their paths."""
    folders = [
        LogDir(
            path=str(result.log_dir),
            error="" if (error := error_name(result.error_code)) == "NONE" else error,
            sizes={
                TopicPartition(str(topic.name), int(each.partition_index)): int(each.partition_size)
                for topic in result.topics
                for each in topic.partitions
                if not each.is_future_key
            },
            total_bytes=int(getattr(result, "total_bytes", UNKNOWN_BYTES)),
            usable_bytes=int(getattr(result, "usable_bytes", UNKNOWN_BYTES)),
        )
        for result in response.results
    ]
    return tuple(sorted(folders, key=lambda one: one.path))


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
    module = connection.request_shapes(ApiKey.DESCRIBE_QUORUM)
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
    listening = _listeners(response)
    return Quorum(
        leader=int(part.leader_id),
        leader_epoch=int(part.leader_epoch),
        high_watermark=int(part.high_watermark),
        voters=tuple(sorted(_replica(each, end, listening) for each in part.current_voters)),
        observers=tuple(sorted(_replica(each, end, {}) for each in part.observers)),
    )


def _listeners(response: Entity) -> dict[int, tuple[str, ...]]:
    return {
        int(node.node_id): tuple(f"{each.name}://{each.host}:{each.port}" for each in node.listeners)
        for node in getattr(response, "nodes", ())
    }


def voters_listening(response: Entity) -> dict[int, frozenset[Address]]:
    """Where voters listen, by id, as DescribeQuorum tells since 3.9."""
    return {
        int(node.node_id): frozenset((str(each.host), int(each.port)) for each in node.listeners)
        for node in getattr(response, "nodes", ())
    }


def describe_controllers(connection: Connection) -> Entity:
    """The controllers that are registered. Raises UnsupportedVersionError before 3.7."""
    module = connection.request_shapes(ApiKey.DESCRIBE_CLUSTER, NEWEST_DESCRIBE_CLUSTER)
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


def _replica(each: Entity, end: int, listening: Mapping[int, tuple[str, ...]]) -> QuorumReplica:
    reached = int(each.log_end_offset)
    return QuorumReplica(
        id=int(each.replica_id),
        log_end_offset=reached,
        lag_records=max(end - reached, 0) if reached >= 0 else -1,
        caught_up_ms=int(getattr(each, "last_caught_up_timestamp", -1)),
        directory_id=topic_id_text(getattr(each, "replica_directory_id", None)) or "",
        endpoints=listening.get(int(each.replica_id), ()),
    )


REASSIGNMENTS_TIMEOUT = datetime.timedelta(seconds=5)


def list_reassignments(connection: Connection) -> Entity:
    """All of them."""
    version = connection.newest(ApiKey.LIST_PARTITION_REASSIGNMENTS)
    module = shapes(ApiKey.LIST_PARTITION_REASSIGNMENTS, version, "request")
    return module.ListPartitionReassignmentsRequest(timeout=REASSIGNMENTS_TIMEOUT, topics=None)


def listed_reassignments(response: Entity) -> Iterator[tuple[TopicPartition, tuple[int, ...], tuple[int, ...]]]:
    """Partition, the replicas that are being added, those being removed."""
    for topic in response.topics:
        for each in topic.partitions:
            name = TopicPartition(str(topic.name), int(each.partition_index))
            yield name, tuple(map(int, each.adding_replicas)), tuple(map(int, each.removing_replicas))


def describe_topic_partitions(connection: Connection, topics: Sequence[str], after: Entity | None) -> Entity:
    """Of these topics, `after` being where the page before ended. The broker decides how long a page is."""
    version = connection.newest(ApiKey.DESCRIBE_TOPIC_PARTITIONS)
    module = shapes(ApiKey.DESCRIBE_TOPIC_PARTITIONS, version, "request")
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
