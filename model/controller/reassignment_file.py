"""The files that Kafka's reassignment tool reads: what they ask for, or what is wrong with them. It asks nobody.

Source: `org.apache.kafka.tools.reassign.ReassignPartitionsCommand` (3.9): `parseExecuteAssignmentArgs`,
`parseGenerateAssignmentArgs`, `findPartitionReassignmentStates`; KIP-113 (log dirs).
"""

from collections.abc import Collection, Iterable, Mapping
from typing import TypeVar

import msgspec

from model.cluster.ids import TopicPartition
from model.cluster.words import listed
from model.controller.placement import RackMode, brokers_by_mode, place
from model.controller.placement_strategies import BrokerMetadata, PlacementRequest
from model.controller.refusal import Refusal
from model.controller.replica_assignment import ReplicaAssignment
from model.controller.replica_states import PartitionAndReplica

ANY_LOG_DIR = "any"

T = TypeVar("T")


class RequestedMoves(msgspec.Struct, frozen=True):
    """What a file asks for: replicas of partitions, and log dirs of some of them."""

    targets: Mapping[TopicPartition, tuple[int, ...]]
    log_dirs: Mapping[PartitionAndReplica, str]


class MoveState(msgspec.Struct, frozen=True, gc=False):
    """How far a requested reassignment is."""

    current: tuple[int, ...]
    target: tuple[int, ...]
    done: bool


class _Move(msgspec.Struct, frozen=True):
    topic: str
    partition: int
    replicas: tuple[int, ...]
    log_dirs: tuple[str, ...] | None = None


class _Moves(msgspec.Struct, frozen=True):
    partitions: tuple[_Move, ...] = ()
    version: int = 1


class _Topic(msgspec.Struct, frozen=True):
    topic: str


class _Topics(msgspec.Struct, frozen=True):
    topics: tuple[_Topic, ...] = ()
    version: int = 1


def requested_moves(text: bytes) -> RequestedMoves:
    """What `--reassignment-json-file` asks for. Raises ValueError with a line for the user."""
    entries = _decoded(text, _Moves).partitions
    names = [TopicPartition(entry.topic, entry.partition) for entry in entries]
    if not entries:
        raise ValueError("Partition reassignment list cannot be empty")
    if not all(entry.replicas for entry in entries):
        raise ValueError("Partition replica list cannot be empty")
    if twice := _twice(names):
        raise ValueError(f"Partition reassignment contains duplicate topic partitions: {listed(twice)}")
    twice_in = {name: _twice(entry.replicas) for name, entry in zip(names, entries, strict=True)}
    texts = [f"{name} contains multiple entries for {listed(brokers)}" for name, brokers in twice_in.items() if brokers]
    if texts:
        raise ValueError(f"Partition replica lists may not contain duplicate entries: {'. '.join(texts)}")
    log_dirs: dict[PartitionAndReplica, str] = {}
    for name, entry in zip(names, entries, strict=True):
        folders = entry.log_dirs if entry.log_dirs is not None else (ANY_LOG_DIR,) * len(entry.replicas)
        if len(folders) != len(entry.replicas):
            raise ValueError(f"{name} has {len(entry.replicas)} replicas and {len(folders)} log dirs")
        pairs = zip(entry.replicas, folders, strict=True)
        log_dirs |= {PartitionAndReplica(name, broker): folder for broker, folder in pairs if folder != ANY_LOG_DIR}
    targets = {name: entry.replicas for name, entry in zip(names, entries, strict=True)}
    return RequestedMoves(targets, log_dirs)


def topics_to_move(text: bytes, broker_list: str) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """What `--topics-to-move-json-file` and `--broker-list` name. Raises ValueError with a line for the user."""
    try:
        brokers = tuple(int(broker) for broker in broker_list.split(","))
    except ValueError:
        raise ValueError(f"{broker_list!r} is no list of broker ids: write them as 1,2,3") from None
    if twice := _twice(brokers):
        raise ValueError(f"Broker list contains duplicate entries: {listed(twice)}")
    topics = tuple(entry.topic for entry in _decoded(text, _Topics).topics)
    if twice := _twice(topics):
        raise ValueError(f"List of topics to reassign contains duplicate entries: {listed(twice)}")
    return topics, brokers


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


def reassignment_states(
    targets: Mapping[TopicPartition, tuple[int, ...]],
    assignments: Mapping[TopicPartition, ReplicaAssignment],
) -> dict[TopicPartition, MoveState]:
    """What `--verify` finds. A partition that is not there has no replicas, and its move counts as done."""
    found: dict[TopicPartition, MoveState] = {}
    for name, target in targets.items():
        assignment = assignments.get(name, ReplicaAssignment(()))
        found[name] = MoveState(assignment.replicas, target, not assignment.is_being_reassigned)
    return found


def _decoded(text: bytes, kind: type[T]) -> T:
    try:
        found = msgspec.json.decode(text, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ValueError(f"not a file of Kafka's reassignment tool: {error}") from None
    if getattr(found, "version", 1) != 1:
        raise ValueError(f"Not supported version field value {getattr(found, 'version', 1)}")
    return found


def _twice(things: Collection[T]) -> list[T]:
    """Those that occur more than once, each once, in order."""
    seen: dict[T, int] = {}
    for thing in things:
        seen[thing] = seen.get(thing, 0) + 1
    return [thing for thing, times in seen.items() if times > 1]
