"""What consumers tell each other through the coordinator: subscriptions and assignments, as far as both are looked at.

Source: `org.apache.kafka.clients.consumer.internals.ConsumerProtocol` (3.9). Every version begins with the fields of
version 0, and nothing else is read.
"""

from collections.abc import Iterable, Mapping

from model.cluster.ids import TopicPartition
from model.consumers.group_coordinator.byte_reader import ByteReader, UnreadableError
from model.consumers.group_coordinator.member import Member


def subscribed_topics(metadata: bytes) -> frozenset[str]:
    """The topics of a `ConsumerProtocolSubscription`. Raises UnreadableError."""
    reader = ByteReader(metadata)
    reader.int16()
    return frozenset(reader.string() for _ in range(reader.count()))


def assigned_partitions(assignment: bytes) -> tuple[TopicPartition, ...]:
    """The partitions of a `ConsumerProtocolAssignment`; none where it is empty. Raises UnreadableError."""
    if not assignment:
        return ()
    reader = ByteReader(assignment)
    reader.int16()
    return tuple(
        TopicPartition(topic, reader.int32())
        for topic in (reader.string() for _ in range(reader.count()))
        for _ in range(reader.count())
    )


def owners_of(members: Iterable[Member]) -> Mapping[TopicPartition, str]:
    """Who owns what, by instance id where there is one. What cannot be read is left out."""
    owners: dict[TopicPartition, str] = {}
    for member in members:
        try:
            owners.update(dict.fromkeys(assigned_partitions(member.assignment), member.owner))
        except UnreadableError:
            continue
    return owners
