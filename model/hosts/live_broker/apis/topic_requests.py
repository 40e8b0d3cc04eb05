"""CreateTopics, CreatePartitions and DeleteTopics, to be asked of the controller: it answers once it has done its part.

Source: `kafka.server.KafkaApis`, `kafka.server.ZkAdminManager` (3.9).
"""

import uuid
from collections.abc import Callable, Mapping
from typing import Any

from kio.schema.errors import ErrorCode

from model.broker.metadata import MetadataImage
from model.cluster.ids import NO_LEADER
from model.controller.context import ControllerContext
from model.controller.leader_and_isr import ReplicaAssignment
from model.controller.placement import Placement
from model.controller.refusal import Refusal
from model.controller.topic_validation import PartitionAddition, add_partitions
from model.controller.topics import Topic
from model.hosts.live_broker.apis.topic_creation import PlannedReplicas, TopicMaker, WantedTopic
from model.hosts.live_broker.parts import AskZooKeeper, MetadataCache
from model.hosts.wire.messages import Entity, shaped
from model.hosts.wire.names import ZERO_ID, ApiKey, error_code, topic_uuid
from model.hosts.wire.server import Api, Request
from model.znodes.paths import DELETIONS, topic_path
from model.znodes.topics import TopicAssignment
from model.zookeeper.operations import Code, Create, SetData

Failure = tuple[ErrorCode, str | None]
DONE: Failure = (ErrorCode.none, None)
NOT_CONTROLLER: Failure = (ErrorCode.not_controller, None)
UNWRITTEN: Failure = (ErrorCode.unknown_server_error, "ZooKeeper did not take it.")


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
        names = [self._named(each) for each in _topics_to_delete(request)]
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
