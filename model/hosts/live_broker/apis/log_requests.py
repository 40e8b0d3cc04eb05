"""Produce, ListOffsets, OffsetForLeaderEpoch, DeleteRecords, and log dirs' requests over the wire. It decides nothing.

Kafka 3.9 `KafkaApis.handleProduceRequest` and its neighbours, `ProduceRequest.validateRecords`,
`ReplicaManager.describeLogDirs`.
"""

import os
from collections import Counter
from collections.abc import Collection, Mapping
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any

from kio.schema.errors import ErrorCode

from model.broker.serving import Isolation, OffsetAnswer, OffsetQuestion, OldQuestion, error_for_version
from model.cluster.ids import TopicPartition
from model.hosts.live_broker.replicas.log_dirs import HeldLog
from model.hosts.live_broker.replicas.produces import ProduceOutcome
from model.hosts.live_broker.replicas.replica_manager import ReplicaManager
from model.hosts.wire.messages import Entity, shaped
from model.hosts.wire.names import ApiKey, WireError, error_code
from model.hosts.wire.server import Api, Request
from model.log.records import Codec, Damage, DamageKind, RecordBatch, scan
from model.log.records.layout import CURRENT_MAGIC, LOG_OVERHEAD

FIRST_WITH_ONE_BATCH = 3
"""Before it, records come in any format, and nothing may come."""
FIRST_WITH_ZSTD = 7
NEWEST_PRODUCE = 11
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class ProduceRequests:
    """What is appended, and how, is not decided here."""

    def __init__(self, replicas: ReplicaManager) -> None:
        self._replicas = replicas

    @property
    def apis(self) -> Mapping[int, Api]:
        return {ApiKey.PRODUCE: Api(0, NEWEST_PRODUCE, self._produce)}

    async def _produce(self, request: Request) -> Entity | None:
        body, version = request.body, request.start.version
        records: dict[TopicPartition, bytes] = {}
        refused: dict[TopicPartition, ProduceOutcome] = {}
        for topic in body.topic_data:
            for each in topic.partition_data:
                name, data = TopicPartition(topic.name, each.index), each.records or b""
                is_known = each.index in self._replicas.metadata.image.topics.get(topic.name, ())
                error = _refuse(data, version) if is_known else None  # who appends says that there is none
                if error is None:
                    records[name] = data
                else:
                    refused[name] = ProduceOutcome(error)
        timeout_ms = body.timeout // timedelta(milliseconds=1)
        done = await self._replicas.append(records, acks=body.acks, timeout_ms=timeout_ms)
        outcomes = {**done, **refused}
        if body.acks == 0:
            errors = {str(name): outcome.error for name, outcome in outcomes.items() if outcome.error != "NONE"}
            if errors:  # the only way to tell a client that waits for no response
                raise WireError(f"records sent with acks=0 were refused: {errors}")
            return None
        topics = tuple(
            request.shape("TopicProduceResponse")(
                name=topic.name,
                partition_responses=tuple(
                    _produce_response(request, each.index, outcomes[TopicPartition(topic.name, each.index)])
                    for each in topic.partition_data
                ),
            )
            for topic in body.topic_data
            if topic.partition_data
        )
        return request.answer("ProduceResponse", responses=topics)


def _refuse(data: bytes, version: int) -> str | None:
    """Why these records may not come in a request of this version; damage is judged by who appends."""
    if version < FIRST_WITH_ONE_BATCH:
        return None
    first, second, *_ = [*islice(scan(data), 2), None, None]
    if isinstance(first, Damage):
        is_cut_off = len(data) < LOG_OVERHEAD or first.kind in (DamageKind.TORN, DamageKind.TRUNCATED)
        return "INVALID_RECORD" if is_cut_off else None
    if first is None or first.magic < CURRENT_MAGIC:
        return "INVALID_RECORD"
    if version < FIRST_WITH_ZSTD and first.codec is Codec.ZSTD:
        return "UNSUPPORTED_COMPRESSION_TYPE"
    return "INVALID_RECORD" if isinstance(second, RecordBatch) else None


def _produce_response(request: Request, number: int, outcome: ProduceOutcome) -> Entity:
    append_time = None if outcome.append_time_ms < 0 else _EPOCH + timedelta(milliseconds=outcome.append_time_ms)
    return shaped(
        request.shape("PartitionProduceResponse"),
        index=number,
        error_code=error_code(outcome.error),
        base_offset=outcome.base_offset,
        log_append_time=append_time,
        log_start_offset=outcome.log_start_offset,
        record_errors=(),
        error_message=outcome.message,
    )


CONSUMER = -1
DEBUGGING_REPLICA = -2
"""ListOffsets of whoever says so is answered by followers, too."""
COMMITTED = 1
SPECIAL_TIMES: Mapping[int, int] = {-1: 1, -2: 1, -3: 7, -4: 8, -5: 9}
"""Latest, earliest, the highest timestamp's, earliest local, latest tiered; from which version of ListOffsets on."""
NEVER = 1 << 15
OLDEST_TIME = -2
"""The lowest that version 0 knows."""


class OffsetRequests:
    """What the answers are is not decided here."""

    def __init__(self, replicas: ReplicaManager) -> None:
        self._replicas = replicas

    @property
    def apis(self) -> Mapping[int, Api]:
        return {
            ApiKey.LIST_OFFSETS: Api(0, 9, self._list),
            ApiKey.DELETE_RECORDS: Api(0, 2, self._delete),
            ApiKey.OFFSET_FOR_LEADER_EPOCH: Api(0, 4, self._epoch_ends),
        }

    async def _list(self, request: Request) -> Entity:
        asked = [
            (topic.name, [(TopicPartition(topic.name, each.partition_index), each) for each in topic.partitions])
            for topic in request.body.topics
        ]
        times = Counter(name for _, partitions in asked for name, _ in partitions)

        def told(name: TopicPartition, each: Any) -> Entity:
            if request.start.version == 0:
                return self._list_old(request, name, each)
            return self._list_one(request, name, each, twice=times[name] > 1)

        shape = request.shape("ListOffsetsTopicResponse")
        topics = tuple(
            shape(name=topic, partitions=tuple(told(*each) for each in partitions)) for topic, partitions in asked
        )
        return request.answer("ListOffsetsResponse", topics=topics)

    def _list_old(self, request: Request, name: TopicPartition, each: Any) -> Entity:
        """Version 0 knows no times of records: offsets near which they may lie are told."""
        replica = request.body.replica_id
        question = OldQuestion(
            each.timestamp,
            each.max_num_offsets,
            of_consumer=replica == CONSUMER,
            only_leader=replica != DEBUGGING_REPLICA,
        )
        if each.timestamp < OLDEST_TIME:
            error, offsets = "UNSUPPORTED_VERSION", ()
        else:
            error, offsets = self._replicas.offsets.look_up_old(name, question)
        return request.shape("ListOffsetsPartitionResponse")(
            partition_index=each.partition_index, error_code=error_code(error), old_style_offsets=offsets
        )

    def _list_one(self, request: Request, name: TopicPartition, each: Any, *, twice: bool) -> Entity:
        replica = request.body.replica_id
        isolation = Isolation.LOG_END
        if replica < 0:
            committed = getattr(request.body, "isolation_level", 0) == COMMITTED
            isolation = Isolation.LAST_STABLE_OFFSET if committed else Isolation.HIGH_WATERMARK
        question = OffsetQuestion(
            timestamp=each.timestamp,
            isolation=isolation,
            leader_epoch=_known_epoch(each),
            only_leader=replica != DEBUGGING_REPLICA,
        )
        if twice:
            answer = OffsetAnswer("INVALID_REQUEST")
        elif each.timestamp < 0 and request.start.version < SPECIAL_TIMES.get(each.timestamp, NEVER):
            answer = OffsetAnswer("UNSUPPORTED_VERSION")  # whatever the partition is
        else:
            answer = self._replicas.offsets.look_up(name, question)
        return shaped(
            request.shape("ListOffsetsPartitionResponse"),
            partition_index=each.partition_index,
            error_code=error_code(error_for_version(answer.error, request.start.version)),
            timestamp=answer.found.timestamp_ms,
            offset=answer.found.offset,
            leader_epoch=answer.found.leader_epoch,
        )

    async def _epoch_ends(self, request: Request) -> Entity:
        topics = tuple(
            request.shape("OffsetForLeaderTopicResult")(
                topic=topic.topic,
                partitions=tuple(self._epoch_end(request, topic.topic, each) for each in topic.partitions),
            )
            for topic in request.body.topics
        )
        return request.answer("OffsetForLeaderEpochResponse", topics=topics)

    def _epoch_end(self, request: Request, topic: str, each: Any) -> Entity:
        name = TopicPartition(topic, each.partition)
        found = self._replicas.offsets.epoch_end(name, _known_epoch(each), each.leader_epoch)
        return shaped(
            request.shape("EpochEndOffset"),
            partition=each.partition,
            error_code=error_code(found.error),
            leader_epoch=found.leader_epoch,
            end_offset=found.end_offset,
        )

    async def _delete(self, request: Request) -> Entity:
        wanted = {
            TopicPartition(topic.name, each.partition_index): each.offset
            for topic in request.body.topics
            for each in topic.partitions
        }
        timeout_ms = request.body.timeout // timedelta(milliseconds=1)
        done = await self._replicas.offsets.delete_records(wanted, timeout_ms)

        def result(name: TopicPartition) -> Entity:
            deleted = done[name]
            return request.shape("DeleteRecordsPartitionResult")(
                partition_index=name.partition,
                low_watermark=deleted.low_watermark,
                error_code=error_code(deleted.error),
            )

        topics = tuple(
            request.shape("DeleteRecordsTopicResult")(
                name=topic.name,
                partitions=tuple(result(TopicPartition(topic.name, each.partition_index)) for each in topic.partitions),
            )
            for topic in request.body.topics
        )
        return request.answer("DeleteRecordsResponse", topics=topics)


def _known_epoch(each: Any) -> int | None:
    epoch = getattr(each, "current_leader_epoch", -1)
    return None if epoch < 0 else epoch


class LogDirRequests:
    """Failed log dirs are named with KAFKA_STORAGE_ERROR."""

    def __init__(self, replicas: ReplicaManager) -> None:
        self._replicas = replicas

    @property
    def apis(self) -> Mapping[int, Api]:
        return {
            ApiKey.ALTER_REPLICA_LOG_DIRS: Api(0, 2, self._alter),
            ApiKey.DESCRIBE_LOG_DIRS: Api(0, 4, self._describe),
        }

    async def _alter(self, request: Request) -> Entity:
        places = {
            TopicPartition(topic.name, number): each.path
            for each in request.body.dirs
            for topic in each.topics
            for number in topic.partitions
        }
        by_topic: dict[str, list[Entity]] = {}
        for name, error in (await self._replicas.alter_log_dirs(places)).items():
            shape = request.shape("AlterReplicaLogDirPartitionResult")
            result = shape(partition_index=name.partition, error_code=error_code(error))
            by_topic.setdefault(name.topic, []).append(result)
        shape = request.shape("AlterReplicaLogDirTopicResult")
        results = tuple(shape(topic_name=topic, partitions=tuple(parts)) for topic, parts in by_topic.items())
        return request.answer("AlterReplicaLogDirsResponse", results=results)

    async def _describe(self, request: Request) -> Entity:
        asked = request.body.topics
        names = None
        if asked is not None:
            names = {TopicPartition(topic.topic, number) for topic in asked for number in topic.partitions}
        dirs = self._replicas.log_dirs
        results = tuple(
            self._failed(request, path) if path in dirs.failed else self._dir(request, path, names)
            for path in dirs.paths
        )
        return request.answer("DescribeLogDirsResponse", error_code=ErrorCode.none, results=results)

    def _failed(self, request: Request, path: Path) -> Entity:
        return _log_dir_result(request, path, ErrorCode.kafka_storage_error, (), -1, -1)

    def _dir(self, request: Request, path: Path, names: Collection[TopicPartition] | None) -> Entity:
        by_topic: dict[str, list[Entity]] = {}
        for name, held in sorted(self._replicas.log_dirs.all_logs, key=lambda each: each[0]):
            if held.dir.path == path and (names is None or name in names):
                by_topic.setdefault(name.topic, []).append(self._partition(request, name, held))
        shape = request.shape("DescribeLogDirsTopic")
        topics = tuple(shape(name=topic, partitions=tuple(parts)) for topic, parts in by_topic.items())
        disk = os.statvfs(path)
        return _log_dir_result(
            request, path, ErrorCode.none, topics, disk.f_blocks * disk.f_frsize, disk.f_bavail * disk.f_frsize
        )

    def _partition(self, request: Request, name: TopicPartition, held: HeldLog) -> Entity:
        """`offset_lag`: what a log to be lacks of the current one; -1 for a partition that is not served."""
        current = self._replicas.held.log(name) if name in self._replicas.partitions else None
        is_future = self._replicas.log_dirs.logs.get(name) is not held
        lag = -1
        if current is not None:
            end = current.end_offset if is_future else current.high_watermark
            lag = max(end - held.log.end_offset, 0)
        return request.shape("DescribeLogDirsPartition")(
            partition_index=name.partition,
            partition_size=held.log.size_bytes,
            offset_lag=lag,
            is_future_key=is_future,
        )


def _log_dir_result(
    request: Request, path: Path, error: ErrorCode, topics: tuple[Entity, ...], total: int, usable: int
) -> Entity:
    return shaped(
        request.shape("DescribeLogDirsResult"),
        error_code=error,
        log_dir=str(path.absolute()),
        topics=topics,
        total_bytes=total,
        usable_bytes=usable,
    )
