"""What a proposal stands on: the cluster as it was seen, its release's rules, and the way in that is open."""

from collections.abc import Mapping

import msgspec

from model.actions.found import Found
from model.actions.proposal import ActionRefused
from model.cluster.cluster_image import ClusterImage
from model.cluster.ids import TopicPartition
from model.cluster.topic_image import TopicImage, unpadded
from model.controller.generations import LATEST, Generation
from model.controller.placement import RackMode, brokers_by_mode
from model.controller.placement_strategies import BrokerMetadata
from model.controller.refusal import Refusal

Replicas = Mapping[int, tuple[int, ...]]
"""By partition, the preferred leader first."""


class Basis(msgspec.Struct, frozen=True):
    """`found` are the znodes that were just read; None where things are done through the brokers' Admin API."""

    image: ClusterImage
    rules: Generation = LATEST
    found: Found | None = None

    def brokers(self, mode: RackMode) -> tuple[BrokerMetadata, ...]:
        """The live ones as replicas are placed on them. Raises ActionRefused where only some have racks."""
        known = [BrokerMetadata(each.id, each.rack) for each in self.image.brokers.values()]
        brokers = brokers_by_mode(known, mode if self.rules.knows_racks else RackMode.DISABLED)
        if isinstance(brokers, Refusal):
            raise refuse(brokers)
        return brokers

    def topic(self, name: str) -> TopicImage:
        """Raises ActionRefused for a topic that does not exist."""
        topic = self.image.topics.get(name)
        if topic is None:
            raise ActionRefused(f"topic {name!r} does not exist")
        return topic

    def replicas(self, partition: TopicPartition) -> tuple[int, ...]:
        """Of a partition that exists, the preferred leader first."""
        topic = self.topic(partition.topic)
        return unpadded(topic.replicas[topic.row_of[partition.partition]])


def refuse(refusal: Refusal) -> ActionRefused:
    """Kafka's reason in one line."""
    return ActionRefused(f"{refusal.message.rstrip('.')} ({refusal.error})")
