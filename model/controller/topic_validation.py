"""What Kafka refuses when topics are created, deleted or given more partitions, in its order; and their names.

New partitions of a topic are placed as well. It writes nothing, draws no numbers, and looks at no topic's configs.

Source: `AdminZkClient.validateTopicCreate`, `deleteTopic`, `createNewPartitionsAssignment`,
`ZkAdminManager.createTopics`, `createPartitions` (3.9); `org.apache.kafka.common.internals.Topic` (3.9),
`kafka.common.Topic` (0.8.0 to 0.10).
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

import msgspec

from model.cluster.texts import replicas as replica_list
from model.controller import Refusal
from model.controller.leader_and_isr import ReplicaAssignment
from model.controller.placement import BrokerMetadata, Placement, PlacementRequest, place, start_for_added_partitions

LONGEST = 249
"""In characters, from 0.10.0 on; before, 255. A partition's folder is named for its topic and may not get too long."""

_LEGAL = re.compile(r"[a-zA-Z0-9._-]+", re.ASCII)


def topic_name_problem(name: str, longest: int = LONGEST) -> Refusal | None:
    """Why a topic cannot have this name."""
    why = _why_illegal(name, longest)
    return Refusal("INVALID_TOPIC_EXCEPTION", f"Topic name is invalid: {why}") if why else None


def has_collision_chars(name: str) -> bool:
    """Whether the name has a `.` or `_`, which metrics cannot tell apart."""
    return "." in name or "_" in name


def colliding(name: str, existing: Iterable[str]) -> list[str]:
    """Those of the existing names, other than this one, that metrics could not tell from it; in their order."""
    if not has_collision_chars(name):
        return []
    unified = _unified(name)
    return [other for other in existing if other != name and _unified(other) == unified]


def _unified(name: str) -> str:
    return name.replace(".", "_")


def _why_illegal(name: str, longest: int) -> str | None:
    if not name:
        return "the empty string is not allowed"
    if name in (".", ".."):
        return f"'{name}' is not allowed"
    if len(name) > longest:
        return f"the length of '{name}' is longer than the max allowed length {longest}"
    if not _LEGAL.fullmatch(name):
        return f"'{name}' contains one or more characters other than ASCII alphanumerics, '.', '_' and '-'"
    return None


BROKER_DEFAULT = -1
"""As the number of partitions or the replication factor: the default of the broker that is asked."""


class TopicCreation(msgspec.Struct, frozen=True, kw_only=True):
    """A topic about to be written, its replicas by partition, and the cluster it shall be written to.

    Replicas on brokers that are dead or unknown are allowed: Kafka does not look.
    """

    topic: str
    assignment: Mapping[int, Sequence[int]]
    existing: Collection[str] = ()
    marked_for_deletion: Collection[str] = ()
    longest_name: int = LONGEST
    forbids_collisions: bool = True


def creation_problem(creation: TopicCreation) -> Refusal | None:
    """Why a topic cannot be written: the first of CREATION_CHECKS that fails."""
    return first_problem(check(creation) for check in CREATION_CHECKS)


def creation_request_problem(
    topic: str,
    existing: Collection[str],
    *,
    partitions: int = BROKER_DEFAULT,
    replication_factor: int = BROKER_DEFAULT,
    has_assignment: bool = False,
    configs: Mapping[str, str | None] | None = None,
) -> Refusal | None:
    """Why a broker refuses a CreateTopics before it even places replicas."""
    if topic in existing:
        return _exists(topic)
    unset = [name for name, value in (configs or {}).items() if value is None]
    if unset:
        return Refusal("INVALID_CONFIG", f"Null value not supported for topic configs: {','.join(unset)}")
    if has_assignment and (partitions, replication_factor) != (BROKER_DEFAULT, BROKER_DEFAULT):
        return Refusal(
            "INVALID_REQUEST",
            "Both numPartitions or replicationFactor and replicasAssignments were set. "
            "Both cannot be used at the same time.",
        )
    return None


def deletion_problem(topic: str, existing: Collection[str], marked_for_deletion: Collection[str]) -> Refusal | None:
    """Why a topic cannot be marked for deletion."""
    if topic not in existing:
        return Refusal("UNKNOWN_TOPIC_OR_PARTITION", f"Topic `{topic}` to delete does not exist")
    if topic in marked_for_deletion:
        return Refusal("TopicAlreadyMarkedForDeletionException", f"topic {topic} is already marked for deletion")
    return None


def first_problem(problems: Iterable[Refusal | None]) -> Refusal | None:
    """The first that is one; checks behind it are not even made."""
    return next((problem for problem in problems if problem is not None), None)


def _name(creation: TopicCreation) -> Refusal | None:
    return topic_name_problem(creation.topic, creation.longest_name)


def _marked(creation: TopicCreation) -> Refusal | None:
    if creation.topic not in creation.marked_for_deletion:
        return None
    return Refusal("TOPIC_ALREADY_EXISTS", f"Topic '{creation.topic}' is marked for deletion.")


def _existing(creation: TopicCreation) -> Refusal | None:
    return _exists(creation.topic) if creation.topic in creation.existing else None


def _collision(creation: TopicCreation) -> Refusal | None:
    others = colliding(creation.topic, creation.existing) if creation.forbids_collisions else []
    message = f"Topic '{creation.topic}' collides with existing topics: {', '.join(others)}"
    return Refusal("INVALID_TOPIC_EXCEPTION", message) if others else None


def _replication_factor(creation: TopicCreation) -> Refusal | None:
    if len({len(replicas) for replicas in creation.assignment.values()}) == 1:
        return None
    return Refusal("INVALID_REPLICA_ASSIGNMENT", "All partitions should have the same number of replicas")


def _duplicates(creation: TopicCreation) -> Refusal | None:
    twice = [
        f"{partition} -> {replica_list(replicas)}"
        for partition, replicas in creation.assignment.items()
        if len(set(replicas)) != len(replicas)
    ]
    return Refusal("INVALID_REPLICA_ASSIGNMENT", f"Duplicate replica assignment found: {twice[0]}") if twice else None


def _consecutive(creation: TopicCreation) -> Refusal | None:
    # Kafka only compares the sum of the ids, and so lets some gaps pass.
    if set(creation.assignment) == set(range(len(creation.assignment))):
        return None
    return Refusal("INVALID_REPLICA_ASSIGNMENT", "partitions should be a consecutive 0-based integer sequence")


def _exists(topic: str) -> Refusal:
    return Refusal("TOPIC_ALREADY_EXISTS", f"Topic '{topic}' already exists.")


CREATION_CHECKS: tuple[Callable[[TopicCreation], Refusal | None], ...] = (
    _name,
    _marked,
    _existing,
    _collision,
    _replication_factor,
    _duplicates,
    _consecutive,
)
"""In Kafka's order."""


class PartitionAddition(msgspec.Struct, frozen=True, kw_only=True):
    """A topic that shall have `count` partitions in all, on the live brokers by id.

    `assignment` are the replicas of each new partition in turn, None to let Kafka place them.
    """

    topic: str
    existing: Mapping[int, ReplicaAssignment]
    brokers: Sequence[BrokerMetadata]
    count: int
    assignment: Sequence[Sequence[int]] | None = None
    by_broker_id: bool = False

    @property
    def increment(self) -> int:
        return self.count - len(self.existing)

    @property
    def replication_factor(self) -> int:
        """That of partition 0 counts for all."""
        return len(self.existing[0].replicas)


def add_partitions(addition: PartitionAddition) -> Placement | Refusal:
    """The replicas of the new partitions only, by partition."""
    problem = first_problem(check(addition) for check in ADDITION_CHECKS)
    if problem is not None:
        return problem
    first = len(addition.existing)
    if addition.assignment is not None:
        return {first + index: tuple(replicas) for index, replicas in enumerate(addition.assignment)}
    leader = next(iter(addition.existing[0].replicas), 0)
    start = start_for_added_partitions(addition.brokers, leader, by_broker_id=addition.by_broker_id)
    request = PlacementRequest(addition.increment, addition.replication_factor, start, start, first)
    return place(addition.brokers, request)


def _reassigning(addition: PartitionAddition) -> Refusal | None:
    if not any(assignment.is_being_reassigned for assignment in addition.existing.values()):
        return None
    message = f"A partition reassignment is in progress for the topic '{addition.topic}'."
    return Refusal("REASSIGNMENT_IN_PROGRESS", message)


def _unknown(addition: PartitionAddition) -> Refusal | None:
    if addition.existing:
        return None
    return Refusal("UNKNOWN_TOPIC_OR_PARTITION", f"The topic '{addition.topic}' does not exist.")


def _no_increase(addition: PartitionAddition) -> Refusal | None:
    now = len(addition.existing)
    if addition.increment > 0:
        return None
    message = (
        f"Topic already has {now} partitions."
        if addition.increment == 0
        else f"Topic currently has {now} partitions, which is higher than the requested {addition.count}."
    )
    return Refusal("INVALID_PARTITIONS", message)


def _unknown_brokers(addition: PartitionAddition) -> Refusal | None:
    known = {broker.id for broker in addition.brokers}
    unknown = sorted({replica for replicas in addition.assignment or () for replica in replicas} - known)
    if not unknown:
        return None
    named = ", ".join(map(str, unknown))
    return Refusal("INVALID_REPLICA_ASSIGNMENT", f"Unknown broker(s) in replica assignment: {named}.")


def _wrong_number(addition: PartitionAddition) -> Refusal | None:
    if addition.assignment is None or len(addition.assignment) == addition.increment:
        return None
    return Refusal(
        "INVALID_REPLICA_ASSIGNMENT",
        f"Increasing the number of partitions by {addition.increment} "
        f"but {len(addition.assignment)} assignments provided.",
    )


def _no_partition_0(addition: PartitionAddition) -> Refusal | None:
    if 0 in addition.existing:
        return None
    return Refusal(
        "AdminOperationException",
        f"Unexpected existing replica assignment for topic '{addition.topic}', partition id 0 is missing.",
    )


def _bad_replicas(addition: PartitionAddition) -> Refusal | None:
    for partition, replicas in enumerate(addition.assignment or (), len(addition.existing)):
        if not replicas:
            message = f"Cannot have replication factor of 0 for partition id {partition}."
            return Refusal("INVALID_REPLICA_ASSIGNMENT", message)
        if len(set(replicas)) != len(replicas):
            return Refusal(
                "INVALID_REPLICA_ASSIGNMENT",
                f"Duplicate brokers not allowed in replica assignment: {replica_list(replicas)} "
                f"for partition id {partition}.",
            )
    return None


def _other_replication_factor(addition: PartitionAddition) -> Refusal | None:
    first = len(addition.existing)
    wrong = {
        first + index: len(replicas)
        for index, replicas in enumerate(addition.assignment or ())
        if len(replicas) != addition.replication_factor
    }
    if not wrong:
        return None
    return Refusal(
        "INVALID_REPLICA_ASSIGNMENT",
        f"Inconsistent replication factor between partitions, partition 0 has {addition.replication_factor} while "
        f"partitions [{', '.join(map(str, wrong))}] have replication factors "
        f"[{', '.join(map(str, wrong.values()))}], respectively.",
    )


ADDITION_CHECKS: tuple[Callable[[PartitionAddition], Refusal | None], ...] = (
    _reassigning,
    _unknown,
    _no_increase,
    _unknown_brokers,
    _wrong_number,
    _no_partition_0,
    _bad_replicas,
    _other_replication_factor,
)
"""In Kafka's order. While replicas are being added, partition 0 would give a wrong replication factor."""
