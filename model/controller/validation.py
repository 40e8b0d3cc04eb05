"""What Kafka refuses when topics are created or deleted, in its order. It places no replicas and writes nothing.

Source: `AdminZkClient.validateTopicCreate`, `AdminZkClient.deleteTopic`, `ZkAdminManager.createTopics` (3.9). Configs
of topics are not looked at here.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

import msgspec

from model.cluster.words import replicas as replica_list
from model.controller.refusal import Refusal
from model.controller.topic_names import LONGEST, colliding, topic_name_problem

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
