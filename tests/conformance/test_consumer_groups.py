"""Groups that real brokers coordinate: what our source says of them is what ConsumerGroupCommand --describe says."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer

from model.cluster.group_image import GroupImage
from model.cluster.ids import TopicPartition
from model.sandbox.java import java_environment
from model.sources.coordinator_groups.source import CoordinatorGroupsSource
from model.sources.feed import Feed, Moment
from tests.conformance.kafka.brokers import Cluster, until
from tests.conformance.kafka.commands import Commands
from tests.conformance.kafka.releases import install_or_skip

COMMAND = {
    "1.1.1": "kafka.admin.ConsumerGroupCommand",
    "3.9.1": "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand",
}
PARTITIONS = 4

Described = dict[TopicPartition, tuple[int, int, int, str]]
"""Partition → offset, log end, lag, member id."""


def described(cluster: Cluster, group: str) -> Described:
    """As Kafka prints it."""
    arguments = ("--bootstrap-server", cluster.bootstrap, "--describe", "--group", group)
    command = cluster.kafka.java(COMMAND[cluster.kafka.release.version], *arguments, heap_mb=128)
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=90, env=java_environment())
    lines = [line.split() for line in done.stdout.splitlines() if line.strip()]
    columns = next(line for line in lines if "TOPIC" in line)
    rows = [dict(zip(columns, line, strict=False)) for line in lines[lines.index(columns) + 1 :]]
    return {
        TopicPartition(row["TOPIC"], int(row["PARTITION"])): (
            int(row["CURRENT-OFFSET"]), int(row["LOG-END-OFFSET"]), int(row["LAG"]), row["CONSUMER-ID"],
        )
        for row in rows
    }  # fmt: skip


def told(moment: Moment, group: GroupImage) -> Described:
    """As the image has it."""
    ends = moment.image.log_ends
    return {
        read: (offset, ends[read], ends[read] - offset, group.owners.get(read, "-"))
        for read, offset in group.offsets.items()
    }


@pytest.mark.parametrize("version", ["1.1.1", "3.9.1"])
def test_a_group_is_as_kafka_describes_it(version: str, zookeeper: str, tmp_path: Path) -> None:
    with Cluster(install_or_skip(version), zookeeper, tmp_path, size=1) as cluster:
        Commands(cluster).create("orders", dict.fromkeys(range(PARTITIONS), (1,)))
        producer = Producer({"bootstrap.servers": cluster.bootstrap, "acks": "all"})
        for number in range(20):
            producer.produce("orders", str(number), partition=number % PARTITIONS)
        assert until(lambda: producer.flush(1) == 0, "all records to be acknowledged")
        consumer = Consumer(
            {
                "bootstrap.servers": cluster.bootstrap,
                "group.id": "billing",
                "auto.offset.reset": "earliest",
                "enable.auto.commit": False,
            }
        )
        consumer.subscribe(["orders"])
        feed = Feed("test", lambda _: None)
        source = CoordinatorGroupsSource(cluster.bootstrap, interval_s=0.2)
        source.open(feed)
        try:
            read = 0
            while read < 20:
                messages = consumer.consume(20 - read, timeout=1)
                read += sum(message.error() is None for message in messages)
            consumer.commit(asynchronous=False)
            for number in range(6):
                producer.produce("orders", str(number), partition=number % PARTITIONS)
            assert until(lambda: producer.flush(1) == 0, "all records to be acknowledged")
            theirs = described(cluster, "billing")

            def equal() -> bool:
                group = feed.moment.image.classic_groups.get("billing")
                return group is not None and group.state == "Stable" and told(feed.moment, group) == theirs

            assert [lag for _, _, lag, _ in theirs.values()] == [2, 2, 1, 1]
            until(equal, f"{feed.moment.image.classic_groups} to be {theirs}")
            consumer.close()
            until(lambda: feed.moment.image.classic_groups["billing"].state == "Empty", "the group to be empty")
        finally:
            source.close()
