"""What a broker in KRaft mode learns from the metadata log, and what it has to do about it. Nobody sends it requests.

The log's records come as facts. Of a fenced broker nothing is kept: nobody reaches it, and it leads nothing.

Source: `kafka.server.metadata.BrokerMetadataPublisher`, `KRaftMetadataCache`, `org.apache.kafka.image.TopicDelta.
localChanges`, `org.apache.kafka.image.LocalReplicaChanges`, `LogManager.isStrayReplica` (3.9).
"""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple

import msgspec

from model.broker.metadata import BrokerNode, Endpoint, MetadataImage
from model.cluster import records as r
from model.cluster.ids import TopicPartition
from model.controller.events_and_commands import PartitionToKnow, PartitionToServe
from model.controller.leader_and_isr import LeaderAndIsr, ReplicaAssignment

Config = Mapping[str, str]


class EligibleReplicas(NamedTuple):
    """Who may lead a partition that nobody in sync is left of (KIP-966), and who led it last."""

    elr: tuple[int, ...] = ()
    last_known: tuple[int, ...] = ()


class LoggedCluster(msgspec.Struct, frozen=True):
    """What the log has said so far, as far as a broker needs it. `configs` by entity, as `topics/orders`."""

    image: MetadataImage = MetadataImage(is_logged=True)
    eligible: Mapping[TopicPartition, EligibleReplicas] = MappingProxyType({})
    """Of partitions that have any."""
    placed: Mapping[TopicPartition, int] = MappingProxyType({})
    """Of this broker's replicas, the number of the log dir that it is said to lie in (`directory_number`)."""
    assigned: Mapping[str, r.TopicAssigned] = MappingProxyType({})
    configs: Mapping[str, Config] = MappingProxyType({})
    features: Mapping[str, int] = MappingProxyType({})


class LocalChanges(msgspec.Struct, frozen=True):
    """What a broker has to do about its own replicas, in this order. `gone` are all partitions of removed topics."""

    gone: tuple[TopicPartition, ...] = ()
    removed: tuple[TopicPartition, ...] = ()
    """Those that this broker had, and has no more."""
    served: tuple[PartitionToServe, ...] = ()
    """Those that it leads or follows, and that have changed."""
    topic_ids: tuple[tuple[str, str | None], ...] = ()
    configs: tuple[str, ...] = ()
    """Entities whose configuration has changed."""


def learn_facts(
    before: LoggedCluster, facts: Iterable[r.ClusterRecord], broker: int
) -> tuple[LoggedCluster, LocalChanges]:
    """The cluster after these facts, in their order, and what this broker has to do."""
    learning = _Learning(before, broker)
    for fact in facts:
        learning.learn(fact)
    return learning.result()


def relearn_facts(
    before: LoggedCluster, facts: Iterable[r.ClusterRecord], broker: int
) -> tuple[LoggedCluster, LocalChanges]:
    """The same from facts that tell all of the cluster: what they do not tell is no more."""
    after, changes = learn_facts(LoggedCluster(), facts, broker)
    gone = tuple(
        TopicPartition(topic, number)
        for topic, partitions in before.image.topics.items()
        for number in partitions
        if after.image.topic_ids.get(topic) != before.image.topic_ids.get(topic)
    )
    unset = tuple(entity for entity in before.configs if entity not in after.configs)
    return after, msgspec.structs.replace(changes, gone=gone, configs=changes.configs + unset)


def all_changes(cluster: LoggedCluster, broker: int) -> LocalChanges:
    """What a broker has to do that has done nothing yet."""
    learning = _Learning(cluster, broker)
    learning.touch_all()
    return learning.result()[1]


def strays(
    logs: Iterable[tuple[TopicPartition, str | None]], image: MetadataImage, broker: int
) -> tuple[TopicPartition, ...]:
    """Logs that are here, with their topics' ids, and belong to nothing that this broker has: it missed their end."""

    def is_stray(name: TopicPartition, topic_id: str | None) -> bool:
        known = image.partition(name)
        return known is None or broker not in known.replicas or image.topic_ids.get(name.topic) != topic_id

    return tuple(name for name, topic_id in logs if is_stray(name, topic_id))


class _Learning:
    """One batch of facts. Mappings are copied before they are changed."""

    def __init__(self, before: LoggedCluster, broker: int) -> None:
        self._before = before
        self._broker = broker
        self._brokers = dict(before.image.brokers)
        self._topics = dict(before.image.topics)
        self._ids = dict(before.image.topic_ids)
        self._assigned = dict(before.assigned)
        self._configs = dict(before.configs)
        self._features = before.features
        self._eligible, self._placed = dict(before.eligible), dict(before.placed)
        self._gone: list[TopicPartition] = []
        self._removed: list[TopicPartition] = []
        self._touched: dict[TopicPartition, None] = {}
        self._touched_configs: dict[str, None] = {}

    def touch_all(self) -> None:
        for topic, partitions in self._topics.items():
            mine = (number for number, known in partitions.items() if self._broker in known.replicas)
            self._touched.update(dict.fromkeys(TopicPartition(topic, number) for number in mine))
        self._touched_configs = dict.fromkeys(self._configs)

    def learn(self, fact: r.ClusterRecord) -> None:
        match fact:
            case r.BrokerRegistered():
                self._brokers[fact.broker] = _node(fact)
            case r.BrokerFenced() | r.BrokerLost():
                self._brokers.pop(fact.broker, None)
            case r.TopicAssigned():
                self._assign(fact)
            case r.PartitionStatesWritten():
                self._write(fact)
            case r.TopicRemoved():
                self._remove(fact.topic)
            case r.ConfigChanged():
                self._configs[fact.entity] = fact.config
                self._touched_configs[fact.entity] = None
            case r.ConfigRemoved():
                self._configs.pop(fact.entity, None)
                self._touched_configs[fact.entity] = None
            case r.MetadataDescribed():
                self._features = fact.metadata.features
            case _:
                pass

    def _assign(self, fact: r.TopicAssigned) -> None:
        """The states that come with it tell who has the partition now; only who had it is known here alone."""
        known = self._topics.get(fact.topic, {})
        for number, replicas in fact.replicas.items():
            had = known.get(number)
            if had is not None and self._broker in had.replicas and self._broker not in replicas:
                name = TopicPartition(fact.topic, number)
                self._removed.append(name)
                self._touched.pop(name, None)
        self._assigned[fact.topic] = fact
        if fact.topic_id is not None:
            self._ids[fact.topic] = fact.topic_id

    def _write(self, fact: r.PartitionStatesWritten) -> None:
        assigned = self._assigned.get(fact.topic)
        if assigned is None:
            return
        partitions = dict(self._topics.get(fact.topic, {}))
        for each in fact.states:
            name, replicas = TopicPartition(fact.topic, each.partition), tuple(assigned.replicas[each.partition])
            state = LeaderAndIsr(each.leader, each.leader_epoch, each.isr, each.recovering, each.version)
            partitions[each.partition] = PartitionToKnow(name, state, each.controller_epoch, replicas, ())
            self._eligible.pop(name, None)
            if each.elr or each.last_known_elr:
                self._eligible[name] = EligibleReplicas(each.elr or (), each.last_known_elr or ())
            self._placed.pop(name, None)
            if self._broker in replicas:
                self._touched[name] = None
                if each.directories is not None:
                    self._placed[name] = each.directories[replicas.index(self._broker)]
        self._topics[fact.topic] = partitions

    def _remove(self, topic: str) -> None:
        for number, known in self._topics.pop(topic, {}).items():
            name = TopicPartition(topic, number)
            self._gone.append(name)
            self._touched.pop(name, None)
            self._eligible.pop(name, None)
            self._placed.pop(name, None)
            if self._broker in known.replicas:
                self._removed.append(name)
        self._ids.pop(topic, None)
        self._assigned.pop(topic, None)

    def result(self) -> tuple[LoggedCluster, LocalChanges]:
        controller = self._broker if self._broker in self._brokers else min(self._brokers, default=-1)
        image = MetadataImage(controller, self._brokers, self._topics, self._ids, is_logged=True)
        after = LoggedCluster(image, self._eligible, self._placed, self._assigned, self._configs, self._features)
        return after, LocalChanges(
            gone=tuple(self._gone),
            removed=tuple(dict.fromkeys(self._removed)),
            served=tuple(self._to_serve(name) for name in sorted(self._touched)),
            topic_ids=tuple((topic, self._ids.get(topic)) for topic in sorted({name.topic for name in self._touched})),
            configs=tuple(self._touched_configs),
        )

    def _to_serve(self, name: TopicPartition) -> PartitionToServe:
        known, assigned = self._topics[name.topic][name.partition], self._assigned[name.topic]
        adding, removing = (each.get(name.partition, ()) for each in (assigned.adding, assigned.removing))
        assignment = ReplicaAssignment(known.replicas, tuple(adding), tuple(removing))
        return PartitionToServe(
            name, known.state, known.controller_epoch, assignment, is_new=known.state.partition_epoch == 0
        )


def _node(fact: r.BrokerRegistered) -> BrokerNode:
    epoch = -1 if fact.epoch is None else fact.epoch
    endpoints = tuple(_endpoint(text) for text in fact.endpoints)
    return BrokerNode(fact.broker, endpoints, fact.rack, epoch, is_leaving=bool(fact.in_controlled_shutdown))


def _endpoint(text: str) -> Endpoint:
    """From `LISTENER://host:port`."""
    name, _, place = text.partition("://")
    host, _, port = place.rpartition(":")
    return Endpoint(name, host, int(port))
