"""What one fetcher asks its leader, and the answers as values; and how far it is with each partition it follows.

Requests are in the newest version that both know. Fetch 12 is the newest that names topics by name: topics of old
clusters have no ids. In KRaft mode all have, and requests say in which life of this broker they are made.

Only what differs from what the leader's session knows goes into a request, so that a partition without news costs
nothing: Kafka 3.9 `PartitionStates` of `AbstractFetcherThread`, `FetchSessionHandler` (KIP-227). It sends nothing.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from itertools import chain, groupby
from types import MappingProxyType
from typing import Any, NamedTuple

from model.broker.commands import FetchState
from model.broker.replication import FetchAnswer
from model.broker.settings.keys import (
    REPLICA_FETCH_MAX_BYTES,
    REPLICA_FETCH_MIN_BYTES,
    REPLICA_FETCH_RESPONSE_MAX_BYTES,
    REPLICA_FETCH_WAIT_MAX_MS,
)
from model.broker.settings.settings import Settings
from model.cluster.ids import TopicPartition
from model.hosts.live_broker.replicas.fetches import NO_SESSION, next_epoch
from model.hosts.wire.connection import Connection
from model.hosts.wire.messages import Entity, shaped, shapes
from model.hosts.wire.names import ApiKey, error_name, topic_uuid

NEWEST_FETCH, NEWEST_BY_ID = 12, 17
NO_EPOCH = -1


class FetchingFollower(NamedTuple):
    """Who fetches. `topic_ids`: of all topics, where each has one; empty: topics are called by their names."""

    broker: int
    broker_epoch: int = -1
    topic_ids: Mapping[str, str] = MappingProxyType({})


class WantedPartition(NamedTuple):
    """One partition of a fetch request; `log_start` is the follower's own."""

    state: FetchState
    log_start: int


class FetchQuestion(NamedTuple):
    """A fetch request as it is meant, without a version."""

    wanted: Sequence[WantedPartition]
    forgotten: Sequence[TopicPartition]
    session_id: int
    session_epoch: int


class FetchedPartition(NamedTuple):
    """A leader's answer for one partition."""

    answer: FetchAnswer
    records: bytes


def fetch_request(
    connection: Connection, follower: FetchingFollower, question: FetchQuestion, settings: Settings
) -> Entity:
    """A fetch request."""
    module: Any = connection.request_shapes(ApiKey.FETCH, NEWEST_BY_ID if follower.topic_ids else NEWEST_FETCH)
    wanted = sorted(question.wanted, key=lambda each: each.state.partition)

    def called(shape: type[Entity], topic: str, partitions: Iterable[object]) -> Entity:
        topic_id = topic_uuid(follower.topic_ids.get(topic))
        return shaped(shape, topic=topic, topic_id=topic_id, partitions=tuple(partitions))

    topics = tuple(
        called(module.FetchTopic, topic, (_wanted(module, each, settings) for each in of_it))
        for topic, of_it in groupby(wanted, key=lambda each: each.state.partition.topic)
    )
    forgotten = tuple(
        called(module.ForgottenTopic, topic, (each.partition for each in of_it))
        for topic, of_it in groupby(sorted(question.forgotten), key=lambda each: each.topic)
    )
    values: dict[str, object] = {"replica_id": follower.broker}
    if hasattr(module, "ReplicaState"):
        values = {"replica_state": module.ReplicaState(replica_id=follower.broker, replica_epoch=follower.broker_epoch)}
    return shaped(
        module.FetchRequest,
        **values,
        max_wait=timedelta(milliseconds=settings[REPLICA_FETCH_WAIT_MAX_MS]),
        min_bytes=settings[REPLICA_FETCH_MIN_BYTES],
        max_bytes=settings[REPLICA_FETCH_RESPONSE_MAX_BYTES],
        isolation_level=0,
        session_id=question.session_id,
        session_epoch=question.session_epoch,
        topics=topics,
        forgotten_topics_data=forgotten,
        rack_id="",
    )


def _wanted(module: Any, each: WantedPartition, settings: Settings) -> Entity:
    state = each.state
    return shaped(
        module.FetchPartition,
        partition=state.partition.partition,
        current_leader_epoch=state.leader_epoch,
        fetch_offset=state.offset,
        last_fetched_epoch=NO_EPOCH if state.last_fetched_epoch is None else state.last_fetched_epoch,
        log_start_offset=each.log_start,
        partition_max_bytes=settings[REPLICA_FETCH_MAX_BYTES],
    )


def fetched_partitions(
    response: Entity, follower: FetchingFollower
) -> Iterator[tuple[TopicPartition, FetchedPartition]]:
    """What a leader answered. A topic that is gone meanwhile is left out."""
    names = {topic_uuid(text): name for name, text in follower.topic_ids.items()}
    for topic in response.responses:
        name = topic.topic if hasattr(topic, "topic") else names.get(topic.topic_id)
        if name is None:
            continue
        for each in topic.partitions:
            diverging = getattr(each, "diverging_epoch", None)
            parts = None if diverging is None or diverging.end_offset < 0 else (diverging.epoch, diverging.end_offset)
            log_start = getattr(each, "log_start_offset", -1)
            answer = FetchAnswer(error_name(each.error_code), each.high_watermark, log_start, parts)
            yield TopicPartition(name, each.partition_index), FetchedPartition(answer, each.records or b"")


def epochs_request(connection: Connection, follower: int, questions: Iterable[tuple[FetchState, int]]) -> Entity:
    """An OffsetForLeaderEpoch request: where these epochs end."""
    module: Any = connection.request_shapes(ApiKey.OFFSET_FOR_LEADER_EPOCH)
    asked = sorted(questions, key=lambda each: each[0].partition)
    topics = tuple(
        module.OffsetForLeaderTopic(
            topic=topic,
            partitions=tuple(
                shaped(
                    module.OffsetForLeaderPartition,
                    partition=state.partition.partition,
                    current_leader_epoch=state.leader_epoch,
                    leader_epoch=epoch,
                )
                for state, epoch in of_it
            ),
        )
        for topic, of_it in groupby(asked, key=lambda each: each[0].partition.topic)
    )
    return shaped(module.OffsetForLeaderEpochRequest, replica_id=follower, topics=topics)


def epoch_ends(response: Entity) -> Iterator[tuple[TopicPartition, str, tuple[int, int]]]:
    """Partition, error, and the epoch with its end."""
    for topic in response.topics:
        for each in topic.partitions:
            end = getattr(each, "leader_epoch", NO_EPOCH), each.end_offset
            yield TopicPartition(topic.topic, each.partition), error_name(each.error_code), end


def offset_request(connection: Connection, follower: int, state: FetchState, timestamp: int) -> Entity:
    """A ListOffsets request for one partition."""
    module: Any = shapes(ApiKey.LIST_OFFSETS, max(1, connection.newest(ApiKey.LIST_OFFSETS, 7)), "request")
    partition = shaped(
        module.ListOffsetsPartition,
        partition_index=state.partition.partition,
        current_leader_epoch=state.leader_epoch,
        timestamp=timestamp,
    )
    topic = module.ListOffsetsTopic(name=state.partition.topic, partitions=(partition,))
    return shaped(module.ListOffsetsRequest, replica_id=follower, isolation_level=0, topics=(topic,))


def found_offset(response: Entity) -> tuple[str, int]:
    """The error and the offset of the only partition."""
    each = response.topics[0].partitions[0]
    return error_name(each.error_code), each.offset


class FollowedPartitions:
    """`due`: those whose state the leader was not asked with yet."""

    def __init__(self) -> None:
        self.states: dict[TopicPartition, FetchState] = {}
        self.due: dict[TopicPartition, None] = {}
        self.lagging: set[TopicPartition] = set()
        """Those that are not known to have all that is replicated."""
        self.session_id = NO_SESSION
        self.session_epoch = 0
        self._known: dict[TopicPartition, FetchState] = {}
        self._removed: set[TopicPartition] = set()

    def __bool__(self) -> bool:
        return bool(self.states)

    def set(self, state: FetchState) -> None:
        """Go on like this."""
        before = self.states.get(state.partition)
        if before is None:
            self.lagging.add(state.partition)
        if before != state:
            self.states[state.partition] = state
            self.ask_again(state.partition)

    def ask_again(self, name: TopicPartition) -> None:
        """Something that the leader is told with a request has changed."""
        self.due[name] = None

    def note_lag(self, name: TopicPartition, lag: int) -> None:
        """How many replicated records are missing here, after an answer of the leader."""
        if lag > 0:
            self.lagging.add(name)
        else:
            self.lagging.discard(name)

    def remove(self, name: TopicPartition) -> None:
        self.states.pop(name, None)
        self.due.pop(name, None)
        self.lagging.discard(name)
        self._removed.add(name)

    def due_states(self) -> list[FetchState]:
        return [self.states[name] for name in self.due]

    def begin_request(self, fetches: Iterable[FetchState]) -> list[TopicPartition]:
        """A request goes out with these; returns those that the leader is to forget: stopped, waiting or truncating."""
        fetched = {state.partition: state for state in fetches}
        gone = [name for name in chain(self._removed, self.due) if name not in fetched]
        forgotten = [name for name in dict.fromkeys(gone) if self._known.pop(name, None) is not None]
        self._removed.clear()
        self._known.update(fetched)
        for name in fetched:
            del self.due[name]
        return forgotten

    def asked(self, name: TopicPartition) -> FetchState | None:
        """The state that the leader answers for."""
        return self._known.get(name)

    def fetches_something_but(self, held_back: Collection[TopicPartition]) -> bool:
        """Whether the leader's session has anything in it beside these."""
        return any(name not in held_back for name in self._known)

    def end_request(self, session_id: int) -> None:
        """The leader has answered and gave, or goes on with, a session; 0: it keeps none."""
        if session_id == NO_SESSION:
            self.forget_session()
        else:
            self.session_epoch = 1 if session_id != self.session_id else next_epoch(self.session_epoch)
            self.session_id = session_id

    def forget_session(self) -> None:
        """The next request names everything."""
        self.session_id, self.session_epoch = NO_SESSION, 0
        self._known = {}
        self._removed.clear()
        self.due = dict.fromkeys(self.states)
