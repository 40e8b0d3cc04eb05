"""Adding partitions to a topic, and what that does to keys.

Source: `AdminUtils.addPartitions` (0.8.2), `AdminZkClient.addPartitions` (1.1 to 3.9).
"""

from collections.abc import Iterator, Sequence
from math import lcm

import msgspec

from model.actions.basis import Basis, Replicas, refuse
from model.actions.expected_facts import states_of_new
from model.actions.found import put
from model.actions.proposal import ActionRefused, ApiCall, Proposal, Step
from model.cluster.ids import INTERNAL_TOPICS
from model.cluster.records import TopicAssigned
from model.cluster.topic_image import TopicImage, rows_of
from model.cluster.words import replicas as replica_list
from model.controller.partition_addition import PartitionAddition, add_partitions
from model.controller.placement import RackMode
from model.controller.refusal import Refusal
from model.controller.replica_assignment import ReplicaAssignment
from model.znodes.paths import topic_path
from model.znodes.reasons import UnusablePayloadError
from model.znodes.topics import TopicAssignment, decode_topic


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
        (_step(basis, name, len(before), count, added),),
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


def _step(basis: Basis, name: str, before: int, count: int, added: Replicas) -> Step:
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
