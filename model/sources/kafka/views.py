"""All that a cluster's brokers have told, as one value. Nothing is asked here."""

from collections.abc import Mapping
from typing import Final

import msgspec

from model.cluster.ids import TopicPartition
from model.cluster.kafka_generations import KafkaGeneration
from model.cluster.log_dirs import LogDir
from model.cluster.quorum import Quorum
from model.hosts.kafka_client.metadata import NOBODY, Metadata, PartitionPlace

KRAFT: Final[KafkaGeneration] = "kraft"
"""The generation without ZooKeeper."""
Change = tuple[tuple[int, ...], tuple[int, ...]]
"""Replicas that a reassignment adds, and those that it removes."""


class TopicView(msgspec.Struct, frozen=True):
    """One topic."""

    topic_id: str | None = None
    places: Mapping[int, PartitionPlace] = {}
    moves: Mapping[int, Change] = {}
    """Partitions whose reassignment is under way."""


class BrokerView(msgspec.Struct, frozen=True):
    """One broker that lives."""

    host: str
    port: int
    rack: str | None = None


class ClusterView(msgspec.Struct, frozen=True):
    """The whole. `controller` is a broker or, in KRaft, a controller node; NOBODY: there is none."""

    cluster_id: str | None = None
    generation: KafkaGeneration = "unknown"
    features: Mapping[str, int] = {}
    """Finalized features (KIP-584) → level."""
    controller: int = NOBODY
    brokers: Mapping[int, BrokerView] = {}
    fenced: Mapping[int, BrokerView] | None = None
    """Brokers that are registered and fenced; None where brokers do not tell, as before 4.0."""
    topics: Mapping[str, TopicView] = {}
    tells_elr: bool = False
    """Whether brokers tell eligible leader replicas: then partitions of which they told nothing have none."""
    configs: Mapping[str, Mapping[str, str]] = {}
    """By entity as in Kafka's entity path; `server.properties/1` is broker 1's file."""
    quorum: Quorum | None = None
    log_dirs: Mapping[int, tuple[LogDir, ...]] = {}

    def offline(self) -> dict[TopicPartition, tuple[int, ...]]:
        """Replicas that are offline on brokers that live: their log folder failed."""
        return {
            TopicPartition(name, number): gone
            for name, topic in self.topics.items()
            for number, place in topic.places.items()
            if place.offline and (gone := tuple(each for each in place.offline if each in self.brokers))
        }


def brokers_of(metadata: Metadata) -> dict[int, BrokerView]:
    """Who lives."""
    return {
        number: BrokerView(host, port, metadata.racks.get(number)) for number, (host, port) in metadata.brokers.items()
    }


def topics_of(metadata: Metadata, moves: Mapping[TopicPartition, Change]) -> dict[str, TopicView]:
    """By name."""
    places: dict[str, dict[int, PartitionPlace]] = {}
    for name, place in metadata.partitions.items():
        places.setdefault(name.topic, {})[name.partition] = place
    moving: dict[str, dict[int, Change]] = {}
    for name, change in moves.items():
        moving.setdefault(name.topic, {})[name.partition] = change
    return {
        name: TopicView(metadata.topic_ids.get(name), found, moving.get(name, {})) for name, found in places.items()
    }
