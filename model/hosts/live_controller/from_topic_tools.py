"""CreateTopics and DeleteTopics: znodes for the controller to find, and an answer once it has done its part.

Source: `kafka.server.ZkAdminManager`, `kafka.zk.AdminZkClient` (3.9). Configurations of topics are not checked.
"""

import random
import uuid
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from kio.schema.errors import ErrorCode

from model.controller.context import ControllerContext
from model.controller.placement_strategies import BrokerMetadata
from model.controller.refusal import Refusal
from model.controller.zookeeper import DELETIONS, TOPICS, Answer, Code, Create, SetData, ZooKeeperRequest
from model.hosts.live_controller.api_keys import CREATE_TOPICS, DELETE_TOPICS
from model.hosts.live_controller.metadata_cache import MetadataCache
from model.hosts.live_controller.names import ZERO_ID, error_code, topic_id_text
from model.hosts.live_controller.topic_creation import Replicas, WantedTopic, planned_topic
from model.hosts.wire.messages import Entity, shaped
from model.hosts.wire.server import Api, Request
from model.znodes.configs import EntityConfig
from model.znodes.paths import config_path
from model.znodes.topics import TopicAssignment

Write = Callable[[Sequence[ZooKeeperRequest]], Awaitable[tuple[Answer, ...]]]
Failure = tuple[ErrorCode, str | None]
DONE: Failure = (ErrorCode.none, None)
NOT_CONTROLLER: Failure = (ErrorCode.not_controller, None)


class TopicRequests:
    """Replicas are placed on all live brokers but this one, which keeps no logs."""

    def __init__(self, write: Write, context: Callable[[], ControllerContext], metadata: MetadataCache) -> None:
        self._write = write
        self._context = context
        self._metadata = metadata

    @property
    def apis(self) -> Mapping[int, Api]:
        """The table for a server."""
        return {CREATE_TOPICS: Api(2, 7, self._create), DELETE_TOPICS: Api(1, 6, self._delete)}

    async def _create(self, request: Request) -> Entity:
        wanted = [_wanted(topic) for topic in request.body.topics]
        results: list[tuple[WantedTopic, uuid.UUID, Replicas | Failure]] = []
        for topic in wanted:
            if sum(other.name == topic.name for other in wanted) > 1:
                results.append((topic, ZERO_ID, (ErrorCode.invalid_request, "Duplicate topic name.")))
            else:
                results.append((topic, *await self._make(topic, dry=request.body.validate_only)))
        made = [topic for topic, _, result in results if isinstance(result, Mapping)]
        if not request.body.validate_only:
            await self._metadata.wait_until(
                lambda: all(self._metadata.has_leaders(topic.name) for topic in made), request.body.timeout
            )
        topics: list[Entity] = []
        for topic, topic_id, result in results:
            error, message = DONE if isinstance(result, Mapping) else result
            if error is ErrorCode.none and not (request.body.validate_only or self._metadata.has_leaders(topic.name)):
                error = ErrorCode.request_timed_out
            topics.append(_created(request, topic, topic_id, result, (error, message)))
        return request.answer("CreateTopicsResponse", topics=tuple(topics))

    async def _make(self, topic: WantedTopic, *, dry: bool) -> tuple[uuid.UUID, Replicas | Failure]:
        context = self._context()
        if not context.active:
            return ZERO_ID, NOT_CONTROLLER
        known = self._metadata.brokers.items()
        brokers = [BrokerMetadata(broker, each.rack) for broker, each in known if broker != context.broker_id]
        plan = planned_topic(topic, brokers, context.topics.by_name, context.deletion.queued, random.randrange)
        if isinstance(plan, Refusal):
            return ZERO_ID, (error_code(plan.error), plan.message)
        topic_id = uuid.uuid4()
        if dry:
            return ZERO_ID, plan
        config = EntityConfig(version=1, config={key: value or "" for key, value in topic.configs.items()}).to_bytes()
        path = config_path(f"topics/{topic.name}")
        payload = TopicAssignment(partitions=plan, topic_id=topic_id_text(topic_id), version=3).to_bytes()
        (configured,) = await self._write((Create(path, config),))
        if configured.code is Code.NODE_EXISTS:
            await self._write((SetData(path, config),))
        (written,) = await self._write((Create(f"{TOPICS}/{topic.name}", payload),))
        if written.code is Code.NODE_EXISTS:
            return ZERO_ID, (ErrorCode.topic_already_exists, f"Topic '{topic.name}' already exists.")
        return topic_id, plan if written.ok else (ErrorCode.unknown_server_error, None)

    async def _delete(self, request: Request) -> Entity:
        names = [self._named(each) for each in _topics_to_delete(request)]
        failures = [await self._mark(name, by_id=topic_id is not None) for name, topic_id in names]
        going = [name for (name, _), failure in zip(names, failures, strict=True) if failure is DONE]
        await self._metadata.wait_until(
            lambda: not any(name in self._metadata.topics for name in going), request.body.timeout
        )
        shape = request.shape("DeletableTopicResult")
        responses: list[Entity] = []
        for (name, topic_id), (error, message) in zip(names, failures, strict=True):
            late = error is ErrorCode.none and name in self._metadata.topics
            code = ErrorCode.request_timed_out if late else error
            responses.append(
                shaped(shape, name=name, topic_id=topic_id or ZERO_ID, error_code=code, error_message=message)
            )
        return request.answer("DeleteTopicsResponse", responses=tuple(responses))

    def _named(self, asked: tuple[str | None, uuid.UUID | None]) -> tuple[str | None, uuid.UUID | None]:
        name, topic_id = asked
        if name is None:
            name = next((name for name, each in self._metadata.topic_ids.items() if each == topic_id), None)
        return name, topic_id

    async def _mark(self, name: str | None, *, by_id: bool) -> Failure:
        context = self._context()
        if not context.active:
            return NOT_CONTROLLER
        if not context.settings.delete_topic_enable:
            return ErrorCode.topic_deletion_disabled, None
        if name is None or name not in context.topics.by_name:
            return ErrorCode.unknown_topic_id if by_id else ErrorCode.unknown_topic_or_partition, None
        (marked,) = await self._write((Create(f"{DELETIONS}/{name}"),))
        # Who asks twice waits twice.
        return DONE if marked.ok or marked.code is Code.NODE_EXISTS else (ErrorCode.unknown_server_error, None)


def _wanted(topic: Any) -> WantedTopic:
    assignment = {each.partition_index: tuple(each.broker_ids) for each in topic.assignments}
    configs = {each.name: each.value for each in topic.configs}
    return WantedTopic(topic.name, topic.num_partitions, topic.replication_factor, assignment, configs)


def _created(
    request: Request, topic: WantedTopic, topic_id: uuid.UUID, result: Replicas | Failure, failure: Failure
) -> Entity:
    replicas: Replicas = result if isinstance(result, Mapping) else {}
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
