"""Produce. Kafka 3.9 `KafkaApis.handleProduceRequest`, `ProduceRequest.validateRecords`."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from model.cluster.ids import TopicPartition
from model.hosts.live_broker.replicas.produces import ProduceOutcome
from model.hosts.live_broker.replicas.replica_manager import ReplicaManager
from model.hosts.wire.api_keys import PRODUCE
from model.hosts.wire.errors import WireError
from model.hosts.wire.messages import Entity, shaped
from model.hosts.wire.names import error_code
from model.hosts.wire.server import Api, Request

NEWEST_WITH_OLD_FORMATS = 2
FIRST_WITH_ZSTD = 7
NEWEST = 11
_MAGIC_AT = 16
_ATTRIBUTES_AT = 22
_ZSTD = 4
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class ProduceRequests:
    """What is appended, and how, is not decided here."""

    def __init__(self, replicas: ReplicaManager) -> None:
        self._replicas = replicas

    @property
    def apis(self) -> Mapping[int, Api]:
        """The table for a server."""
        return {PRODUCE: Api(0, NEWEST, self._produce)}

    async def _produce(self, request: Request) -> Entity | None:
        body, version = request.body, request.start.version
        records: dict[TopicPartition, bytes] = {}
        refused: dict[TopicPartition, ProduceOutcome] = {}
        for topic in body.topic_data:
            for each in topic.partition_data:
                name, data = TopicPartition(topic.name, each.index), each.records or b""
                error = _refuse(data, version)
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
                    _response(request, each.index, outcomes[TopicPartition(topic.name, each.index)])
                    for each in topic.partition_data
                ),
            )
            for topic in body.topic_data
        )
        return request.answer("ProduceResponse", responses=topics)


def _refuse(data: bytes, version: int) -> str | None:
    """Why records of this format may not come in a request of this version."""
    if len(data) <= _ATTRIBUTES_AT:
        return None
    is_new = data[_MAGIC_AT] >= 2
    if is_new != (version > NEWEST_WITH_OLD_FORMATS):
        return "INVALID_RECORD"
    if is_new and version < FIRST_WITH_ZSTD and data[_ATTRIBUTES_AT] & 7 == _ZSTD:
        return "UNSUPPORTED_COMPRESSION_TYPE"
    return None


def _response(request: Request, number: int, outcome: ProduceOutcome) -> Entity:
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
