"""ListOffsets, OffsetForLeaderEpoch and DeleteRecords. Kafka 3.9 `KafkaApis`."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from model.broker.serving.offset_lookups import OffsetQuestion, error_for_version
from model.broker.serving.reads import Isolation
from model.cluster.ids import TopicPartition
from model.hosts.live_broker.replicas.replica_manager import ReplicaManager
from model.hosts.wire.api_keys import DELETE_RECORDS, LIST_OFFSETS, OFFSET_FOR_LEADER_EPOCH
from model.hosts.wire.messages import Entity, shaped
from model.hosts.wire.names import error_code
from model.hosts.wire.server import Api, Request

DEBUGGING_REPLICA = -2
"""ListOffsets of whoever says so is answered by followers, too."""
COMMITTED = 1


class OffsetRequests:
    """What the answers are is not decided here."""

    def __init__(self, replicas: ReplicaManager) -> None:
        self._replicas = replicas

    @property
    def apis(self) -> Mapping[int, Api]:
        """The table for a server."""
        return {
            LIST_OFFSETS: Api(1, 9, self._list),
            DELETE_RECORDS: Api(0, 2, self._delete),
            OFFSET_FOR_LEADER_EPOCH: Api(0, 4, self._epoch_ends),
        }

    async def _list(self, request: Request) -> Entity:
        topics = tuple(
            request.shape("ListOffsetsTopicResponse")(
                name=topic.name,
                partitions=tuple(self._list_one(request, topic.name, each) for each in topic.partitions),
            )
            for topic in request.body.topics
        )
        return request.answer("ListOffsetsResponse", topics=topics)

    def _list_one(self, request: Request, topic: str, each: Any) -> Entity:
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
        answer = self._replicas.offsets.look_up(TopicPartition(topic, each.partition_index), question)
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
