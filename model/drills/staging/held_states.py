"""How many partitions and replicas are in which state of the controller's two state machines, by an image.

The same derivation as `controllers` has, over columns, so that a million partitions are counted in some ms. States are
only in the controller's memory; no znode has them. Deletions under way are counted, too: their topics are gone soon.
"""

from collections.abc import Mapping

import msgspec
import numpy as np

from model.cluster.cluster_image import ClusterImage
from model.cluster.partition_columns import PartitionColumns
from model.cluster.topic_image import NOBODY, Flags, TopicImage
from model.controller.partition_states import PartitionState
from model.controller.replica_states import ReplicaState
from model.drills.staging.rules import rules_of


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
    standing = known & ~begun
    there = (columns.replicas != NOBODY) & known[:, None]
    up = np.isin(columns.replicas, live)
    partitions = {
        PartitionState.NON_EXISTENT: known & begun,
        PartitionState.NEW: standing & ~stated,
        PartitionState.ONLINE: standing & stated & led,
        PartitionState.OFFLINE: standing & stated & ~led,
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
        topic.name in marked and not _is_moving(topic) and set(topic.replicas.ravel().tolist()) <= live
        for topic in columns.topics
    ]
    return np.array(begun, np.bool_)[columns.topic]


def _is_moving(topic: TopicImage) -> bool:
    """Whether an assigned partition of the topic is being reassigned, so that its deletion has to wait."""
    moving = {*topic.adding, *topic.removing} & topic.row_of.keys()
    return any(not topic.orphaned[topic.row_of[partition]] for partition in moving)
