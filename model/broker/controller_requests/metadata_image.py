"""What a broker was told of its cluster, and what it answers to Metadata requests from it. It asks nobody.

Source: `kafka.server.metadata.ZkMetadataCache` (3.9).
"""

from collections.abc import Mapping
from types import MappingProxyType

import msgspec

from model.cluster.ids import NO_LEADER, TopicPartition
from model.controller.requests import PartitionToKnow

UNKNOWN_BROKER = -1


class Endpoint(msgspec.Struct, frozen=True, gc=False):
    """Where a listener can be reached."""

    listener: str
    host: str
    port: int


class BrokerNode(msgspec.Struct, frozen=True):
    """A live broker."""

    id: int
    endpoints: tuple[Endpoint, ...] = ()
    rack: str | None = None

    def endpoint(self, listener: str) -> Endpoint | None:
        """Its address for those who come through that listener."""
        return next((each for each in self.endpoints if each.listener == listener), None)


class PartitionMetadata(msgspec.Struct, frozen=True):
    """One partition of a Metadata response. `leader` is -1 if there is an error.

    Offline replicas are those that the controller named; that a broker is not live does not add to them.
    """

    partition: TopicPartition
    error: str
    leader: int
    leader_epoch: int
    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    offline_replicas: tuple[int, ...]


class MetadataImage(msgspec.Struct, frozen=True):
    """`controller`: who sent the last UpdateMetadata. Topics by name, their partitions by number."""

    controller: int = UNKNOWN_BROKER
    brokers: Mapping[int, BrokerNode] = MappingProxyType({})
    topics: Mapping[str, Mapping[int, PartitionToKnow]] = MappingProxyType({})
    topic_ids: Mapping[str, str] = MappingProxyType({})

    @property
    def live_brokers(self) -> frozenset[int]:
        """The ids of all live brokers."""
        return frozenset(self.brokers)

    def partition(self, name: TopicPartition) -> PartitionToKnow | None:
        """What is known of a partition."""
        return self.topics.get(name.topic, {}).get(name.partition)

    def describe_topic(self, topic: str, listener: str | None) -> tuple[PartitionMetadata, ...] | None:
        """A topic as Metadata (v6 and later) tells it to whoever came through a listener; None: no such topic.

        Listener None: addresses do not matter, only who is live. Before v6 LISTENER_NOT_FOUND is LEADER_NOT_AVAILABLE.
        """
        known = self.topics.get(topic)
        if known is None:
            return None
        return tuple(self._describe(partition, listener) for _, partition in sorted(known.items()))

    def _describe(self, known: PartitionToKnow, listener: str | None) -> PartitionMetadata:
        state = known.state
        error = self._leader_error(state.leader, listener)
        leader = state.leader if error == "NONE" else NO_LEADER
        return PartitionMetadata(
            known.partition, error, leader, state.leader_epoch, known.replicas, state.isr, known.offline_replicas
        )

    def _leader_error(self, leader: int, listener: str | None) -> str:
        if self._reachable(leader, listener):
            return "NONE"
        return "LISTENER_NOT_FOUND" if leader in self.brokers else "LEADER_NOT_AVAILABLE"

    def _reachable(self, broker: int, listener: str | None) -> bool:
        node = self.brokers.get(broker)
        return node is not None and (listener is None or node.endpoint(listener) is not None)
