"""Topics that are created, get more partitions, or go; where their replicas are placed.

What a create-topic policy, a quota or the check of unknown settings would refuse is not known here. Sources:
`ReplicationControlManager` (`createTopics`, `createPartitions`, `deleteTopics`), `Topic.validate`, 3.3 to 4.4.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

import msgspec
from kio.schema.errors import ErrorCode

from model.cluster.findings.health import MIN_ISR
from model.cluster.ids import TopicPartition
from model.cluster.texts import brokers
from model.kraft_controller.cluster import (
    BrokerRegistration,
    ConfigWritten,
    ElrCleared,
    KraftCluster,
    MetadataRecord,
    PartitionCreated,
    TopicCreated,
    TopicRemoved,
)
from model.kraft_controller.partition_change import Registration
from model.kraft_controller.placement import Draw, PlacementError, StripedPlacer, Usable
from model.kraft_controller.requests import Answered, ControllerResult, joined, refuses_cordoned

MOST_PARTITIONS: Final = 10_000
"""So many may one request create (`QuorumController.MAX_RECORDS_PER_USER_OP`, 3.9.1 and later)."""
_LONGEST: Final = 249
_LEGAL: Final = re.compile(r"[a-zA-Z0-9._-]+")
Brokers = tuple[int, ...]
NOBODY_YET: Final = BrokerRegistration()


class NewTopic(msgspec.Struct, frozen=True):
    """A topic that is wanted: so many partitions and replicas, or `assignments` by partition, in the order named.

    -1: the controller's own default, `num.partitions` and `default.replication.factor`, 1 unless set.
    """

    name: str
    partitions: int = -1
    replicas: int = -1
    assignments: tuple[tuple[int, Brokers], ...] = ()
    configs: Mapping[str, str | None] = {}


class MorePartitions(msgspec.Struct, frozen=True):
    """A topic that is to have `count` partitions; `assignments` of the new ones, or none."""

    topic: str
    count: int
    assignments: tuple[Brokers, ...] | None = None


def create_topics(cluster: KraftCluster, topics: Sequence[NewTopic], draw: Draw) -> ControllerResult:
    """All in one batch; who is refused is left out. Names that collide are looked for among topics that exist."""
    wanted = sum(len(each.assignments) or max(1, each.partitions) for each in topics)
    if wanted > MOST_PARTITIONS and cluster.levels.release >= (3, 9):
        return ControllerResult(error=ErrorCode.policy_violation)
    return joined(_create(cluster, each, draw) for each in topics)


def _create(cluster: KraftCluster, topic: NewTopic, draw: Draw) -> Answered:
    if (error := _name_error(cluster, topic.name)) is not ErrorCode.none:
        return error, ()
    if None in topic.configs.values():
        return ErrorCode.invalid_config, ()
    if topic.assignments:
        error, assigned = _as_assigned(cluster, topic)
    else:
        error, assigned = _as_counted(cluster, topic, draw)
    if error is not ErrorCode.none:
        return error, ()
    return error, tuple(_created(cluster, topic, assigned))


def _name_error(cluster: KraftCluster, name: str) -> ErrorCode:
    """A `.` and a `_` are the same in names of metrics."""
    if name in cluster.topics:
        return ErrorCode.topic_already_exists
    is_legal = _LEGAL.fullmatch(name) and len(name) <= _LONGEST and name not in (".", "..")
    if not is_legal or name.replace(".", "_") in {each.replace(".", "_") for each in cluster.topics}:
        return ErrorCode.invalid_topic_exception
    return ErrorCode.none


def _as_assigned(cluster: KraftCluster, topic: NewTopic) -> tuple[ErrorCode, Mapping[int, Brokers]]:
    if (topic.partitions, topic.replicas) != (-1, -1):
        return ErrorCode.invalid_request, {}
    assigned = dict(topic.assignments)
    if len(assigned) < len(topic.assignments) or set(assigned) != set(range(len(assigned))):
        return ErrorCode.invalid_replica_assignment, {}
    return _assignments_error(cluster, assigned.values()), assigned


def _assignments_error(cluster: KraftCluster, assignments: Iterable[Brokers], count: int | None = None) -> ErrorCode:
    """All as long as `count`, or as the first; and somebody of each is to be active."""
    for replicas in assignments:
        count = len(replicas) if count is None else count
        if assignment_problem(cluster, replicas, count):
            return ErrorCode.invalid_replica_assignment
    return ErrorCode.none


def assignment_problem(cluster: KraftCluster, replicas: Brokers, count: int | None = None) -> str:
    """Why these cannot be the replicas of a new partition, in words; empty where they can."""
    unknown = sorted(set(replicas) - cluster.brokers.keys())
    refused = refuses_cordoned(cluster)
    cordoned = [each for each in replicas if refused and not cluster.brokers.get(each, NOBODY_YET).takes_replicas]
    problems = (
        (not replicas, "no replica is named"),
        (len(set(replicas)) < len(replicas), "a broker is named twice"),
        (bool(unknown), f"{brokers(unknown)}: not registered"),
        (bool(cordoned), f"{brokers(cordoned)}: all log directories are cordoned"),
        (count is not None and len(replicas) != count, f"{len(replicas)} replicas where others have {count}"),
        (not any(map(cluster.is_active, replicas)), "none of its brokers is active"),
    )
    return next((why for is_so, why in problems if is_so), "")


def _as_counted(cluster: KraftCluster, topic: NewTopic, draw: Draw) -> tuple[ErrorCode, Mapping[int, Brokers]]:
    if topic.replicas == 0 or topic.replicas < -1:
        return ErrorCode.invalid_replication_factor, {}
    if topic.partitions == 0 or topic.partitions < -1:
        return ErrorCode.invalid_partitions, {}
    return _placed(cluster, range(max(1, topic.partitions)), abs(topic.replicas), draw)


def placed(cluster: KraftCluster, numbers: Sequence[int], replicas: int, draw: Draw) -> dict[int, Brokers]:
    """Of each partition its replicas: not on a broker that is stopping; one that has stopped is fenced, and as good as
    any that is; not on one whose directories are cordoned (4.3). Raises PlacementError."""
    avoids_cordoned = cluster.levels.release >= (4, 3)
    usable = [
        Usable(broker, each.rack, each.fenced)
        for broker, each in cluster.brokers.items()
        if (each.fenced or not each.in_controlled_shutdown) and (each.takes_replicas or not avoids_cordoned)
    ]
    return dict(zip(numbers, StripedPlacer(usable, draw).place(len(numbers), replicas), strict=True))


def _placed(
    cluster: KraftCluster, numbers: Sequence[int], replicas: int, draw: Draw
) -> tuple[ErrorCode, Mapping[int, Brokers]]:
    try:
        return ErrorCode.none, placed(cluster, numbers, replicas, draw)
    except PlacementError:
        return ErrorCode.invalid_replication_factor, {}


def _created(cluster: KraftCluster, topic: NewTopic, assigned: Mapping[int, Brokers]) -> Iterator[MetadataRecord]:
    yield TopicCreated(topic.name)
    for key, value in topic.configs.items():
        yield ConfigWritten(f"topics/{topic.name}", key, value)
    if cluster.levels.elr and MIN_ISR in topic.configs:
        yield ElrCleared(topic.name)
    yield from _partitions(cluster, topic.name, assigned)


def _partitions(cluster: KraftCluster, topic: str, assigned: Mapping[int, Brokers]) -> Iterator[PartitionCreated]:
    """Whoever is active is in sync, and the first of them leads; nobody waits for brokers to hear of it."""
    for number, replicas in sorted(assigned.items()):
        isr = tuple(broker for broker in replicas if cluster.is_active(broker))
        directories = tuple(map(cluster.new_directory, replicas)) if cluster.levels.keeps_directories else ()
        yield PartitionCreated(
            TopicPartition(topic, number), Registration(replicas, isr, isr[0], directories=directories)
        )


def create_partitions(cluster: KraftCluster, topics: Sequence[MorePartitions], draw: Draw) -> ControllerResult:
    """Placement begins anew, wherever the partitions that are there are; they have as many replicas as partition 0."""
    return joined(_enlarge(cluster, each, draw) for each in topics)


def _enlarge(cluster: KraftCluster, wanted: MorePartitions, draw: Draw) -> Answered:
    if wanted.topic not in cluster.topics:
        return ErrorCode.unknown_topic_or_partition, ()
    there = cluster.partitions(wanted.topic)
    numbers = range(len(there), wanted.count)
    if not numbers:
        return ErrorCode.invalid_partitions, ()
    count = len(cluster.partition(there[0]).replicas)
    if wanted.assignments is None:
        error, assigned = _placed(cluster, numbers, count, draw)
    elif len(wanted.assignments) != len(numbers):
        return ErrorCode.invalid_replica_assignment, ()
    else:
        assigned = dict(zip(numbers, wanted.assignments, strict=True))
        error = _assignments_error(cluster, wanted.assignments, count)
    return error, tuple(_partitions(cluster, wanted.topic, assigned)) if error is ErrorCode.none else ()


def delete_topics(cluster: KraftCluster, topics: Sequence[str]) -> ControllerResult:
    """At once, whoever is alive: a fenced broker deletes its replicas when it is back."""
    return joined(
        (ErrorCode.none, (TopicRemoved(each),)) if each in cluster.topics else (ErrorCode.unknown_topic_id, ())
        for each in topics
    )
