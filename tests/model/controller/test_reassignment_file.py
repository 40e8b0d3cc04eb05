"""Files of Kafka's reassignment tool: the cases of its ReassignPartitionsUnitTest."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

import pytest

from model.cluster.ids import TopicPartition
from model.controller import Refusal
from model.controller.leader_and_isr import ReplicaAssignment
from model.controller.placement import BrokerMetadata, PlacementRequest, RackMode, brokers_by_mode, place
from model.controller.requests import requested_moves
from model.controller.state_machines import PartitionAndReplica

FOO_0 = TopicPartition("foo", 0)
FOO_1 = TopicPartition("foo", 1)


def moves(*partitions: dict[str, Any], version: int = 1) -> bytes:
    return json.dumps({"version": version, "partitions": list(partitions)}).encode()


def move(partition: int, *replicas: int, **more: Any) -> dict[str, Any]:
    return {"topic": "foo", "partition": partition, "replicas": list(replicas), **more}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (moves(), "Partition reassignment list cannot be empty"),
        (moves(move(0)), "Partition replica list cannot be empty"),
        (moves(move(0, 1, 2), move(0, 3)), "Partition reassignment contains duplicate topic partitions: foo-0"),
        (
            moves(move(0, 1, 2, 1), move(1, 4, 4, 4)),
            "Partition replica lists may not contain duplicate entries: foo-0 contains multiple entries for 1. "
            "foo-1 contains multiple entries for 4",
        ),
        (moves(move(0, 1, 2, log_dirs=["any"])), "foo-0 has 2 replicas and 1 log dirs"),
        (moves(move(0, 1), version=2), "Not supported version field value 2"),
        (b"{", "not a file of Kafka's reassignment tool"),
        (b"[" * 100_000, "not a file of Kafka's reassignment tool"),
        (b'{"version":"\xff"}', "not a file of Kafka's reassignment tool"),
        (b'{"partitions":[{"topic":"foo","partition":"0","replicas":[1]}]}', "not a file of Kafka's reassignment tool"),
    ],
)
def test_what_is_wrong_with_a_file(text: bytes, message: str) -> None:
    with pytest.raises(ValueError, match=r".*") as raised:
        requested_moves(text)
    assert str(raised.value).startswith(message)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("more", [{}, {"log_dirs": ["any", "any", "any"]}])
def test_replicas_move_between_brokers_only(more: dict[str, Any]) -> None:
    found = requested_moves(moves(move(0, 1, 2, 3, **more)))
    assert found.targets == {FOO_0: (1, 2, 3)}
    assert found.log_dirs == {}


def test_replicas_move_between_log_dirs_as_well() -> None:
    found = requested_moves(moves(move(0, 1, 2, 3, log_dirs=["/a", "/b", "/c"]), move(1, 4, 5, log_dirs=["any", "/d"])))
    assert found.targets == {FOO_0: (1, 2, 3), FOO_1: (4, 5)}
    assert found.log_dirs == {
        PartitionAndReplica(FOO_0, 1): "/a",
        PartitionAndReplica(FOO_0, 2): "/b",
        PartitionAndReplica(FOO_0, 3): "/c",
        PartitionAndReplica(FOO_1, 5): "/d",
    }


ASSIGNED = {
    FOO_0: (0, 1, 2),
    FOO_1: (1, 2, 3),
    TopicPartition("bar", 0): (2, 3, 0),
}


def on(*brokers: int, **racks: str) -> list[BrokerMetadata]:
    return [BrokerMetadata(broker, racks.get(f"b{broker}")) for broker in brokers]


def generate(
    topics: Iterable[str],
    assigned: Mapping[TopicPartition, tuple[int, ...]],
    brokers: Iterable[BrokerMetadata],
    mode: RackMode = RackMode.ENFORCED,
    start: int = 0,
    shift: int = 0,
) -> dict[TopicPartition, tuple[int, ...]] | Refusal:
    """The tool's proposal: every topic placed anew on these brokers. `start` and `shift` are its dice."""
    on = brokers_by_mode(brokers, mode)
    if isinstance(on, Refusal):
        return on
    proposed: dict[TopicPartition, tuple[int, ...]] = {}
    for topic in topics:
        partitions = {name: replicas for name, replicas in assigned.items() if name.topic == topic}
        if not partitions:
            return Refusal("UNKNOWN_TOPIC_OR_PARTITION", f"Topic {topic} not found.")
        size = len(partitions[min(partitions)])
        placed = place(on, PlacementRequest(len(partitions), size, start=start, shift=shift))
        if isinstance(placed, Refusal):
            return placed
        proposed |= {TopicPartition(topic, number): tuple(replicas) for number, replicas in placed.items()}
    return proposed


@pytest.mark.parametrize(
    ("names", "brokers", "message"),
    [
        (["bar", "foo"], on(0, 1), "Replication factor: 3 larger than available brokers: 2."),
        (["bar", "quux"], on(0, 1, 2), "Topic quux not found."),
        (["foo"], on(0, 1, 2, b0="r0"), "Not all brokers have rack information."),
    ],
)
def test_nothing_can_be_proposed(names: list[str], brokers: list[BrokerMetadata], message: str) -> None:
    refused = generate(names, ASSIGNED, brokers)
    assert isinstance(refused, Refusal)
    assert refused.message.startswith(message)


def test_a_proposal_keeps_partitions_and_replication_factors() -> None:
    proposed = generate(["bar", "foo"], ASSIGNED, on(4, 5, 6, 7, b4="r0"), RackMode.DISABLED)
    assert not isinstance(proposed, Refusal)
    assert {name: len(replicas) for name, replicas in proposed.items()} == dict.fromkeys(ASSIGNED, 3)
    assert all(set(replicas) <= {4, 5, 6, 7} for replicas in proposed.values())


def test_a_reassignment_is_under_way_until_it_is_cancelled() -> None:
    moving = ReplicaAssignment((0, 1, 2)).reassign_to((0, 1, 3))
    assert (moving.replicas, moving.is_being_reassigned) == ((0, 1, 3, 2), True)
    assert not ReplicaAssignment((1, 2, 3)).is_being_reassigned
    cancelled = moving.cancel()
    assert (cancelled.replicas, cancelled.is_being_reassigned) == ((0, 1, 2), False)
