"""CreateTopics, CreatePartitions and DeleteTopics, which the controller answers; and topics that a broker makes itself.

A request is answered once the controller has done its part. A topic's assignment, or Kafka's refusal, is decided
without reading or writing; checks and placement are those of `model.controller`. Any broker may write a topic: first
the configuration, then the assignment, which a controller finds. Clients' Metadata requests and the group coordinator
make topics of their own accord.

Source: `kafka.server.KafkaApis`, `kafka.server.ZkAdminManager`, `kafka.zk.AdminZkClient.createTopicWithAssignment`,
`kafka.server.DefaultAutoTopicCreationManager` (3.9).
"""

import logging
import random
import uuid
from collections.abc import Callable, Collection, Mapping
from typing import Any, Protocol

import msgspec
from kio.schema.errors import ErrorCode

from model.broker.metadata import MetadataImage
from model.broker.settings.dynamic_configs import SettingsInLayers, topic_config_problem
from model.broker.settings.keys import (
    DEFAULT_REPLICATION_FACTOR,
    NUM_PARTITIONS,
    OFFSETS_TOPIC_NUM_PARTITIONS,
    OFFSETS_TOPIC_REPLICATION_FACTOR,
    OFFSETS_TOPIC_SEGMENT_BYTES,
)
from model.broker.settings.settings import Settings
from model.cluster.ids import NO_LEADER, OFFSETS_TOPIC
from model.controller import Refusal
from model.controller.context import ControllerContext
from model.controller.leader_and_isr import ReplicaAssignment
from model.controller.placement import BrokerMetadata, Placement, PlacementRequest, place
from model.controller.topic_validation import (
    BROKER_DEFAULT,
    PartitionAddition,
    TopicCreation,
    add_partitions,
    creation_problem,
    creation_request_problem,
)
from model.controller.topics import Topic
from model.hosts.live_broker.parts import AskZooKeeper, MetadataCache
from model.hosts.wire.messages import Entity, shaped
from model.hosts.wire.names import ZERO_ID, ApiKey, error_code, topic_id_text, topic_uuid
from model.hosts.wire.server import Api, Request
from model.znodes.configs import EntityConfig
from model.znodes.paths import DELETIONS, TOPICS, config_path, topic_path
from model.znodes.topics import TopicAssignment
from model.zookeeper import Code, Create, GetChildren, SetData

Dice = Callable[[int], int]
"""A number from 0 to below this one."""
PlannedReplicas = Mapping[int, tuple[int, ...]]


class WantedTopic(msgspec.Struct, frozen=True):
    """A topic as somebody asks for it; -1 stands for a default, an empty assignment for none."""

    name: str
    partitions: int
    replication_factor: int
    assignment: PlannedReplicas
    configs: Mapping[str, str | None]


class TopicDefaults(msgspec.Struct, frozen=True):
    """num.partitions and default.replication.factor."""

    partitions: int = 1
    replication_factor: int = 1


def planned_topic(
    wanted: WantedTopic,
    defaults: TopicDefaults,
    brokers: Collection[BrokerMetadata],
    existing: Collection[str],
    marked_for_deletion: Collection[str],
    dice: Dice,
) -> PlannedReplicas | Refusal:
    """The replicas of each partition. Brokers are taken in the order of their ids."""
    refusal = creation_request_problem(
        wanted.name,
        existing,
        partitions=wanted.partitions,
        replication_factor=wanted.replication_factor,
        has_assignment=bool(wanted.assignment),
        configs=wanted.configs,
    )
    if refusal is not None:
        return refusal
    assignment = wanted.assignment or _placed(wanted, defaults, brokers, dice)
    if isinstance(assignment, Refusal):
        return assignment
    creation = TopicCreation(
        topic=wanted.name, assignment=assignment, existing=existing, marked_for_deletion=marked_for_deletion
    )
    return creation_problem(creation) or assignment


def _placed(
    wanted: WantedTopic, defaults: TopicDefaults, brokers: Collection[BrokerMetadata], dice: Dice
) -> PlannedReplicas | Refusal:
    partitions, factor = wanted.partitions, wanted.replication_factor
    partitions = defaults.partitions if partitions == BROKER_DEFAULT else partitions
    factor = defaults.replication_factor if factor == BROKER_DEFAULT else factor
    count = max(len(brokers), 1)
    return place(sorted(brokers), PlacementRequest(partitions, factor, dice(count), dice(count)))


UNREACHABLE = Refusal("UNKNOWN_SERVER_ERROR", "ZooKeeper did not take the topic.")


class TopicMaker:
    """`without` are brokers that get no replicas: those that keep no logs."""

    def __init__(
        self,
        zookeeper: AskZooKeeper,
        metadata: MetadataCache,
        layers: Callable[[], SettingsInLayers],
        without: Collection[int] = (),
    ) -> None:
        self._zookeeper = zookeeper
        self._metadata = metadata
        self._layers = layers
        self._without = without

    def brokers(self) -> list[BrokerMetadata]:
        """The live ones, as far as this broker knows, by id."""
        nodes = sorted(self._metadata.image.brokers.values(), key=lambda node: node.id)
        return [BrokerMetadata(node.id, node.rack) for node in nodes if node.id not in self._without]

    async def make(self, topic: WantedTopic, *, dry: bool) -> tuple[uuid.UUID, PlannedReplicas | Refusal]:
        """The id of the topic and its replicas, or why not. A `dry` run writes nothing and has no id."""
        layers = self._layers()
        wrong = topic_config_problem(layers, topic.configs)
        existing, marked = await self._zookeeper((GetChildren(TOPICS), GetChildren(DELETIONS)))
        settings = layers.effective
        defaults = TopicDefaults(settings[NUM_PARTITIONS], settings[DEFAULT_REPLICATION_FACTOR])
        plan = planned_topic(topic, defaults, self.brokers(), existing.names, marked.names, random.randrange)
        if isinstance(plan, Refusal) or wrong is not None or dry:
            return ZERO_ID, plan if isinstance(plan, Refusal) or wrong is None else wrong
        topic_id = uuid.uuid4()
        written = await self._write(topic, plan, topic_id)
        return (topic_id, plan) if written is None else (ZERO_ID, written)

    async def _write(self, topic: WantedTopic, plan: PlannedReplicas, topic_id: uuid.UUID) -> Refusal | None:
        config = EntityConfig(version=1, config={key: value or "" for key, value in topic.configs.items()}).to_bytes()
        path = config_path(f"topics/{topic.name}")
        payload = TopicAssignment(partitions=plan, topic_id=topic_id_text(topic_id), version=3).to_bytes()
        (configured,) = await self._zookeeper((Create(path, config),))
        if configured.code is Code.NODE_EXISTS:
            await self._zookeeper((SetData(path, config),))
        (written,) = await self._zookeeper((Create(f"{TOPICS}/{topic.name}", payload),))
        if written.code is Code.NODE_EXISTS:
            return Refusal("TOPIC_ALREADY_EXISTS", f"Topic '{topic.name}' already exists.")
        return None if written.ok else UNREACHABLE


_LOGGER = logging.getLogger(__name__)


class MakesTopics(Protocol):
    """A `TopicMaker`, or whoever asks a controller."""

    async def make(self, topic: WantedTopic, *, dry: bool) -> tuple[uuid.UUID, PlannedReplicas | Refusal]: ...


class AutoTopics:
    """One attempt for each name at a time."""

    def __init__(self, maker: MakesTopics, settings: Callable[[], Settings]) -> None:
        self._maker = maker
        self._settings = settings
        self._under_way: set[str] = set()

    async def create(self, name: str) -> str:
        """The name of the error that clients are told meanwhile: LEADER_NOT_AVAILABLE if it is made or was there."""
        if name in self._under_way:
            return "LEADER_NOT_AVAILABLE"
        self._under_way.add(name)
        try:
            _, made = await self._maker.make(self._wanted(name), dry=False)
        finally:
            self._under_way.discard(name)
        if not isinstance(made, Refusal):
            _LOGGER.info("topic %s is made, for somebody asked for it", name)
        elif made.error != "TOPIC_ALREADY_EXISTS":
            _LOGGER.warning("topic %s is not made: %s", name, made.message)
            return made.error
        return "LEADER_NOT_AVAILABLE"

    def _wanted(self, name: str) -> WantedTopic:
        settings = self._settings()
        if name != OFFSETS_TOPIC:
            return WantedTopic(name, BROKER_DEFAULT, BROKER_DEFAULT, {}, {})
        config = {
            "cleanup.policy": "compact",
            "compression.type": "producer",
            "segment.bytes": str(settings[OFFSETS_TOPIC_SEGMENT_BYTES]),
        }
        partitions, factor = settings[OFFSETS_TOPIC_NUM_PARTITIONS], settings[OFFSETS_TOPIC_REPLICATION_FACTOR]
        return WantedTopic(name, partitions, factor, {}, config)


Failure = tuple[ErrorCode, str | None]
DONE: Failure = (ErrorCode.none, None)
NOT_CONTROLLER: Failure = (ErrorCode.not_controller, None)
UNWRITTEN: Failure = (ErrorCode.unknown_server_error, "ZooKeeper did not take it.")


DISABLED_IS_TOLD_SINCE = 3
"""Older clients do not know the error of DeleteTopics for it."""


class TopicRequests:
    """`context` is what the controller in this broker knows at this moment."""

    def __init__(
        self,
        maker: TopicMaker,
        zookeeper: AskZooKeeper,
        context: Callable[[], ControllerContext],
        metadata: MetadataCache,
    ) -> None:
        self._maker = maker
        self._zookeeper = zookeeper
        self._context = context
        self._metadata = metadata

    @property
    def apis(self) -> Mapping[int, Api]:
        return {
            ApiKey.CREATE_TOPICS: Api(0, 7, self._create),
            ApiKey.DELETE_TOPICS: Api(0, 6, self._delete),
            ApiKey.CREATE_PARTITIONS: Api(0, 3, self._extend),
        }

    async def _create(self, request: Request) -> Entity:
        body, dry = request.body, getattr(request.body, "validate_only", False)
        wanted = [_wanted(topic) for topic in body.topics]
        results: list[tuple[WantedTopic, uuid.UUID, PlannedReplicas | Failure]] = []
        for topic in wanted:
            if sum(other.name == topic.name for other in wanted) > 1:
                results.append((topic, ZERO_ID, (ErrorCode.invalid_request, "Duplicate topic name.")))
            else:
                results.append((topic, *await self._make(topic, dry=dry)))
        made = [topic.name for topic, _, result in results if isinstance(result, Mapping)]
        if not dry:
            await self._metadata.wait_until(
                lambda image: all(_has_leaders(image, name) for name in made), body.timeout.total_seconds()
            )
        topics: list[Entity] = []
        for topic, topic_id, result in results:
            error, message = DONE if isinstance(result, Mapping) else result
            if error is ErrorCode.none and not (dry or _has_leaders(self._metadata.image, topic.name)):
                error = ErrorCode.request_timed_out
            topics.append(_created(request, topic, topic_id, result, (error, message)))
        return request.answer("CreateTopicsResponse", topics=tuple(topics))

    async def _make(self, topic: WantedTopic, *, dry: bool) -> tuple[uuid.UUID, PlannedReplicas | Failure]:
        if not self._context().active:
            return ZERO_ID, NOT_CONTROLLER
        topic_id, made = await self._maker.make(topic, dry=dry)
        return topic_id, _failure(made) if isinstance(made, Refusal) else made

    async def _extend(self, request: Request) -> Entity:
        body, shape = request.body, request.shape("CreatePartitionsTopicResult")
        failures = [await self._add(topic, dry=body.validate_only) for topic in body.topics]
        added = [t for t, failure in zip(body.topics, failures, strict=True) if failure is DONE]
        if not body.validate_only:
            await self._metadata.wait_until(
                lambda image: all(_has_leaders(image, topic.name, topic.count) for topic in added),
                body.timeout.total_seconds(),
            )
        results: list[Entity] = []
        for topic, (error, message) in zip(body.topics, failures, strict=True):
            waited = topic in added and not body.validate_only
            late = waited and not _has_leaders(self._metadata.image, topic.name, topic.count)
            code = ErrorCode.request_timed_out if late else error
            results.append(shaped(shape, name=topic.name, error_code=code, error_message=message))
        return request.answer("CreatePartitionsResponse", results=tuple(results))

    async def _add(self, wanted: Any, *, dry: bool) -> Failure:
        context = self._context()
        if not context.active:
            return NOT_CONTROLLER
        topic = context.topics.by_name.get(wanted.name, Topic(None, {}))
        if context.deleting(wanted.name):
            return ErrorCode.invalid_topic_exception, "The topic is queued for deletion."
        existing = {number: partition.assignment for number, partition in topic.partitions.items()}
        given = wanted.assignments
        assignment = None if given is None else [tuple(each.broker_ids) for each in given]
        addition = PartitionAddition(
            topic=wanted.name,
            existing=existing,
            brokers=self._maker.brokers(),
            count=wanted.count,
            assignment=assignment,
        )
        added = add_partitions(addition)
        if isinstance(added, Refusal):
            return _failure(added)
        return DONE if dry else await self._write(wanted.name, topic.topic_id, existing, added)

    async def _write(
        self, name: str, topic_id: str | None, existing: Mapping[int, ReplicaAssignment], added: Placement
    ) -> Failure:
        partitions = {**{number: each.replicas for number, each in existing.items()}, **added}
        version = self._context().settings.forms.topic_version
        payload = TopicAssignment(partitions=partitions, topic_id=topic_id, version=version).to_bytes()
        (written,) = await self._zookeeper((SetData(topic_path(name), payload),))
        return DONE if written.ok else UNWRITTEN

    async def _delete(self, request: Request) -> Entity:
        asked = [*_topics_to_delete(request)]
        names = [self._named(each) for each in asked]
        if any(None not in each for each in asked):  # one is named both ways
            failures: list[Failure] = [(ErrorCode.invalid_request, None)] * len(names)
        else:
            failures = [await self._mark(name, by_id=topic_id is not None) for name, topic_id in names]
        going = [name for (name, _), failure in zip(names, failures, strict=True) if failure is DONE]
        await self._metadata.wait_until(
            lambda image: not any(name in image.topics for name in going), request.body.timeout.total_seconds()
        )
        shape = request.shape("DeletableTopicResult")
        responses: list[Entity] = []
        for (name, topic_id), (error, message) in zip(names, failures, strict=True):
            late = error is ErrorCode.none and name in self._metadata.image.topics
            code = ErrorCode.request_timed_out if late else error
            if code is ErrorCode.topic_deletion_disabled and request.start.version < DISABLED_IS_TOLD_SINCE:
                code = ErrorCode.invalid_request
            responses.append(
                shaped(shape, name=name, topic_id=topic_id or ZERO_ID, error_code=code, error_message=message)
            )
        return request.answer("DeleteTopicsResponse", responses=tuple(responses))

    def _named(self, asked: tuple[str | None, uuid.UUID | None]) -> tuple[str | None, uuid.UUID | None]:
        name, topic_id = asked
        if name is None:
            known = self._metadata.image.topic_ids.items()
            name = next((name for name, text in known if topic_uuid(text) == topic_id), None)
        return name, topic_id

    async def _mark(self, name: str | None, *, by_id: bool) -> Failure:
        context = self._context()
        if not context.active:
            return NOT_CONTROLLER
        if not context.settings.delete_topic_enable:
            return ErrorCode.topic_deletion_disabled, None
        if name is None or name not in context.topics.by_name:
            return ErrorCode.unknown_topic_id if by_id else ErrorCode.unknown_topic_or_partition, None
        (marked,) = await self._zookeeper((Create(f"{DELETIONS}/{name}"),))
        # Who asks twice waits twice.
        return DONE if marked.ok or marked.code is Code.NODE_EXISTS else UNWRITTEN


def _failure(refusal: Refusal) -> Failure:
    return error_code(refusal.error), refusal.message


def _has_leaders(image: MetadataImage, topic: str, partitions: int = 1) -> bool:
    """Whether so many partitions of a topic are known, and each has a leader."""
    known = image.topics.get(topic, {})
    return len(known) >= partitions and all(each.state.leader != NO_LEADER for each in known.values())


def _wanted(topic: Any) -> WantedTopic:
    assignment = {each.partition_index: tuple(each.broker_ids) for each in topic.assignments}
    configs = {each.name: each.value for each in topic.configs}
    return WantedTopic(topic.name, topic.num_partitions, topic.replication_factor, assignment, configs)


def _created(
    request: Request, topic: WantedTopic, topic_id: uuid.UUID, result: PlannedReplicas | Failure, failure: Failure
) -> Entity:
    replicas: PlannedReplicas = result if isinstance(result, Mapping) else {}
    return shaped(
        request.shape("CreatableTopicResult"),
        name=topic.name,
        topic_id=topic_id,
        error_code=failure[0],
        error_message=failure[1],
        num_partitions=len(replicas) or -1,
        replication_factor=max(map(len, replicas.values()), default=-1),
        configs=(),
    )


def _topics_to_delete(request: Request) -> list[tuple[str | None, uuid.UUID | None]]:
    names = getattr(request.body, "topic_names", None)
    if names is not None:
        return [(name, None) for name in names]
    return [(each.name, each.topic_id) for each in request.body.topics]
