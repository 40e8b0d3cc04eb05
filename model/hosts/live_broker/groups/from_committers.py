"""OffsetCommit, OffsetFetch and OffsetDelete. Translation between the wire and the coordinator.

Version 0 of the first two, which keeps offsets in ZooKeeper, is not served: no client since 0.8.2 needs it.

Source: `kafka.coordinator.group.GroupCoordinatorAdapter`, `kafka.server.KafkaApis` (3.9).
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Any

from kio.schema.errors import ErrorCode

from model.cluster.ids import TopicPartition
from model.consumers.group_coordinator.commands import AnswerCommit, AnswerOffsetDeletion
from model.consumers.group_coordinator.committed_offset import CommittedOffset
from model.consumers.group_coordinator.describing import FetchedOffset, fetch_offsets
from model.consumers.group_coordinator.events import CommitRequested, OffsetDeletionRequested
from model.consumers.group_coordinator.offsets_topic import standing_error
from model.hosts.live_broker.groups.asking import ask
from model.hosts.live_broker.groups.group_coordinator import GroupCoordinator
from model.hosts.live_broker.replicas.metadata_cache import MetadataCache
from model.hosts.wire.api_keys import OFFSET_COMMIT, OFFSET_DELETE, OFFSET_FETCH
from model.hosts.wire.messages import Entity, shaped
from model.hosts.wire.names import error_code
from model.hosts.wire.server import Api, Request

SEVERAL_GROUPS_SINCE = 8
"""OffsetFetch from here on may ask for several groups."""
GROUP_ERROR_SINCE = 2
_MS = timedelta(milliseconds=1)
_NONE = -1
_UNKNOWN = "UNKNOWN_TOPIC_OR_PARTITION"


class CommitterRequests:
    """Commits for partitions that do not exist are refused here, as Kafka does."""

    def __init__(self, coordinator: GroupCoordinator, metadata: MetadataCache) -> None:
        self._coordinator = coordinator
        self._metadata = metadata

    @property
    def apis(self) -> Mapping[int, Api]:
        """The table for a server."""
        return {
            OFFSET_COMMIT: Api(1, 9, self._commit),
            OFFSET_FETCH: Api(1, 9, self._fetch),
            OFFSET_DELETE: Api(0, 0, self._delete),
        }

    async def _commit(self, request: Request) -> Entity:
        body, now_ms = request.body, self._coordinator.now_ms()
        asked = {
            TopicPartition(topic.name, each.partition_index): each for topic in body.topics for each in topic.partitions
        }
        expire_ms = _expiry(body, now_ms)
        event = CommitRequested(
            group_id=body.group_id,
            at_ms=now_ms,
            request=self._coordinator.next_request(),
            member_id=body.member_id,
            instance_id=getattr(body, "group_instance_id", None),
            generation=getattr(body, "generation_id_or_member_epoch", _NONE),
            offsets={name: _offset(each, now_ms, expire_ms) for name, each in asked.items() if self._exists(name)},
        )
        errors = dict.fromkeys(asked, _UNKNOWN)
        if event.offsets:
            errors.update((await ask(self._coordinator, event, AnswerCommit, needs_name=False)).partitions)
        return request.answer("OffsetCommitResponse", topics=_topic_errors(request, "OffsetCommitResponse", errors))

    async def _fetch(self, request: Request) -> Entity:
        body, version = request.body, request.start.version
        require_stable: bool = getattr(body, "require_stable", False)
        if version >= SEVERAL_GROUPS_SINCE:
            groups = tuple(self._fetched_group(request, each, require_stable) for each in body.groups)
            return request.answer("OffsetFetchResponse", groups=groups)
        error, offsets = self._offsets(body.group_id, body.topics, require_stable)
        if error is not ErrorCode.none and version < GROUP_ERROR_SINCE:
            offsets = [FetchedOffset(each, error=error.name.upper()) for each in _named(body.topics) or ()]
        topics = _fetched(request, offsets, "OffsetFetchResponseTopic", "OffsetFetchResponsePartition")
        return request.answer("OffsetFetchResponse", error_code=error, topics=topics)

    def _fetched_group(self, request: Request, group: Any, require_stable: bool) -> Entity:
        error, offsets = self._offsets(group.group_id, group.topics, require_stable)
        topics = _fetched(request, offsets, "OffsetFetchResponseTopics", "OffsetFetchResponsePartitions")
        shape = request.shape("OffsetFetchResponseGroup")
        return shaped(shape, group_id=group.group_id, topics=topics, error_code=error)

    def _offsets(
        self, group_id: str, topics: Sequence[Any] | None, require_stable: bool
    ) -> tuple[ErrorCode, Sequence[FetchedOffset]]:
        error = standing_error(group_id, self._coordinator.standing(group_id), needs_name=False)
        if error is not None:
            return error_code(error), ()
        group = self._coordinator.groups.get(group_id)
        return ErrorCode.none, tuple(fetch_offsets(group, _named(topics), require_stable=require_stable))

    async def _delete(self, request: Request) -> Entity:
        body = request.body
        asked = [TopicPartition(topic.name, each.partition_index) for topic in body.topics for each in topic.partitions]
        event = OffsetDeletionRequested(
            group_id=body.group_id,
            at_ms=self._coordinator.now_ms(),
            request=self._coordinator.next_request(),
            partitions=tuple(each for each in asked if self._exists(each)),
        )
        answer = await ask(self._coordinator, event, AnswerOffsetDeletion)
        if answer.error != "NONE":
            return request.answer("OffsetDeleteResponse", error_code=error_code(answer.error), topics=())
        errors = dict.fromkeys(asked, _UNKNOWN) | dict(answer.partitions)
        topics = _topic_errors(request, "OffsetDeleteResponse", errors)
        return request.answer("OffsetDeleteResponse", error_code=ErrorCode.none, topics=topics)

    def _exists(self, partition: TopicPartition) -> bool:
        return self._metadata.image.partition(partition) is not None


def _offset(asked: Any, now_ms: int, expire_ms: int | None) -> CommittedOffset:
    leader_epoch = getattr(asked, "committed_leader_epoch", _NONE)
    commit_ms = getattr(asked, "commit_timestamp", _NONE)
    return CommittedOffset(
        offset=asked.committed_offset,
        metadata=asked.committed_metadata or "",
        leader_epoch=None if leader_epoch == _NONE else leader_epoch,
        commit_ms=now_ms if commit_ms == _NONE else commit_ms,
        expire_ms=expire_ms,
    )


def _expiry(body: Any, now_ms: int) -> int | None:
    """From v2 to v4 a client may say how long its offsets are to be kept; -1 leaves that to the broker."""
    retention_ms = getattr(body, "retention_time", -_MS) // _MS
    return None if retention_ms == _NONE else now_ms + retention_ms


def _named(topics: Sequence[Any] | None) -> list[TopicPartition] | None:
    if topics is None:
        return None
    return [TopicPartition(topic.name, partition) for topic in topics for partition in topic.partition_indexes]


def _topic_errors(request: Request, name: str, errors: Mapping[TopicPartition, str]) -> tuple[Entity, ...]:
    shape, topic_shape = request.shape(f"{name}Partition"), request.shape(f"{name}Topic")
    topics: dict[str, list[Entity]] = {}
    for (topic, partition), error in errors.items():
        topics.setdefault(topic, []).append(shaped(shape, partition_index=partition, error_code=error_code(error)))
    return tuple(shaped(topic_shape, name=topic, partitions=tuple(each)) for topic, each in topics.items())


def _fetched(request: Request, offsets: Iterable[FetchedOffset], topic: str, partition: str) -> tuple[Entity, ...]:
    shape, topic_shape = request.shape(partition), request.shape(topic)
    topics: dict[str, list[Entity]] = {}
    for each in offsets:
        topics.setdefault(each.partition.topic, []).append(
            shaped(
                shape,
                partition_index=each.partition.partition,
                committed_offset=each.offset,
                committed_leader_epoch=_NONE if each.leader_epoch is None else each.leader_epoch,
                metadata=each.metadata,
                error_code=error_code(each.error),
            )
        )
    return tuple(shaped(topic_shape, name=name, partitions=tuple(each)) for name, each in topics.items())
