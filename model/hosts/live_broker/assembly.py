"""The parts of a broker put together: session, controller, listeners, replicas, and all that it answers.

Each of its methods is a step of the broker's life; which one is next is not decided here. The controller it asks is
the one that the last UpdateMetadata came from (`kafka.server.NodeToControllerChannelManager`, 3.9); nothing is
repeated, who asks does that.
"""

import asyncio
import logging
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec

from model.broker.life import ControllerAnswered, ControllerMissing, LifeEvent
from model.broker.metadata import MetadataImage
from model.broker.settings import keys
from model.broker.settings.catalogue import remark_on
from model.broker.settings.dynamic_configs import SettingsInLayers, usable_config
from model.broker.settings.keys import AUTO_CREATE_TOPICS_ENABLE, KDRILL_FAULT_FOLDER, UNCLEAN_LEADER_ELECTION_ENABLE
from model.broker.settings.settings import Settings, controller_settings, inter_broker_listener_of
from model.hosts.live_broker.apis.client_quotas import ClientQuotas, QuotaRequests
from model.hosts.live_broker.apis.config_stores import Config, ConfigsInZooKeeper
from model.hosts.live_broker.apis.configs import ConfigRequests, DynamicConfigs
from model.hosts.live_broker.apis.controller_apis import BrokerRequests, OperatorRequests
from model.hosts.live_broker.apis.metadata_requests import CreateTopic, MetadataRequests
from model.hosts.live_broker.apis.producer_ids import (
    ProducerIds,
    ProducerRequests,
    TakeProducerId,
    blocks_in_zookeeper,
    blocks_of_controller,
)
from model.hosts.live_broker.apis.topic_requests import AutoTopics, TopicMaker, TopicRequests
from model.hosts.live_broker.identity import Listening, broker_id, check_cluster, cluster_id, note_identity
from model.hosts.live_broker.parts import (
    AskController,
    AskZooKeeper,
    BrokerKind,
    BrokerSurroundings,
    MetadataCache,
    PartsContext,
    Ready,
)
from model.hosts.live_controller.live_controller import ControllerOptions, LiveController, OnRegistered
from model.hosts.wire.connection import Build, Channel, Connection
from model.hosts.wire.messages import Entity, shaped
from model.hosts.wire.names import ApiKey, UnavailableError, WireError, error_name
from model.hosts.wire.server import Api
from model.hosts.writing_session import SuccessiveSessions
from model.hosts.zookeeper.settings import ZooKeeperSettings
from model.znodes.paths import broker_path
from model.zookeeper import Exists, ZnodeChanged


def place_of_controller(image: MetadataImage, listener: str) -> tuple[str, int] | None:
    """Where the broker listens that ruled last; None where that is not known."""
    node = image.brokers.get(image.controller)
    place = None if node is None else node.endpoint(listener)
    return None if place is None else (place.host, place.port)


class ControllerLink:
    """For one event loop. `place` says where the controller of now listens, as far as that is known."""

    def __init__(self, place: Callable[[], tuple[str, int] | None], client_id: str, timeout_s: float) -> None:
        self._place = place
        self._client_id = client_id
        self._timeout_s = timeout_s
        self._address: tuple[str, int] | None = None
        self._channel: Channel | None = None

    async def ask(self, build: Build) -> Entity:
        """Ask the controller. Raises UnavailableError where none is known, or another WireError."""
        place = self._place()
        if place is None:
            raise UnavailableError("no controller is known")
        if self._channel is None or self._address != place:
            await self.close()
            self._address = place
            self._channel = Channel(*place, self._client_id, self._timeout_s)
        return await self._channel.ask(build)

    async def close(self) -> None:
        """End the connection, if there is one."""
        channel, self._channel = self._channel, None
        if channel is not None:
            await channel.close()


async def ask_to_shut_down(ask: AskController, broker: int, broker_epoch: int) -> LifeEvent:
    """Send it to the controller of now."""

    def build(connection: Connection) -> Entity:
        shape = connection.request_shapes(ApiKey.CONTROLLED_SHUTDOWN).ControlledShutdownRequest
        return shaped(shape, broker_id=broker, broker_epoch=broker_epoch)

    try:
        answer = await ask(build)
    except WireError as error:
        return ControllerMissing(str(error))
    return ControllerAnswered(error_name(answer.error_code), len(answer.remaining_partitions))


@dataclass(frozen=True)
class AdminApis:
    """`layers` are the broker's settings as they are now, `cluster_id` is None before there is one."""

    broker: int
    controller: LiveController
    zookeeper: AskZooKeeper
    metadata: MetadataCache
    layers: Callable[[], SettingsInLayers]
    cluster_id: Callable[[], str | None]
    maker: TopicMaker
    create_topic: CreateTopic
    take_producer_id: TakeProducerId

    @property
    def apis(self) -> Mapping[int, Api]:
        ask, context = self.controller.ask, lambda: self.controller.context
        configs = ConfigsInZooKeeper(self.zookeeper)
        return {
            **BrokerRequests(ask, lambda: context().topics.by_name).apis,
            **OperatorRequests(ask, self.metadata).apis,
            **TopicRequests(self.maker, self.zookeeper, context, self.metadata).apis,
            **MetadataRequests(self.metadata, self.cluster_id, self._create_if_enabled).apis,
            **ConfigRequests(self.broker, configs, self.layers).apis,
            **QuotaRequests(configs).apis,
            **ProducerRequests(self.take_producer_id).apis,
        }

    async def _create_if_enabled(self, name: str) -> str:
        enabled = self.layers().effective[AUTO_CREATE_TOPICS_ENABLE]
        return await self.create_topic(name) if enabled else "UNKNOWN_TOPIC_OR_PARTITION"


def tell_unusable(config: Config, *, of_one: bool) -> Config:
    """What of it can hold; what cannot, or has no effect, is said in the broker's log."""
    usable, refusals = usable_config(config, of_one=of_one)
    for line in (*refusals, *filter(None, map(remark_on, usable))):
        _LOGGER.warning("configuration of %s: %s", "this broker" if of_one else "all brokers", line)
    return usable


FREE_ID_POLL_S = 0.2
TOLD_TIMEOUT_S = 30.0
_LOGGER = logging.getLogger(__name__)


def zookeeper_settings(settings: Settings) -> ZooKeeperSettings:
    """Of zookeeper.connect. Raises ValueError for what is no address."""
    address, slash, chroot = (settings[keys.ZOOKEEPER_CONNECT] or "").partition("/")
    session_ms = settings[keys.ZOOKEEPER_SESSION_TIMEOUT_MS]
    return ZooKeeperSettings(address, slash + chroot if chroot else "", session_timeout_ms=session_ms)


async def assemble(
    settings: Settings, zookeeper: ZooKeeperSettings, furnish: BrokerKind, on_registered: OnRegistered
) -> "Assembly":
    """Open the session, find out who this broker is, and take its log dirs.

    Raises ZooKeeperUnavailable, IdentityError, OSError and the errors of `model.log`.
    """
    sessions = SuccessiveSessions(zookeeper)
    patience_ms = settings[keys.ZOOKEEPER_CONNECTION_TIMEOUT_MS]
    session_ms = settings[keys.ZOOKEEPER_SESSION_TIMEOUT_MS]
    folders = tuple(map(Path, settings.log_dirs)) if furnish.keeps_logs else ()
    try:
        await sessions.open((session_ms if patience_ms is None else patience_ms) / 1000)
        broker = await broker_id(settings, folders, sessions.ask)
        check_cluster(folders, await cluster_id(sessions.ask))
        return Assembly(broker, settings, folders, furnish, sessions, on_registered)
    except BaseException:
        await sessions.close()
        raise


class Assembly:
    """From its making, with a session that is open, to `close`."""

    def __init__(
        self,
        broker: int,
        settings: Settings,
        folders: tuple[Path, ...],
        furnish: BrokerKind,
        sessions: SuccessiveSessions,
        on_registered: OnRegistered,
    ) -> None:
        self.broker = broker
        self._settings = settings
        self._folders = folders
        self._layers = SettingsInLayers(settings)
        self._sessions = sessions
        self._cluster_id: str | None = None
        self.disks_failed = asyncio.Event()
        """No log dir is left that could be used."""
        self._following: asyncio.Task[None] | None = None
        self._serves = asyncio.Event()
        listener = inter_broker_listener_of(settings)
        timeout_s = settings[keys.REQUEST_TIMEOUT_MS] / 1000
        self._listening = Listening(settings)
        self.controller = LiveController(self._options(listener), sessions, on_registered)
        self._link = ControllerLink(
            lambda: place_of_controller(self._parts.replicas.metadata.image, listener),
            f"broker-{broker}-to-controller",
            timeout_s,
        )
        surroundings = BrokerSurroundings(self._link.ask, sessions.ask, listener)
        self._quotas = ClientQuotas(settings, surroundings.now_ms)
        self._parts = furnish.make(
            PartsContext(broker, settings, surroundings, self._create_topic, self.disks_failed.set, self._quotas)
        )
        metadata = self._parts.replicas.metadata
        without = () if furnish.keeps_logs else (broker,)
        self._maker = TopicMaker(sessions.ask, metadata, lambda: self._layers, without)
        self._topics = AutoTopics(self._maker, lambda: self._layers.effective)
        self._configs = DynamicConfigs(broker, sessions.ask, self)
        sessions.on_watch = self._watched

    @property
    def failures(self) -> tuple[asyncio.Event, ...]:
        """Each means that there is no going on."""
        return self.controller.failed, self.disks_failed

    @property
    def was_clean(self) -> bool:
        """Whether the last stop was an orderly one."""
        return self._parts.was_clean

    # Start.

    async def load(self, *, recover: bool) -> None:
        await self._parts.replicas.load(recover=recover)

    async def register(self, on_listening: Callable[[Mapping[str, str]], None]) -> None:
        """Listen, and once the id is free, register and run for controller. Raises OSError for a port that is taken.

        Nobody is answered before it is registered: until then no controller tells it of the cluster, and clients would
        hear that there are no brokers.
        """
        apis = {**self._admin_apis().apis, **self._parts.apis}
        await self._listening.start(apis, self._quotas.answer, opens=self._serves)
        on_listening(self._listening.addresses)
        await self._wait_for_free_id()
        self.controller.start()

    async def settle(self, broker_epoch: int) -> None:
        """After each registration: take on the epoch, and what ZooKeeper says of configurations."""
        self._parts.replicas.registered(broker_epoch)
        await self._configs.load()
        if self._following is not None:
            return
        self._following = asyncio.create_task(self._configs.run())
        self._cluster_id = await cluster_id(self._sessions.ask)
        note_identity(self._folders, self.broker, self._cluster_id)
        await self._parts.start()
        self._serves.set()
        metadata = self._parts.replicas.metadata
        await metadata.wait_until(lambda image: self.broker in image.brokers, TOLD_TIMEOUT_S)

    @property
    def ready(self) -> Ready:
        """What is told once it serves."""
        return Ready(self.broker, self.controller.context.broker_epoch, self._listening.addresses)

    # End.

    async def ask_to_shut_down(self) -> LifeEvent:
        """ControlledShutdown, once."""
        self._parts.replicas.shut_down_soon()
        return await ask_to_shut_down(self._link.ask, self.broker, self.controller.context.broker_epoch)

    async def stop_serving(self) -> None:
        """Take no more requests, and put all data away."""
        await self._listening.close()
        await self._parts.close()
        await self._parts.replicas.close()

    async def abandon(self) -> None:
        """Stop as after a failure: the next start recovers what is on disk."""
        await self._listening.close()
        await self._parts.replicas.abandon()

    def mark_clean_shutdown(self) -> None:
        self._parts.replicas.mark_clean_shutdown()

    async def close(self) -> None:
        """Resign as the controller, and end the session: the registration goes with it."""
        if self._following is not None:
            self._following.cancel()
        await self.controller.close()
        await self._link.close()
        await self._sessions.close()

    # What changes in ZooKeeper.

    def topic_config(self, topic: str, config: Config) -> None:
        """For `DynamicConfigs`."""
        self._parts.replicas.apply_topic_config(topic, config)
        if config.get(UNCLEAN_LEADER_ELECTION_ENABLE.topic, "").lower() == "true":
            self.controller.allow_unclean(topic)

    def quota_config(self, entity: str, config: Config) -> None:
        """For `DynamicConfigs`."""
        self._quotas.learn(entity, config)

    def broker_config(self, default: Config, own: Config) -> None:
        """For `DynamicConfigs`."""
        before = self._layers.effective
        of_all, of_one = tell_unusable(default, of_one=False), tell_unusable(own, of_one=True)
        self._layers = SettingsInLayers(self._settings, of_all, of_one)
        now = self._layers.effective
        if now == before:
            return
        self._parts.replicas.apply_broker_settings(now)
        unclean = now[UNCLEAN_LEADER_ELECTION_ENABLE]
        if unclean != before[UNCLEAN_LEADER_ELECTION_ENABLE]:
            self.controller.set_unclean_default(allowed=unclean)

    def _watched(self, changed: ZnodeChanged) -> None:
        self.controller.watched(changed)
        self._configs.watched(changed)

    # Making.

    def _options(self, listener: str) -> ControllerOptions:
        folder = self._settings[KDRILL_FAULT_FOLDER]
        return ControllerOptions(
            settings=msgspec.structs.replace(controller_settings(self._settings, self.broker), seed=os.urandom(16)),
            registration=self._listening.registration,
            listener=listener,
            faults=None if folder is None else Path(folder),
        )

    def _admin_apis(self) -> AdminApis:
        zookeeper, broker, context = self._sessions.ask, self.broker, lambda: self.controller.context
        if context().settings.forms.hands_out_producer_ids:
            blocks = blocks_of_controller(self._link.ask, broker, lambda: context().broker_epoch)
        else:
            blocks = blocks_in_zookeeper(zookeeper, broker)
        return AdminApis(
            broker=broker,
            controller=self.controller,
            zookeeper=zookeeper,
            metadata=self._parts.replicas.metadata,
            layers=lambda: self._layers,
            cluster_id=lambda: self._cluster_id,
            maker=self._maker,
            create_topic=self._topics.create,
            take_producer_id=ProducerIds(blocks).take,
        )

    async def _create_topic(self, name: str) -> str:
        return await self._topics.create(name)

    async def _wait_for_free_id(self) -> None:
        """A broker that was killed stays registered until its session ends; Kafka gives up where this one waits."""
        until_s = time.monotonic() + 2 * self._settings[keys.ZOOKEEPER_SESSION_TIMEOUT_MS] / 1000
        told = False
        while time.monotonic() < until_s:
            (found,) = await self._sessions.ask((Exists(broker_path(self.broker)),))
            if not found.ok:
                return
            if not told:
                _LOGGER.info("id %d is still registered, perhaps by an earlier life: waiting for its end", self.broker)
            told = True
            await asyncio.sleep(FREE_ID_POLL_S)
