"""What a controller knows that becomes the active one: all that the log before it comes to."""

from __future__ import annotations

from typing import Any

from model.cluster.ids import TopicPartition
from model.hosts.quorum.controller_state import TermState
from model.kraft_controller.cluster import BrokerChanged, MetadataRecord, PartitionChanged
from model.kraft_controller.compacted import CompactedLog
from model.kraft_controller.decide import DirectoriesFailed, decide
from model.kraft_controller.partition_change import UNASSIGNED
from model.kraft_controller.requests import AlterPartitionReassignments, Reassignment, alter_reassignments
from model.metadata_log.encoder import encode_record

CLUSTER, TOPIC_ID = "MkU3OEVBNTcwNTJENDM2Qg", "AAAAAAAAAAAAAAAAAAAAOQ"
ORDERS = TopicPartition("orders", 0)
DIRS = {broker: tuple(f"{'B' * 19}{broker}{each}A" for each in (1, 2)) for broker in (1, 2, 3)}


def broker(id_: int) -> tuple[str, int, dict[str, Any]]:
    about = {"brokerId": id_, "brokerEpoch": 10 + id_, "incarnationId": f"{'C' * 19}{id_}0A"}
    rest: dict[str, Any] = {"isMigratingZkBroker": False, "endPoints": [], "features": [], "rack": None}
    return (
        "RegisterBrokerRecord",
        3,
        {**about, **rest, "fenced": False, "inControlledShutdown": False, "logDirs": DIRS[id_]},
    )


PARTITION: dict[str, Any] = {
    **{"partitionId": 0, "topicId": TOPIC_ID, "replicas": [1, 2], "isr": [1, 2], "leader": 1, "leaderRecoveryState": 0},
    **{"removingReplicas": [], "addingReplicas": [], "leaderEpoch": 4, "partitionEpoch": 7},
}
LOG: tuple[tuple[str, int, dict[str, Any]], ...] = (
    ("FeatureLevelRecord", 0, {"name": "metadata.version", "featureLevel": 33}),
    *map(broker, DIRS),
    ("TopicRecord", 0, {"name": "orders", "topicId": TOPIC_ID}),
    ("PartitionRecord", 1, {**PARTITION, "directories": [DIRS[1][0], DIRS[2][1]]}),
)


def taken_over(*more: tuple[str, int, dict[str, Any]]) -> TermState:
    log = CompactedLog()
    for offset, record in enumerate((*LOG, *more)):
        log.take(encode_record(*record), offset)
    return TermState(log, CLUSTER, len(LOG) + len(more))


def changes(records: tuple[MetadataRecord, ...]) -> list[tuple[Any, ...]]:
    told = (each.change for each in records if isinstance(each, PartitionChanged))
    return [(each.leader, each.isr, each.directories) for each in told]


def test_a_directory_that_fails_takes_its_partitions_along_also_under_the_next_controller() -> None:
    state = taken_over()
    other = decide(state.cluster, DirectoriesFailed(1, (DIRS[1][1],))).records
    assert other == (BrokerChanged(1, directories=DIRS[1][:1]),)
    (change, told) = decide(state.cluster, DirectoriesFailed(1, (DIRS[1][0],))).records
    assert changes((change,)) == [(2, (2,), None)]
    assert told == BrokerChanged(1, directories=DIRS[1][1:])
    state.write((change, told))
    assert state.cluster.partition(ORDERS).directories == (DIRS[1][0], DIRS[2][1])


def test_replicas_that_move_take_what_is_known_of_directories_along() -> None:
    wanted = AlterPartitionReassignments((Reassignment(ORDERS, (2, 3)),))
    (record,) = alter_reassignments(taken_over().cluster, wanted).records
    assert isinstance(record, PartitionChanged)
    assert (record.change.replicas, record.change.directories) == ((2, 3, 1), (DIRS[2][1], UNASSIGNED, DIRS[1][0]))


def test_who_stops_in_order_is_still_stopping_for_the_next_controller() -> None:
    stops = {"brokerId": 1, "brokerEpoch": 11, "inControlledShutdown": 1}
    state = taken_over(("BrokerRegistrationChangeRecord", 1, stops))
    assert (state.cluster.active, state.cluster.brokers[1].in_controlled_shutdown) == ({2, 3}, True)
