"""What each broker's controller remembers, and how many partitions and replicas are in which of its states.

The active controller is as if it had long been, the others know that they are not. A controller that reads everything
anew costs what a failover costs; a warm one lets a broker's death cost only that. States are only in the controller's
memory; no znode has them. They are counted over columns, a million partitions in some ms. Deletions under way are
counted, too: their topics are gone soon.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice

import msgspec
import numpy as np

from model.cluster.cluster_image import ClusterImage
from model.cluster.ids import NO_STATE, TopicPartition
from model.cluster.partition_columns import PartitionColumns, stacked
from model.cluster.topic_image import NOBODY, Flags, TopicImage, rows_of
from model.controller.context import NO_CONTROLLER, Activity, ControllerContext, LiveBroker
from model.controller.decide import ControllerState
from model.controller.leader_and_isr import LeaderAndIsr, ReplicaAssignment
from model.controller.state_machines import PartitionState, ReplicaState
from model.controller.topics import DeletionQueues, Leadership, Partition, Topic, Topics
from model.drills.setup_znodes import controller_of, registration_of, rules_of, settings_of


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
            number: LiveBroker(broker.epoch or 0, registration_of(broker, image.generation))
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


class HeldStates(msgspec.Struct, frozen=True):
    """Counts by state; every state is there. Partitions that no assignment names are not: no controller knows them."""

    partitions: Mapping[PartitionState, int]
    replicas: Mapping[ReplicaState, int]


def held_states(image: ClusterImage, columns: PartitionColumns) -> HeldStates:
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
    return HeldStates(
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
