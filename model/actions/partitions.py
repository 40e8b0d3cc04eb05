"""Adding partitions to a topic, with what that does to keys.

Source: `AdminUtils.addPartitions` (0.8.2), `AdminZkClient.addPartitions` (1.1 to 3.9),
`ReplicationControlManager.createPartitions` (3.3 to 4.4).
"""

from collections.abc import Iterator, Sequence
from math import lcm

import msgspec

from model.actions.kraft import DRAWN, Dice, check_assignment, placed_by_rules
from model.actions.proposal import ActionRefused, ApiCall, Basis, Proposal, Replicas, Step, put, refuse
from model.actions.topics import states_of_new
from model.cluster.ids import INTERNAL_TOPICS
from model.cluster.records import TopicAssigned
from model.cluster.texts import replicas as replica_list
from model.cluster.topic_image import TopicImage, rows_of
from model.controller import Refusal
from model.controller.leader_and_isr import ReplicaAssignment
from model.controller.placement import RackMode
from model.controller.topic_validation import PartitionAddition, add_partitions
from model.kraft_controller.cluster import KraftCluster
from model.znodes.paths import topic_path
from model.znodes.payload import UnusablePayloadError
from model.znodes.topics import TopicAssignment, decode_topic


def grow_topic(
    basis: Basis,
    name: str,
    count: int,
    assignment: Sequence[tuple[int, ...]] | None = None,
    rack_mode: RackMode = RackMode.ENFORCED,
    dice: Dice = lambda _: 0,
) -> Proposal:
    """A topic that shall have `count` partitions in all; `assignment` are the replicas of each new one in turn.

    By ZooKeeper, `topic_path(name)` has to be in what was found; KRaft alone draws where placement begins, by `dice`.
    Raises ActionRefused with Kafka's reason.
    """
    topic = basis.topic(name)
    if name in INTERNAL_TOPICS:
        raise ActionRefused(f"the number of partitions of {name} cannot be changed: keys would not be found any more")
    if name in basis.image.admin.delete_topics:
        raise ActionRefused(f"{name} is marked for deletion: its controller would take new partitions out again")
    before = _before(topic)
    wanted = PartitionAddition(
        topic=name,
        existing=before,
        brokers=() if basis.is_kraft else basis.brokers(rack_mode),
        count=count,
        assignment=assignment,
        by_broker_id=basis.rules.adds_partitions_by_broker_id,
    )
    cluster = basis.kraft()
    added = add_partitions(wanted) if cluster is None else _added_on_kraft(cluster, wanted, dice)
    if isinstance(added, Refusal):
        raise refuse(added)
    drawn = (DRAWN,) if cluster is not None and assignment is None else ()
    return Proposal(
        f"add partitions to topic {name}: {len(before)} → {count}",
        (_growth_step(basis, name, len(before), count, added),),
        changes=tuple(f"{name}-{partition}: none → replicas {replica_list(r)}" for partition, r in added.items()),
        warnings=(*_warnings(basis, topic, len(before), count), *drawn),
        leads_to=(_grown(topic, before, added), states_of_new(name, added, basis.active)),
    )


def _added_on_kraft(cluster: KraftCluster, wanted: PartitionAddition, dice: Dice) -> Refusal | Replicas:
    """Placement begins anew, wherever the partitions that are there lie."""
    there, numbers = len(wanted.existing), range(len(wanted.existing), wanted.count)
    if not numbers:
        counts = f"Topic {wanted.topic} has {there} partitions, {wanted.count} would not be an increase"
        return Refusal("INVALID_PARTITIONS", counts)
    factor = len(wanted.existing[min(wanted.existing)].replicas)
    if wanted.assignment is None:
        return placed_by_rules(cluster, numbers, factor, dice)
    if len(wanted.assignment) != len(numbers):
        counts = f"{len(numbers)} partitions are added, and replicas of {len(wanted.assignment)} are named"
        return Refusal("INVALID_REPLICA_ASSIGNMENT", counts)
    added = {number: tuple(each) for number, each in zip(numbers, wanted.assignment, strict=True)}
    check_assignment(cluster, added, factor)
    return added


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
