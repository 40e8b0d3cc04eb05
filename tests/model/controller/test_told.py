"""What controllers say of their decisions, and what they tell brokers, event by event, kept to be compared."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import groupby
from pathlib import Path

import pytest

from model.cluster.ids import TopicPartition
from model.cluster.texts import replicas as listed
from model.controller.events_and_commands import BrokerRequest, LeaderAndIsrRequest, StopReplicaRequest
from model.controller.generations import generation_of
from model.controller.leader_and_isr import LeaderAndIsr, ReplicaAssignment
from model.hosts.virtual.journal import JournalRecord, Reasoned, RequestSent, Transaction
from model.znodes.topics import PartitionEntry, PreferredReplicaElection
from model.zookeeper import Create, Delete, SetData
from tests.harness.virtual_cluster import VirtualCluster
from tests.kept_text import assert_kept
from tests.model.controller.trace_scenarios import SCENARIOS, reassign_by_znode
from tests.model.controller.transaction_text import transaction

KEPT = Path(__file__).parent / "told"
RELEASES = ("0.8.0", "0.8.1", "1.0", "1.1", "2.3", "2.6", "3.9")
"""Releases whose controllers go different ways."""


def told(records: Iterable[JournalRecord], *, transactions: bool = False) -> Iterator[str]:
    """Sentences and requests; a request once for all who get the same, one after the other."""

    def text(record: JournalRecord) -> tuple[int | None, str] | None:
        match record:
            case RequestSent():
                return record.sender, request_text(record.request)
            case Reasoned():
                return None, f"{record.by}: {record.why}"
            case Transaction() if transactions and (record.answer.ok or record.answer.parts):
                return None, f"    {transaction(record.write, record.answer)}"
            case _:
                return None

    relevant = [(found, record) for record in records if (found := text(record))]
    for (sender, what), same in groupby(relevant, key=lambda pair: pair[0]):
        receivers = [record.receiver for _, record in same if isinstance(record, RequestSent)]
        yield what if sender is None else f"{sender} → {listed(receivers)}: {what}"


def request_text(request: BrokerRequest) -> str:
    """Everything in it but the topic ids."""
    epoch = f"(controller epoch {request.controller_epoch})"
    if isinstance(request, StopReplicaRequest):
        stops = (f"{p.partition} epoch {p.leader_epoch}{' delete' * p.delete}" for p in request.partitions)
        return f"StopReplica {', '.join(stops)} {epoch}"
    if isinstance(request, LeaderAndIsrRequest):
        serves = (
            f"{p.partition} {state_text(p.state)} of {p.controller_epoch}, {assigned(p.assignment)}{' new' * p.is_new}"
            for p in request.partitions
        )
        return f"LeaderAndIsr {'; '.join(serves)}; leaders {listed(request.live_leaders)} {epoch}"
    knows = (
        f"{p.partition} {state_text(p.state)} of {p.controller_epoch}, {listed(p.replicas)}"
        + f" offline {listed(p.offline_replicas)}" * bool(p.offline_replicas)
        for p in request.partitions
    )
    return f"UpdateMetadata {'; '.join(knows) or '-'}; live {listed(request.live_brokers)} {epoch}"


def state_text(state: LeaderAndIsr) -> str:
    return f"L{state.leader} e{state.leader_epoch} v{state.partition_epoch} ISR {listed(state.isr)}" + (
        " recovering" * state.recovering
    )


def assigned(assignment: ReplicaAssignment) -> str:
    moves = ((" adding ", assignment.adding), (" removing ", assignment.removing))
    return listed(assignment.replicas) + "".join(word + listed(found) for word, found in moves if found)


def test_in_the_golden_trace() -> None:
    """What is written to ZooKeeper there is compared with Kafka's in `test_trace_1`."""
    cluster = VirtualCluster(auto_leader_rebalance_enable=False)
    lines: list[str] = []
    for name, act in SCENARIOS.items():
        mark = len(cluster.world.journal)
        act(cluster)
        lines += [f"# {name}", *told(cluster.world.journal[mark:])]
    assert_kept(KEPT / "trace-1.txt", lines)


def create(cluster: VirtualCluster, topic: str, partitions: str) -> None:
    """As every release reads it."""
    cluster.write(Create(f"/brokers/topics/{topic}", b'{"version":1,"partitions":%s}' % partitions.encode()))


def add_partition(cluster: VirtualCluster, topic: str, partitions: str) -> None:
    """As the tool does."""
    cluster.write(SetData(f"/brokers/topics/{topic}", b'{"version":1,"partitions":%s}' % partitions.encode()))


def prefer(cluster: VirtualCluster, *names: TopicPartition) -> None:
    """The tool that elects preferred leaders."""
    entries = tuple(PartitionEntry(topic=name.topic, partition=name.partition) for name in names)
    cluster.write(Create("/admin/preferred_replica_election", PreferredReplicaElection(partitions=entries).to_bytes()))


Act = Callable[[], object]


def played(cluster: VirtualCluster, acts: Mapping[str, Act]) -> Iterator[str]:
    """What is told and written in each act."""
    mark = 0
    for what, act in acts.items():
        act()
        records = cluster.world.journal[mark:]
        mark = len(cluster.world.journal)
        yield from (f"# {what}", *told(records, transactions=True))


def life(cluster: VirtualCluster) -> dict[str, Act]:
    """A broker stops, one dies, the controller too; leaders go back, a partition moves, a topic is deleted."""
    return {
        "three brokers": lambda: [cluster.start(broker) for broker in (0, 1, 2)],
        "a topic": lambda: (
            cluster.write(Create("/admin")),
            create(cluster, "t", '{"0":[1,2],"1":[2,1],"2":[0,1,2],"3":[2]}'),
        ),
        "2 is stopped": lambda: cluster.stop(2),
        "1 dies": lambda: cluster.kill(1),
        "a topic for the dead": lambda: create(cluster, "n", '{"0":[1],"1":[1,0]}'),
        "both are back": lambda: [cluster.start(broker) for broker in (1, 2)],
        "a preferred election": lambda: prefer(cluster, TopicPartition("t", 0), TopicPartition("x", 0)),
        "timers": cluster.fire_timers,
        "a reassignment": lambda: reassign_by_znode(cluster, "t", 0, (0, 2)),
        "one that is refused": lambda: reassign_by_znode(cluster, "x", 0, (0, 2)),
        "a partition more": lambda: add_partition(cluster, "n", '{"0":[1],"1":[1,0],"2":[2,0]}'),
        "2 is stopped again": lambda: cluster.stop(2),
        "a reassignment that has to wait": lambda: reassign_by_znode(cluster, "n", 1, (0, 2)),
        "the controller dies": lambda: cluster.kill(0),
        "2 is back": lambda: cluster.start(2),
        "a deletion while 0 is dead": lambda: cluster.write(Create("/admin/delete_topics/t")),
        "a partition more of what is being deleted": lambda: add_partition(
            cluster, "t", '{"0":[0,2],"1":[2,1],"2":[0,1,2],"3":[2],"4":[1]}'
        ),
        "and a deletion of nothing": lambda: cluster.write(Create("/admin/delete_topics/x")),
        "it is back": lambda: cluster.start(0),
    }


def sabotage(cluster: VirtualCluster) -> dict[str, Act]:
    """Somebody else removes znodes, or writes what no controller can read."""
    state = "/brokers/topics/t/partitions/{}/state"
    newer = b'{"controller_epoch":99,"leader":1,"version":1,"leader_epoch":0,"isr":[1,2]}'
    return {
        "three brokers and a topic": lambda: (
            *[cluster.start(broker) for broker in (0, 1, 2)],
            cluster.write(Create("/admin")),
            create(cluster, "t", '{"0":[1,2],"1":[1,2],"2":[1,2],"3":[1,2]}'),
        ),
        "states of three partitions": lambda: (
            cluster.write(Delete(state.format(0))),
            cluster.write(SetData(state.format(1), b"x")),
            cluster.write(SetData(state.format(2), newer)),
        ),
        "1 is stopped": lambda: cluster.stop(1),
        "2 dies": lambda: cluster.kill(2),
        "2 is back": lambda: cluster.start(2),
        "a reassignment": lambda: reassign_by_znode(cluster, "t", 0, (2, 0)),
        "one that cannot be read": lambda: cluster.write(Create("/admin/reassign_partitions", b"x")),
        "an election that cannot be read": lambda: cluster.write(Create("/admin/preferred_replica_election", b"x")),
        "the topic's assignment": lambda: cluster.write(SetData("/brokers/topics/t", b"x")),
        "a topic that cannot be read": lambda: cluster.write(Create("/brokers/topics/u", b"x")),
        "ISR changes and log dirs": lambda: (
            cluster.write(Create("/isr_change_notification/isr_change_", b"x", sequential=True)),
            cluster.write(Create("/log_dir_event_notification/log_dir_event_", b"x", sequential=True)),
        ),
        "a log dir of 2": lambda: cluster.write(
            Create("/log_dir_event_notification/log_dir_event_", b'{"version":1,"broker":2,"event":1}', sequential=True)
        ),
        "the topic": lambda: cluster.write(Delete("/brokers/topics/t")),
        "the controller": lambda: cluster.kill(0),
        "the controller's znode": lambda: cluster.write(SetData("/controller", b"x")),
        "its epoch": lambda: (cluster.write(SetData("/controller_epoch", b"7")), cluster.write(Delete("/controller"))),
        "1 is back": lambda: cluster.start(1),
    }


@pytest.mark.parametrize("release", RELEASES)
def test_by_controllers_of_a_release(release: str) -> None:
    cluster = VirtualCluster(generation=generation_of(release), auto_leader_rebalance_enable=True)
    assert_kept(KEPT / f"{release}.txt", played(cluster, life(cluster)))


@pytest.mark.parametrize("release", ["1.0", "3.9"])
def test_by_controllers_whose_znodes_somebody_changes(release: str) -> None:
    cluster = VirtualCluster(generation=generation_of(release), auto_leader_rebalance_enable=True)
    assert_kept(KEPT / f"sabotage-{release}.txt", played(cluster, sabotage(cluster)))
