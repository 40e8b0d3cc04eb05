"""The parts of a broker that keeps no logs: it may be controller, and passes questions for coordinators on to others.

It keeps metadata, and refuses copies with KAFKA_STORAGE_ERROR, which a controller takes for a failed log dir. A
broker that has coordinators is asked in turn: without an answer, Java's consumers fail for good when they happen to
ask here.
"""

import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
from kio.schema.errors import ErrorCode

from model.broker.controller_requests import BrokerEpochs, refuse_request, ruled_by
from model.broker.metadata import BrokerNode, MetadataImage, learn, serve_update_metadata
from model.broker.metadata_log import LocalChanges
from model.broker.settings.settings import Settings
from model.cluster.ids import TopicPartition
from model.controller.events_and_commands import (
    BrokerAnswer,
    LeaderAndIsrRequest,
    StopReplicaRequest,
    UpdateMetadataRequest,
)
from model.hosts.live_broker.apis.controller_requests import ControllerRequests
from model.hosts.live_broker.parts import BrokerKind, MetadataCache, Parts, PartsContext
from model.hosts.wire.connection import Connection
from model.hosts.wire.messages import Encoded, Entity, encode, shaped
from model.hosts.wire.names import ApiKey, UnsupportedVersionError, WireError
from model.hosts.wire.server import Api, Request


class NoReplicas:
    """In the place of a ReplicaManager."""

    def __init__(self, broker: int) -> None:
        self.metadata = MetadataCache()
        self._epochs = BrokerEpochs(broker)

    async def load(self, *, recover: bool) -> None:
        """There are no logs."""

    def registered(self, broker_epoch: int) -> None:
        self._epochs = msgspec.structs.replace(self._epochs, broker_epoch=broker_epoch)

    def shut_down_soon(self) -> None:
        """Nobody is followed anyway."""

    async def close(self) -> None:
        """There are no logs."""

    async def abandon(self) -> None:
        """There are no logs."""

    def mark_clean_shutdown(self) -> None:
        """There are no log dirs."""

    def apply_topic_config(self, topic: str, config: Mapping[str, str]) -> None:
        """It concerns those who keep logs."""

    def apply_broker_settings(self, settings: Settings) -> None:
        """They concern those who keep logs."""

    def places(self) -> Mapping[TopicPartition, Path]:
        return {}

    async def take_metadata(self, image: MetadataImage, changes: LocalChanges, *, is_first: bool) -> None:
        self.metadata.learn(image)

    async def take_leader_and_isr(self, request: LeaderAndIsrRequest, broker_epoch: int) -> BrokerAnswer:
        refused = self._refuse(broker_epoch, request.controller_epoch)
        if refused is not None:
            return refused
        return BrokerAnswer(partition_errors=tuple((e.partition, "KAFKA_STORAGE_ERROR") for e in request.partitions))

    async def take_stop_replica(self, request: StopReplicaRequest, broker_epoch: int) -> BrokerAnswer:
        return self._refuse(broker_epoch, request.controller_epoch) or BrokerAnswer()

    async def take_update_metadata(
        self, request: UpdateMetadataRequest, nodes: Mapping[int, BrokerNode], broker_epoch: int
    ) -> BrokerAnswer:
        """Know the cluster as told."""
        served = serve_update_metadata(request, broker_epoch, self._epochs)
        self._epochs = served.epochs
        if served.answer.error == "NONE":
            self.metadata.learn(learn(request, nodes, self.metadata.image))
        return served.answer

    def _refuse(self, broker_epoch: int, controller_epoch: int) -> BrokerAnswer | None:
        refused = refuse_request(self._epochs, broker_epoch, controller_epoch)
        if refused is None:
            self._epochs = ruled_by(self._epochs, controller_epoch)
        return None if refused is None else refused.answer


TIMEOUT_S = 10.0
NOWHERE: Mapping[str, object] = {
    "error_code": ErrorCode.coordinator_not_available,
    "error_message": None,
    "node_id": -1,
    "host": "",
    "port": -1,
}
"""No answer now: clients ask again."""


class PassedOn:
    """FindCoordinator. `listener` is the one between brokers; where coordinators are is told for it, too."""

    def __init__(self, broker: int, metadata: MetadataCache, listener: str) -> None:
        self._broker = broker
        self._metadata = metadata
        self._listener = listener

    @property
    def apis(self) -> Mapping[int, Api]:
        return {ApiKey.FIND_COORDINATOR: Api(0, 6, self._find_coordinator)}

    async def _find_coordinator(self, request: Request) -> Entity:
        nodes = self._metadata.image.brokers.values()
        places = [node.endpoint(self._listener) for node in nodes if node.id != self._broker]
        random.shuffle(places)
        for place in places:
            try:
                if place is not None:
                    return await self._ask((place.host, place.port), request)
            except WireError:
                continue
        return _no_coordinator(request)

    async def _ask(self, place: tuple[str, int], request: Request) -> Entity:
        start = request.start
        body = Encoded(start.api_key, start.version, encode(request.body))
        connection = await Connection.open(*place, f"broker-{self._broker}-passing-on", TIMEOUT_S)
        try:
            if connection.newest(start.api_key, start.version) != start.version:
                raise UnsupportedVersionError(f"version {start.version} is too new for {place[0]}:{place[1]}")
            return await connection.ask(body, TIMEOUT_S)
        finally:
            await connection.close()


def _no_coordinator(request: Request) -> Entity:
    keys: Any = getattr(request.body, "coordinator_keys", None)
    if keys is None:
        return request.answer("FindCoordinatorResponse", **NOWHERE)
    found = tuple(shaped(request.shape("Coordinator"), key=key, **NOWHERE) for key in keys)
    return request.answer("FindCoordinatorResponse", coordinators=found)


def _make(place: PartsContext) -> Parts:
    """It answers what it knows, and asks others for the rest."""
    replicas = NoReplicas(place.broker)
    asked = PassedOn(place.broker, replicas.metadata, place.surroundings.listener)
    return Parts(replicas, {**ControllerRequests(replicas).apis, **asked.apis})


WITHOUT_LOGS = BrokerKind(_make, keeps_logs=False)
