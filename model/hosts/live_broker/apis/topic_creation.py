"""Topics made by a broker: planned, written to ZooKeeper, and created automatically when asked for.

A topic's assignment, or Kafka's refusal, is decided without reading or writing; checks and placement are those of
`model.controller`. Any broker may write a topic: first the configuration, then the assignment, which a controller
finds. Clients' Metadata requests and the group coordinator make topics of their own accord.

Source: `kafka.server.ZkAdminManager.createTopics`, `kafka.zk.AdminZkClient.createTopicWithAssignment`,
`kafka.server.DefaultAutoTopicCreationManager` (3.9).
"""

import logging
import random
import uuid
from collections.abc import Callable, Collection, Mapping

import msgspec

from model.broker.settings.dynamic_configs import SettingsInLayers, topic_config_problem
from model.broker.settings.keys import (
    DEFAULT_REPLICATION_FACTOR,
    NUM_PARTITIONS,
    OFFSETS_TOPIC_NUM_PARTITIONS,
    OFFSETS_TOPIC_REPLICATION_FACTOR,
    OFFSETS_TOPIC_SEGMENT_BYTES,
)
from model.broker.settings.settings import Settings
from model.cluster.ids import OFFSETS_TOPIC
from model.controller.placement import BrokerMetadata, PlacementRequest, place
from model.controller.refusal import Refusal
from model.controller.topic_validation import BROKER_DEFAULT, TopicCreation, creation_problem, creation_request_problem
from model.hosts.live_broker.parts import AskZooKeeper, MetadataCache
from model.hosts.wire.names import ZERO_ID, topic_id_text
from model.znodes.configs import EntityConfig
from model.znodes.paths import DELETIONS, TOPICS, config_path
from model.znodes.topics import TopicAssignment
from model.zookeeper.operations import Code, Create, GetChildren, SetData

Dice = Callable[[int], int]
"""A number from 0 to below this one."""
PlannedReplicas = Mapping[int, tuple[int, ...]]


class WantedTopic(msgspec.Struct, frozen=True):
    """A topic as somebody asks for it; -1 stands for a default, an empty assignment for none."""

    name: str
    partitions: int
    replication_factor: int
    assignment: PlannedReplicas
    configs: Mapping[str, str | None]


class TopicDefaults(msgspec.Struct, frozen=True):
    """num.partitions and default.replication.factor."""

    partitions: int = 1
    replication_factor: int = 1


def planned_topic(
    wanted: WantedTopic,
    defaults: TopicDefaults,
    brokers: Collection[BrokerMetadata],
    existing: Collection[str],
    marked_for_deletion: Collection[str],
    dice: Dice,
) -> PlannedReplicas | Refusal:
    """The replicas of each partition. Brokers are taken in the order of their ids."""
    refusal = creation_request_problem(
        wanted.name,
        existing,
        partitions=wanted.partitions,
        replication_factor=wanted.replication_factor,
        has_assignment=bool(wanted.assignment),
        configs=wanted.configs,
    )
    if refusal is not None:
        return refusal
    assignment = wanted.assignment or _placed(wanted, defaults, brokers, dice)
    if isinstance(assignment, Refusal):
        return assignment
    creation = TopicCreation(
        topic=wanted.name, assignment=assignment, existing=existing, marked_for_deletion=marked_for_deletion
    )
    return creation_problem(creation) or assignment


def _placed(
    wanted: WantedTopic, defaults: TopicDefaults, brokers: Collection[BrokerMetadata], dice: Dice
) -> PlannedReplicas | Refusal:
    partitions, factor = wanted.partitions, wanted.replication_factor
    partitions = defaults.partitions if partitions == BROKER_DEFAULT else partitions
    factor = defaults.replication_factor if factor == BROKER_DEFAULT else factor
    count = max(len(brokers), 1)
    return place(sorted(brokers), PlacementRequest(partitions, factor, dice(count), dice(count)))


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

    async def make(self, topic: WantedTopic, *, dry: bool) -> tuple[uuid.UUID, PlannedReplicas | Refusal]:
        """The id of the topic and its replicas, or why not. A `dry` run writes nothing and has no id."""
        layers = self._layers()
        wrong = topic_config_problem(layers, topic.configs)
        existing, marked = await self._zookeeper((GetChildren(TOPICS), GetChildren(DELETIONS)))
        settings = layers.effective
        defaults = TopicDefaults(settings[NUM_PARTITIONS], settings[DEFAULT_REPLICATION_FACTOR])
        plan = planned_topic(topic, defaults, self.brokers(), existing.names, marked.names, random.randrange)
        if isinstance(plan, Refusal) or wrong is not None or dry:
            return ZERO_ID, plan if isinstance(plan, Refusal) or wrong is None else wrong
        topic_id = uuid.uuid4()
        written = await self._write(topic, plan, topic_id)
        return (topic_id, plan) if written is None else (ZERO_ID, written)

    async def _write(self, topic: WantedTopic, plan: PlannedReplicas, topic_id: uuid.UUID) -> Refusal | None:
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


_LOGGER = logging.getLogger(__name__)


class AutoTopics:
    """One attempt for each name at a time."""

    def __init__(self, maker: TopicMaker, settings: Callable[[], Settings]) -> None:
        self._maker = maker
        self._settings = settings
        self._under_way: set[str] = set()

    async def create(self, name: str) -> str:
        """The name of the error that clients are told meanwhile: LEADER_NOT_AVAILABLE if it is made or was there."""
        if name in self._under_way:
            return "LEADER_NOT_AVAILABLE"
        self._under_way.add(name)
        try:
            _, made = await self._maker.make(self._wanted(name), dry=False)
        finally:
            self._under_way.discard(name)
        if not isinstance(made, Refusal):
            _LOGGER.info("topic %s is made, for somebody asked for it", name)
        elif made.error != "TOPIC_ALREADY_EXISTS":
            _LOGGER.warning("topic %s is not made: %s", name, made.message)
            return made.error
        return "LEADER_NOT_AVAILABLE"

    def _wanted(self, name: str) -> WantedTopic:
        settings = self._settings()
        if name != OFFSETS_TOPIC:
            return WantedTopic(name, BROKER_DEFAULT, BROKER_DEFAULT, {}, {})
        config = {
            "cleanup.policy": "compact",
            "compression.type": "producer",
            "segment.bytes": str(settings[OFFSETS_TOPIC_SEGMENT_BYTES]),
        }
        partitions, factor = settings[OFFSETS_TOPIC_NUM_PARTITIONS], settings[OFFSETS_TOPIC_REPLICATION_FACTOR]
        return WantedTopic(name, partitions, factor, {}, config)
