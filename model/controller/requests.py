"""What a request asks of partitions: an election, or other replicas. What is refused, and what is to be done.

Elections are asked for by a request or by the clock. A partition is given as the Ballot that an election would decide
on; the automatic rebalance is not given those of topics that are queued for deletion. Replicas are moved one by one,
or as files of Kafka's tool say. Nobody is elected here, and nothing is moved.

Source: `KafkaController.processReplicaLeaderElection` (3.9), KIP-183 (2.2), KIP-460 (2.4);
`checkAndTriggerAutoLeaderRebalance`, 0.8.1 to 3.9; `ControllerContext.hasPreferredLeader` (2.7 to 3.9);
`KafkaController.processApiPartitionReassignment`, `processZkPartitionReassignment`, `validateReplicas` and
`maybeTriggerPartitionReassignment` (3.9), KIP-455; `org.apache.kafka.tools.reassign.ReassignPartitionsCommand` (3.9):
`parseExecuteAssignmentArgs`, `parseGenerateAssignmentArgs`, `findPartitionReassignmentStates`; KIP-113 (log dirs).
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Literal, TypeVar

import msgspec

from model.cluster.ids import NO_LEADER, TopicPartition
from model.cluster.texts import listed
from model.cluster.texts import replicas as replica_list
from model.controller import Refusal, elections
from model.controller.elections import Ballot, ElectionStrategy
from model.controller.leader_and_isr import LeaderAndIsr, ReplicaAssignment
from model.controller.state_machines import PartitionAndReplica
from model.controller.znode_formats import ReassignmentRules

ElectionKind = Literal["preferred", "unclean"]

STRATEGY: dict[ElectionKind, ElectionStrategy] = {
    "preferred": ElectionStrategy.PREFERRED,
    "unclean": ElectionStrategy.OFFLINE,
}
"""What is then elected by. An unclean election must also be allowed in the Ballot, and only for a request by RPC."""


def election_problem(kind: ElectionKind, ballot: Ballot | None, *, deleting: bool = False) -> Refusal | None:
    """Why there will be no election for a partition; `ballot` is None for one that does not exist.

    `deleting` says that the topic is queued for deletion. A request by znode gets no answer.
    """
    if ballot is None:
        return Refusal("UNKNOWN_TOPIC_OR_PARTITION", "The partition does not exist.")
    if deleting:
        return Refusal("INVALID_TOPIC_EXCEPTION", "The topic is being deleted")
    if not _is_needed(kind, ballot):
        return Refusal("ELECTION_NOT_NEEDED", "Leader election not needed for topic partition.")
    return None


def _is_needed(kind: ElectionKind, ballot: Ballot) -> bool:
    leader = ballot.current.leader
    if kind == "preferred":
        return ballot.assignment.replicas[:1] != (leader,)
    liveness = ballot.liveness
    return leader == NO_LEADER or leader not in liveness.live or leader in liveness.shutting_down


DEFAULT_PERCENTAGE = 10
"""Kafka's leader.imbalance.per.broker.percentage, in percent."""


class RebalanceRules(msgspec.Struct, frozen=True, gc=False):
    """How a generation of Kafka rebalances leaders."""

    on_by_default: bool
    """Default of auto.leader.rebalance.enable."""
    asks_isr: bool
    """From 2.6 on the preferred replica has to be in sync; before, elections were tried that had to fail."""
    waits_for_reassignments: bool
    """Up to 3.3 nothing was done while any partition was being reassigned (KAFKA-10149)."""


class LeaderImbalance(msgspec.Struct, frozen=True, gc=False):
    """The partitions that prefer a broker, and those of them that another leads, or nobody."""

    broker: int
    preferring: int
    elsewhere: tuple[TopicPartition, ...]

    @property
    def ratio(self) -> float:
        """0 where all are led by the broker that they prefer, 1 where none is."""
        return len(self.elsewhere) / self.preferring


def imbalances(ballots: Mapping[TopicPartition, Ballot]) -> tuple[LeaderImbalance, ...]:
    """One for each broker that is preferred by any partition, in the order of their ids."""
    preferring: dict[int, list[TopicPartition]] = {}
    for partition, ballot in ballots.items():
        for broker in ballot.assignment.replicas[:1]:
            preferring.setdefault(broker, []).append(partition)
    return tuple(
        LeaderImbalance(
            broker, len(partitions), tuple(p for p in partitions if _led_elsewhere(ballots[p].current, broker))
        )
        for broker, partitions in sorted(preferring.items())
    )


def partitions_to_rebalance(
    ballots: Mapping[TopicPartition, Ballot],
    rules: RebalanceRules,
    *,
    reassigning: bool,
    percentage: int = DEFAULT_PERCENTAGE,
) -> tuple[TopicPartition, ...]:
    """Partitions to hold a preferred election for: all of a broker that has more than `percentage` led elsewhere.

    `reassigning` says whether any partition of the cluster is being reassigned.
    """
    if reassigning and rules.waits_for_reassignments:
        return ()
    return tuple(
        partition
        for imbalance in imbalances(ballots)
        if imbalance.ratio > percentage / 100
        for partition in imbalance.elsewhere
        if _electable(ballots[partition], imbalance.broker, rules)
    )


def _led_elsewhere(current: LeaderAndIsr, broker: int) -> bool:
    return current.exists and current.leader != broker


def _electable(ballot: Ballot, broker: int, rules: RebalanceRules) -> bool:
    if rules.asks_isr:
        return elections.preferred(ballot).leader_and_isr is not None
    return ballot.liveness.online(broker)


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
