"""The APIs of this folder in one table, and what they need of the broker around them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from model.broker.settings.client_keys import AUTO_CREATE_TOPICS_ENABLE
from model.broker.settings.layers import SettingsInLayers
from model.hosts.live_broker.admin_apis.broker_requests import BrokerRequests
from model.hosts.live_broker.admin_apis.config_requests import ConfigRequests
from model.hosts.live_broker.admin_apis.metadata_requests import CreateTopic, MetadataRequests
from model.hosts.live_broker.admin_apis.operator_requests import OperatorRequests
from model.hosts.live_broker.admin_apis.producer_requests import ProducerRequests, TakeProducerId
from model.hosts.live_broker.admin_apis.topic_maker import TopicMaker
from model.hosts.live_broker.admin_apis.topic_requests import TopicRequests
from model.hosts.live_broker.replicas.metadata_cache import MetadataCache
from model.hosts.live_broker.replicas.surroundings import AskZooKeeper
from model.hosts.live_controller.live_controller import LiveController
from model.hosts.wire.server import Api


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
        """By API key."""
        ask, context = self.controller.ask, lambda: self.controller.context
        return {
            **BrokerRequests(ask, lambda: context().topics.by_name).apis,
            **OperatorRequests(ask, self.metadata).apis,
            **TopicRequests(self.maker, self.zookeeper, context, self.metadata).apis,
            **MetadataRequests(self.metadata, self.cluster_id, self._create_if_enabled).apis,
            **ConfigRequests(self.broker, self.zookeeper, self.layers).apis,
            **ProducerRequests(self.take_producer_id).apis,
        }

    async def _create_if_enabled(self, name: str) -> str:
        enabled = self.layers().effective[AUTO_CREATE_TOPICS_ENABLE]
        return await self.create_topic(name) if enabled else "UNKNOWN_TOPIC_OR_PARTITION"
