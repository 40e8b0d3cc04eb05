"""One class name, one meaning: a public class of the product has a name of its own."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

from tests.architecture.source_tree import PACKAGES, modules, syntax

ONE_THING_IN_SEVERAL_PLACES = {
    "what every state machine here has": "Command Decision Event TimePassed Turn",
    "events and commands that several machines have": """
        AskZooKeeper CloseSession CommitRequested ControllerAnswered LeaveRequested RequestAnswered RequestReceived
        SessionEstablished SessionExpired StartFetching StartTimer StopFetching TimerFired ZooKeeperAnswered
    """,
    "an operation of ZooKeeper, and its bytes on the wire": "AddWatch Exists GetData SetWatches Sync",
    "an event, the record that tells of it, and the row of a drill": """
        BrokerFenced BrokerRegistered ControllerElected QuorumDescribed ReassignmentsRequested TopicRemoved
    """,
    "as controllers of both kinds do it": "BrokerRegistration ElectLeaders Partition RegisterBroker",
    "what is asked of Kafka, and of our own controller and sandbox": "NewTopic",
    "in the log, and as its dump prints it": "AbortedTransaction EpochStart ProducerState",
    "of a replica, and of a quorum's voter or observer": "Download EpochEnd FetchAnswer FetchSnapshot",
    "by the znode, and by who serves it": "Endpoint GroupView Member",
    "of a recording, and of a drill": "Outage",
    "Kafka's name for both: a partition's LeaderAndIsr, and its place in the state machine": "PartitionState",
}


def classes() -> dict[str, list[Path]]:
    """By the names of public ones: the modules."""
    found: dict[str, list[Path]] = defaultdict(list)
    for module in modules(*PACKAGES):
        for node in syntax(module).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found[node.name].append(module)
    return found


def test_a_class_has_a_name_of_its_own() -> None:
    allowed = {name for names in ONE_THING_IN_SEVERAL_PLACES.values() for name in names.split()}
    several = {name: where for name, where in classes().items() if len(where) > 1}
    assert {name: where for name, where in several.items() if name not in allowed} == {}
    assert allowed - several.keys() == set()
