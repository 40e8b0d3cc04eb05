"""Answers Metadata and DescribeCluster from what this broker was told. Topics that are missing are made if so wished.

Source: `kafka.server.KafkaApis.handleTopicMetadataRequest`, `handleDescribeCluster` (3.9).
"""

from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Any

from kio.schema.errors import ErrorCode

from model.broker.metadata import MetadataImage, PartitionMetadata
from model.cluster.ids import INTERNAL_TOPICS
from model.controller.topic_validation import topic_name_problem
from model.hosts.live_broker.parts import MetadataCache
from model.hosts.wire.messages import Entity, shaped
from model.hosts.wire.names import ZERO_ID, ApiKey, MalformedError, error_code, topic_id_text, topic_uuid
from model.hosts.wire.server import Api, Request

LISTENER_NOT_FOUND_SINCE = 6
"""The error by this name is LEADER_NOT_AVAILABLE in versions of Metadata before."""
CreateTopic = Callable[[str], Awaitable[str]]
"""Makes a topic, if that is allowed: the name of the error that clients are told for now."""

TOPIC_IDS_SINCE = 12
"""Metadata's version from which on a topic may be asked for by its id alone (KIP-516)."""


class MetadataRequests:
    """`cluster_id` is asked for with each answer."""

    def __init__(self, cache: MetadataCache, cluster_id: Callable[[], str | None], create_topic: CreateTopic) -> None:
        self._cache = cache
        self._cluster_id = cluster_id
        self._create_topic = create_topic

    @property
    def apis(self) -> Mapping[int, Api]:
        return {ApiKey.METADATA: Api(0, 12, self._tell), ApiKey.DESCRIBE_CLUSTER: Api(0, 1, self._describe)}

    async def _tell(self, request: Request) -> Entity:
        image = self._cache.image
        topics = [_topic(request, image, name) for name in self._asked_for(request)]
        topics += [await self._missing(request, each) for each in self._not_known(request)]
        brokers = tuple(_brokers(request.shape("MetadataResponseBroker"), image, request.listener))
        return request.answer(
            "MetadataResponse",
            brokers=brokers,
            cluster_id=self._cluster_id(),
            controller_id=image.controller,
            topics=tuple(topics),
            cluster_authorized_operations=_operations(request, "cluster", CLUSTER_OPERATIONS),
        )

    async def _describe(self, request: Request) -> Entity:
        image = self._cache.image
        brokers = tuple(
            shaped(
                request.shape("DescribeClusterBroker"),
                broker_id=node.id,
                host=place.host,
                port=place.port,
                rack=node.rack,
            )
            for node in image.brokers.values()
            if (place := node.endpoint(request.listener)) is not None
        )
        return request.answer(
            "DescribeClusterResponse",
            error_code=ErrorCode.none,
            cluster_id=self._cluster_id() or "",
            controller_id=image.controller,
            brokers=brokers,
            cluster_authorized_operations=_operations(request, "cluster", CLUSTER_OPERATIONS),
        )

    def _asked_for(self, request: Request) -> Iterator[str]:
        image, asked = self._cache.image, _asked(request)
        if asked is None:
            yield from sorted(image.topics)
            return
        names = {topic_uuid(text): name for name, text in image.topic_ids.items()} if _by_id(asked) else {}
        for each in asked:
            name = each.name if each.name is not None else names.get(each.topic_id or ZERO_ID)
            if name is not None and name in image.topics:
                yield name

    def _not_known(self, request: Request) -> Iterator[Any]:
        image = self._cache.image
        ids = image.topic_ids.values()
        for each in _asked(request) or ():
            if each.name not in image.topics and (each.name is not None or topic_id_text(each.topic_id) not in ids):
                yield each

    async def _missing(self, request: Request, asked: Any) -> Entity:
        if asked.name is None:
            if request.start.version < TOPIC_IDS_SINCE:
                raise MalformedError("a topic is asked for without its name")
            return _unknown(request, None, asked.topic_id, "UNKNOWN_TOPIC_ID")
        if topic_name_problem(asked.name) is not None:
            return _unknown(request, asked.name, None, "INVALID_TOPIC_EXCEPTION")
        allowed = getattr(request.body, "allow_auto_topic_creation", True)
        error = "UNKNOWN_TOPIC_OR_PARTITION"
        if allowed:
            error = await self._create_topic(asked.name)
        return _unknown(request, asked.name, None, error)


CLUSTER_OPERATIONS = sum(1 << operation for operation in (5, 7, 8, 9, 10, 11, 12))
"""All that there are on a cluster or a topic (`AclEntry.supportedOperations`): nobody is kept from any."""
OPERATIONS_NOT_ASKED_FOR = -(1 << 31)


TOPIC_OPERATIONS = sum(1 << operation for operation in (3, 4, 5, 6, 7, 8, 10, 11))


def _operations(request: Request, what: str, all_there_are: int) -> int:
    asked = getattr(request.body, f"include_{what}_authorized_operations", False)
    return all_there_are if asked else OPERATIONS_NOT_ASKED_FOR


def _asked(request: Request) -> Any:
    """None: all topics. Version 0 says so with an empty list."""
    asked = request.body.topics
    return None if request.start.version == 0 and not asked else asked


def _by_id(asked: Any) -> bool:
    return any(each.name is None for each in asked)


def _brokers(shape: type[Entity], image: MetadataImage, listener: str) -> Iterator[Entity]:
    """Brokers without this listener are left out."""
    for broker, node in sorted(image.brokers.items()):
        place = node.endpoint(listener)
        if place is not None:
            yield shaped(shape, node_id=broker, host=place.host, port=place.port, rack=node.rack)


def _topic(request: Request, image: MetadataImage, name: str) -> Entity:
    shape, old = request.shape("MetadataResponsePartition"), request.start.version < LISTENER_NOT_FOUND_SINCE
    partitions = image.describe_topic(name, request.listener) or ()
    if request.start.version == 0:
        partitions = tuple(image.only_reachable(each, request.listener) for each in partitions)
    return shaped(
        request.shape("MetadataResponseTopic"),
        error_code=ErrorCode.none,
        name=name,
        topic_id=topic_uuid(image.topic_ids.get(name)),
        is_internal=name in INTERNAL_TOPICS,
        partitions=tuple(_partition(shape, each, old=old) for each in partitions),
        topic_authorized_operations=_operations(request, "topic", TOPIC_OPERATIONS),
    )


def _unknown(request: Request, name: str | None, topic_id: object, error: str) -> Entity:
    return shaped(
        request.shape("MetadataResponseTopic"),
        error_code=error_code(error),
        name=name,
        topic_id=topic_id or ZERO_ID,
        is_internal=name in INTERNAL_TOPICS,
        partitions=(),
        topic_authorized_operations=_operations(request, "topic", TOPIC_OPERATIONS),
    )


def _partition(shape: type[Entity], known: PartitionMetadata, *, old: bool) -> Entity:
    error = "LEADER_NOT_AVAILABLE" if old and known.error == "LISTENER_NOT_FOUND" else known.error
    return shaped(
        shape,
        error_code=error_code(error),
        partition_index=known.partition.partition,
        leader_id=known.leader,
        leader_epoch=known.leader_epoch,
        replica_nodes=known.replicas,
        isr_nodes=known.isr,
        offline_replicas=known.offline_replicas,
    )
