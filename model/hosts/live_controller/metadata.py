"""Answers Metadata from what this broker was told. Topics are never created by asking for them.

Source: `kafka.server.KafkaApis.handleTopicMetadataRequest`, `ZkMetadataCache.getTopicMetadata` (3.9).
"""

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence

from kio.schema.errors import ErrorCode

from model.cluster.ids import NO_LEADER
from model.controller.topic_names import topic_name_problem
from model.controller.zookeeper import CLUSTER_ID, Answer, Read, ZooKeeperRequest
from model.hosts.live_controller.api_keys import METADATA
from model.hosts.live_controller.metadata_cache import KnownPartition, MetadataCache
from model.hosts.live_controller.names import ZERO_ID
from model.hosts.wire.messages import Entity, shaped
from model.hosts.wire.server import Api, Request
from model.znodes.cluster import decode_cluster_id
from model.znodes.reasons import UnusablePayloadError

INTERNAL_TOPICS = frozenset({"__consumer_offsets", "__transaction_state"})


class MetadataRequests:
    """Metadata for clients of one listener. The cluster's id is read once."""

    def __init__(
        self,
        cache: MetadataCache,
        listener: str,
        zookeeper: Callable[[Sequence[ZooKeeperRequest]], Awaitable[tuple[Answer, ...]]],
    ) -> None:
        self._cache = cache
        self._listener = listener
        self._zookeeper = zookeeper
        self._cluster_id: str | None = None

    @property
    def apis(self) -> Mapping[int, Api]:
        """The table for a server."""
        return {METADATA: Api(0, 12, self._tell)}

    async def _tell(self, request: Request) -> Entity:
        if self._cluster_id is None:
            (read,) = await self._zookeeper((Read(CLUSTER_ID),))
            self._cluster_id = _cluster_id(read)
        return metadata_response(request, self._cache, self._listener, self._cluster_id)


def metadata_response(request: Request, cache: MetadataCache, listener: str, cluster_id: str | None) -> Entity:
    """The response in the request's version; brokers without this listener are left out."""
    shape = request.shape("MetadataResponseBroker")
    brokers = tuple(
        shaped(shape, node_id=broker, host=place[0], port=place[1], rack=known.rack)
        for broker, known in sorted(cache.brokers.items())
        if (place := known.endpoints.get(listener)) is not None
    )
    return request.answer(
        "MetadataResponse",
        brokers=brokers,
        cluster_id=cluster_id,
        controller_id=cache.controller,
        topics=tuple(_topics(request, cache)),
    )


def _topics(request: Request, cache: MetadataCache) -> Iterator[Entity]:
    asked = request.body.topics
    if asked is None or (request.start.version == 0 and not asked):
        for name in sorted(cache.topics):
            yield _topic(request, cache, name, ErrorCode.none)
        return
    by_id = {topic_id: name for name, topic_id in cache.topic_ids.items()}
    for each in asked:
        name = each.name
        if name is None:
            name = by_id.get(each.topic_id or ZERO_ID)
            if name is None:
                yield _unknown(request, None, each.topic_id, ErrorCode.unknown_topic_id)
                continue
        if name in cache.topics:
            yield _topic(request, cache, name, ErrorCode.none)
        else:
            invalid = topic_name_problem(name) is not None
            error = ErrorCode.invalid_topic_exception if invalid else ErrorCode.unknown_topic_or_partition
            yield _unknown(request, name, None, error)


def _topic(request: Request, cache: MetadataCache, name: str, error: ErrorCode) -> Entity:
    shape = request.shape("MetadataResponsePartition")
    partitions = tuple(
        _partition(shape, cache, number, partition) for number, partition in sorted(cache.topics[name].items())
    )
    return shaped(
        request.shape("MetadataResponseTopic"),
        error_code=error,
        name=name,
        topic_id=cache.topic_ids.get(name, ZERO_ID),
        is_internal=name in INTERNAL_TOPICS,
        partitions=partitions,
    )


def _unknown(request: Request, name: str | None, topic_id: object, error: ErrorCode) -> Entity:
    shape = request.shape("MetadataResponseTopic")
    return shaped(shape, error_code=error, name=name, topic_id=topic_id or ZERO_ID, partitions=())


def _partition(shape: type[Entity], cache: MetadataCache, number: int, known: KnownPartition) -> Entity:
    leader = known.leader if known.leader in cache.brokers else NO_LEADER
    return shaped(
        shape,
        error_code=ErrorCode.none if leader != NO_LEADER else ErrorCode.leader_not_available,
        partition_index=number,
        leader_id=leader,
        leader_epoch=known.leader_epoch,
        replica_nodes=known.replicas,
        isr_nodes=known.isr,
        offline_replicas=known.offline,
    )


def _cluster_id(answer: Answer) -> str | None:
    try:
        return decode_cluster_id(answer.data).cluster_id if answer.ok else None
    except UnusablePayloadError:
        return None
