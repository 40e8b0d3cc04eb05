"""A share group (KIP-932) of Kafka's own consumers: members and what they read, as `kafka-share-groups` tells them."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest

from model.cluster.image_parts import SHARE
from model.sandbox.java import java_environment
from model.sandbox.processes import GuardedProcess
from model.sources.addresses import parse_kafka_address
from model.sources.feed import Feed
from model.sources.kafka.kafka_source import KafkaSource
from tests.conformance.kafka.client import Client
from tests.conformance.kafka.releases import QUORUMS
from tests.conformance.kafka.tool_server import run_tool
from tests.harness.kraft import KraftCluster
from tests.harness.waiting import eventually

pytestmark = pytest.mark.conformance

GROUP, TOPIC = "sharers", "shared"
Members = dict[str, str]
"""Member → `shared:0,2`."""


def share_consumer(cluster: KraftCluster, name: str) -> GuardedProcess:
    arguments = ("--bootstrap-server", cluster.bootstrap, "--topic", TOPIC, "--group", GROUP)
    command = cluster.kafka.java(cluster.kafka.release.classes["share-consume"], *arguments, heap_mb=64)
    log = cluster.folder / f"{name}.log"
    return GuardedProcess(command, folder=cluster.folder, log=log, environment=java_environment())


def theirs(cluster: KraftCluster) -> Members:
    asked = ("--bootstrap-server", cluster.bootstrap, "--describe", "--members", "--group", GROUP)
    printed = run_tool(cluster.kafka, cluster.kafka.release.classes["share-groups"], *asked)
    rows = [line.split() for line in printed.splitlines() if line.startswith(f"{GROUP} ")]
    return {row[1]: row[-1] for row in rows}


def ours(feed: Feed) -> Members:
    group = feed.moment.image.classic_groups.get(GROUP)
    members = {} if group is None or group.kind != SHARE else group.members
    reads = {name: sorted(read.partition for read in member.reads) for name, member in members.items()}
    return {name: f"{TOPIC}:{','.join(map(str, numbers))}" for name, numbers in reads.items() if numbers}


def at_rest(feed: Feed) -> bool:
    return not feed.moment.image.classic_groups[GROUP].is_rebalancing


@contextmanager
def followed(cluster: KraftCluster) -> Iterator[Feed]:
    source = KafkaSource(parse_kafka_address(cluster.bootstrap), interval_s=0.5)
    feed = Feed(source.name, lambda _: None)
    source.open(feed)
    try:
        yield feed
    finally:
        source.close()


@pytest.mark.parametrize("quorum", QUORUMS[-1:], indirect=True, scope="package")
def test_a_share_group_is_as_kafka_describes_it(quorum: KraftCluster) -> None:
    Client(quorum.bootstrap).create(TOPIC, {number: [number % 3 + 1] for number in range(4)})
    with ExitStack() as stack:
        feed = stack.enter_context(followed(quorum))
        stays, leaves = (share_consumer(quorum, name) for name in ("stays", "leaves"))
        stack.callback(stays.close)
        stack.callback(leaves.close)
        eventually(lambda: len(ours(feed)) == 2 and at_rest(feed), "two readers", 90, standing=lambda: ours(feed))
        eventually(lambda: ours(feed) == theirs(quorum), "both to say the same", standing=lambda: ours(feed))
        assert sorted(len(read) for read in ours(feed).values()) == [len(f"{TOPIC}:0,1")] * 2

        leaves.send(signal.SIGTERM)
        everything = [f"{TOPIC}:0,1,2,3"]
        eventually(lambda: [*ours(feed).values()] == everything and at_rest(feed), "one reader of all", 90)
        last = feed.moment.image.classic_groups[GROUP].rebalances[-1]
        assert (last.moved, [why.rpartition(" ")[2] for why in last.why]) == (2, ["left"])
