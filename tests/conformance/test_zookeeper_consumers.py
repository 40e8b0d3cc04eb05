"""Our ZooKeeper consumers in one group with real ones: ConsoleConsumers of 1.1.1 on brokers of 1.1.1.

They agree on who owns what through joins, deaths and an expired session. Every message is consumed, and once, but for
those that a member takes which does not know yet that its session has ended.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from model.cluster.ids import TopicPartition
from model.consumers.zookeeper_groups.claiming import owners_of
from model.znodes.consumers import decode_consumer
from model.znodes.paths import member_path, members_path
from tests.conformance.kafka.client import Client
from tests.conformance.kafka.old_consumer import OldConsumer
from tests.harness.host_processes import ConsumerProcess
from tests.harness.kafka import Cluster
from tests.harness.waiting import eventually

pytestmark = [pytest.mark.conformance, pytest.mark.parametrize("cluster", ["1.1.1"], indirect=True)]

FROM_THE_START = "auto.offset.reset=smallest"
"""ConsoleConsumer refuses to start with this once its group has offsets."""
PARTITIONS = 6


class Group:
    """A group of both kinds of consumers on topics of its own."""

    def __init__(self, cluster: Cluster, name: str, topics: tuple[str, ...]) -> None:
        self.cluster, self.name, self.topics = cluster, name, topics
        self.client = Client(cluster.bootstrap)
        self.sent: list[str] = []
        for topic in topics:
            cluster.create(topic, {number: [number % 3 + 1] for number in range(PARTITIONS)})
        eventually(lambda: all(cluster.state(t, p) for t in topics for p in range(PARTITIONS)), "the topics' leaders")

    def produce(self, topic: str, count: int) -> None:
        messages = [f"{self.name} {len(self.sent) + number}" for number in range(count)]
        self.client.produce(topic, messages)
        self.sent += messages

    def owners(self) -> dict[TopicPartition, str]:
        """As in ZooKeeper."""
        base = f"/consumers/{self.name}/owners"
        return {
            TopicPartition(topic, int(number)): self.cluster.text(f"{base}/{topic}/{number}")
            for topic in self.topics
            for number in self.cluster.children(f"{base}/{topic}")
        }

    def await_agreement(self, *members: str, strategy: str = "zk-range") -> None:
        """All partitions are owned as these members' registrations demand, by the rule that we say Kafka has."""

        def agreed() -> bool:
            group, names = self.name, self.cluster.children(members_path(self.name))
            if set(names) != set(members):
                return False
            told = {name: self.cluster.text(member_path(group, name)).encode() for name in names}
            if not all(told.values()):
                return False
            partitions = dict.fromkeys(self.topics, tuple(range(PARTITIONS)))
            registrations = {name: decode_consumer(data) for name, data in told.items()}
            owners = self.owners()
            return len(owners) == PARTITIONS * len(self.topics) and owners == owners_of(
                strategy, registrations, partitions
            )

        eventually(agreed, f"{members} to agree on what they own", patience_s=200, standing=self.standing)

    def standing(self) -> str:
        """Who is registered, who owns what, and the ends of the members' logs."""
        names = self.cluster.children(members_path(self.name))
        told = [f"{name}: {self.cluster.text(member_path(self.name, name))}" for name in names]
        logs = [f"== {log.name}\n{log.read_text()[-3000:]}" for log in self.cluster.folder.glob(f"*{self.name}_*.log")]
        return "\n".join(["; they stand so:", *told, f"owners: {self.owners()}", *logs])

    def await_commits(self) -> None:
        """All that was sent is consumed and committed."""
        base = f"/consumers/{self.name}/offsets"
        paths = [f"{base}/{topic}/{number}" for topic in self.topics for number in range(PARTITIONS)]
        eventually(
            lambda: sum(int(self.cluster.text(path) or 0) for path in paths) == len(self.sent),
            f"the offsets of {len(self.sent)} messages",
        )

    def consume_as(self, *members: str) -> set[str]:
        """Once they agree, send messages through the first topic, until all are consumed and committed."""
        self.await_agreement(*members)
        self.produce(self.topics[0], 60)
        self.await_commits()
        return set(self.sent[-60:])


@pytest.fixture
def running() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def test_they_share_a_group_through_joins_kills_and_an_expired_session(cluster: Cluster, running: ExitStack) -> None:
    group = Group(cluster, "mixed", ("orders",))

    def theirs(name: str, *settings: str) -> OldConsumer:
        consumer = OldConsumer(cluster, group.name, "orders", name, *settings)
        running.callback(consumer.kill)
        return consumer

    def ours(name: str, *options: str) -> ConsumerProcess:
        consumer = ConsumerProcess(cluster.folder, cluster.zookeeper, group.name, name, *options)
        running.callback(consumer.kill)
        return consumer

    b = theirs("b", FROM_THE_START)
    group.await_agreement(b.member)
    group.produce("orders", 60)
    a = ours("a", "--topic", "orders:2")
    group.consume_as(a.member, b.member)
    c, d = theirs("c"), ours("d", "--whitelist", "ord.*")
    group.consume_as(a.member, b.member, c.member, d.member)
    c.kill()
    group.consume_as(a.member, b.member, d.member)
    a.kill()
    d.pause()  # for longer than its session lives: it goes on with what is not its own any more
    split = group.consume_as(b.member)
    d.resume()
    group.consume_as(b.member, d.member)
    assert list(d.lines("session-expired"))
    assert d.stop() == 0
    group.consume_as(b.member)
    consumed = Counter(a.values() + d.values() + b.printed("mixed ") + c.printed("mixed "))
    assert consumed.keys() == set(group.sent)
    assert {value for value, times in consumed.items() if times > 1} <= split & set(d.values())


def test_they_deal_by_round_robin_alike(cluster: Cluster, running: ExitStack) -> None:
    group = Group(cluster, "dealt", ("dealt-a", "dealt-b"))
    strategy = "partition.assignment.strategy=roundrobin"
    b = OldConsumer(cluster, group.name, "dealt-.*", "b", FROM_THE_START, strategy)
    running.callback(b.kill)
    group.await_agreement(b.member, strategy="zk-roundrobin-1.0")  # before any offsets of ours make it refuse to start
    options = ("--topic", "dealt-a:3", "--topic", "dealt-b:1", "--strategy", "roundrobin")
    a = ConsumerProcess(cluster.folder, cluster.zookeeper, group.name, "a", *options)
    running.callback(a.kill)
    group.await_agreement(a.member, b.member, strategy="zk-roundrobin-1.0")
    for topic in group.topics:
        group.produce(topic, 30)
    group.await_commits()
    assert Counter(a.values() + b.printed("dealt ")) == Counter(group.sent)
