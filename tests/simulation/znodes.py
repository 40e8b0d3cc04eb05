"""What the znodes of a virtual cluster hold, decoded, for checks and operators. Reading only."""

from __future__ import annotations

from collections.abc import Iterator

from model.cluster.ids import TopicPartition
from model.hosts.memory_zookeeper.state import ServerState
from model.hosts.memory_zookeeper.tree import read
from model.znodes.paths import partition_state_path, topic_path
from model.znodes.topics import LeaderIsrAndControllerEpoch, TopicAssignment, decode_partition_state, decode_topic
from model.zookeeper import Answer, GetChildren, GetData


def znode(state: ServerState, path: str) -> Answer | None:
    """One znode."""
    found = read(state.tree, GetData(path))
    return found if found.ok else None


def names(state: ServerState, path: str) -> tuple[str, ...]:
    """The names below a znode; nothing if it is not there."""
    found = read(state.tree, GetChildren(path))
    return found.names if found.ok else ()


def topic(state: ServerState, name: str) -> TopicAssignment | None:
    """A topic's assignment."""
    found = znode(state, topic_path(name))
    return None if found is None else decode_topic(found.data)


def topics(state: ServerState) -> dict[str, TopicAssignment]:
    """All of them."""
    found = {name: topic(state, name) for name in names(state, "/brokers/topics")}
    return {name: assignment for name, assignment in found.items() if assignment is not None}


def partitions(state: ServerState) -> Iterator[tuple[TopicPartition, tuple[int, ...]]]:
    """Every partition and its replicas."""
    for name, assignment in topics(state).items():
        for number, replicas in assignment.partitions.items():
            yield TopicPartition(name, number), replicas


def partition_state(state: ServerState, name: TopicPartition) -> tuple[LeaderIsrAndControllerEpoch, int] | None:
    """A partition's state and its version."""
    found = znode(state, partition_state_path(name.topic, name.partition))
    return None if found is None else (decode_partition_state(found.data), found.version)
