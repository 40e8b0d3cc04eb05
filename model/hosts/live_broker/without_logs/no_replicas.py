"""A broker without logs, as far as controllers tell it things: it keeps metadata, and refuses copies.

With KAFKA_STORAGE_ERROR, which a controller takes for a failed log dir.
"""

from collections.abc import Mapping

import msgspec

from model.broker.controller_requests.epoch_checks import refuse_request, ruled_by
from model.broker.controller_requests.metadata_image import BrokerNode
from model.broker.controller_requests.served import Standing
from model.broker.controller_requests.update_metadata import learn, serve_update_metadata
from model.broker.settings.settings import Settings
from model.controller.requests import BrokerAnswer, LeaderAndIsrRequest, StopReplicaRequest, UpdateMetadataRequest
from model.hosts.live_broker.replicas.metadata_cache import MetadataCache


class NoReplicas:
    """In the place of a ReplicaManager."""

    def __init__(self, broker: int) -> None:
        self.metadata = MetadataCache()
        self._standing = Standing(broker)

    async def load(self, *, recover: bool) -> None:
        """There are no logs."""

    def registered(self, broker_epoch: int) -> None:
        """The broker has this epoch from now on."""
        self._standing = msgspec.structs.replace(self._standing, broker_epoch=broker_epoch)

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

    async def take_leader_and_isr(self, request: LeaderAndIsrRequest, broker_epoch: int) -> BrokerAnswer:
        """Every copy is refused."""
        refused = self._refuse(broker_epoch, request.controller_epoch)
        if refused is not None:
            return refused
        return BrokerAnswer(partition_errors=tuple((e.partition, "KAFKA_STORAGE_ERROR") for e in request.partitions))

    async def take_stop_replica(self, request: StopReplicaRequest, broker_epoch: int) -> BrokerAnswer:
        """There is nothing to stop."""
        return self._refuse(broker_epoch, request.controller_epoch) or BrokerAnswer()

    async def take_update_metadata(
        self, request: UpdateMetadataRequest, nodes: Mapping[int, BrokerNode], broker_epoch: int
    ) -> BrokerAnswer:
        """Know the cluster as told."""
        served = serve_update_metadata(request, broker_epoch, self._standing)
        self._standing = served.standing
        if served.answer.error == "NONE":
            self.metadata.learn(learn(request, nodes, self.metadata.image))
        return served.answer

    def _refuse(self, broker_epoch: int, controller_epoch: int) -> BrokerAnswer | None:
        refused = refuse_request(self._standing, broker_epoch, controller_epoch)
        if refused is None:
            self._standing = ruled_by(self._standing, controller_epoch)
        return None if refused is None else refused.answer
