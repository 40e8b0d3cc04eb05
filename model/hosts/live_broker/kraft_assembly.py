"""The parts of a broker in KRaft mode put together: the metadata log, heartbeats, listeners, replicas, and its APIs.

Replicas, groups and all that clients ask for are those of a broker with ZooKeeper; what differs is whence a broker
knows of the cluster and whom it asks. It is no controller. Source: `kafka.server.BrokerServer` (3.9).
"""

import asyncio
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from model.broker.life import LifeEvent
from model.broker.metadata_log import LocalChanges, LoggedCluster
from model.broker.settings import keys
from model.broker.settings.dynamic_configs import SettingsInLayers
from model.broker.settings.settings import Settings, inter_broker_listener_of, quorum_addresses
from model.cluster.ids import KRAFT_VERSION, METADATA_VERSION
from model.hosts.background import BackgroundTasks
from model.hosts.live_broker.apis.client_quotas import ClientQuotas, QuotaRequests
from model.hosts.live_broker.apis.config_stores import Config, LoggedConfigs
from model.hosts.live_broker.apis.configs import ConfigRequests
from model.hosts.live_broker.apis.forwarded_requests import ForwardedRequests, ForwardedTopics
from model.hosts.live_broker.apis.metadata_requests import MetadataRequests, TopicPartitionRequests
from model.hosts.live_broker.apis.producer_ids import ProducerIds, ProducerRequests, blocks_of_controller
from model.hosts.live_broker.apis.topic_requests import AutoTopics
from model.hosts.live_broker.assembly import ControllerLink, tell_unusable
from model.hosts.live_broker.directory_reports import DirectoryReports
from model.hosts.live_broker.identity import IdentityError, Listening, clean_shutdown_epoch, node_of, note_node
from model.hosts.live_broker.metadata_follower import MetadataFollower
from model.hosts.live_broker.parts import BrokerKind, BrokerSurroundings, PartsContext, Ready, no_zookeeper
from model.hosts.live_broker.registration import BrokerLifecycle, Registrant
from model.hosts.live_controller.live_controller import OnRegistered
from model.hosts.wire.names import ApiKey
from model.hosts.wire.server import Api, Features
from model.kraft_controller.partition_change import HIGHEST_LEVELS, KRAFT_OF_3_3, NEWEST
from model.znodes.configs import DEFAULT_ENTITY

_LOGGER = logging.getLogger(__name__)
ASK_TIMEOUT_S = 4.5
"""Half of the session that controllers give brokers (`BrokerLifecycleManager`): one that stands still is left soon."""
HEARTBEAT, FORWARDING, ALTER_PARTITION, DIRECTORIES = CHANNELS = (
    "heartbeat",
    "forwarding",
    "alter-partition",
    "directory-assignments",
)
"""Connections of their own, as Kafka's brokers have: a controller answers what comes by one in its order, and a request
that takes long is no reason to be fenced."""
CLUSTER_ID_TIMEOUT_S, CLUSTER_ID_POLL_S = 5.0, 0.05
KNOWN_TIMEOUT_S = 60.0
KNOWN_FEATURES: Final[Mapping[str, tuple[int, int]]] = {
    METADATA_VERSION: (KRAFT_OF_3_3, HIGHEST_LEVELS[NEWEST]),
    KRAFT_VERSION: (0, 1),
    "transaction.version": (0, 2),
    "group.version": (0, 1),
    "eligible.leader.replicas.version": (0, 1),
    "share.version": (0, 2),
    "streams.version": (0, 1),
}
"""As brokers of 4.4 tell it: who knows less than holds in a cluster is not registered. What most of them add is not
served here, and then clients are told so by the versions of requests."""
NOT_SERVED: Final = frozenset(
    {ApiKey.LEADER_AND_ISR, ApiKey.STOP_REPLICA, ApiKey.UPDATE_METADATA, ApiKey.CONTROLLED_SHUTDOWN}
)
"""What only controllers of ZooKeeper's ask."""
NEWEST_FETCH: Final = 18
"""Java followers of 4.4 ask with it without looking whether it is known."""
WITHOUT_ZOOKEEPER: Final[Mapping[int, int]] = {ApiKey.OFFSET_COMMIT: 1, ApiKey.OFFSET_FETCH: 1}
"""The first versions that need no ZooKeeper."""


def assemble_in_kraft(settings: Settings, furnish: BrokerKind, on_registered: OnRegistered) -> "KraftAssembly":
    """Find out who it is, and take its log dirs. Raises IdentityError, OSError and the errors of `model.log`."""
    folders = tuple(map(Path, settings.log_dirs)) if furnish.keeps_logs else ()
    cluster = node_of(folders, settings[keys.BROKER_ID])
    return KraftAssembly(settings, folders, cluster, furnish, on_registered)


def _links(place: Callable[[], tuple[str, int] | None], broker: int) -> Mapping[str, ControllerLink]:
    return {name: ControllerLink(place, f"broker-{broker}-{name}", ASK_TIMEOUT_S) for name in CHANNELS}


class KraftAssembly:
    """From its making to `close`. A `BrokerAssembly`."""

    def __init__(
        self,
        settings: Settings,
        folders: Sequence[Path],
        cluster: str | None,
        furnish: BrokerKind,
        on_registered: OnRegistered,
    ) -> None:
        self.broker = broker = settings[keys.BROKER_ID]
        self._settings = settings
        self._folders = folders
        self._on_registered = on_registered
        self._layers = SettingsInLayers(settings)
        self._disks_failed = asyncio.Event()
        epochs = {clean_shutdown_epoch(folder) for folder in folders}
        self._previous_epoch = epochs.pop() if len(epochs) == 1 else -1
        self._follower = MetadataFollower(quorum_addresses(settings), broker, cluster)
        self._links = _links(lambda: self._follower.controller, broker)
        self._registration = BrokerLifecycle(
            self._links[HEARTBEAT].ask,
            lambda: self._follower.offset,
            settings[keys.BROKER_HEARTBEAT_INTERVAL_MS],
            settings[keys.LOG_DIR_FAILURE_TIMEOUT_MS],
        )
        self._listening = Listening(settings)
        self._serves = asyncio.Event()
        surroundings = self._surroundings()
        self._quotas = ClientQuotas(settings, surroundings.now_ms)
        self._topics = AutoTopics(
            ForwardedTopics(self._links[FORWARDING].ask, lambda: self._layers.effective), lambda: self._layers.effective
        )
        self._parts = furnish.make(
            PartsContext(broker, settings, surroundings, self._topics.create, self._disks_failed.set, self._quotas)
        )

        self._reports = DirectoryReports(
            self._links[DIRECTORIES].ask, self._parts.replicas.places, lambda: self._follower.cluster
        )
        self._tasks = BackgroundTasks(lambda error: _LOGGER.error("where replicas lie is told no more", exc_info=error))

    @property
    def failures(self) -> tuple[asyncio.Event, ...]:
        return self._follower.failed, self._registration.failed, self._disks_failed

    @property
    def was_clean(self) -> bool:
        return self._parts.was_clean

    @property
    def ready(self) -> Ready:
        return Ready(self.broker, self._registration.epoch, self._listening.addresses)

    # Start.

    async def load(self, *, recover: bool) -> None:
        await self._parts.replicas.load(recover=recover)

    async def register(self, on_listening: Callable[[Mapping[str, str]], None]) -> None:
        """Listen, read the metadata log, and register. Raises OSError for a port that is taken, IdentityError.

        Clients are answered once it is unfenced: before, it would tell them that there are no topics.
        """
        await self._listening.start(self._apis(), self._quotas.answer, self._features, self._serves)
        on_listening(self._listening.addresses)
        self._follower.start()
        await self._follower.is_read.wait()
        cluster = await self._cluster_id()
        directories = note_node(self._folders, self.broker, cluster)
        registrant = Registrant(
            self.broker,
            cluster,
            self._listening.advertised,
            KNOWN_FEATURES,
            self._settings[keys.BROKER_RACK],
            tuple(directories.values()),
            self._previous_epoch if self.was_clean else -1,
        )
        self._reports.ids = directories
        patience_ms = self._settings[keys.INITIAL_BROKER_REGISTRATION_TIMEOUT_MS]
        self._on_registered(await self._registration.register(registrant, patience_ms))

    async def settle(self, broker_epoch: int) -> None:
        """Obey the log, which has this registration by now, and be unfenced.

        Before that it may still say what this broker led in an earlier life.
        """
        self._parts.replicas.registered(broker_epoch)
        self._reports.broker, self._reports.broker_epoch = self.broker, broker_epoch
        self._registration.start()
        await self._registration.caught_up.wait()
        await self._follower.obey(self._publish)
        await self._parts.start()
        self._registration.serve()
        await self._registration.unfenced.wait()
        await self._parts.replicas.metadata.wait_until(lambda image: self.broker in image.brokers, KNOWN_TIMEOUT_S)
        self._serves.set()
        self._tasks.spawn(self._reports.run())

    async def _cluster_id(self) -> str:
        """As the log dirs say it, or the controllers (3.7). Raises IdentityError."""
        until_s = time.monotonic() + CLUSTER_ID_TIMEOUT_S
        while (cluster := self._follower.cluster_id) is None:
            if time.monotonic() >= until_s:
                raise IdentityError("the controllers tell no cluster.id: format the log dirs, as kafka-storage does")
            await asyncio.sleep(CLUSTER_ID_POLL_S)
        return cluster

    # End.

    async def ask_to_shut_down(self) -> LifeEvent:
        self._parts.replicas.shut_down_soon()
        return await self._registration.shut_down()

    async def stop_serving(self) -> None:
        """Take no more requests, obey nobody any more, and put all data away."""
        await self._tasks.close()
        await self._registration.close()
        await self._follower.close()
        await self._listening.close()
        await self._parts.close()
        await self._parts.replicas.close()

    async def abandon(self) -> None:
        await self._tasks.close()
        await self._follower.close()
        await self._listening.close()
        await self._parts.replicas.abandon()

    def mark_clean_shutdown(self) -> None:
        self._parts.replicas.mark_clean_shutdown()

    async def close(self) -> None:
        """The registration stays, fenced: controllers forget no broker by themselves."""
        await self._registration.close()
        await self._follower.close()
        for link in self._links.values():
            await link.close()

    def _surroundings(self) -> BrokerSurroundings:
        return BrokerSurroundings(
            self._links[ALTER_PARTITION].ask,
            no_zookeeper,
            inter_broker_listener_of(self._settings),
            topic_config=self._topic_config,
            log_dir_failed=self._log_dir_failed,
        )

    def _log_dir_failed(self, path: Path) -> None:
        if (directory := self._reports.ids.get(path)) is not None:
            self._registration.log_dir_failed(directory)

    # What the metadata log says.

    async def _publish(self, cluster: LoggedCluster, changes: LocalChanges, is_first: bool) -> None:
        for entity in changes.configs:
            self._configure(entity, cluster.configs)
        await self._parts.replicas.take_metadata(cluster.image, changes, is_first=is_first)
        self._reports.look()

    def _configure(self, entity: str, configs: Mapping[str, Config]) -> None:
        kind, _, name = entity.partition("/")
        if kind == "topics":
            self._parts.replicas.apply_topic_config(name, configs.get(entity, {}))
        elif kind in ("users", "clients"):
            self._quotas.learn(entity, configs.get(entity, {}))
        elif kind == "brokers" and name in (DEFAULT_ENTITY, str(self.broker)):
            default, own = (configs.get(f"brokers/{each}", {}) for each in (DEFAULT_ENTITY, self.broker))
            self._configure_broker(default, own)

    def _configure_broker(self, default: Config, own: Config) -> None:
        before = self._layers.effective
        of_all, of_one = tell_unusable(default, of_one=False), tell_unusable(own, of_one=True)
        self._layers = SettingsInLayers(self._settings, of_all, of_one)
        if self._layers.effective != before:
            self._parts.replicas.apply_broker_settings(self._layers.effective)

    def _topic_config(self, topic: str) -> Config | None:
        cluster = self._follower.cluster
        return cluster.configs.get(f"topics/{topic}", {}) if topic in cluster.image.topics else None

    # What it answers.

    def _features(self) -> Features:
        return Features(KNOWN_FEATURES, self._follower.features, self._follower.offset)

    def _apis(self) -> Mapping[int, Api]:
        ask, metadata = self._links[FORWARDING].ask, self._parts.replicas.metadata
        store = LoggedConfigs(lambda: self._follower.cluster.configs, lambda: metadata.image.topics)
        configs = ConfigRequests(self.broker, store, lambda: self._layers).apis
        blocks = blocks_of_controller(ask, self.broker, lambda: self._registration.epoch)
        apis = {
            **self._parts.apis,
            **MetadataRequests(metadata, lambda: self._follower.cluster_id, self._create_if_enabled).apis,
            **TopicPartitionRequests(metadata, lambda: self._follower.cluster.eligible).apis,
            **configs,
            **QuotaRequests(store).apis,
            **ProducerRequests(ProducerIds(blocks).take).apis,
            **ForwardedRequests(ask, configs[ApiKey.INCREMENTAL_ALTER_CONFIGS].answer).apis,
        }
        served = {key: api for key, api in apis.items() if key not in NOT_SERVED}
        for key, lowest in WITHOUT_ZOOKEEPER.items():
            served[key] = served[key]._replace(lowest=lowest)
        served[ApiKey.FETCH] = served[ApiKey.FETCH]._replace(highest=NEWEST_FETCH)
        return served

    async def _create_if_enabled(self, name: str) -> str:
        enabled = self._layers.effective[keys.AUTO_CREATE_TOPICS_ENABLE]
        return await self._topics.create(name) if enabled else "UNKNOWN_TOPIC_OR_PARTITION"
