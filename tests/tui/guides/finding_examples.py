"""Of each kind of finding the smallest cluster that has it, made by records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from model.cluster.findings import Finding, find
from model.cluster.ids import TopicPartition
from model.cluster.image_parts import LATE_VOTER_MS, KraftMetadata, LogDir, Quorum, QuorumReplica
from model.cluster.records import (
    UNTOLD,
    BrokerLost,
    ClusterRecord,
    ConfigChanged,
    ControllerElected,
    ControllerLost,
    LogDirsDescribed,
    LogEndsRead,
    MetadataDescribed,
    OffsetCommitted,
    PartitionStatesRemoved,
    PreferredElectionRequested,
    QuorumDescribed,
    ReassignmentsRequested,
    ReplicasWentOffline,
    TopicAssigned,
    TopicDeletionRequested,
    TopicRemoved,
    ViewsDiffered,
    ZnodeUnreadable,
)
from tests.model.cluster.build import brokers, claims, consumer, image, state, topic, written

FIRST = TopicPartition("orders", 0)
THREE = [*brokers(1, 2, 3), *topic("orders", (1, 2, 3), partitions=4)]
ALONE = [*brokers(1), *topic("orders", (1,), partitions=4)]
PAIR = [*brokers(1, 2), *topic("orders", (1, 2))]
RACKS = [
    *brokers(1, 2, 3, 4, racks=("a", "a", "b", "c")),
    TopicAssigned(topic="orders", replicas={0: (1, 2), 1: (1, 2, 3)}),
]
UNEVEN = [*brokers(1, 2), *topic("orders", (1,), partitions=30)]
GROWING = TopicAssigned(topic="orders", replicas={0: (1, 2)}, adding={0: (2,)})
VOTERS = tuple(
    QuorumReplica(number, 90 - lag, lag, 0 if lag else 2 * LATE_VOTER_MS) for number, lag in ((1, 0), (2, 80), (3, 0))
)


def _min_isr(value: str) -> ClusterRecord:
    return ConfigChanged(entity="topics/orders", config={"min.insync.replicas": value})


def _supporting(level: int, highest: Mapping[int, int]) -> ClusterRecord:
    """metadata.version, and the highest that each node supports."""
    supported = {node: {"metadata.version": (1, most)} for node, most in highest.items()}
    return MetadataDescribed(metadata=KraftMetadata(features={"metadata.version": level}, supported=supported))


def _read_to(offset: int) -> list[ClusterRecord]:
    """A group that has read so far of 5,000 records."""
    return [OffsetCommitted(group="billing", partition=FIRST, offset=offset), LogEndsRead(ends={FIRST: 5_000})]


EXAMPLES: Mapping[str, Sequence[ClusterRecord]] = {
    "no-brokers": [],
    "no-controller": [*brokers(1), ControllerLost()],
    "controller-not-live": [*brokers(1, 2), ControllerElected(broker=7)],
    "offline": [*THREE, BrokerLost(broker=3), written("orders", state(1, -1, (3,)))],
    "under-min-isr": [*THREE, BrokerLost(broker=3), _min_isr("2"), written("orders", state(0, 1, (1,)))],
    "leader-not-in-isr": [*THREE, written("orders", state(1, 2, (1, 3)))],
    "leader-not-replica": [*THREE, written("orders", state(1, 7, (7,)))],
    "no-controller-epoch": [],
    "no-state": [*THREE, PartitionStatesRemoved(topic="orders", partitions=(2,))],
    "orphaned": [*THREE, TopicRemoved(topic="orders")],
    "isr-not-replica": [*THREE, written("orders", state(1, 1, (1, 2, 3, 7)))],
    "unclean-leader": [*THREE, written("orders", state(1, 2, (2,), recovering=True))],
    "under-replicated": [*THREE, BrokerLost(broker=3), written("orders", state(0, 1, (1, 2)))],
    "at-min-isr": [*THREE, BrokerLost(broker=3), _min_isr("2"), written("orders", state(0, 1, (1, 2)))],
    "dead-broker": [*THREE, BrokerLost(broker=3), written("orders", state(0, 1, (1, 2)))],
    "single-rack": RACKS,
    "reassignment-stuck": [*ALONE, ReassignmentsRequested(targets={FIRST: (1, 9)})],
    "deletion-stuck": [*PAIR, TopicDeletionRequested(topic="orders"), BrokerLost(broker=2)],
    "unowned-partition": [*ALONE, consumer("billing", "c1"), *claims("billing", "c1-0", 0, 1)],
    "dead-owner": [*ALONE, consumer("billing", "c1"), *claims("billing", "ghost-0", 3)],
    "owner-of-nothing": [*ALONE, consumer("billing", "c1"), *claims("billing", "c1-0", 9)],
    "lagging": [*ALONE, *_read_to(1_000)],
    "offset-out-of-range": [*ALONE, *_read_to(5_200)],
    "unreadable": [*brokers(1), ZnodeUnreadable(path="/brokers/topics/orders", reason="no permission")],
    "views-differ": [
        *ALONE,
        ViewsDiffered(differences={"controller at broker 1": "is broker 2 for it, broker 1 in ZooKeeper"}),
    ],
    "quorum": [*brokers(1), QuorumDescribed(quorum=Quorum(-1, 7, 90, VOTERS, silent=(2, 3), unconfirmed=(2,)))],
    "voter-lags": [
        *brokers(1),
        QuorumDescribed(quorum=Quorum(1, 7, 90, VOTERS)),
    ],
    "upgrade-held-back": [*brokers(1, 2), _supporting(25, {1: 25, 2: 27})],
    "upgrade-unfinished": [*brokers(1), _supporting(21, {1: 25})],
    "topic-without-id": [
        *ALONE,
        TopicAssigned(topic="payments", replicas={0: (1,)}, topic_id="yINlCvBSTP-qKP-zHwtabg"),
    ],
    "log-dir-failed": [*ALONE, LogDirsDescribed(broker=1, folders=(LogDir("/disk2", "KAFKA_STORAGE_ERROR"),))],
    "replica-offline": [*THREE, ReplicasWentOffline(replicas={FIRST: (2,)})],
    "single-replica": ALONE,
    "no-spare-replica": [*THREE, _min_isr("3")],
    "non-preferred-leader": [*PAIR, written("orders", state(0, 2, (1, 2)))],
    "leader-skew": UNEVEN,
    "replica-skew": UNEVEN,
    "rack-skew": RACKS,
    "reassignment-running": [*brokers(1, 2), GROWING, written("orders", state(0, 1, (1,)))],
    "deletion-pending": [*PAIR, TopicDeletionRequested(topic="orders")],
    "preferred-election-pending": [*PAIR, PreferredElectionRequested(partitions=(FIRST,))],
    "idle-thread": [
        *ALONE,
        consumer("billing", "c1", 5),
        *(c for n in range(4) for c in claims("billing", f"c1-{n}", n)),
    ],
    "untold": [*brokers(1), ZnodeUnreadable(path="/consumers", reason=UNTOLD)],
}


def example(kind: str) -> Finding:
    """What is found in that kind's cluster."""
    return next(one for one in find(image(*EXAMPLES[kind])).found if one.kind == kind)
