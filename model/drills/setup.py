"""A copy of a cluster in virtual time, ready to be played on as often as one likes.

What each broker was told of the partitions it holds is looked up when somebody asks.
"""

import dataclasses
from collections.abc import Iterator, Mapping

import msgspec
import numpy as np

from model.broker.controller_requests import BrokerEpochs
from model.broker.metadata import UNKNOWN_BROKER
from model.broker.partition import FollowerProgress, Leading, Partition
from model.cluster.cluster_image import BrokerImage, ClusterImage
from model.cluster.ids import TopicPartition
from model.cluster.partition_columns import stacked
from model.cluster.topic_image import NOBODY, TopicImage, unpadded, widened
from model.controller.events_and_commands import (
    ControllerZnodeDeleted,
    DeletionsRequested,
    Event,
    PreferredElectionZnodeCreated,
    ReassignmentZnodeCreated,
)
from model.controller.topics import Topics
from model.drills.setup_controllers import controllers_of, topics_of
from model.drills.setup_znodes import UNCLEAN_KEY, ClusterZnodes, controller_of, registration_of, settings_of
from model.hosts.memory_zookeeper.persistent_map import PersistentMap
from model.hosts.memory_zookeeper.state import server_over
from model.hosts.virtual.scheduled_events import Assumptions
from model.hosts.virtual.virtual_broker import VirtualBroker
from model.hosts.virtual.virtual_cluster import VirtualCluster
from model.znodes.paths import broker_path


class ToldPartitions(Mapping[TopicPartition, Partition]):
    """One broker's partitions, as the state znodes say that it was told. `since_ms`: when leaders began, as far as
    anybody knows; all followers in sync were caught up then."""

    def __init__(self, broker: int, topics: Topics, since_ms: int) -> None:
        self._broker = broker
        self._topics = topics
        self._since_ms = since_ms
        self._caught_up = FollowerProgress(log_end=0, fetched_ms=since_ms, caught_up_ms=since_ms)
        self._leading: dict[tuple[int, ...], Leading] = {}
        """By replicas: what is the same for all that it leads."""

    def get(self, key: TopicPartition, default: Partition | None = None) -> Partition | None:  # pyright: ignore[reportIncompatibleMethodOverride]
        topic = self._topics.by_name.get(key.topic)
        partition = None if topic is None else topic.partitions.get(key.partition)
        if topic is None or partition is None or partition.leadership is None:
            return default
        told, broker = partition.leadership, self._broker
        if broker not in partition.assignment.replicas:
            return default
        state, leading = told.state, None
        if state.leader == broker:
            leading = self._leads(partition.assignment.replicas)
            if state.recovering:
                state = msgspec.structs.replace(state, recovering=False)
        return Partition(
            key, broker, state, told.controller_epoch, partition.assignment, topic.topic_id, leading=leading
        )

    def _leads(self, replicas: tuple[int, ...]) -> Leading:
        leading = self._leading.get(replicas)
        if leading is None:
            followers = {follower: self._caught_up for follower in replicas if follower != self._broker}
            leading = self._leading[replicas] = Leading(0, self._since_ms, followers)
        return leading

    def __getitem__(self, key: TopicPartition) -> Partition:
        found = self.get(key)
        if found is None:
            raise KeyError(key)
        return found

    def __contains__(self, key: object) -> bool:
        return isinstance(key, TopicPartition) and self.get(key) is not None

    def __iter__(self) -> Iterator[TopicPartition]:
        for copy in self._topics.on_brokers((self._broker,)):
            if copy.partition in self:
                yield copy.partition

    def __len__(self) -> int:
        return sum(1 for _ in self)


def brokers_of(image: ClusterImage, topics: Topics, *, growing: bool) -> dict[int, VirtualBroker]:
    """Every live broker. `growing`: ISRs may grow, and leaders know which of theirs lack somebody."""
    live = tuple(sorted(image.brokers))
    behind = _behind(image) if growing else {}
    controller = controller_of(image)
    start_ms = image.provenance.time_ms
    return {
        number: VirtualBroker(
            BrokerEpochs(number, broker.epoch or 0, image.controller.epoch or 0),
            held=PersistentMap(ToldPartitions(number, topics, start_ms)),
            controller=UNKNOWN_BROKER if controller is None else controller,
            live_brokers=live,
            joinable=frozenset(behind.get(number, ())),
        )
        for number, broker in image.brokers.items()
    }


def _behind(image: ClusterImage) -> dict[int, list[TopicPartition]]:
    """By leader, the partitions with a replica that is not in the ISR."""
    columns = stacked(tuple(image.topics.values()))
    found: dict[int, list[TopicPartition]] = {}
    for topic, rows in columns.by_topic((~columns.in_isr & (columns.replicas != NOBODY)).any(axis=1)):
        for leader, number in zip(columns.leader[rows].tolist(), columns.partitions[rows].tolist(), strict=True):
            found.setdefault(leader, []).append(TopicPartition(topic.name, number))
    return found


class ClusterSetup:
    """The cluster of an image. `unclean`: every topic may elect leaders that are not in sync; else as configured."""

    def __init__(self, image: ClusterImage, assumptions: Assumptions, *, unclean: bool = False) -> None:
        self.image = image
        self._allowed = True if unclean else None
        start_ms = image.provenance.time_ms
        self.assumptions = msgspec.structs.replace(assumptions, start_ms=start_ms)
        image = _with_eligible(image)
        planted = _allowing_unclean(image) if unclean else image
        topics = topics_of(image)
        sessions = {broker: number for number, broker in enumerate(sorted(image.brokers), 1)}
        controller = controller_of(image)
        epochs = [broker.epoch or 0 for broker in image.brokers.values()]
        self.znodes = ClusterZnodes(planted, sessions, topics)
        server = server_over(
            self.znodes,
            {
                sessions[broker]: [broker_path(broker), *(["/controller"] if broker == controller else [])]
                for broker in sessions
            },
            zxid=max(image.provenance.zxid, 0, *epochs),
            session_timeout_ms=round(assumptions.session_timeout_ms),
        )
        self.cluster = VirtualCluster(self.assumptions, server)
        controllers = controllers_of(image, topics, unclean=self._allowed)
        brokers = brokers_of(image, topics, growing=assumptions.catch_up_ms is not None)
        for number, broker in sorted(brokers.items()):
            self.cluster.adopt(broker, sessions[number], controllers[number], self._registration(number))
        self._opening = self.cluster.snapshot()

    def reset(self) -> VirtualCluster:
        """The cluster as it was in the image. What the image found undone is begun: it is in the controller's inbox."""
        self.cluster.restore(self._opening)
        for broker, event in self._undone():
            self.cluster.tell(broker, event)
        return self.cluster

    def start(self, broker: int) -> None:
        """Start a broker that is dead, as it was registered; without listeners and rack if it was dead in the image."""
        settings = settings_of(self.image, broker, unclean=self._allowed)
        self.cluster.boot(broker, self._registration(broker), settings)

    def _registration(self, broker: int) -> bytes:
        return registration_of(self.image.brokers.get(broker, BrokerImage(broker)), self.image.generation)

    def _undone(self) -> Iterator[tuple[int, Event]]:
        controller, admin = controller_of(self.image), self.image.admin
        if controller is None:
            for broker in sorted(self.image.brokers):
                yield broker, ControllerZnodeDeleted()
            return
        if any(self._unseen(*move) for move in admin.reassignments.items()):
            yield controller, ReassignmentZnodeCreated()
        if admin.preferred_election:
            yield controller, PreferredElectionZnodeCreated()
        if admin.delete_topics:
            yield controller, DeletionsRequested()

    def _unseen(self, name: TopicPartition, target: tuple[int, ...]) -> bool:
        """Whether the controller has not set out for a target yet: the assignment would say so."""
        topic = self.image.topics.get(name.topic)
        row = None if topic is None else topic.row_of.get(name.partition)
        return topic is None or row is None or not set(target) <= set(unpadded(topic.replicas[row]))


def _with_eligible(image: ClusterImage) -> ClusterImage:
    """Who may lead is in the ISR: where KRaft has emptied it, that are the eligible leader replicas (KIP-966)."""
    widened_topics: dict[str, TopicImage] = {}
    for name, topic in image.topics.items():
        chosen = (topic.isr_count == 0) & (topic.elr > NOBODY).any(axis=1)
        if chosen.any():
            width = max(topic.isr.shape[1], topic.elr.shape[1])
            isr = np.where(chosen[:, None], widened(topic.elr, width), widened(topic.isr, width))
            widened_topics[name] = dataclasses.replace(topic, isr=isr)
    return msgspec.structs.replace(image, topics={**image.topics, **widened_topics}) if widened_topics else image


def _allowing_unclean(image: ClusterImage) -> ClusterImage:
    configs = {
        entity: {key: value for key, value in config.items() if key != UNCLEAN_KEY}
        for entity, config in image.configs.items()
    }
    return msgspec.structs.replace(image, configs=configs)
