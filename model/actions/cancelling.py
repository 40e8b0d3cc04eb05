"""Taking back reassignments, whoever asked for them, and without knowing what was before.

Source: KIP-455 (AlterPartitionReassignments without replicas, 2.4); `PartitionReassignmentReplicas` and
`ReplicationControlManager.cancelPartitionReassignment` (3.9): what was to be added goes, what was to be removed stays.
"""

from collections.abc import Container, Iterable

from model.actions.basis import Basis
from model.actions.proposal import ActionRefused, ApiCall, Proposal
from model.cluster.cluster_image import ClusterImage
from model.cluster.ids import TopicPartition
from model.cluster.pending_work import pending_work
from model.cluster.words import counted, replicas

NO_WAY = (
    "through ZooKeeper no reassignment can be taken back: name brokers of 2.4 or later with --bootstrap; "
    "before 2.4 what /admin/reassign_partitions asks for can only be waited for"
)


def under_way(image: ClusterImage, ours: Container[TopicPartition] = ()) -> dict[TopicPartition, tuple[int, ...]]:
    """Partitions that are being reassigned → the replicas they are to have; without `ours`."""
    work = (each for each in pending_work(image) if each.kind == "reassign" and each.partition is not None)
    found = {TopicPartition(each.topic, each.partition or 0): each.target for each in work}
    return {
        name: target
        for name, target in found.items()
        if name not in ours and name.topic in image.topics and name.partition in image.topics[name.topic].row_of
    }


def cancel_reassignments(basis: Basis, partitions: Iterable[TopicPartition]) -> Proposal:
    """These partitions stay where they were. Raises ActionRefused where the way there cannot take anything back."""
    if basis.found is not None or basis.image.generation in ("0.8", "0.9-1.x"):
        raise ActionRefused(NO_WAY)
    held = {name: basis.replicas(name) for name in partitions}
    topics: dict[str, dict[str, None]] = {}
    for name in held:
        topics.setdefault(name.topic, {})[str(name.partition)] = None
    expects = {str(name): list(now) for name, now in held.items()}
    return Proposal(
        f"cancel the reassignment of {counted(len(held), 'partition')}",
        (ApiCall("AlterPartitionReassignments", {"topics": topics}, expects),),
        changes=tuple(f"{name}: {replicas(now)} → {replicas(_origin(basis, name))}" for name, now in held.items()),
        warnings=(
            "the order of the replicas before is not told: another may be the preferred leader now",
            "a throttle that was set for it stays: see kdrill configs SOURCE describe --entity-type brokers",
        ),
        type_to_confirm=str(len(held)),
    )


def _origin(basis: Basis, name: TopicPartition) -> tuple[int, ...]:
    adding = basis.topic(name.topic).adding.get(name.partition, ())
    return tuple(broker for broker in basis.replicas(name) if broker not in adding)
