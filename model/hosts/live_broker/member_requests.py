"""What members of groups ask: JoinGroup, SyncGroup, Heartbeat, LeaveGroup, and committed offsets. Translation only.

OffsetCommit, OffsetFetch and OffsetDelete come from others as well. Version 0 of the first two keeps offsets in
ZooKeeper, where consumers of 0.8 and 0.9 have them; any broker does that.

Source: `kafka.coordinator.group.GroupCoordinatorAdapter`, `kafka.server.KafkaApis` (3.9).
"""

import logging
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Any

from kio.schema.errors import ErrorCode

from model.cluster.ids import TopicPartition
from model.consumers.group_coordinator.coordinate import FetchedOffset, fetch_offsets
from model.consumers.group_coordinator.events_and_commands import (
    AnswerCommit,
    AnswerHeartbeat,
    AnswerJoin,
    AnswerLeave,
    AnswerOffsetDeletion,
    AnswerSync,
    CommitRequested,
    HeartbeatReceived,
    JoinRequested,
    LeaveRequested,
    LeavingMember,
    OffsetDeletionRequested,
    SyncRequested,
)
from model.consumers.group_coordinator.group import CommittedOffset, SupportedProtocol
from model.consumers.group_coordinator.stored_formats import role_error
from model.hosts.live_broker.group_coordinator import GroupCoordinator, ask_coordinator
from model.hosts.live_broker.parts import AskZooKeeper, MetadataCache
from model.hosts.wire.messages import Entity, shaped
from model.hosts.wire.names import ApiKey, error_code
from model.hosts.wire.server import Api, Request
from model.znodes.consumers import ConsumerOffset, decode_offset
from model.znodes.paths import offset_path
from model.znodes.payload import UnusablePayloadError
from model.zookeeper import Code, Create, GetData, SetData

KNOWN_ID_SINCE = 4
"""JoinGroup from here on: members are given an id before they join (KIP-394)."""
PROTOCOL_MAY_BE_NULL_SINCE = 7
SKIPPED_ASSIGNMENT_SINCE = 9
PROTOCOL_NAMED_SINCE = 5
"""SyncGroup from here on says which protocol it is about (KIP-559)."""
SEVERAL_LEAVE_SINCE = 3
_MS = timedelta(milliseconds=1)
_LOGGER = logging.getLogger(__name__)


class MemberRequests:
    """Waits as long as the coordinator lets a member wait."""

    def __init__(self, coordinator: GroupCoordinator) -> None:
        self._coordinator = coordinator

    @property
    def apis(self) -> Mapping[int, Api]:
        return {
            ApiKey.JOIN_GROUP: Api(0, 9, self._join),
            ApiKey.SYNC_GROUP: Api(0, 5, self._sync),
            ApiKey.HEARTBEAT: Api(0, 4, self._heartbeat),
            ApiKey.LEAVE_GROUP: Api(0, 5, self._leave),
        }

    def _asked(self, request: Request) -> dict[str, Any]:
        number, now_ms = self._coordinator.next_request(), self._coordinator.now_ms()
        return {"group_id": request.body.group_id, "at_ms": now_ms, "request": number}

    async def _join(self, request: Request) -> Entity:
        body, version = request.body, request.start.version
        session_timeout_ms = body.session_timeout // _MS
        rebalance_timeout = getattr(body, "rebalance_timeout", None)
        instance_id = getattr(body, "group_instance_id", None)
        event = JoinRequested(
            **self._asked(request),
            member_id=body.member_id,
            instance_id=instance_id,
            client_id=request.client_id,
            client_host=f"/{request.peer.rpartition(':')[0]}",
            session_timeout_ms=session_timeout_ms,
            rebalance_timeout_ms=session_timeout_ms if rebalance_timeout is None else rebalance_timeout // _MS,
            protocol_type=body.protocol_type,
            protocols=tuple(SupportedProtocol(each.name, each.metadata) for each in body.protocols),
            new_id=str(uuid.uuid4()),
            needs_known_id=version >= KNOWN_ID_SINCE and instance_id is None,
            can_skip_assignment=version >= SKIPPED_ASSIGNMENT_SINCE,
            why=getattr(body, "reason", None) or None,
        )
        return _joined(request, await ask_coordinator(self._coordinator, event, AnswerJoin))

    async def _sync(self, request: Request) -> Entity:
        body = request.body
        event = SyncRequested(
            **self._asked(request),
            member_id=body.member_id,
            instance_id=getattr(body, "group_instance_id", None),
            generation=body.generation_id,
            protocol_type=getattr(body, "protocol_type", None),
            protocol=getattr(body, "protocol_name", None),
            assignment={each.member_id: each.assignment for each in body.assignments},
        )
        is_named = event.protocol_type is not None and event.protocol is not None
        if request.start.version >= PROTOCOL_NAMED_SINCE and not is_named:
            answer = AnswerSync(event.request, "INCONSISTENT_GROUP_PROTOCOL")
        else:
            answer = await ask_coordinator(self._coordinator, event, AnswerSync)
        # The rebalance that was going on is lost to a coordinator that loads. Old clients know no other way to say so.
        error = "REBALANCE_IN_PROGRESS" if answer.error == "COORDINATOR_LOAD_IN_PROGRESS" else answer.error
        return request.answer(
            "SyncGroupResponse",
            error_code=error_code(error),
            protocol_type=answer.protocol_type,
            protocol_name=answer.protocol,
            assignment=answer.assignment,
        )

    async def _heartbeat(self, request: Request) -> Entity:
        body = request.body
        event = HeartbeatReceived(
            **self._asked(request),
            member_id=body.member_id,
            instance_id=getattr(body, "group_instance_id", None),
            generation=body.generation_id,
        )
        answer = await ask_coordinator(self._coordinator, event, AnswerHeartbeat)
        # While groups are loaded nobody is told off.
        error = "NONE" if answer.error == "COORDINATOR_LOAD_IN_PROGRESS" else answer.error
        return request.answer("HeartbeatResponse", error_code=error_code(error))

    async def _leave(self, request: Request) -> Entity:
        body = request.body
        several = request.start.version >= SEVERAL_LEAVE_SINCE
        leaving = (
            tuple(
                LeavingMember(each.member_id, each.group_instance_id, getattr(each, "reason", None) or None)
                for each in body.members
            )
            if several
            else (LeavingMember(body.member_id),)
        )
        event = LeaveRequested(**self._asked(request), members=leaving)
        answer = await ask_coordinator(self._coordinator, event, AnswerLeave)
        if not several:
            error = answer.members[0][1] if answer.error == "NONE" and answer.members else answer.error
            return request.answer("LeaveGroupResponse", error_code=error_code(error))
        shape = request.shape("MemberResponse")
        members = tuple(
            shaped(shape, member_id=each.member_id, group_instance_id=each.instance_id, error_code=error_code(error))
            for each, error in answer.members
        )
        return request.answer("LeaveGroupResponse", error_code=error_code(answer.error), members=members)


def _joined(request: Request, answer: AnswerJoin) -> Entity:
    shape = request.shape("JoinGroupResponseMember")
    members = tuple(
        shaped(shape, member_id=each.member_id, group_instance_id=each.instance_id, metadata=each.metadata)
        for each in answer.members
    )
    protocol = answer.protocol
    if protocol is None and request.start.version < PROTOCOL_MAY_BE_NULL_SINCE:
        protocol = ""
    return request.answer(
        "JoinGroupResponse",
        error_code=error_code(answer.error),
        generation_id=answer.generation,
        protocol_type=answer.protocol_type,
        protocol_name=protocol,
        leader=answer.leader,
        skip_assignment=answer.skip_assignment,
        member_id=answer.member_id,
        members=members,
    )


SEVERAL_GROUPS_SINCE = 8
"""OffsetFetch from here on may ask for several groups."""
GROUP_ERROR_SINCE = 2
_MILLISECOND = timedelta(milliseconds=1)
_NONE = -1
_UNKNOWN = "UNKNOWN_TOPIC_OR_PARTITION"


class CommitRequests:
    """Commits for partitions that do not exist are refused here, as Kafka does."""

    def __init__(
        self, coordinator: GroupCoordinator, metadata: MetadataCache, in_zookeeper: "ZooKeeperOffsets"
    ) -> None:
        self._coordinator = coordinator
        self._metadata = metadata
        self._in_zookeeper = in_zookeeper

    @property
    def apis(self) -> Mapping[int, Api]:
        return {
            ApiKey.OFFSET_COMMIT: Api(0, 9, self._commit),
            ApiKey.OFFSET_FETCH: Api(0, 9, self._fetch),
            ApiKey.OFFSET_DELETE: Api(0, 0, self._delete),
        }

    async def _commit(self, request: Request) -> Entity:
        body, now_ms = request.body, self._coordinator.now_ms()
        asked = {
            TopicPartition(topic.name, each.partition_index): each for topic in body.topics for each in topic.partitions
        }
        if request.start.version == 0:
            wanted = {name: each for name, each in asked.items() if self._exists(name)}
            errors = dict.fromkeys(asked, _UNKNOWN) | await self._in_zookeeper.commit(body.group_id, wanted)
            return request.answer("OffsetCommitResponse", topics=_topic_errors(request, "OffsetCommitResponse", errors))
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
            errors.update((await ask_coordinator(self._coordinator, event, AnswerCommit, needs_name=False)).partitions)
        return request.answer("OffsetCommitResponse", topics=_topic_errors(request, "OffsetCommitResponse", errors))

    async def _fetch(self, request: Request) -> Entity:
        body, version = request.body, request.start.version
        require_stable: bool = getattr(body, "require_stable", False)
        if version >= SEVERAL_GROUPS_SINCE:
            groups = tuple(self._fetched_group(request, each, require_stable) for each in body.groups)
            return request.answer("OffsetFetchResponse", groups=groups)
        if version == 0:
            found = [
                await self._in_zookeeper.fetch(body.group_id, each)
                if self._exists(each)
                else FetchedOffset(each, error=_UNKNOWN)
                for each in _named(body.topics) or ()
            ]
            topics = _fetched(request, found, "OffsetFetchResponseTopic", "OffsetFetchResponsePartition")
            return request.answer("OffsetFetchResponse", topics=topics)
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
        error = role_error(group_id, self._coordinator.role(group_id), needs_name=False)
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
        answer = await ask_coordinator(self._coordinator, event, AnswerOffsetDeletion)
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
    retention_ms = getattr(body, "retention_time", -_MILLISECOND) // _MILLISECOND
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


class ZooKeeperOffsets:
    """Offsets under `/consumers/GROUP/offsets`, as numbers in decimal; metadata is not kept.

    Kafka 3.9 `KafkaZkClient.setOrCreateConsumerOffset`, `getConsumerOffset`.
    """

    def __init__(self, ask: AskZooKeeper, longest_metadata: Callable[[], int]) -> None:
        self._ask = ask
        self._longest_metadata = longest_metadata

    async def commit(self, group: str, asked: Mapping[TopicPartition, Any]) -> dict[TopicPartition, str]:
        """Errors by partition. `asked` are those of a request."""
        return {name: await self._commit(group, name, each) for name, each in asked.items()}

    async def _commit(self, group: str, name: TopicPartition, asked: Any) -> str:
        if len(asked.committed_metadata or "") > self._longest_metadata():
            return "OFFSET_METADATA_TOO_LARGE"
        path, data = offset_path(group, *name), ConsumerOffset(asked.committed_offset).to_bytes()
        (answer,) = await self._ask((SetData(path, data),))
        if answer.code is Code.NO_NODE:
            parts = path.split("/")[1:]
            above = ["/" + "/".join(parts[:depth]) for depth in range(1, len(parts))]
            *_, answer = await self._ask((*map(Create, above), Create(path, data), SetData(path, data)))
        return "NONE" if answer.ok else "UNKNOWN_SERVER_ERROR"

    async def fetch(self, group: str, name: TopicPartition) -> FetchedOffset:
        """What was committed; an error where that is nothing, or no number."""
        (answer,) = await self._ask((GetData(offset_path(group, *name)),))
        if answer.code is Code.NO_NODE:
            return FetchedOffset(name, error=_UNKNOWN)
        try:
            if answer.ok:
                return FetchedOffset(name, decode_offset(answer.data).offset)
        except UnusablePayloadError as error:
            _LOGGER.warning("the offset of group %a in %s is no number: %s", group, name, error)
        return FetchedOffset(name, error="UNKNOWN_SERVER_ERROR")
