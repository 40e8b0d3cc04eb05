"""What fails in a KRaft cluster: image, events and findings of `kafka://` against what Kafka's own tools say then."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from model.cluster.cluster_image import ClusterImage
from model.sources.feed import Feed
from model.sources.kafka.address import parse_address
from model.sources.kafka.kafka_source import KafkaSource
from tests.conformance.kafka.brokers import until
from tests.conformance.kafka.client import Client
from tests.conformance.kafka.commands import Commands
from tests.conformance.kafka.kraft import KraftCluster
from tests.conformance.our_view import partitions_in

pytestmark = pytest.mark.conformance


@contextmanager
def followed(cluster: KraftCluster, topics: str, *numbers: int) -> Iterator[Feed]:
    """What kdrill knows by asking these nodes, or all, twice a second; it knows the topics already."""
    source = KafkaSource(parse_address(cluster.address(*numbers)), interval_s=0.5)
    feed = Feed(source.name, lambda _: None)
    source.open(feed)
    try:
        until(lambda: leaders(feed, f"{topics}-single") == [4], "the first look")
        until(lambda: leaders(feed, f"{topics}-pair") == [4, 1], "the first look")
        yield feed
    finally:
        source.close()


def leaders(feed: Feed, topic: str) -> list[int]:
    known = feed.moment.image.topics.get(topic)
    return [] if known is None else known.leader.tolist()


def describes_the_same(cluster: KraftCluster, image: ClusterImage) -> bool:
    return partitions_in(image) == Commands(cluster).describe()


@pytest.fixture
def topics(quorum: KraftCluster, request: pytest.FixtureRequest) -> Iterator[str]:
    """Prefix of two topics: -single has its only replica on broker 4, -pair on brokers 4 and 1, with a min ISR of 2."""
    name = request.node.originalname.removeprefix("test_")[:40]
    client = Client(quorum.bootstrap)
    client.create(f"{name}-single", {0: [4]}, min_insync_replicas="1")
    client.create(f"{name}-pair", {0: [4, 1], 1: [1, 4]}, min_insync_replicas="2")
    yield name
    quorum.restore()
    client = Client(quorum.bootstrap)
    until(lambda: client.partition(f"{name}-pair", 0).isr == {1, 4}, "both replicas to be in sync")


def test_a_broker_is_killed_and_comes_back(quorum: KraftCluster, topics: str) -> None:
    with followed(quorum, topics, 1, 2, 3) as feed:
        quorum.kill(4)
        until(lambda: leaders(feed, f"{topics}-pair") == [1, 1], "broker 4 to be missed")
        until(lambda: describes_the_same(quorum, feed.moment.image), "both to say the same", 30)
        quorum.start(4)
        until(lambda: leaders(feed, f"{topics}-single") == [4], "broker 4 to lead", 90)


def test_a_broker_is_stopped_in_order(quorum: KraftCluster, topics: str) -> None:
    with followed(quorum, topics, 1, 2, 3) as feed:
        quorum.stop(4)
        until(lambda: leaders(feed, f"{topics}-pair") == [1, 1], "broker 4 to be missed")
        until(lambda: describes_the_same(quorum, feed.moment.image), "both to say the same", 30)


def test_most_voters_are_killed(quorum: KraftCluster, topics: str) -> None:
    with followed(quorum, topics) as feed:
        before = feed.moment.image
        quorum.kill(2, 3)
        until(lambda: "quorum" in feed.moment.status.warning, "the quorum to be missed", 60)
        assert feed.moment.image.topics[f"{topics}-pair"] == before.topics[f"{topics}-pair"]
        quorum.restore()
        until(lambda: not feed.moment.status.warning, "the quorum to answer", 60)
