"""An image as the znodes that it was read from, for a ZooKeeper in memory.

The few znodes of brokers, controller, settings and pending work are made at once, those of topics when asked for.
Consumer groups are left out: no controller looks at them.
"""

from collections.abc import Iterator, Mapping
from functools import cached_property

from model.cluster.cluster_image import BrokerImage, ClusterImage
from model.cluster.kafka_generations import KafkaGeneration
from model.controller import zookeeper as paths
from model.controller.topics import Topics
from model.drills.staging.rules import rules_of
from model.drills.staging.topic_znodes import TopicZnodes
from model.hosts.memory_zookeeper.names import Names
from model.hosts.memory_zookeeper.planting import Planted, planted_nodes
from model.hosts.memory_zookeeper.tree import Node
from model.hosts.zookeeper.values import Stat
from model.znodes.admin import PartitionEntry, PartitionReassignment, PreferredReplicaElection, ReassignmentEntry
from model.znodes.brokers import BrokerRegistration
from model.znodes.cluster import ClusterId, FinalizedFeatures
from model.znodes.configs import EntityConfig
from model.znodes.controller import ControllerEpoch, ControllerRegistration
from model.znodes.paths import broker_path, config_path, delete_topic_path

REGISTRATION_VERSIONS: Mapping[str, int] = {"0.8": 1, "0.9-1.x": 4}
"""Kafka generation → version of a broker's payload, where it is not 5."""

_BELOW_TOPICS = f"{paths.TOPICS}/"


class ClusterZnodes(Mapping[str, Node]):
    """Every znode by path; `owners` are the brokers' sessions, `topics` those of the image as controllers hold them."""

    def __init__(self, image: ClusterImage, owners: Mapping[int, int], topics: Topics) -> None:
        version, known = rules_of(image).forms.topic_version, topics.by_name
        self._topics = {name: TopicZnodes(topic, known.get(name), version) for name, topic in image.topics.items()}
        self._few = planted_nodes(dict(_few(image, owners)))
        if self._topics:
            stat = Stat(0, 0, 0, 0, 0, len(self._topics), 0, 0, 0, len(self._topics), 0)
            self._few[paths.TOPICS] = Node(b"", stat, Names(list(self._topics)))

    def get(self, key: str, default: Node | None = None) -> Node | None:  # pyright: ignore[reportIncompatibleMethodOverride]
        if not key.startswith(_BELOW_TOPICS):
            return self._few.get(key, default)
        name, *below = key[len(_BELOW_TOPICS) :].split("/")
        topic = self._topics.get(name)
        found = None if topic is None else topic.node(below)
        return default if found is None else found

    def __getitem__(self, key: str) -> Node:
        found = self.get(key)
        if found is None:
            raise KeyError(key)
        return found

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and self.get(key) is not None

    def __iter__(self) -> Iterator[str]:
        yield from self._few
        for topic in self._topics.values():
            yield from topic.paths()

    def __len__(self) -> int:
        return self._length

    @cached_property
    def _length(self) -> int:
        return sum(1 for _ in self)


def registration_of(broker: BrokerImage, generation: KafkaGeneration) -> bytes:
    """A broker's payload. Listeners go by their names, for an image does not say which protocol they speak.

    A broker that was dead in the image has none, and a host without a name.
    """
    fields = BrokerRegistration(
        endpoints=broker.endpoints,
        rack=broker.rack,
        version=REGISTRATION_VERSIONS.get(generation, 5),
        timestamp=str(broker.registered_ms),
    )
    plain = next((listener for listener in fields.listeners if listener.security_protocol == "PLAINTEXT"), None)
    host, port = ("", -1) if plain is None else (plain.host, plain.port)
    return BrokerRegistration(
        endpoints=broker.endpoints,
        rack=broker.rack,
        host=host if plain is not None or not broker.endpoints else None,
        port=port,
        version=fields.version,
        timestamp=fields.timestamp,
    ).to_bytes()


def controller_of(image: ClusterImage) -> int | None:
    """The broker in office; None where nobody is, or somebody who does not live."""
    broker = image.controller.broker
    return broker if broker in image.brokers else None


def _few(image: ClusterImage, owners: Mapping[int, int]) -> Iterator[tuple[str, Planted]]:
    forms = rules_of(image).forms
    for path in (*forms.paths, paths.TOPICS, paths.DELETIONS):
        yield path, Planted()
    if image.cluster_id is not None:
        yield paths.CLUSTER_ID, Planted(ClusterId(cluster_id=image.cluster_id).to_bytes())
    if forms.feature_version is not None:
        features = FinalizedFeatures(features={}, version=forms.feature_version, status=1)
        yield paths.FEATURE, Planted(features.to_bytes())
    for number, broker in image.brokers.items():
        data, epoch = registration_of(broker, image.generation), broker.epoch
        version = 0 if epoch is None else 1
        planted = Planted(data, owners[number], version, czxid=epoch or 0, time_ms=broker.registered_ms)
        yield broker_path(number), planted
    yield from _office(image, owners, forms.controller_version)
    for entity, config in image.configs.items():
        yield config_path(entity), Planted(EntityConfig(config=config).to_bytes())
    yield from _pending_work(image)


def _office(image: ClusterImage, owners: Mapping[int, int], version: int) -> Iterator[tuple[str, Planted]]:
    controller, broker = image.controller, controller_of(image)
    if broker is not None:
        payload = ControllerRegistration(
            version=version,
            broker_id=broker,
            timestamp=str(controller.since_ms),
            kraft_controller_epoch=-1 if version > 1 else None,
        )
        yield paths.CONTROLLER, Planted(payload.to_bytes(), owners[broker], time_ms=controller.since_ms)
    if controller.epoch is not None:
        # Made with 0 and raised by one by every controller: its version is its number.
        yield paths.CONTROLLER_EPOCH, Planted(ControllerEpoch(controller.epoch).to_bytes(), version=controller.epoch)


def _pending_work(image: ClusterImage) -> Iterator[tuple[str, Planted]]:
    for topic in image.admin.delete_topics:
        yield delete_topic_path(topic), Planted()
    moves = tuple(
        ReassignmentEntry(topic=name.topic, partition=name.partition, replicas=target)
        for name, target in image.admin.reassignments.items()
    )
    if moves:
        yield paths.REASSIGNMENTS, Planted(PartitionReassignment(partitions=moves).to_bytes())
    asked = tuple(PartitionEntry(topic=name.topic, partition=name.partition) for name in image.admin.preferred_election)
    if asked:
        yield paths.PREFERRED_ELECTION, Planted(PreferredReplicaElection(partitions=asked).to_bytes())
