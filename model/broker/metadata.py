"""UpdateMetadata, what a broker knows of its cluster from it, and what it answers to Metadata requests. It asks nobody.

Source: `kafka.server.metadata.ZkMetadataCache`, `KRaftMetadataCache` (3.9), `KafkaApis.handleUpdateMetadataRequest`
(3.9).
"""

from collections.abc import Mapping
from types import MappingProxyType

import msgspec

from model.broker.controller_requests import BrokerEpochs, RequestOutcome, refuse_request, ruled_by
from model.cluster.ids import LEADER_DURING_DELETE, NO_LEADER, TopicPartition
from model.controller.events_and_commands import BrokerAnswer, PartitionToKnow, UpdateMetadataRequest

UNKNOWN_BROKER = -1
UNKNOWN_EPOCH = -1


class Endpoint(msgspec.Struct, frozen=True, gc=False):
    """Where a listener can be reached."""

    listener: str
    host: str
    port: int


class BrokerNode(msgspec.Struct, frozen=True):
    """A live broker. In KRaft mode its broker epoch is known, and whether it is shutting down."""

    id: int
    endpoints: tuple[Endpoint, ...] = ()
    rack: str | None = None
    epoch: int = UNKNOWN_EPOCH
    is_leaving: bool = False

    def endpoint(self, listener: str) -> Endpoint | None:
        """Its address for those who come through that listener."""
        return next((each for each in self.endpoints if each.listener == listener), None)


class PartitionMetadata(msgspec.Struct, frozen=True):
    """One partition of a Metadata response. `leader` is -1 if there is an error.

    Offline replicas are those that the controller named; that a broker is not live does not add to them, but for KRaft.
    """

    partition: TopicPartition
    error: str
    leader: int
    leader_epoch: int
    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    offline_replicas: tuple[int, ...]


class MetadataImage(msgspec.Struct, frozen=True):
    """`controller`: who sent the last UpdateMetadata. Topics by name, their partitions by number.

    `is_logged`: it comes from the metadata log. Then clients are told any live broker as the controller, since each
    passes on what they ask of one.
    """

    controller: int = UNKNOWN_BROKER
    brokers: Mapping[int, BrokerNode] = MappingProxyType({})
    topics: Mapping[str, Mapping[int, PartitionToKnow]] = MappingProxyType({})
    topic_ids: Mapping[str, str] = MappingProxyType({})
    is_logged: bool = False

    @property
    def live_brokers(self) -> frozenset[int]:
        """Those that may be in an ISR."""
        return frozenset(broker for broker, node in self.brokers.items() if not node.is_leaving)

    @property
    def broker_epochs(self) -> Mapping[int, int]:
        """Of live brokers, where they are known."""
        return {broker: node.epoch for broker, node in self.brokers.items() if node.epoch != UNKNOWN_EPOCH}

    def partition(self, name: TopicPartition) -> PartitionToKnow | None:
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
        offline = known.offline_replicas
        if self.is_logged:  # `KRaftMetadataCache.isReplicaOffline`
            offline = tuple(broker for broker in known.replicas if not self._reachable(broker, listener))
        return PartitionMetadata(known.partition, error, leader, state.leader_epoch, known.replicas, state.isr, offline)

    def only_reachable(self, told: PartitionMetadata, listener: str | None) -> PartitionMetadata:
        """As Metadata v0 tells it: without replicas that are down, which is an error where the leader is not."""
        replicas = tuple(broker for broker in told.replicas if self._reachable(broker, listener))
        isr = tuple(broker for broker in told.isr if self._reachable(broker, listener))
        misses = len(replicas) + len(isr) < len(told.replicas) + len(told.isr)
        error = "REPLICA_NOT_AVAILABLE" if misses and told.error == "NONE" else told.error
        return msgspec.structs.replace(told, error=error, replicas=replicas, isr=isr)

    def _leader_error(self, leader: int, listener: str | None) -> str:
        if self._reachable(leader, listener):
            return "NONE"
        return "LISTENER_NOT_FOUND" if leader in self.brokers else "LEADER_NOT_AVAILABLE"

    def _reachable(self, broker: int, listener: str | None) -> bool:
        node = self.brokers.get(broker)
        return node is not None and (listener is None or node.endpoint(listener) is not None)


def serve_update_metadata(request: UpdateMetadataRequest, broker_epoch: int, epochs: BrokerEpochs) -> RequestOutcome:
    """Whether the request holds. What it says does not matter for that: `learn` it if there is no error."""
    refused = refuse_request(epochs, broker_epoch, request.controller_epoch)
    return refused or RequestOutcome(BrokerAnswer(), ruled_by(epochs, request.controller_epoch))


def learn(request: UpdateMetadataRequest, nodes: Mapping[int, BrokerNode], image: MetadataImage) -> MetadataImage:
    """The image after a request that holds.

    `nodes`: the addresses that came with the request; a live broker without any is known by its id alone. Live brokers
    replace those of before. Of partitions, only those that are named change. An image that stays the same in a part
    shares it with the one before.
    """
    topic_ids = {topic: topic_id for topic, topic_id in request.topic_ids if topic_id is not None}
    topics = _with(image.topics, request.partitions)
    return MetadataImage(
        controller=request.controller,
        brokers={broker: nodes.get(broker, BrokerNode(broker)) for broker in request.live_brokers},
        topics=topics,
        topic_ids={topic: topic_id for topic, topic_id in {**image.topic_ids, **topic_ids}.items() if topic in topics},
    )


def forgotten(request: UpdateMetadataRequest) -> tuple[TopicPartition, ...]:
    """Partitions whose topic is being deleted, so that their offsets and groups can go, too."""
    return tuple(each.partition for each in request.partitions if each.state.leader == LEADER_DURING_DELETE)


def _with(
    topics: Mapping[str, Mapping[int, PartitionToKnow]], told: tuple[PartitionToKnow, ...]
) -> Mapping[str, Mapping[int, PartitionToKnow]]:
    if not told:
        return topics
    changed: dict[str, dict[int, PartitionToKnow]] = {}
    for each in told:
        topic, number = each.partition
        partitions = changed.setdefault(topic, dict(topics.get(topic, {})))
        if each.state.leader == LEADER_DURING_DELETE:
            partitions.pop(number, None)
        else:
            partitions[number] = each
    after = {**topics, **changed}
    return {topic: partitions for topic, partitions in after.items() if partitions}
