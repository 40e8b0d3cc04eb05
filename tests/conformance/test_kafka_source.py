"""`kafka://` against real brokers: what it says equals what Kafka's tools say, and what kdrill reads in ZooKeeper."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from confluent_kafka import Producer

from model.sandbox.java import java_environment
from model.sandbox.processes import GuardedProcess
from tests.conformance.kafka.client import Client
from tests.conformance.kafka.commands import Commands
from tests.conformance.our_view import both_know, partitions_of, snapshot_of
from tests.harness.command import kdrill
from tests.harness.kafka import Cluster
from tests.harness.kraft import CLUSTER_ID, KraftCluster
from tests.harness.waiting import eventually

pytestmark = pytest.mark.conformance

RECORDS = 20


def produce(bootstrap: str, topic: str, partitions: int) -> None:
    producer = Producer({"log_level": 0, "bootstrap.servers": bootstrap, "acks": "all"})
    for number in range(RECORDS):
        producer.produce(topic, "x" * 100, partition=number % partitions)
    assert eventually(lambda: producer.flush(1) == 0, "all records to be acknowledged")


def consumer(cluster: KraftCluster, group: str, protocol: str) -> GuardedProcess:
    """Kafka's console consumer as a member of a group, for as long as the context."""
    arguments = ("--bootstrap-server", cluster.bootstrap, "--topic", "orders", "--from-beginning", "--group", group)
    settings = (f"group.protocol={protocol}", "auto.commit.interval.ms=100")
    properties = (word for setting in settings for word in ("--consumer-property", setting))
    command = cluster.kafka.java(cluster.kafka.release.classes["consume"], *arguments, *properties, heap_mb=64)
    log = cluster.folder / f"{group}.log"
    return GuardedProcess(command, folder=cluster.folder, log=log, environment=java_environment())


def test_a_kraft_cluster_is_as_kafka_describes_it(kraft: KraftCluster) -> None:
    commands = Commands(kraft)
    Client(kraft.bootstrap).create("orders", {0: [1, 2], 1: [2, 1], 2: [1, 2]}, retention_ms="3600000")
    produce(kraft.bootstrap, "orders", 3)
    eventually(lambda: partitions_of(kraft.source_url) == commands.describe(), "both to say the same", 90)

    seen = snapshot_of(kraft.source_url)
    assert (seen["cluster_id"], seen["kafka_generation"], seen["complete"]) == (CLUSTER_ID, "kraft", True)
    assert [(broker["id"], broker["rack"]) for broker in seen["brokers"]] == [(1, "r1"), (2, "r2")]
    assert seen["controller"] == {"broker": 1, "epoch": seen["quorum"]["leader_epoch"], "since_ms": 0}
    assert [voter["id"] for voter in seen["quorum"]["voters"]] == [1]
    assert [observer["id"] for observer in seen["quorum"]["observers"]] == [2]
    orders = seen["topics"]["orders"]
    assert orders["config"] == {"retention.ms": "3600000"}
    assert len(orders["topic_id"]) == 22
    assert all(partition["size_bytes"] >= RECORDS // 3 * 100 for partition in orders["partitions"].values())
    assert seen["configs"]["server.properties/2"]["broker.session.timeout.ms"] == "6000"


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_groups_of_both_protocols(kraft: KraftCluster, protocol: str) -> None:
    group = f"billing-{protocol}"
    process = consumer(kraft, group, protocol)
    try:

        def read() -> dict[str, Any] | None:
            seen = snapshot_of(kraft.source_url)
            known = seen["groups"].get(group, {})
            is_read = known.get("offsets", {}).get("orders") == seen.get("log_ends", {}).get("orders", 0)
            return known if known.get("state") == "Stable" and is_read else None

        known = eventually(read, f"{group} to have read everything", 90)
    finally:
        process.close()
    (member,) = known["members"]
    assert known["kind"] == protocol
    assert known["owners"] == {"orders": {"0": member, "1": member, "2": member}}
    assert known["members"][member]["subscription"] == {"orders": 1}
    assert known["generation"] == 1


@pytest.fixture
def dead_broker(kraft: KraftCluster) -> Iterator[int]:
    """Killed for one test."""
    kraft.kill(2)
    yield 2
    kraft.start(2)
    eventually(lambda: kraft.living() == {1, 2}, "broker 2 to be back", 90)


@pytest.mark.usefixtures("dead_broker")
def test_a_broker_that_dies_is_missed(kraft: KraftCluster) -> None:
    eventually(lambda: kraft.living() == {1}, "the end of broker 2's session", 90)
    seen = eventually(
        lambda: (
            found
            if (found := snapshot_of(kraft.source_url))["topics"]["orders"]["partitions"]["1"]["leader"] == 1
            else 0
        ),
        "another leader",
    )
    assert [broker["id"] for broker in seen["brokers"]] == [1]
    assert seen["topics"]["orders"]["partitions"]["1"]["isr"] == [1]
    assert {"dead-broker", "under-replicated"} <= {finding["kind"] for finding in seen["findings"]}


def test_brokers_and_zookeeper_tell_the_same(cluster: Cluster) -> None:
    version = cluster.kafka.release.version
    if version == "0.8.2.2":
        done = kdrill("status", f"kafka://{cluster.bootstrap}")
        assert done.returncode == 1
        assert "older than 0.10" in done.stderr
        return
    cluster.create("both", {0: [1, 2], 1: [3, 1]}, retention_ms="3600000")
    brokers = f"kafka://{cluster.bootstrap}"

    def equal() -> bool:
        one, other = both_know(snapshot_of(cluster.source_url)), both_know(snapshot_of(brokers))
        if version == "1.1.1":  # leader epochs are told since 2.1
            for seen in (one, other):
                for _, _, partitions in seen["topics"].values():
                    for facts in partitions.values():
                        facts.pop(4)
        return one == other and "both" in one["topics"]

    eventually(equal, "both to say the same", 90)
