"""What members tell each other through the coordinator, and what their leader makes of it."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping

import msgspec

from model.cluster.ids import TopicPartition
from model.consumers.assignors.case import AssignmentCase, CaseMember
from model.consumers.assignors.strategies import assign, strategy_named
from model.consumers.group_coordinator.events_and_commands import JoinedMember
from model.consumers.group_coordinator.stored_formats import assigned_partitions

COOPERATIVE = "cooperative-sticky"


class Claim(msgspec.Struct, frozen=True):
    """What a member says that it owns, and since when."""

    owned: list[tuple[str, int]]
    generation: int


def subscription(topic: str, owned: Iterable[TopicPartition], generation: int) -> bytes:
    """As coordinators read it; what follows the topics is between members."""
    claim = Claim(sorted((each.topic, each.partition) for each in owned), generation)
    return struct.pack(">hih", 1, 1, len(topic)) + topic.encode() + msgspec.json.encode(claim)


def claim_in(metadata: bytes, topic: str) -> Claim:
    """What a member said that it owns, in its subscription."""
    return msgspec.json.decode(metadata[8 + len(topic) :], type=Claim)


def assignment(partitions: Iterable[tuple[str, int]]) -> bytes:
    """A ConsumerProtocolAssignment, topic by topic."""
    topics: dict[str, list[int]] = {}
    for topic, number in partitions:
        topics.setdefault(topic, []).append(number)
    parts = [struct.pack(">hi", 0, len(topics))]
    for topic, numbers in topics.items():
        parts.append(struct.pack(">h", len(topic)) + topic.encode())
        parts.append(struct.pack(f">{len(numbers) + 1}i", len(numbers), *numbers))
    return b"".join(parts) + struct.pack(">i", -1)


def owned_in(share: bytes) -> frozenset[TopicPartition]:
    """What a member is to own."""
    return frozenset(assigned_partitions(share))


def shares(strategy: str, members: Iterable[JoinedMember], topic: str, partitions: int) -> Mapping[str, bytes]:
    """By member id, as the leader works it out with Kafka's own assignor."""
    known: dict[str, CaseMember] = {}
    for each in members:
        claim = claim_in(each.metadata, topic)
        known[each.member_id] = CaseMember(
            topics=[topic],
            owned=claim.owned,
            generation=claim.generation if claim.owned else None,
            instance_id=each.instance_id,
        )
    lists = assign(AssignmentCase(topics={topic: partitions}, members=known), strategy_named(strategy)).lists()
    return {name: assignment(owned) for name, owned in lists.items()}
