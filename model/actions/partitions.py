"""Adding partitions to a topic, with what that does to keys; and electing preferred leaders.

Source: `AdminUtils.addPartitions` (0.8.2), `AdminZkClient.addPartitions` (1.1 to 3.9);
`kafka.admin.PreferredReplicaLeaderElectionCommand` (0.8 to 2.3), `LeaderElectionCommand` (3.9).
"""

from collections.abc import Iterator, Sequence
from math import lcm

import msgspec
import numpy as np

from model.actions.proposal import ActionRefused, ApiCall, Basis, Proposal, Replicas, Step, create, put, refuse
from model.actions.topics import states_of_new
from model.cluster.cluster_image import ClusterImage
from model.cluster.ids import INTERNAL_TOPICS, NO_LEADER, TopicPartition
from model.cluster.records import TopicAssigned
from model.cluster.texts import counted
from model.cluster.texts import replicas as replica_list
from model.cluster.topic_image import NOBODY, TopicImage, rows_of
from model.controller import Refusal
from model.controller.leader_and_isr import ReplicaAssignment
from model.controller.placement import RackMode
from model.controller.topic_validation import PartitionAddition, add_partitions
from model.znodes.paths import topic_path
from model.znodes.payload import UnusablePayloadError
from model.znodes.topics import PartitionEntry, PreferredReplicaElection, TopicAssignment, decode_topic


def grow_topic(
    basis: Basis,
    name: str,
    count: int,
    assignment: Sequence[tuple[int, ...]] | None = None,
    rack_mode: RackMode = RackMode.ENFORCED,
) -> Proposal:
    """A topic that shall have `count` partitions in all; `assignment` are the replicas of each new one in turn.

    By ZooKeeper, `topic_path(name)` has to be in what was found. Raises ActionRefused with Kafka's reason.
    """
    topic = basis.topic(name)
    if name in INTERNAL_TOPICS:
        raise ActionRefused(f"the number of partitions of {name} cannot be changed: keys would not be found any more")
    if name in basis.image.admin.delete_topics:
        raise ActionRefused(f"{name} is marked for deletion: its controller would take new partitions out again")
    before = _before(topic)
    added = add_partitions(
        PartitionAddition(
            topic=name,
            existing=before,
            brokers=basis.brokers(rack_mode),
            count=count,
            assignment=assignment,
            by_broker_id=basis.rules.adds_partitions_by_broker_id,
        )
    )
    if isinstance(added, Refusal):
        raise refuse(added)
    return Proposal(
        f"add partitions to topic {name}: {len(before)} → {count}",
        (_growth_step(basis, name, len(before), count, added),),
        changes=tuple(f"{name}-{partition}: none → replicas {replica_list(r)}" for partition, r in added.items()),
        warnings=tuple(_warnings(basis, topic, len(before), count)),
        leads_to=(_grown(topic, before, added), states_of_new(name, added, basis.image.brokers)),
    )


def moved_share(before: int, after: int) -> float:
    """The share of keys, 0 to 1, whose partition is another: `hash mod before` against `hash mod after`."""
    return 1 - min(before, after) / lcm(before, after)


def _before(topic: TopicImage) -> dict[int, ReplicaAssignment]:
    rows = zip(topic.partitions.tolist(), rows_of(topic.replicas), strict=True)
    return {
        partition: ReplicaAssignment(replicas, topic.adding.get(partition, ()), topic.removing.get(partition, ()))
        for partition, replicas in rows
        if replicas
    }


def _grown(topic: TopicImage, before: dict[int, ReplicaAssignment], added: Replicas) -> TopicAssigned:
    replicas = {partition: assigned.replicas for partition, assigned in before.items()} | dict(added)
    return TopicAssigned(
        topic=topic.name, replicas=replicas, topic_id=topic.topic_id, adding=topic.adding, removing=topic.removing
    )


def _growth_step(basis: Basis, name: str, before: int, count: int, added: Replicas) -> Step:
    if basis.found is None:
        fields = {"topics": {name: {"count": count, "assignments": [list(replicas) for replicas in added.values()]}}}
        return ApiCall("CreatePartitions", fields, {f"partitions {name}": before})
    path = topic_path(name)
    payload = _payload(basis, path)
    if len(payload.partitions) != before:
        raise ActionRefused(f"{name} has {len(payload.partitions)} partitions by now: look again")
    grown = msgspec.structs.replace(payload, partitions={**payload.partitions, **added})
    return put(basis.found, path, grown.to_bytes())


def _payload(basis: Basis, path: str) -> TopicAssignment:
    znode = (basis.found or {}).get(path)
    if znode is None:
        raise ActionRefused(f"{path} is gone: look again")
    try:
        return decode_topic(znode.data)
    except UnusablePayloadError as error:
        raise ActionRefused(f"{path} {error}: mend it before it is written over") from None


def _warnings(basis: Basis, topic: TopicImage, before: int, after: int) -> Iterator[str]:
    yield (
        f"records with a key: {moved_share(before, after):.0%} of all keys go to another partition than their earlier "
        "records; the order of such a key's records is lost, and consumers that keep state by partition miss it"
    )
    if "compact" in basis.image.topic_config(topic.name).get("cleanup.policy", ""):
        yield "it is compacted: the last value of a moved key stays in its old partition for ever beside the new ones"
    readers = sorted(
        key
        for key, group in basis.image.every_group()
        if any(read.topic == topic.name for read in group.owners)
        or any(topic.name in member.subscription for member in group.members.values())
    )
    if readers:
        yield f"groups that read it will rebalance: {', '.join(readers)}"
    yield "partitions cannot be taken away again"


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
        (_election_step(basis, [each.partition for each in chosen]),),
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


def _election_step(basis: Basis, partitions: Sequence[TopicPartition]) -> Step:
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
