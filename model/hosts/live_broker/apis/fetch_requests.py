"""Fetch, of consumers and of followers. Kafka 3.9 `KafkaApis.handleFetchRequest`, `FetchManager.newContext`."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import timedelta
from typing import Any
from uuid import UUID

from kio.schema.errors import ErrorCode

from model.broker.metadata import MetadataImage
from model.broker.serving import Isolation, PartitionFetch
from model.broker.settings.keys import FETCH_MAX_BYTES
from model.cluster.ids import TopicPartition
from model.hosts.live_broker.parts import ConsumerQuotas
from model.hosts.live_broker.replicas.fetches import (
    NO_SESSION,
    CachedPartition,
    FetchLimits,
    FetchSession,
    PartitionRead,
    next_epoch,
)
from model.hosts.live_broker.replicas.replica_manager import ReplicaManager
from model.hosts.wire.frames import SIZE_BYTES
from model.hosts.wire.messages import Entity, encode, shaped
from model.hosts.wire.names import ApiKey, error_code, topic_uuid
from model.hosts.wire.server import Api, Request
from model.log.names import LogError
from model.log.records.encoding import converted
from model.log.segment_list import Ending

NEWEST = 17
"""Java followers of 3.9 ask with it without looking whether it is known."""
FIRST_WITH_IDS = 13
FIRST_FROM_FOLLOWERS = 11
"""From then on consumers may read from followers (KIP-392)."""
FIRST_EPOCH = 0
FINAL_EPOCH = -1
COMMITTED = 1
NEWEST_WITH_MAGIC = {0: 1, 1: 3}
"""Up to which version readers know no newer format."""
FIRST_WITH_ONE_BATCH = 3
"""From then on the limits never keep a reader from the first batch (KIP-74, 0.10.1)."""
FIRST_WITH_STORAGE_ERRORS = 6
FIRST_WITH_ZSTD = 10
NO_LIMIT = 2**31 - 1


class FetchRequests:
    """Topics have names here; what the wire calls by id is translated by what the cluster said of it last."""

    def __init__(self, replicas: ReplicaManager, quotas: ConsumerQuotas) -> None:
        self._replicas = replicas
        self._quotas = quotas
        self._image: MetadataImage | None = None
        self._names: dict[UUID, str] = {}

    @property
    def apis(self) -> Mapping[int, Api]:
        return {ApiKey.FETCH: Api(0, NEWEST, self._fetch, until_gone=True)}

    async def _fetch(self, request: Request) -> Entity:
        session_id, epoch = getattr(request.body, "session_id", 0), getattr(request.body, "session_epoch", FINAL_EPOCH)
        if epoch not in (FIRST_EPOCH, FINAL_EPOCH):
            return await self._go_on(request, session_id, epoch)
        if session_id != NO_SESSION:
            self._replicas.sessions.drop(session_id)
        session = self._new_session(request)
        unknown = list(self._update(request, session))
        kept = epoch == FIRST_EPOCH and self._replicas.sessions.keep(session, self._replicas.held.now_ms())
        try:
            reads = await self._replicas.fetches.fetch(session, self._limits(request, session), full=True)
            return self._answer(request, session, [*unknown, *reads])
        finally:
            if not kept:
                session.close()

    async def _go_on(self, request: Request, session_id: int, epoch: int) -> Entity:
        session = self._replicas.sessions.find(session_id)
        if session is None:
            return _refusal(request, ErrorCode.fetch_session_id_not_found)
        if session.epoch != epoch:
            return _refusal(request, ErrorCode.invalid_fetch_session_epoch)
        if session.by_id != (request.start.version >= FIRST_WITH_IDS):
            return _refusal(request, ErrorCode.fetch_session_topic_id_error)
        session.epoch = next_epoch(epoch)
        unknown = list(self._update(request, session))
        reads = await self._replicas.fetches.fetch(session, self._limits(request, session), full=False)
        return self._answer(request, session, [*unknown, *reads])

    def _answer(self, request: Request, session: FetchSession, reads: list[PartitionRead]) -> Entity:
        if any(read.error == "UNKNOWN_TOPIC_ID" for read in reads):
            # What nobody knows yet has no place in a session: the reader is to name everything again.
            self._replicas.sessions.drop(session.id)
            return _response(request, NO_SESSION, reads)
        response = _response(request, session.id, [self._for_reader(request, session, read) for read in reads])
        if session.follower is not None:
            self._count_throttled(request, reads)
        elif not self._quotas.fetched(request, response):
            for read in reads:
                session.tell_again(read.wanted)
            return _response(request, session.id, ())
        return response

    def _count_throttled(self, request: Request, reads: list[PartitionRead]) -> None:
        """What goes to a follower of throttled partitions (`KafkaApis.sizeOfThrottledPartitions`)."""
        throttle = self._replicas.held.sending
        covered = [read for read in reads if throttle.covers(read.wanted.name)]
        if covered:
            throttle.record(SIZE_BYTES + len(encode(_response(request, NO_SESSION, covered))))

    def _for_reader(self, request: Request, session: FetchSession, read: PartitionRead) -> PartitionRead:
        """The records in a format that the reader knows, or why not (`KafkaApis.maybeConvertFetchedData`).

        Who is kept out is told so whatever else is wrong.
        """
        version, name = request.start.version, read.wanted.name
        if read.error == "KAFKA_STORAGE_ERROR" and version < FIRST_WITH_STORAGE_ERRORS:
            return read._replace(error="NOT_LEADER_OR_FOLLOWER")
        log = self._replicas.held.log(name)
        if log is None:
            return read
        settings = log.settings
        if settings.compression_type == "zstd" and version < FIRST_WITH_ZSTD:
            return PartitionRead(read.wanted, "UNSUPPORTED_COMPRESSION_TYPE")
        magic = next((magic for magic, newest in NEWEST_WITH_MAGIC.items() if version <= newest), None)
        if magic is None or settings.message_format <= magic:
            return read
        if session.follower is None and not settings.message_downconversion_enable:
            return PartitionRead(read.wanted, "UNSUPPORTED_VERSION")
        try:
            return read._replace(records=converted(read.records, magic, read.wanted.read.offset))
        except LogError as error:
            return PartitionRead(read.wanted, error.kafka_error)

    def _new_session(self, request: Request) -> FetchSession:
        body = request.body
        replica, epoch = getattr(body, "replica_id", -1), -1
        if hasattr(body, "replica_state"):
            replica, epoch = body.replica_state.replica_id, body.replica_state.replica_epoch
        if replica >= 0:
            isolation = Isolation.LOG_END
        elif getattr(body, "isolation_level", 0) == COMMITTED:
            isolation = Isolation.LAST_STABLE_OFFSET
        else:
            isolation = Isolation.HIGH_WATERMARK
        follower = replica if replica >= 0 else None
        by_id = request.start.version >= FIRST_WITH_IDS
        return FetchSession(self._replicas.held.news, isolation, follower, epoch, by_id)

    def _limits(self, request: Request, session: FetchSession) -> FetchLimits:
        body, version = request.body, request.start.version
        most = max(min(getattr(body, "max_bytes", NO_LIMIT), self._replicas.settings[FETCH_MAX_BYTES]), 0)
        quota = None if session.follower is not None else self._quotas.most_bytes(request)
        most = most if quota is None else min(most, quota)
        wait_ms = body.max_wait // timedelta(milliseconds=1)
        if version > NEWEST_WITH_MAGIC[1]:
            return FetchLimits(body.min_bytes if quota is None else min(body.min_bytes, most), most, wait_ms)
        at_least_one = version >= FIRST_WITH_ONE_BATCH
        ending = Ending.AFTER_FIRST if at_least_one else Ending.ANYWHERE
        return FetchLimits(min(body.min_bytes, most), most, wait_ms, ending, at_least_one)

    def _update(self, request: Request, session: FetchSession) -> Iterator[PartitionRead]:
        """Adds what the request names and takes away what it forgets; gives answers for topics that nobody knows."""
        body, version = request.body, request.start.version
        only_leader = session.follower is not None or version < FIRST_FROM_FOLLOWERS
        for topic in getattr(body, "forgotten_topics_data", ()):
            name = self._name(topic)
            for number in topic.partitions:
                session.forget(TopicPartition(name or "", number))
        for topic in body.topics:
            name, topic_id = self._name(topic), getattr(topic, "topic_id", None)
            for each in topic.partitions:
                read = PartitionFetch(
                    offset=each.fetch_offset,
                    isolation=session.isolation,
                    follower=session.follower,
                    leader_epoch=_epoch(each, "current_leader_epoch"),
                    last_fetched_epoch=_epoch(each, "last_fetched_epoch"),
                    only_leader=only_leader,
                )
                wanted = CachedPartition(
                    TopicPartition(name or "", each.partition),
                    read,
                    each.partition_max_bytes,
                    getattr(each, "log_start_offset", -1),
                    topic_id,
                )
                if name is None:
                    yield PartitionRead(wanted, "UNKNOWN_TOPIC_ID")
                else:
                    session.want(wanted)

    def _name(self, topic: Any) -> str | None:
        if not hasattr(topic, "topic_id"):
            return topic.topic
        image = self._replicas.metadata.image
        if image is not self._image:
            self._names = {topic_uuid(text): name for name, text in image.topic_ids.items()}
            self._image = image
        return self._names.get(topic.topic_id)


def _epoch(each: Any, field: str) -> int | None:
    epoch = getattr(each, field, -1)
    return None if epoch < 0 else epoch


def _refusal(request: Request, error: ErrorCode) -> Entity:
    return request.answer("FetchResponse", error_code=error, session_id=NO_SESSION, responses=())


def _response(request: Request, session_id: int, reads: Iterable[PartitionRead]) -> Entity:
    by_topic: dict[tuple[str, UUID | None], list[Entity]] = {}
    for read in reads:
        key = read.wanted.name.topic, read.wanted.topic_id
        by_topic.setdefault(key, []).append(_partition(request, read))
    topics = tuple(
        shaped(request.shape("FetchableTopicResponse"), topic=topic, topic_id=topic_id, partitions=tuple(partitions))
        for (topic, topic_id), partitions in by_topic.items()
    )
    return request.answer("FetchResponse", error_code=ErrorCode.none, session_id=session_id, responses=topics)


BEFORE_READING = frozenset({"UNKNOWN_TOPIC_OR_PARTITION", "UNKNOWN_TOPIC_ID", "INCONSISTENT_TOPIC_ID"})
"""Errors of partitions that no log was asked for: aborted transactions are an empty list then, and null in others."""


def _partition(request: Request, read: PartitionRead) -> Entity:
    is_read = read.error == "NONE" and getattr(request.body, "isolation_level", 0) == COMMITTED
    aborted = () if is_read or read.error in BEFORE_READING else None
    if read.aborted is not None:
        shape = request.shape("AbortedTransaction")
        aborted = tuple(shape(producer_id=each.producer_id, first_offset=each.first_offset) for each in read.aborted)
    values: dict[str, object] = {}
    if read.diverging is not None:
        epoch, end = read.diverging
        values["diverging_epoch"] = request.shape("EpochEndOffset")(epoch=epoch, end_offset=end)
    return shaped(
        request.shape("PartitionData"),
        partition_index=read.wanted.name.partition,
        error_code=error_code(read.error),
        high_watermark=read.high_watermark,
        last_stable_offset=read.last_stable_offset,
        log_start_offset=read.log_start,
        aborted_transactions=aborted,
        preferred_read_replica=-1,
        records=read.records,
        **values,
    )
