"""Answers Metadata and DescribeCluster from what this broker was told, in KRaft mode DescribeTopicPartitions as well.
Topics that are missing are made if so wished.

Source: `kafka.server.KafkaApis.handleTopicMetadataRequest`, `handleDescribeCluster`,
`DescribeTopicPartitionsRequestHandler`, `KRaftMetadataCache.describeTopicResponse` (3.9).
"""

from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Any

from kio.schema.errors import ErrorCode

from model.broker.metadata import MetadataImage, PartitionMetadata
from model.broker.metadata_log import EligibleReplicas
from model.cluster.ids import INTERNAL_TOPICS, TopicPartition
from model.controller.topic_validation import topic_name_problem
from model.hosts.live_broker.parts import MetadataCache
from model.hosts.wire.messages import Entity, shaped
from model.hosts.wire.names import ZERO_ID, ApiKey, MalformedError, error_code, topic_id_text, topic_uuid
from model.hosts.wire.server import Api, Request

LISTENER_NOT_FOUND_SINCE = 6
"""The error by this name is LEADER_NOT_AVAILABLE in versions of Metadata before."""
CreateTopic = Callable[[str], Awaitable[str]]
"""Makes a topic, if that is allowed: the name of the error that clients are told for now."""

TOLD_WITHIN_S = 5.0
"""So long does an answer wait for a controller to tell of brokers, at most."""
TOPIC_IDS_SINCE = 12
"""Metadata's version from which on a topic may be asked for by its id alone (KIP-516)."""


class MetadataRequests:
    """`cluster_id` is asked for with each answer.

    With ZooKeeper a broker of Kafka answers as soon as it has registered, with no brokers until a controller has told
    it of some, which is soon; librdkafka (2.10 and later) then forgets all that it knew for good. This one waits.
    """

    def __init__(self, cache: MetadataCache, cluster_id: Callable[[], str | None], create_topic: CreateTopic) -> None:
        self._cache = cache
        self._cluster_id = cluster_id
        self._create_topic = create_topic

    @property
    def apis(self) -> Mapping[int, Api]:
        return {ApiKey.METADATA: Api(0, 12, self._tell), ApiKey.DESCRIBE_CLUSTER: Api(0, 1, self._describe)}

    async def _known(self) -> MetadataImage:
        await self._cache.wait_until(lambda image: bool(image.brokers), TOLD_WITHIN_S)
        return self._cache.image

    async def _tell(self, request: Request) -> Entity:
        image = await self._known()
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
        image = await self._known()
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


Eligible = Mapping[TopicPartition, EligibleReplicas]
MOST_PARTITIONS = 2_000
"""In one answer (`max.request.partition.size.limit`)."""


class TopicPartitionRequests:
    """Pages of partitions with their eligible leader replicas (KIP-966). `eligible`: of those that have any, now."""

    def __init__(self, cache: MetadataCache, eligible: Callable[[], Eligible]) -> None:
        self._cache = cache
        self._eligible = eligible

    @property
    def apis(self) -> Mapping[int, Api]:
        return {ApiKey.DESCRIBE_TOPIC_PARTITIONS: Api(0, 0, self._describe)}

    async def _describe(self, request: Request) -> Entity:
        """By name, from the cursor on; a topic that is not there is told of if it was asked for."""
        body: Any = request.body
        image, cursor = self._cache.image, body.cursor
        if cursor is not None and cursor.partition_index < 0:
            refused = tuple(_not_described(request, each.name, ErrorCode.invalid_request) for each in body.topics)
            return request.answer("DescribeTopicPartitionsResponse", topics=refused, next_cursor=None)
        left = max(min(MOST_PARTITIONS, body.response_partition_limit), 1)
        asked = sorted({str(each.name) for each in body.topics} or image.topics)
        topics: list[Entity] = []
        for name in asked:
            if cursor is not None and name < cursor.topic_name:
                continue
            if not left:
                return self._page(request, topics, name, 0)
            begin = cursor.partition_index if cursor is not None and name == cursor.topic_name else 0
            partitions = image.describe_topic(name, request.listener)
            if partitions is None:
                error = "UNKNOWN_TOPIC_OR_PARTITION" if topic_name_problem(name) is None else "INVALID_TOPIC_EXCEPTION"
                topics.append(_not_described(request, name, error_code(error)))
                continue
            topics.append(self._topic(request, name, partitions[begin : begin + left]))
            if begin + left < len(partitions):
                return self._page(request, topics, name, begin + left)
            left -= max(len(partitions) - begin, 0)
        return request.answer("DescribeTopicPartitionsResponse", topics=tuple(topics), next_cursor=None)

    def _page(self, request: Request, topics: list[Entity], topic: str, partition: int) -> Entity:
        """With more behind it."""
        cursor = request.shape("Cursor")(topic_name=topic, partition_index=partition)
        return request.answer("DescribeTopicPartitionsResponse", topics=tuple(topics), next_cursor=cursor)

    def _topic(self, request: Request, name: str, partitions: tuple[PartitionMetadata, ...]) -> Entity:
        shape, eligible = request.shape("DescribeTopicPartitionsResponsePartition"), self._eligible()
        told = [(each, eligible.get(each.partition, EligibleReplicas())) for each in partitions]
        return shaped(
            request.shape("DescribeTopicPartitionsResponseTopic"),
            error_code=ErrorCode.none,
            name=name,
            topic_id=topic_uuid(self._cache.image.topic_ids.get(name)),
            is_internal=name in INTERNAL_TOPICS,
            partitions=tuple(
                shape(
                    error_code=ErrorCode.none,
                    partition_index=each.partition.partition,
                    leader_id=each.leader,
                    leader_epoch=each.leader_epoch,
                    replica_nodes=each.replicas,
                    isr_nodes=each.isr,
                    eligible_leader_replicas=known.elr,
                    last_known_elr=known.last_known,
                    offline_replicas=each.offline_replicas,
                )
                for each, known in told
            ),
            topic_authorized_operations=TOPIC_OPERATIONS,
        )


def _not_described(request: Request, name: str, error: ErrorCode) -> Entity:
    return shaped(
        request.shape("DescribeTopicPartitionsResponseTopic"),
        error_code=error,
        name=name,
        topic_id=ZERO_ID,
        is_internal=name in INTERNAL_TOPICS,
        partitions=(),
        topic_authorized_operations=OPERATIONS_NOT_ASKED_FOR,
    )
