"""A plan of ours is carried out by Kafka's own ReassignPartitionsCommand, and undone by it."""

from __future__ import annotations

from pathlib import Path

import pytest

from model.cluster.ids import TopicPartition
from model.controller.requests import requested_moves
from tests.conformance.kafka.commands import Commands
from tests.harness.command import kdrill
from tests.harness.kafka import Cluster
from tests.harness.waiting import eventually

pytestmark = [pytest.mark.conformance, pytest.mark.parametrize("cluster", ["3.9.1"], indirect=True)]

BEFORE = {0: [1, 2], 1: [2, 1], 2: [1, 3], 3: [3, 2]}


def kafka_does(cluster: Cluster, commands: Commands, file: Path, deed: str) -> str:
    """What the tool prints; it fails the test where it fails."""
    words = ["--bootstrap-server", cluster.bootstrap, "--reassignment-json-file", str(file), deed]
    return commands.ask("reassign", *words)


def carried_out(cluster: Cluster, commands: Commands, file: Path) -> None:
    targets = requested_moves(file.read_bytes()).targets
    assert "Successfully started partition reassignment" in kafka_does(cluster, commands, file, "--execute")
    eventually(lambda: targets.items() <= replicas(cluster).items(), "the replicas to be where they shall be")
    said = kafka_does(cluster, commands, file, "--verify")
    assert all(f"Reassignment of partition {name} is completed." in said for name in targets)


def replicas(cluster: Cluster) -> dict[TopicPartition, tuple[int, ...]]:
    """Those of partitions that are not being moved any more."""
    znode = cluster.read("/brokers/topics/leaving")
    moving = {*znode.get("adding_replicas", {}), *znode.get("removing_replicas", {})}
    found = {number: tuple(brokers) for number, brokers in znode["partitions"].items() if number not in moving}
    return {TopicPartition("leaving", int(number)): brokers for number, brokers in found.items()}


def test_a_plan_is_executed_verified_and_rolled_back(cluster: Cluster, commands: Commands, tmp_path: Path) -> None:
    cluster.create("leaving", BEFORE)
    eventually(lambda: all(len(cluster.state("leaving", p).get("isr", ())) == 2 for p in BEFORE), "all to be in sync")
    plan, rollback = tmp_path / "plan.json", tmp_path / "rollback.json"
    wish = ["--remove-broker", "1", "--drain-only", "--topic", "leaving"]
    done = kdrill("plan", cluster.source_url, *wish, "-o", plan, "--rollback", rollback)
    assert done.returncode == 0, done.stderr
    assert {name.partition for name in requested_moves(plan.read_bytes()).targets} == {0, 1, 2}

    carried_out(cluster, commands, plan)
    assert not any(1 in brokers for brokers in replicas(cluster).values())
    carried_out(cluster, commands, rollback)
    assert replicas(cluster) == {TopicPartition("leaving", n): tuple(brokers) for n, brokers in BEFORE.items()}
