"""Requests to move replicas, one by one and as files of Kafka's tool: what is refused, and what they set out for.

It moves nothing and asks nobody.

Source: `KafkaController.processApiPartitionReassignment`, `processZkPartitionReassignment`, `validateReplicas` and
`maybeTriggerPartitionReassignment` (3.9), KIP-455; `org.apache.kafka.tools.reassign.ReassignPartitionsCommand` (3.9):
`parseExecuteAssignmentArgs`, `parseGenerateAssignmentArgs`, `findPartitionReassignmentStates`; KIP-113 (log dirs).
"""

from collections.abc import Collection, Mapping, Sequence
from typing import TypeVar

import msgspec

from model.cluster.ids import TopicPartition
from model.cluster.texts import listed
from model.cluster.texts import replicas as replica_list
from model.controller.leader_and_isr import ReplicaAssignment
from model.controller.refusal import Refusal
from model.controller.state_machines import PartitionAndReplica
from model.controller.znode_formats import ReassignmentRules


def reassign_by_request(
    current: ReplicaAssignment | None, target: Sequence[int] | None, live: Collection[int], *, deleting: bool = False
) -> ReplicaAssignment | Refusal:
    """What an AlterPartitionReassignments sets out for; without a target it cancels what is going on.

    `current` is None for a partition that does not exist, `live` leaves out brokers that are shutting down, and
    `deleting` says that the topic is queued for deletion.
    """
    known = current or ReplicaAssignment(())
    if target is None:
        if not known.is_being_reassigned:
            return Refusal("NO_REASSIGNMENT_IN_PROGRESS", "No partition reassignment is in progress.")
        wanted = known.cancel()
    else:
        problem = _target_problem(known, target, live)
        if problem is not None:
            return problem
        wanted = known.reassign_to(target)
    return _unless_gone(current, wanted, deleting)


def reassign_by_znode(
    current: ReplicaAssignment | None, target: Sequence[int], *, deleting: bool = False
) -> ReplicaAssignment | Refusal:
    """What an entry of /admin/reassign_partitions sets out for. Nobody asks whether its brokers are live."""
    return _unless_gone(current, (current or ReplicaAssignment(())).reassign_to(target), deleting)


def reassign_unkept(
    current: ReplicaAssignment | None,
    target: Sequence[int],
    rules: ReassignmentRules,
    live: Collection[int],
    *,
    deleting: bool = False,
) -> ReplicaAssignment | Refusal:
    """As `reassign_by_znode`, up to 2.3: the topic does not say what was added, so all it has is taken for its origin.

    Kafka put a set in the topic's znode; with five replicas and more it came out in the order of Scala's hashes, here
    it is always the target first.
    """
    if current is not None and not deleting:
        if tuple(target) == current.replicas:
            return _invalid(f"The replicas are {replica_list(target)} already.")
        if rules.needs_live_target and not set(target) <= set(live):
            return _invalid(f"Not all of the replicas {replica_list(target)} are alive.")
        return ReplicaAssignment(current.replicas).reassign_to(target)
    return _unless_gone(current, ReplicaAssignment(()), deleting)


def _unless_gone(
    current: ReplicaAssignment | None, wanted: ReplicaAssignment, deleting: bool
) -> ReplicaAssignment | Refusal:
    if deleting or current is None:
        return Refusal("UNKNOWN_TOPIC_OR_PARTITION", "The partition does not exist.")
    return wanted


def _target_problem(current: ReplicaAssignment, target: Sequence[int], live: Collection[int]) -> Refusal | None:
    if not target:
        return _invalid("Empty replica list specified in partition reassignment.")
    if len(set(target)) != len(target):
        return _invalid(f"Duplicate replica ids in partition reassignment replica list: {replica_list(target)}")
    if min(target) < 0:
        return _invalid(f"Invalid broker id in replica list: {replica_list(target)}")
    adding = current.reassign_to(target).adding
    if not set(adding) <= set(live):
        return _invalid(
            f"Replica assignment has brokers that are not alive. Replica list: {replica_list(adding)}, "
            f"live broker list: {replica_list(sorted(live))}"
        )
    return None


def _invalid(message: str) -> Refusal:
    return Refusal("INVALID_REPLICA_ASSIGNMENT", message)


ANY_LOG_DIR = "any"

T = TypeVar("T")


class RequestedMoves(msgspec.Struct, frozen=True):
    """What a file asks for: replicas of partitions, and log dirs of some of them."""

    targets: Mapping[TopicPartition, tuple[int, ...]]
    log_dirs: Mapping[PartitionAndReplica, str]


class _Move(msgspec.Struct, frozen=True):
    topic: str
    partition: int
    replicas: tuple[int, ...]
    log_dirs: tuple[str, ...] | None = None


class _Moves(msgspec.Struct, frozen=True):
    partitions: tuple[_Move, ...] = ()
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
