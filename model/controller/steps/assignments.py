"""`/brokers/topics/T` ⇄ assignments as the controller holds them. It asks and writes nothing.

Source: `kafka.zk.TopicZNode` (3.9).
"""

from collections.abc import Mapping, Sequence

from model.cluster.ids import TopicPartition
from model.controller.replica_assignment import ReplicaAssignment
from model.controller.topics import Partition, Topic
from model.controller.zookeeper import Answer
from model.znodes.reasons import UnusablePayloadError
from model.znodes.topics import TopicAssignment, decode_topic


def topics_in(names: Sequence[str], answers: Sequence[Answer]) -> dict[str, Topic]:
    """The topics that were read; what is missing or unreadable is left out."""
    found: dict[str, Topic] = {}
    for name, answer in zip(names, answers, strict=True):
        payload = _payload(answer)
        if payload is not None:
            partitions = {number: Partition(assignment) for number, assignment in _assignments(payload).items()}
            found[name] = Topic(payload.topic_id, partitions)
    return found


def assignments_in(topic: str, answer: Answer) -> dict[TopicPartition, ReplicaAssignment]:
    """The assignments in one topic's znode; nothing if it cannot be read."""
    payload = _payload(answer)
    assignments = {} if payload is None else _assignments(payload)
    return {TopicPartition(topic, number): assignment for number, assignment in assignments.items()}


def encode_assignments(topic_id: str | None, assignments: Mapping[int, ReplicaAssignment], version: int) -> bytes:
    """The payload of a topic's znode; only from version 2 on does it say what is added and removed."""
    ordered = dict(sorted(assignments.items()))
    if version == 1:
        ordered = {number: ReplicaAssignment(assignment.replicas) for number, assignment in ordered.items()}
    return TopicAssignment(
        partitions={number: assignment.replicas for number, assignment in ordered.items()},
        topic_id=topic_id,
        adding_replicas={number: assignment.adding for number, assignment in ordered.items() if assignment.adding},
        removing_replicas={
            number: assignment.removing for number, assignment in ordered.items() if assignment.removing
        },
        version=version,
    ).to_bytes()


def _assignments(payload: TopicAssignment) -> dict[int, ReplicaAssignment]:
    adding, removing = payload.adding_replicas, payload.removing_replicas
    return {
        number: ReplicaAssignment(replicas, adding.get(number, ()), removing.get(number, ()))
        for number, replicas in payload.partitions.items()
    }


def _payload(answer: Answer) -> TopicAssignment | None:
    if not answer.ok:
        return None
    try:
        return decode_topic(answer.data)
    except UnusablePayloadError:
        return None
