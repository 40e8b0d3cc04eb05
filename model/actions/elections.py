"""Electing preferred leaders: which partitions need it, and which cannot have it.

Source: `kafka.admin.PreferredReplicaLeaderElectionCommand` (0.8 to 2.3), `LeaderElectionCommand` (3.9).
"""

from collections.abc import Sequence

import msgspec
import numpy as np

from model.actions.basis import Basis
from model.actions.found import create
from model.actions.proposal import ActionRefused, ApiCall, Proposal, Step
from model.cluster.cluster_image import ClusterImage
from model.cluster.ids import NO_LEADER, TopicPartition
from model.cluster.topic_image import NOBODY
from model.cluster.words import counted
from model.znodes.admin import PartitionEntry, PreferredReplicaElection

ELECTION_PATH = "/admin/preferred_replica_election"
PREFERRED = 0
"""`org.apache.kafka.common.ElectionType`."""
MOST_BYTES = 1_000_000
"""A little less than ZooKeeper takes in one znode (jute.maxbuffer)."""


class Leaders(msgspec.Struct, frozen=True, gc=False):
    """A partition's leader now, and the one that is preferred."""

    partition: TopicPartition
    leader: int
    preferred: int


def imbalanced(image: ClusterImage) -> tuple[TopicPartition, ...]:
    """Partitions led by another replica than the preferred one, or by none, by topic and number."""
    return tuple(
        TopicPartition(name, int(topic.partitions[row]))
        for name, topic in sorted(image.topics.items())
        for row in np.flatnonzero((topic.leader != topic.preferred) & (topic.preferred != NOBODY)).tolist()
    )


def elect_preferred(basis: Basis, wanted: Sequence[TopicPartition]) -> Proposal:
    """The preferred replicas of these partitions shall lead; those that do, and those that cannot, are left out.

    By ZooKeeper, ELECTION_PATH has to have been read. Raises ActionRefused where nothing is left, or unknown.
    """
    if basis.found is not None and ELECTION_PATH in basis.found:
        raise ActionRefused("an election is under way: wait until the controller has taken it up")
    leaders = [_leaders(basis, partition) for partition in dict.fromkeys(wanted)]
    needed = [each for each in leaders if each.leader != each.preferred]
    unable = {each.partition: why for each in needed if (why := _why_not(basis, each))}
    chosen = [each for each in needed if each.partition not in unable]
    if not chosen:
        first = next(iter(unable.items()), None)
        raise ActionRefused(
            "all preferred replicas lead already: nothing to elect"
            if first is None
            else f"no preferred replica can lead; {first[0]}: {first[1]}"
        )
    return Proposal(
        f"elect the preferred leaders of {counted(len(chosen), 'partition')}",
        (_step(basis, [each.partition for each in chosen]),),
        changes=tuple(f"{each.partition}: leader {_broker(each.leader)} → {each.preferred}" for each in chosen),
        warnings=tuple(f"{partition} is left out: {why}" for partition, why in unable.items()),
    )


def _leaders(basis: Basis, partition: TopicPartition) -> Leaders:
    topic = basis.topic(partition.topic)
    row = topic.row_of.get(partition.partition)
    if row is None or topic.preferred[row] == NOBODY:
        raise ActionRefused(f"partition {partition} does not exist")
    return Leaders(partition, int(topic.leader[row]), int(topic.preferred[row]))


def _why_not(basis: Basis, each: Leaders) -> str:
    """Why the preferred replica would not be elected; empty where it would."""
    if each.partition.topic in basis.image.admin.delete_topics:
        return "the topic is being deleted"
    if each.preferred not in basis.image.brokers:
        return f"broker {each.preferred} is down"
    topic = basis.topic(each.partition.topic)
    in_sync = each.preferred in topic.isr[topic.row_of[each.partition.partition]]
    return "" if in_sync else f"broker {each.preferred} is not in the ISR"


def _step(basis: Basis, partitions: Sequence[TopicPartition]) -> Step:
    if basis.found is None:
        by_topic: dict[str, list[int]] = {}
        for name, number in partitions:
            by_topic.setdefault(name, []).append(number)
        expected = {str(each): list(basis.replicas(each)) for each in partitions}
        return ApiCall("ElectLeaders", {"election_type": PREFERRED, "partitions": by_topic}, expected)
    entries = tuple(PartitionEntry(topic=name, partition=number) for name, number in partitions)
    payload = PreferredReplicaElection(partitions=entries).to_bytes()
    if len(payload) > MOST_BYTES:
        first = entries[0].topic
        raise ActionRefused(f"{len(entries):,} partitions are too many for one znode: elect by topic, --topic {first}")
    return create(ELECTION_PATH, payload)


def _broker(leader: int) -> str:
    return "none" if leader == NO_LEADER else str(leader)
