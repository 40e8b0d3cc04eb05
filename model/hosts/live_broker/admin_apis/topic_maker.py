"""Makes topics in ZooKeeper, as any broker may: first the configuration, then the assignment, which a controller finds.

Source: `kafka.server.ZkAdminManager.createTopics`, `kafka.zk.AdminZkClient.createTopicWithAssignment` (3.9).
"""

import random
import uuid
from collections.abc import Callable, Collection

from model.broker.settings.alterations import topic_config_problem
from model.broker.settings.client_keys import NUM_PARTITIONS
from model.broker.settings.layers import SettingsInLayers
from model.broker.settings.replication_keys import DEFAULT_REPLICATION_FACTOR
from model.controller.placement_strategies import BrokerMetadata
from model.controller.refusal import Refusal
from model.controller.zookeeper import DELETIONS, TOPICS, Children, Code, Create, SetData
from model.hosts.live_broker.admin_apis.topic_creation import Replicas, TopicDefaults, WantedTopic, planned_topic
from model.hosts.live_broker.replicas.metadata_cache import MetadataCache
from model.hosts.live_broker.replicas.surroundings import AskZooKeeper
from model.hosts.wire.names import ZERO_ID, topic_id_text
from model.znodes.configs import EntityConfig
from model.znodes.paths import config_path
from model.znodes.topics import TopicAssignment

UNREACHABLE = Refusal("UNKNOWN_SERVER_ERROR", "ZooKeeper did not take the topic.")


class TopicMaker:
    """`without` are brokers that get no replicas: those that keep no logs."""

    def __init__(
        self,
        zookeeper: AskZooKeeper,
        metadata: MetadataCache,
        layers: Callable[[], SettingsInLayers],
        without: Collection[int] = (),
    ) -> None:
        self._zookeeper = zookeeper
        self._metadata = metadata
        self._layers = layers
        self._without = without

    def brokers(self) -> list[BrokerMetadata]:
        """The live ones, as far as this broker knows, by id."""
        nodes = sorted(self._metadata.image.brokers.values(), key=lambda node: node.id)
        return [BrokerMetadata(node.id, node.rack) for node in nodes if node.id not in self._without]

    async def make(self, topic: WantedTopic, *, dry: bool) -> tuple[uuid.UUID, Replicas | Refusal]:
        """The id of the topic and its replicas, or why not. A `dry` run writes nothing and has no id."""
        layers = self._layers()
        wrong = topic_config_problem(layers, topic.configs)
        existing, marked = await self._zookeeper((Children(TOPICS), Children(DELETIONS)))
        settings = layers.effective
        defaults = TopicDefaults(settings[NUM_PARTITIONS], settings[DEFAULT_REPLICATION_FACTOR])
        plan = planned_topic(topic, defaults, self.brokers(), existing.names, marked.names, random.randrange)
        if isinstance(plan, Refusal) or wrong is not None or dry:
            return ZERO_ID, plan if isinstance(plan, Refusal) or wrong is None else wrong
        topic_id = uuid.uuid4()
        written = await self._write(topic, plan, topic_id)
        return (topic_id, plan) if written is None else (ZERO_ID, written)

    async def _write(self, topic: WantedTopic, plan: Replicas, topic_id: uuid.UUID) -> Refusal | None:
        config = EntityConfig(version=1, config={key: value or "" for key, value in topic.configs.items()}).to_bytes()
        path = config_path(f"topics/{topic.name}")
        payload = TopicAssignment(partitions=plan, topic_id=topic_id_text(topic_id), version=3).to_bytes()
        (configured,) = await self._zookeeper((Create(path, config),))
        if configured.code is Code.NODE_EXISTS:
            await self._zookeeper((SetData(path, config),))
        (written,) = await self._zookeeper((Create(f"{TOPICS}/{topic.name}", payload),))
        if written.code is Code.NODE_EXISTS:
            return Refusal("TOPIC_ALREADY_EXISTS", f"Topic '{topic.name}' already exists.")
        return None if written.ok else UNREACHABLE
