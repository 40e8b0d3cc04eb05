"""Groups that real brokers coordinate: what our source says of them is what ConsumerGroupCommand --describe says."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer

from model.cluster.ids import OFFSETS_TOPIC, TopicPartition
from model.cluster.image_parts import GroupImage
from model.sources.feed import Feed, Moment
from model.sources.kafka.groups import CoordinatorGroupsSource
from model.sources.source import FactBatch
from tests.conformance.kafka.releases import install_or_skip
from tests.conformance.kafka.tool_server import run_tool
from tests.harness.kafka import Cluster
from tests.harness.waiting import eventually

pytestmark = pytest.mark.conformance

COMMAND = {
    "1.1.1": "kafka.admin.ConsumerGroupCommand",
    "3.9.1": "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand",
}
PARTITIONS = 4

GENERATION = re.compile(r'"generation(?:Id)?":(\d+)')
"""As DumpLogSegments prints it."""

Described = dict[TopicPartition, tuple[int, int, int, str]]
"""Partition → offset, log end, lag, member id."""


def described(cluster: Cluster, group: str) -> Described:
    """As Kafka prints it."""
    arguments = ("--bootstrap-server", cluster.bootstrap, "--describe", "--group", group)
    printed = run_tool(cluster.kafka, COMMAND[cluster.kafka.release.version], *arguments)
    lines = [line.split() for line in printed.splitlines() if line.strip()]
    columns = next(line for line in lines if "TOPIC" in line)
    rows = [dict(zip(columns, line, strict=False)) for line in lines[lines.index(columns) + 1 :]]
    return {
        TopicPartition(row["TOPIC"], int(row["PARTITION"])): (
            int(row["CURRENT-OFFSET"]), int(row["LOG-END-OFFSET"]), int(row["LAG"]), row["CONSUMER-ID"],
        )
        for row in rows
    }  # fmt: skip


def last_generation(cluster: Cluster, folder: Path) -> int:
    """Of the only group there is, as Kafka's tool reads it in the broker's own log."""
    (log,) = folder.glob(f"**/{OFFSETS_TOPIC}-0/*.log")
    printed = run_tool(cluster.kafka, "kafka.tools.DumpLogSegments", "--offsets-decoder", "--files", str(log))
    return int(GENERATION.findall(printed)[-1])


def told(moment: Moment, group: GroupImage) -> Described:
    """As the image has it; without partitions whose ends have not been read yet."""
    ends = moment.image.log_ends
    return {
        read: (offset, ends[read], ends[read] - offset, group.owners.get(read, "-"))
        for read, offset in group.offsets.items()
        if read in ends
    }


def produce(producer: Producer, count: int) -> None:
    """Records for all partitions in turn, until the brokers have them."""
    for number in range(count):
        producer.produce("orders", str(number), partition=number % PARTITIONS)
    assert eventually(lambda: producer.flush(1) == 0, "all records to be acknowledged")


def billing(cluster: Cluster) -> Consumer:
    """The group's only consumer, subscribed; it commits when it is told to."""
    consumer = Consumer(
        {
            "log_level": 0,
            "bootstrap.servers": cluster.bootstrap,
            "group.id": "billing",
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
        }
    )
    consumer.subscribe(["orders"])
    return consumer


def consume(consumer: Consumer, count: int) -> None:
    """Reads so many records, and commits them."""
    read = 0
    while read < count:
        messages = consumer.consume(count - read, timeout=1)
        read += sum(message.error() is None for message in messages)
    consumer.commit(asynchronous=False)


@contextmanager
def followed(cluster: Cluster) -> Iterator[Feed]:
    """The feed of our source, which is open as long as the context."""
    feed = Feed("test", lambda _: None)
    feed.take(FactBatch((), 1, 1, listing=True))
    source = CoordinatorGroupsSource(cluster.bootstrap, interval_s=0.2)
    source.open(feed)
    try:
        yield feed
    finally:
        source.close()


@pytest.mark.parametrize("version", ["1.1.1", "3.9.1"])
def test_a_group_is_as_kafka_describes_it(version: str, zookeeper: str, tmp_path: Path) -> None:
    with Cluster(install_or_skip(version), zookeeper, tmp_path, size=1) as cluster:
        cluster.create("orders", dict.fromkeys(range(PARTITIONS), (1,)))
        producer = Producer({"log_level": 0, "bootstrap.servers": cluster.bootstrap, "acks": "all"})
        produce(producer, 20)
        consumer = billing(cluster)
        with followed(cluster) as feed:
            consume(consumer, 20)
            produce(producer, 6)
            theirs = described(cluster, "billing")

            def equal() -> bool:
                group = feed.moment.image.classic_groups.get("billing")
                return group is not None and group.state == "Stable" and told(feed.moment, group) == theirs

            assert [lag for _, _, lag, _ in theirs.values()] == [2, 2, 1, 1]
            eventually(equal, f"{feed.moment.image.classic_groups} to be {theirs}")
            first = eventually(lambda: feed.moment.image.classic_groups["billing"].generation, "a generation")
            assert first == last_generation(cluster, tmp_path)
            consumer.close()
            eventually(lambda: feed.moment.image.classic_groups["billing"].state == "Empty", "the group to be empty")
            eventually(lambda: feed.moment.image.classic_groups["billing"].generation == first + 1, "its generation")
            assert feed.moment.image.classic_groups["billing"].rebalances[-1].generation == first + 1
