"""What the people and tools of golden-trace-1 did, scenario by scenario, done to our own controllers.

Each function is one scenario of the trace (a mark in `/zxmark`), to be run in order on one cluster. In S02 and S27
people only looked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from model.cluster.ids import TopicPartition
from model.controller import events_and_commands
from model.znodes.topics import (
    PartitionEntry,
    PartitionReassignment,
    PreferredReplicaElection,
    ReassignmentEntry,
    TopicAssignment,
)
from model.zookeeper import Check, Create, Delete, Multi, SetData
from tests.harness.virtual_cluster import VirtualCluster

TOPIC_IDS = {
    "t1": "gcf0J66hS7OMD5Anom956Q",
    "rf1": "S3NQ4LbpSZK9c6mDNOOCng",
    "u": "6Dv6mzLdTHGefQvWUihNBg",
    "a.b": "zs1OzVQ6SIulX1bPMtI9Xg",
}


def create_topic(cluster: VirtualCluster, topic: str, *replicas: tuple[int, ...], config: bytes = b"{}") -> None:
    """As AdminZkClient does: first the configuration, then the assignment."""
    cluster.write(Create(f"/config/topics/{topic}", b'{"version":1,"config":%s}' % config))
    cluster.write(Create(f"/brokers/topics/{topic}", assignment(topic, *replicas)))


def assignment(topic: str, *replicas: tuple[int, ...]) -> bytes:
    """A topic's payload; topics that are not in the trace get an id that says who they are."""
    partitions = dict(enumerate(replicas))
    topic_id = TOPIC_IDS.get(topic, topic.ljust(22, "A"))
    return TopicAssignment(partitions=partitions, topic_id=topic_id, version=3).to_bytes()


def elect(cluster: VirtualCluster, *names: tuple[str, int], unclean: bool = False) -> list[str]:
    """ElectLeaders; the error of each partition."""
    partitions = tuple(TopicPartition(*name) for name in names)
    answer = cluster.ask(events_and_commands.ElectionRequested, partitions=partitions, unclean=unclean)
    errors = {outcome.partition: outcome.error for outcome in answer.partitions}
    return [errors[name] for name in partitions]


def reassign(cluster: VirtualCluster, topic: str, partition: int, target: tuple[int, ...] | None) -> str:
    """AlterPartitionReassignments; the error."""
    targets = ((TopicPartition(topic, partition), target),)
    return cluster.ask(events_and_commands.ReassignmentsRequested, targets=targets).partitions[0].error


def reassign_by_znode(cluster: VirtualCluster, topic: str, partition: int, target: tuple[int, ...]) -> None:
    """The old tool."""
    entry = ReassignmentEntry(topic=topic, partition=partition, replicas=target)
    cluster.write(Create("/admin/reassign_partitions", PartitionReassignment(partitions=(entry,)).to_bytes()))


def s00(cluster: VirtualCluster) -> None:
    cluster.start(0)


def s01(cluster: VirtualCluster) -> None:
    for broker in (1, 2, 3):
        cluster.start(broker)


def s03(cluster: VirtualCluster) -> None:
    create_topic(cluster, "t1", (1, 2, 3), (2, 3, 1))


def s04(cluster: VirtualCluster) -> None:
    assert cluster.stop(1).partitions == ()


def restart(broker: int) -> Callable[[VirtualCluster], None]:
    return lambda cluster: cluster.start(broker)


def s06(cluster: VirtualCluster) -> None:
    assert elect(cluster, ("t1", 0), ("t1", 1)) == ["NONE", "ELECTION_NOT_NEEDED"]


def s07(cluster: VirtualCluster) -> None:
    cluster.kill(1)


def s09(cluster: VirtualCluster) -> None:
    names = (("t1", 0), ("t1", 1), ("nope", 0))
    entries = tuple(PartitionEntry(topic=topic, partition=partition) for topic, partition in names)
    payload = PreferredReplicaElection(partitions=entries).to_bytes()
    cluster.write(Create("/admin/preferred_replica_election", payload))


def s10(cluster: VirtualCluster) -> None:
    assert reassign(cluster, "t1", 0, (3, 0)) == "NONE"


def s11(cluster: VirtualCluster) -> None:
    reassign_by_znode(cluster, "t1", 1, (2, 0, 3))


def s12(cluster: VirtualCluster) -> None:
    cluster.stop(1)
    reassign_by_znode(cluster, "t1", 0, (3, 1))


def s13(cluster: VirtualCluster) -> None:
    assert reassign(cluster, "t1", 0, None) == "NONE"
    assert reassign(cluster, "t1", 0, (3, 1)) == "INVALID_REPLICA_ASSIGNMENT"
    assert reassign(cluster, "t1", 0, None) == "NO_REASSIGNMENT_IN_PROGRESS"


def s15(cluster: VirtualCluster) -> None:
    create_topic(cluster, "rf1", (1,), config=b'{"retention.ms":"3600000"}')
    cluster.kill(1)


def s17(cluster: VirtualCluster) -> None:
    create_topic(cluster, "u", (1, 2))
    cluster.stop(2)
    cluster.kill(1)
    cluster.start(2)
    assert elect(cluster, ("u", 0), unclean=True) == ["NONE"]


def s19(cluster: VirtualCluster) -> None:
    cluster.write(Create("/admin/delete_topics/u"))


def s20(cluster: VirtualCluster) -> None:
    cluster.stop(1)
    cluster.write(Create("/admin/delete_topics/rf1"))
    cluster.start(1)


def s21(cluster: VirtualCluster) -> None:
    cluster.write(SetData("/brokers/topics/t1", assignment("t1", (3, 0), (2, 0, 3), (1, 2), (2, 3))))


def s22(cluster: VirtualCluster) -> None:
    """A broker does it (KAFKA-16539: guarded by who the controller is); the controllers have nothing to add."""
    config = b'{"version":1,"config":{"min.insync.replicas":"2"}}'
    cluster.write(Multi((Check("/controller", 0), SetData("/config/topics/t1", config))))
    cluster.write(Create("/config/changes"))
    change = b'{"version":2,"entity_path":"topics/t1"}'
    cluster.write(Create("/config/changes/config_change_", change, sequential=True))


def s23(cluster: VirtualCluster) -> None:
    """In the trace, broker 1 was the fastest of three to run for the office."""
    cluster.first = (1, 0, 2, 3)
    cluster.kill(0)
    assert cluster.controller == 1


def s25(cluster: VirtualCluster) -> None:
    """In the trace, it was broker 3."""
    cluster.first = (3, 2, 1, 0)
    cluster.write(Delete("/controller"))
    assert cluster.controller == 3


def s26(cluster: VirtualCluster) -> None:
    create_topic(cluster, "a.b", (2,))


def look(cluster: VirtualCluster) -> None:
    cluster.settle()


SCENARIOS: Mapping[str, Callable[[VirtualCluster], None]] = {
    "S00": s00,
    "S01": s01,
    "S02": look,
    "S03": s03,
    "S04": s04,
    "S05": restart(1),
    "S06": s06,
    "S07": s07,
    "S08": restart(1),
    "S09": s09,
    "S10": s10,
    "S11": s11,
    "S12": s12,
    "S13": s13,
    "S14": restart(1),
    "S15": s15,
    "S16": restart(1),
    "S17": s17,
    "S18": restart(1),
    "S19": s19,
    "S20": s20,
    "S21": s21,
    "S22": s22,
    "S23": s23,
    "S24": restart(0),
    "S25": s25,
    "S26": s26,
    "S27": look,
}
