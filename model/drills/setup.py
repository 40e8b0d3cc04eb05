"""A copy of a cluster in virtual time, ready to be played on as often as one likes.

What each broker was told of the partitions it holds is looked up when somebody asks.

Each broker's controller remembers what it would. The active one is as if it had long been, the others know that they
are not. A controller that reads everything anew costs what a failover costs; a warm one lets a broker's death cost only
that. States of partitions and replicas are only in the controller's memory; no znode has them. They are counted over
columns, a million partitions in some ms. Deletions under way are counted, too: their topics are gone soon.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice

import msgspec
import numpy as np

from model.broker.controller_requests import BrokerEpochs
from model.broker.metadata import UNKNOWN_BROKER
from model.broker.partition import FollowerProgress, Leading
from model.broker.partition import Partition as HeldPartition
from model.cluster.cluster_image import BrokerImage, ClusterImage
from model.cluster.ids import NO_STATE, TopicPartition
from model.cluster.partition_columns import PartitionColumns, stacked
from model.cluster.topic_image import NOBODY, Flags, TopicImage, rows_of, unpadded
from model.controller.context import NO_CONTROLLER, Activity, BrokerAndEpoch, ControllerContext
from model.controller.decide import ControllerState
from model.controller.events_and_commands import (
    ControllerZnodeDeleted,
    DeletionsRequested,
    Event,
    PreferredElectionZnodeCreated,
    ReassignmentZnodeCreated,
)
from model.controller.leader_and_isr import LeaderAndIsr, ReplicaAssignment
from model.controller.state_machines import PartitionState, ReplicaState
from model.controller.topics import DeletionQueues, Leadership, Partition, Topic, Topics
from model.drills.setup_znodes import UNCLEAN_KEY, ClusterZnodes, controller_of, registration_of, rules_of, settings_of
from model.hosts.memory_zookeeper.persistent_map import PersistentMap
from model.hosts.memory_zookeeper.state import server_over
from model.hosts.virtual.scheduled_events import TimingAssumptions
from model.hosts.virtual.virtual_broker import VirtualBroker
from model.hosts.virtual.virtual_cluster import VirtualCluster
from model.znodes.paths import broker_path


def controllers_of(image: ClusterImage, topics: Topics, *, unclean: bool | None = None) -> dict[int, ControllerState]:
    """Every live broker's controller. `topics` are those of `topics_of`; the active one remembers them."""
    controller = controller_of(image)
    controllers: dict[int, ControllerState] = {}
    for broker in image.brokers:
        settings = settings_of(image, broker, unclean=unclean)
        idle = ControllerContext(settings, active_id=NO_CONTROLLER if controller is None else controller)
        controllers[broker] = ControllerState(_warm(image, idle, topics) if broker == controller else idle)
    return controllers


def _warm(image: ClusterImage, idle: ControllerContext, topics: Topics) -> ControllerContext:
    marked = image.admin.delete_topics & topics.by_name.keys()
    moving = frozenset(
        TopicPartition(name, number) for name, topic in image.topics.items() for number in _moving(topic)
    )
    return idle.replace(
        activity=Activity.ACTIVE,
        epoch=image.controller.epoch or 0,
        epoch_version=image.controller.epoch or 0,
        live={
            number: BrokerAndEpoch(broker.epoch or 0, registration_of(broker, image.generation))
            for number, broker in sorted(image.brokers.items())
        },
        topics=topics,
        reassigning=moving,
        deletion=DeletionQueues().enqueue(marked).halt(_waiting(image, marked, moving)),
    )


def topics_of(image: ClusterImage) -> Topics:
    """All partitions as controllers hold them, and told the brokers."""
    return Topics(dict(_topics(image)))


def _topics(image: ClusterImage) -> Iterator[tuple[str, Topic]]:
    """The topics as a controller holds them, without partitions that no assignment names."""
    live = frozenset(image.brokers)
    rows = _rows(image)
    shared: dict[tuple[int, ...], tuple[ReplicaAssignment, dict[int, ReplicaState]]] = {}
    for name, topic in image.topics.items():
        if name in image.admin.delete_topics or topic.adding or topic.removing:
            partitions = dict(_special(topic, islice(rows, len(topic)), live, name in image.admin.delete_topics))
        else:
            partitions = dict(_partitions(islice(rows, len(topic)), live, shared))
        if partitions:
            yield name, Topic(topic.topic_id, partitions)


_Row = tuple[int, tuple[int, ...], int, int, tuple[int, ...], int, int, bool]


def _rows(image: ClusterImage) -> Iterator[_Row]:
    """Partition, replicas, leader, leader epoch, ISR, controller epoch, version, recovering, topic by topic.

    Made of whole columns: row by row it takes longer than all of the drill.
    """
    columns = stacked(tuple(image.topics.values()))
    return zip(
        columns.partitions.tolist(),
        rows_of(columns.replicas),
        columns.leader.tolist(),
        columns.leader_epoch.tolist(),
        rows_of(columns.isr),
        columns.controller_epoch.tolist(),
        columns.version.tolist(),
        columns.recovering.tolist(),
        strict=True,
    )


def _partitions(
    rows: Iterable[_Row],
    live: frozenset[int],
    shared: dict[tuple[int, ...], tuple[ReplicaAssignment, dict[int, ReplicaState]]],
) -> Iterator[tuple[int, Partition]]:
    """Partitions that are neither moved nor deleted: those with the same replicas share the objects."""
    for number, replicas, leader, leader_epoch, isr, controller_epoch, version, recovering in rows:
        if not replicas:
            continue
        found = shared.get(replicas)
        if found is None:
            states = _replica_states(live, replicas, deleting=False)
            found = shared[replicas] = ReplicaAssignment(replicas), states
        if version == NO_STATE:
            yield number, Partition(found[0], None, _NEW, found[1])
        else:
            leadership = Leadership(LeaderAndIsr(leader, leader_epoch, isr, recovering, version), controller_epoch)
            yield number, Partition(found[0], leadership, _ONLINE if leader in live else _OFFLINE, found[1])


def _special(
    topic: TopicImage, rows: Iterable[_Row], live: frozenset[int], deleting: bool
) -> Iterator[tuple[int, Partition]]:
    for number, partition in _partitions(rows, live, {}):
        replicas = partition.assignment.replicas
        assignment = ReplicaAssignment(replicas, topic.adding.get(number, ()), topic.removing.get(number, ()))
        states = _replica_states(live, replicas, deleting=deleting)
        yield number, msgspec.structs.replace(partition, assignment=assignment, replica_states=states)


def _replica_states(live: frozenset[int], brokers: tuple[int, ...], *, deleting: bool) -> dict[int, ReplicaState]:
    dead = ReplicaState.DELETION_INELIGIBLE if deleting else ReplicaState.OFFLINE
    return {broker: ReplicaState.ONLINE if broker in live else dead for broker in brokers}


def _moving(topic: TopicImage) -> frozenset[int]:
    if not topic.adding and not topic.removing:
        return frozenset()
    return frozenset(topic.partitions[~topic.orphaned].tolist()).intersection((*topic.adding, *topic.removing))


def _waiting(image: ClusterImage, marked: frozenset[str], moving: frozenset[TopicPartition]) -> set[str]:
    """Topics to be deleted that have to wait: a replica's broker is dead, or a partition is being reassigned."""
    moved = {name.topic for name in moving}
    live = image.brokers.keys() | {-1}
    return {name for name in marked if name in moved or not set(image.topics[name].replicas.ravel().tolist()) <= live}


# To look up a member of an enumeration takes longer than to make a tuple.
_NEW, _ONLINE, _OFFLINE = PartitionState.NEW, PartitionState.ONLINE, PartitionState.OFFLINE


class StateCounts(msgspec.Struct, frozen=True):
    """Counts by state; every state is there. Partitions that no assignment names are not: no controller knows them."""

    partitions: Mapping[PartitionState, int]
    replicas: Mapping[ReplicaState, int]


def held_states(image: ClusterImage, columns: PartitionColumns) -> StateCounts:
    """What a controller that is at rest holds. `columns` are all partitions of the image.

    A topic marked for deletion is being deleted already, unless it has to wait: a replica's broker is dead, a
    partition is being reassigned, or the release deletes no topics as long as nobody sets `delete.topic.enable`. Its
    dead replicas are offline: ineligible ones go back to that as soon as no other replica's deletion is under way
    (`TopicDeletionManager.resumeDeletions`). What was deleted before it had to wait is in no znode, nor counted.
    """
    live = np.array(sorted(image.brokers), np.int32)
    begun = _begun(image, columns)
    known = columns.replica_count > 0
    led, stated = np.isin(columns.leader, live), columns.has_state
    settled = known & ~begun
    there = (columns.replicas != NOBODY) & known[:, None]
    up = np.isin(columns.replicas, live)
    partitions = {
        PartitionState.NON_EXISTENT: known & begun,
        PartitionState.NEW: settled & ~stated,
        PartitionState.ONLINE: settled & stated & led,
        PartitionState.OFFLINE: settled & stated & ~led,
    }
    replicas = {
        ReplicaState.ONLINE: there & ~begun[:, None] & up,
        ReplicaState.OFFLINE: there & ~begun[:, None] & ~up,
        ReplicaState.DELETION_STARTED: there & begun[:, None],
    }
    return StateCounts(
        {state: int(np.count_nonzero(partitions[state])) for state in PartitionState},
        {state: int(np.count_nonzero(replicas[state])) if state in replicas else 0 for state in ReplicaState},
    )


def _begun(image: ClusterImage, columns: PartitionColumns) -> Flags:
    """bool[N]: whether the deletion of the partition's topic has begun."""
    marked = image.admin.delete_topics if rules_of(image).deletes_by_default else frozenset[str]()
    live = image.brokers.keys() | {NOBODY}
    begun = [
        topic.name in marked and not _waits_for_move(topic) and set(topic.replicas.ravel().tolist()) <= live
        for topic in columns.topics
    ]
    return np.array(begun, np.bool_)[columns.topic]


def _waits_for_move(topic: TopicImage) -> bool:
    """Whether an assigned partition of the topic is being reassigned, so that its deletion has to wait."""
    moving = {*topic.adding, *topic.removing} & topic.row_of.keys()
    return any(not topic.orphaned[topic.row_of[partition]] for partition in moving)


class KnownPartitions(Mapping[TopicPartition, HeldPartition]):
    """One broker's partitions, as the state znodes say that it was told. `since_ms`: when leaders began, as far as
    anybody knows; all followers in sync were caught up then."""

    def __init__(self, broker: int, topics: Topics, since_ms: int) -> None:
        self._broker = broker
        self._topics = topics
        self._since_ms = since_ms
        self._caught_up = FollowerProgress(log_end=0, fetched_ms=since_ms, caught_up_ms=since_ms)
        self._leading: dict[tuple[int, ...], Leading] = {}
        """By replicas: what is the same for all that it leads."""

    def get(self, key: TopicPartition, default: HeldPartition | None = None) -> HeldPartition | None:  # pyright: ignore[reportIncompatibleMethodOverride]
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
        return HeldPartition(
            key, broker, state, told.controller_epoch, partition.assignment, topic.topic_id, leading=leading
        )

    def _leads(self, replicas: tuple[int, ...]) -> Leading:
        leading = self._leading.get(replicas)
        if leading is None:
            followers = {follower: self._caught_up for follower in replicas if follower != self._broker}
            leading = self._leading[replicas] = Leading(0, self._since_ms, followers)
        return leading

    def __getitem__(self, key: TopicPartition) -> HeldPartition:
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
            held=PersistentMap(KnownPartitions(number, topics, start_ms)),
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

    def __init__(self, image: ClusterImage, assumptions: TimingAssumptions, *, unclean: bool = False) -> None:
        self.image = image
        self._allowed = True if unclean else None
        start_ms = image.provenance.time_ms
        self.assumptions = msgspec.structs.replace(assumptions, start_ms=start_ms)
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


def _allowing_unclean(image: ClusterImage) -> ClusterImage:
    configs = {
        entity: {key: value for key, value in config.items() if key != UNCLEAN_KEY}
        for entity, config in image.configs.items()
    }
    return msgspec.structs.replace(image, configs=configs)
