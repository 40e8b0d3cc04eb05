"""What fails in a KRaft cluster: image, events and findings of `kafka://` against what Kafka's own tools say then."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from model.cluster.findings import Finding
from model.drills.drill import run
from model.drills.scenario import of_brokers
from model.interchange.topics_text import partition_line
from model.sources.addresses import parse_kafka_address
from model.sources.feed import Feed
from model.sources.kafka.kafka_source import KafkaSource
from tests.conformance.kafka.client import Client
from tests.conformance.kafka.commands import Commands
from tests.harness.kraft import KraftCluster
from tests.harness.waiting import eventually
from tui.cli.main import main

pytestmark = pytest.mark.conformance

BROKER = 4
"""The one that is no voter."""


class Followed:
    """A cluster as kdrill knows it by asking some of its nodes, beside what Kafka's tools say."""

    def __init__(self, cluster: KraftCluster, topics: str, feed: Feed) -> None:
        self.single, self.pair = f"{topics}-single", f"{topics}-pair"
        self.has_elr = cluster.kafka.release.version != "3.9.1"
        self.feed = feed
        self._cluster = cluster

    def leaders(self, topic: str) -> list[int]:
        known = self.feed.moment.image.topics.get(topic)
        return [] if known is None else known.leader.tolist()

    def quorum(self) -> tuple[int | None, list[int], tuple[int, ...]]:
        """The controller, the voters that answer, and brokers that nobody can say anything of."""
        image = self.feed.moment.image
        assert image.quorum is not None
        return image.controller.broker, sorted(image.quorum.present), image.unconfirmed_brokers

    def wait_for_leaders(self, single: list[int], pair: list[int]) -> None:
        eventually(lambda: (self.leaders(self.single), self.leaders(self.pair)) == (single, pair), "these leaders", 90)

    def agrees_with_topic_command(self) -> None:
        """On all partitions, eligible leader replicas included, byte for byte, once both have heard the news."""
        texts: list[list[str]] = []

        def agree() -> bool:
            printed = Commands(self._cluster).describe_text().splitlines()
            topics = self.feed.moment.image.topics.values()
            ours = [partition_line(topic, row) for topic in topics for row in range(len(topic))]
            texts[:] = [sorted(line for line in printed if line.startswith("\t")), sorted(ours)]
            return texts[0] == texts[1]

        eventually(agree, "both to say the same", standing=lambda: texts)

    def prints_the_same(self, capfd: pytest.CaptureFixture[str]) -> None:
        """`kdrill topics describe`, the topic's line included."""
        capfd.readouterr()
        with pytest.raises(SystemExit) as ended:
            main(["topics", f"kafka://{self._cluster.address(1, 2, 3)}", "describe", "--topic", self.single])
        told = capfd.readouterr()
        assert (ended.value.code, told.out) == (0, Commands(self._cluster).describe_text(self.single)), told.err

    def agrees_on_who_is_fenced(self) -> None:
        """Before 4.0 Kafka does not tell."""
        fenced = set(self.feed.moment.image.fenced)
        assert fenced == ({BROKER} if self.has_elr else set())
        if self.has_elr:
            asked = ("list-endpoints", "--bootstrap-server", self._cluster.address(1), "--include-fenced-brokers")
            printed = Commands(self._cluster).ask("cluster", *asked)
            rows = [line.split() for line in printed.splitlines()]
            assert {int(row[0]) for row in rows if "fenced" in row} == fenced, printed

    def found(self, kind: str, subject: str) -> Finding:
        return next(one for one in self.feed.moment.findings.found if (one.kind, one.subject) == (kind, subject))

    def errors(self) -> set[str]:
        """Kinds of what is wrong."""
        return {one.kind for one in self.feed.moment.findings.found if one.severity == "error"}

    def events(self, subject: str) -> list[str]:
        """Their kinds, oldest first."""
        return [change.kind for change in self.feed.moment.feed if change.subject == subject]


@contextmanager
def followed(cluster: KraftCluster, topics: str, *numbers: int) -> Iterator[Followed]:
    """Asks these nodes, or all, twice a second; it knows the topics already."""
    source = KafkaSource(parse_kafka_address(cluster.address(*numbers)), interval_s=0.5)
    feed = Feed(source.name, lambda _: None)
    source.open(feed)
    try:
        known = Followed(cluster, topics, feed)
        known.wait_for_leaders([BROKER], [BROKER, 1])
        yield known
    finally:
        source.close()


@pytest.fixture
def topics(quorum: KraftCluster, request: pytest.FixtureRequest) -> Iterator[str]:
    """Prefix of two topics: -single has its only replica on broker 4, -pair on brokers 4 and 1, with a min ISR of 2."""
    name = request.node.originalname.removeprefix("test_")
    client = Client(quorum.bootstrap)
    client.create(f"{name}-single", {0: [BROKER]}, min_insync_replicas="1")
    client.create(f"{name}-pair", {0: [BROKER, 1], 1: [1, BROKER]}, min_insync_replicas="2")
    yield name
    quorum.restore()
    client = Client(quorum.bootstrap)
    eventually(lambda: client.partition(f"{name}-pair", 0).isr == {1, BROKER}, "both replicas to be in sync")


def test_a_broker_is_killed_and_comes_back(quorum: KraftCluster, topics: str) -> None:
    with followed(quorum, topics, 1, 2, 3) as seen:
        quorum.kill(BROKER)
        seen.wait_for_leaders([-1], [1, 1])
        seen.agrees_with_topic_command()
        seen.agrees_on_who_is_fenced()
        eligible = ": it is in the ELR, nothing is lost" if seen.has_elr else ""
        way_out = seen.found("offline", seen.single).action
        assert way_out.startswith(f"Bring broker 4 back{eligible}. Unclean election cannot help")
        standing = "registered and fenced" if seen.has_elr else "fenced or not registered"
        assert seen.found("dead-broker", "broker 4").what.startswith(f"{standing}, yet it has ")

        quorum.start(BROKER)
        seen.wait_for_leaders([BROKER], [1, 1])
        # It was killed, so Kafka takes it out of the ELR as it comes back: whether a look falls in between is chance.
        back = {"partition-online", "last-known-leader"} if seen.has_elr else {"partition-online"}
        assert set(seen.events(f"{seen.single}-0")) - back == {"partition-offline"} | (
            {"isr-shrunk", "isr-expanded"} if seen.has_elr else set()
        )
        gone = ["broker-fenced", "broker-unfenced"] if seen.has_elr else ["broker-lost", "broker-registered"]
        eventually(
            lambda: seen.events("broker 4") == gone, "the broker to be back", standing=lambda: seen.feed.moment.feed
        )


def test_a_broker_is_stopped_in_order_and_comes_back(
    quorum: KraftCluster, topics: str, capfd: pytest.CaptureFixture[str]
) -> None:
    with followed(quorum, topics, 1, 2, 3) as seen:
        quorum.stop(BROKER)
        seen.wait_for_leaders([-1], [1, 1])
        seen.prints_the_same(capfd)
        seen.agrees_on_who_is_fenced()

        quorum.start(BROKER)
        seen.wait_for_leaders([BROKER], [1, 1])
        assert [kind for kind in seen.events(f"{seen.single}-0") if "isr" not in kind] == [
            "partition-offline",
            "partition-online",  # which is what a clean election is called
        ]


def test_most_voters_are_killed_and_come_back(quorum: KraftCluster, topics: str) -> None:
    with followed(quorum, topics) as seen:
        eventually(lambda: "server.properties/1" in seen.feed.moment.image.configs, "settings")
        before = seen.feed.moment.image
        forecast = run(before, of_brokers([2, 3]))
        assert forecast.assumptions.session_timeout_ms == 6_000
        quorum.kill(2, 3)
        eventually(lambda: seen.errors() == {"quorum"}, "the quorum to be missed")
        # The voter that is left may lead for a moment yet, until it hears of no majority.
        eventually(lambda: seen.quorum() == (None, [1], (2, 3)), "nobody to lead", standing=seen.quorum)
        image = seen.feed.moment.image
        assert image.topics == forecast.after.topics == before.topics  # nobody can elect
        assert (forecast.turnout and forecast.turnout.left, forecast.hurts) == ((1,), True)
        quorum.restore()
        eventually(lambda: not seen.errors(), "a new controller")
        assert seen.feed.moment.image.controller.broker in (1, 2, 3)
        assert seen.feed.moment.image.unconfirmed_brokers == ()
