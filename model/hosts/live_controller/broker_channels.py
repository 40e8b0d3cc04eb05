"""A controller's channels to brokers, and its requests in the version that the receiver knows.

A channel takes one request at a time, in order, again and again until the broker answers; it is made when the first
request is due and goes with the broker. What waits is dropped when it is closed. Its own broker is told so, too.

Source: `kafka.controller.RequestSendThread`, `kafka.controller.AbstractControllerBrokerRequestBatch`,
`org.apache.kafka.common.requests` (1.1, 3.9). All versions are written, so that brokers are ruled from 0.10 on, where
ApiVersions began. Before 2.6 a StopReplica deletes all that it names or nothing, so that one becomes two.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any, TypeVar

import msgspec

from model.cluster.ids import TopicPartition
from model.controller import events_and_commands
from model.controller.context import BrokerAndEpoch
from model.hosts.wire.connection import Channel
from model.hosts.wire.messages import Entity, name_of, shaped, shapes
from model.hosts.wire.names import (
    SECURITY_PROTOCOLS,
    ApiKey,
    WireError,
    error_name,
    topic_id_text,
    topic_uuid,
)
from model.znodes.cluster import BrokerRegistration, Endpoint, decode_broker
from model.znodes.payload import UnusablePayloadError

Entry = TypeVar(
    "Entry",
    events_and_commands.PartitionToServe,
    events_and_commands.PartitionToKnow,
    events_and_commands.PartitionToStop,
)
Registrations = Mapping[int, BrokerRegistration]
STOPS_EACH = 3
"""From this version on StopReplica says of each partition whether it is to be deleted."""


class OutgoingRequest(msgspec.Struct, frozen=True):
    """A request to one broker. `registrations` are those of all brokers at the time, for their addresses."""

    request: events_and_commands.BrokerRequest
    broker_epoch: int
    registrations: Registrations
    listener: str


def endpoint(registration: BrokerRegistration, listener: str) -> Endpoint | None:
    """Where a broker listens under this name, or else the first place where it does."""
    listeners = registration.listeners
    return next((each for each in listeners if each.listener == listener), listeners[0] if listeners else None)


def api_key(request: events_and_commands.BrokerRequest) -> int:
    """Which API a request is for."""
    return _KEYS[type(request)]


def entity_of(letter: OutgoingRequest, version: int) -> Entity:
    """The request, or a part of it (`in_parts`), in this version of its API."""
    return _WRITE[type(letter.request)](letter, letter.request, shapes(api_key(letter.request), version, "request"))


def answer_of(request: events_and_commands.BrokerRequest, response: Entity) -> events_and_commands.BrokerAnswer:
    """What a broker answered."""
    return events_and_commands.BrokerAnswer(
        error_name(response.error_code), tuple(_partition_errors(request, response))
    )


def _leader_and_isr(letter: OutgoingRequest, request: events_and_commands.LeaderAndIsrRequest, module: Any) -> Entity:
    def state(entry: events_and_commands.PartitionToServe) -> Entity:
        return shaped(
            module.LeaderAndIsrPartitionState,
            partition_index=entry.partition.partition,
            controller_epoch=entry.controller_epoch,
            leader=entry.state.leader,
            leader_epoch=entry.state.leader_epoch,
            isr=entry.state.isr,
            partition_epoch=entry.state.partition_epoch,
            replicas=entry.assignment.replicas,
            adding_replicas=entry.assignment.adding,
            removing_replicas=entry.assignment.removing,
            is_new=entry.is_new,
            leader_recovery_state=int(entry.state.recovering),
            topic_name=entry.partition.topic,
        )

    if not hasattr(module, "LeaderAndIsrTopicState"):
        states = tuple(map(state, request.partitions))
        live = _live_leaders(letter, request, module)
        return _request(module.LeaderAndIsrRequest, letter, ungrouped_partition_states=states, live_leaders=live)
    ids = dict(request.topic_ids)
    topics = tuple(
        shaped(
            module.LeaderAndIsrTopicState,
            topic_name=topic,
            topic_id=topic_uuid(ids.get(topic)),
            partition_states=tuple(map(state, entries)),
        )
        for topic, entries in _by_topic(request.partitions)
    )
    live = _live_leaders(letter, request, module)
    return _request(module.LeaderAndIsrRequest, letter, type_=0, topic_states=topics, live_leaders=live)


def _live_leaders(
    letter: OutgoingRequest, request: events_and_commands.LeaderAndIsrRequest, module: Any
) -> tuple[Entity, ...]:
    return tuple(
        module.LeaderAndIsrLiveLeader(broker_id=broker, host_name=place.host, port=place.port)
        for broker in request.live_leaders
        if (known := letter.registrations.get(broker)) is not None
        and (place := endpoint(known, letter.listener)) is not None
    )


def _update_metadata(
    letter: OutgoingRequest, request: events_and_commands.UpdateMetadataRequest, module: Any
) -> Entity:
    def state(entry: events_and_commands.PartitionToKnow) -> Entity:
        return shaped(
            module.UpdateMetadataPartitionState,
            partition_index=entry.partition.partition,
            controller_epoch=entry.controller_epoch,
            leader=entry.state.leader,
            leader_epoch=entry.state.leader_epoch,
            isr=entry.state.isr,
            zk_version=entry.state.partition_epoch,
            replicas=entry.replicas,
            offline_replicas=entry.offline_replicas,
            topic_name=entry.partition.topic,
        )

    brokers = tuple(
        _live_broker(broker, letter.registrations[broker], module)
        for broker in request.live_brokers
        if broker in letter.registrations
    )
    if not hasattr(module, "UpdateMetadataTopicState"):
        states = tuple(map(state, request.partitions))
        return _request(module.UpdateMetadataRequest, letter, ungrouped_partition_states=states, live_brokers=brokers)
    ids = dict(request.topic_ids)
    topics = tuple(
        shaped(
            module.UpdateMetadataTopicState,
            topic_name=topic,
            topic_id=topic_uuid(ids.get(topic)),
            partition_states=tuple(map(state, entries)),
        )
        for topic, entries in _by_topic(request.partitions)
    )
    return _request(module.UpdateMetadataRequest, letter, topic_states=topics, live_brokers=brokers)


def _live_broker(broker: int, registration: BrokerRegistration, module: Any) -> Entity:
    """Version 0 has one place for each broker, that of PLAINTEXT."""
    if not hasattr(module, "UpdateMetadataEndpoint"):
        place = endpoint(registration, "PLAINTEXT")
        host, port = (place.host, place.port) if place else ("", -1)
        return module.UpdateMetadataBroker(id_=broker, v0_host=host, v0_port=port)
    endpoints = tuple(
        shaped(
            module.UpdateMetadataEndpoint,
            port=place.port,
            host=place.host,
            listener=place.listener,
            security_protocol=SECURITY_PROTOCOLS.get(place.security_protocol, 0),
        )
        for place in registration.listeners
    )
    return shaped(module.UpdateMetadataBroker, id_=broker, endpoints=endpoints, rack=registration.rack)


def _stop_replica(letter: OutgoingRequest, request: events_and_commands.StopReplicaRequest, module: Any) -> Entity:
    if not hasattr(module, "StopReplicaTopicState"):
        return _stop_alike(letter, request, module)
    topics = tuple(
        module.StopReplicaTopicState(
            topic_name=topic,
            partition_states=tuple(
                module.StopReplicaPartitionState(
                    partition_index=entry.partition.partition,
                    leader_epoch=entry.leader_epoch,
                    delete_partition=entry.delete,
                )
                for entry in entries
            ),
        )
        for topic, entries in _by_topic(request.partitions)
    )
    return _request(module.StopReplicaRequest, letter, topic_states=topics)


def _stop_alike(letter: OutgoingRequest, request: events_and_commands.StopReplicaRequest, module: Any) -> Entity:
    """As before 2.6: all of them are deleted, or none."""
    (deletes,) = {entry.delete for entry in request.partitions}
    if hasattr(module, "StopReplicaPartitionV0"):
        numbers = tuple(
            module.StopReplicaPartitionV0(topic_name=entry.partition.topic, partition_index=entry.partition.partition)
            for entry in request.partitions
        )
        return _request(module.StopReplicaRequest, letter, delete_partitions=deletes, ungrouped_partitions=numbers)
    topics = tuple(
        module.StopReplicaTopicV1(name=topic, partition_indexes=tuple(entry.partition.partition for entry in entries))
        for topic, entries in _by_topic(request.partitions)
    )
    return _request(module.StopReplicaRequest, letter, delete_partitions=deletes, topics=topics)


def in_parts(letter: OutgoingRequest, version: int) -> list[OutgoingRequest]:
    """As many requests as this version takes to say the same."""
    request = letter.request
    if not isinstance(request, events_and_commands.StopReplicaRequest) or version >= STOPS_EACH:
        return [letter]
    alike = [tuple(entry for entry in request.partitions if entry.delete is deletes) for deletes in (True, False)]
    return [
        msgspec.structs.replace(letter, request=msgspec.structs.replace(request, partitions=entries))
        for entries in alike
        if entries
    ]


def _request(shape: type[Entity], letter: OutgoingRequest, **values: object) -> Entity:
    request = letter.request
    return shaped(
        shape,
        controller_id=request.controller,
        controller_epoch=request.controller_epoch,
        broker_epoch=letter.broker_epoch,
        **values,
    )


def _by_topic(entries: Iterable[Entry]) -> Iterator[tuple[str, Iterator[Entry]]]:
    return groupby(sorted(entries, key=_topic), key=_topic)


def _topic(
    entry: events_and_commands.PartitionToServe
    | events_and_commands.PartitionToKnow
    | events_and_commands.PartitionToStop,
) -> str:
    return entry.partition.topic


def _partition_errors(
    request: events_and_commands.BrokerRequest, response: Entity
) -> Iterator[tuple[TopicPartition, str]]:
    """LeaderAndIsr answers by topic id from v5 on, by name before; UpdateMetadata says nothing of partitions."""
    topics: Any = getattr(response, "topics", ())
    if topics and isinstance(request, events_and_commands.LeaderAndIsrRequest):
        names = {text: name for name, text in request.topic_ids}
        for topic in topics:
            name = names.get(topic_id_text(topic.topic_id))
            for each in topic.partition_errors:
                if each.error_code and name is not None:
                    yield TopicPartition(name, each.partition_index), error_name(each.error_code)
    for each in getattr(response, "partition_errors", ()):
        if each.error_code:
            yield TopicPartition(each.topic_name, each.partition_index), error_name(each.error_code)


_KEYS: Mapping[type[events_and_commands.BrokerRequest], int] = {
    events_and_commands.LeaderAndIsrRequest: ApiKey.LEADER_AND_ISR,
    events_and_commands.UpdateMetadataRequest: ApiKey.UPDATE_METADATA,
    events_and_commands.StopReplicaRequest: ApiKey.STOP_REPLICA,
}
_WRITE: Mapping[type[events_and_commands.BrokerRequest], Callable[[OutgoingRequest, Any, Any], Entity]] = {
    events_and_commands.LeaderAndIsrRequest: _leader_and_isr,
    events_and_commands.UpdateMetadataRequest: _update_metadata,
    events_and_commands.StopReplicaRequest: _stop_replica,
}


RETRY_BACKOFF_S = 0.1
OnChannelAnswer = Callable[[events_and_commands.BrokerRequest, events_and_commands.BrokerAnswer], None]
_LOGGER = logging.getLogger(__name__)


class BrokerChannel:
    """Open from the start until `close`. For one event loop."""

    def __init__(self, broker: int, address: tuple[str, int], client_id: str, on_answer: OnChannelAnswer) -> None:
        self.address = address
        self._broker = broker
        self._on_answer = on_answer
        self._channel = Channel(*address, client_id)
        self._letters: asyncio.Queue[OutgoingRequest] = asyncio.Queue()
        self._sending = asyncio.create_task(self._send_all())

    def send(self, letter: OutgoingRequest) -> None:
        """Queue a request behind those that wait."""
        self._letters.put_nowait(letter)

    async def close(self) -> None:
        """Drop what waits and end the connection."""
        self._sending.cancel()
        await asyncio.gather(self._sending, return_exceptions=True)
        await self._channel.close()

    async def _send_all(self) -> None:
        while True:
            letter = await self._letters.get()
            self._on_answer(letter.request, await self._insist(letter))

    async def _insist(self, letter: OutgoingRequest) -> events_and_commands.BrokerAnswer:
        told, key = "", api_key(letter.request)
        while True:
            try:
                parts = in_parts(letter, (await self._channel.connected()).newest(key))
                answers = [await self._ask(part) for part in parts]
                error = next((each.error for each in answers if each.error != "NONE"), "NONE")
                return events_and_commands.BrokerAnswer(error, sum((each.partition_errors for each in answers), ()))
            except WireError as error:
                reason = f"broker {self._broker} does not take {name_of(key)}: {error}"
                if reason != told:  # once, not ten times a second
                    _LOGGER.warning("%s; trying again", reason)
                told = reason
            await asyncio.sleep(RETRY_BACKOFF_S)

    async def _ask(self, part: OutgoingRequest) -> events_and_commands.BrokerAnswer:
        key = api_key(part.request)
        response = await self._channel.ask(lambda connection: entity_of(part, connection.newest(key)))
        return answer_of(part.request, response)


OnAnswer = Callable[[int, events_and_commands.BrokerRequest, events_and_commands.BrokerAnswer], None]


class BrokerChannels:
    """For one event loop. `on_answer` gets the broker, what was sent, and its answer."""

    def __init__(self, listener: str, client_id: str, on_answer: OnAnswer) -> None:
        self._listener = listener
        self._client_id = client_id
        self._on_answer = on_answer
        self._channels: dict[int, BrokerChannel] = {}
        self._closing: set[asyncio.Task[None]] = set()
        self._live: Mapping[int, BrokerAndEpoch] = {}
        self._registrations: Mapping[int, BrokerRegistration] = {}

    def note(self, live: Mapping[int, BrokerAndEpoch]) -> None:
        if live is not self._live:
            self._live = live
            read = {broker: _registration(known) for broker, known in live.items()}
            self._registrations = {broker: known for broker, known in read.items() if known is not None}

    def send(self, command: events_and_commands.SendRequest) -> None:
        """Queue a request. A broker whose registration names no place gets nothing."""
        letter = OutgoingRequest(command.request, command.broker_epoch, self._registrations, self._listener)
        known = self._registrations.get(command.broker)
        place = None if known is None else endpoint(known, self._listener)
        if place is None:
            _LOGGER.warning("broker %d is not told anything: its registration names no place", command.broker)
            return
        channel = self._channels.get(command.broker)
        if channel is None or channel.address != (place.host, place.port):
            self.drop(command.broker)
            channel = self._open(command.broker, (place.host, place.port))
        channel.send(letter)

    def drop(self, broker: int) -> None:
        """Send nothing more of what waits for this broker."""
        channel = self._channels.pop(broker, None)
        if channel is not None:
            task = asyncio.create_task(channel.close())
            self._closing.add(task)
            task.add_done_callback(self._closing.discard)

    def drop_all(self) -> None:
        """Not the controller any more: what waits is not ours to send any more."""
        for broker in list(self._channels):
            self.drop(broker)

    async def close(self) -> None:
        """Drop everything, and wait until it is gone."""
        self.drop_all()
        await asyncio.gather(*self._closing, return_exceptions=True)

    def _open(self, broker: int, address: tuple[str, int]) -> BrokerChannel:
        def answered(request: events_and_commands.BrokerRequest, answer: events_and_commands.BrokerAnswer) -> None:
            self._on_answer(broker, request, answer)

        channel = self._channels[broker] = BrokerChannel(broker, address, self._client_id, answered)
        return channel


def _registration(live: BrokerAndEpoch) -> BrokerRegistration | None:
    try:
        return decode_broker(live.registration)
    except UnusablePayloadError:
        return None
