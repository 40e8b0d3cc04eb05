"""Topics, brokers and the controller of a busy cluster, from dice: transactions as a controller writes them.

Carries nothing out. Every partition has two to three replicas; a dead broker leaves every ISR, but for the last member.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from model.sandbox.demo.tree import CLUSTER, DemoCommand, EndSession, InSession, broker_session
from model.znodes import paths
from model.znodes.cluster import BrokerRegistration, ClusterId, ControllerEpoch, ControllerRegistration
from model.znodes.codec import encode
from model.znodes.configs import EntityConfig
from model.znodes.topics import (
    IsrChange,
    LeaderIsrAndControllerEpoch,
    PartitionEntry,
    PartitionReassignment,
    PreferredReplicaElection,
    ReassignmentEntry,
    TopicAssignment,
)
from model.zookeeper import Create, Delete, SetData, Write
from tests.soak.shape import Shape

REASSIGN, ELECT = "/admin/reassign_partitions", "/admin/preferred_replica_election"
NO_LEADER = -1


@dataclass
class Partition:
    """One partition as its state has it."""

    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    leader: int
    leader_epoch: int = 0


@dataclass
class Topic:
    """A topic by what its znodes have."""

    topic_id: str
    partitions: list[Partition] = field(default_factory=list[Partition])
    has_config: bool = False


class TopicLife:
    """What the controller and the brokers do. `kept` topics are never deleted: consumers read them."""

    def __init__(self, shape: Shape, dice: random.Random) -> None:
        self._shape, self._dice = shape, dice
        self.topics: dict[str, Topic] = {}
        self.kept = shape.groups
        self._alive = set(range(1, shape.brokers + 1))
        self._controller, self._epoch, self._made = 1, 1, 0

    def founding(self) -> Iterator[DemoCommand]:
        """The first tree."""
        yield InSession(CLUSTER, tuple(_with_parents(paths.PATHS_AT_BROKER_START)))
        yield InSession(CLUSTER, (Create("/cluster"), Create("/cluster/id", encode(_ID))))
        for broker in sorted(self._alive):
            yield self._register(broker)
        yield InSession(CLUSTER, (Create("/controller_epoch", encode(ControllerEpoch(0))),))
        yield self._elected()
        for _ in range(self._shape.topics):
            yield from self.create_topic()

    def rewrite_states(self) -> Iterator[DemoCommand]:
        """Leaders move within the ISR, followers fall behind and catch up."""
        name = self._some_topic()
        rows = range(len(self.topics[name].partitions))
        for row in self._dice.sample(rows, self._dice.randint(1, len(rows))):
            partition = self.topics[name].partitions[row]
            alive = [broker for broker in partition.replicas if broker in self._alive]
            if alive:
                partition.isr = tuple(sorted(self._dice.sample(alive, self._dice.randint(1, len(alive)))))
                partition.leader, partition.leader_epoch = partition.isr[0], partition.leader_epoch + 1
                yield InSession(CLUSTER, (self._state(name, row),))

    def create_topic(self) -> Iterator[DemoCommand]:
        """Always a name that was never there."""
        self._made += 1
        name, topic = f"topic-{self._made:06}", Topic(f"{self._made:021d}A")
        self.topics[name] = topic
        topic.partitions += [self._placed() for _ in range(self._shape.partitions)]
        yield InSession(
            CLUSTER,
            (
                Create(paths.topic_path(name), self._assignment(topic)),
                Create(paths.partitions_path(name)),
            ),
        )
        yield InSession(CLUSTER, tuple(self._states_made(name, 0)))

    def replace_topic(self) -> Iterator[DemoCommand]:
        """One goes as Kafka deletes it, bottom-up, and another comes."""
        name = self._dice.choice([*self.topics][self.kept :])
        topic = self.topics.pop(name)
        yield InSession(CLUSTER, (Create(paths.delete_topic_path(name)),))
        rows = range(len(topic.partitions))
        states = (paths.partition_state_path(name, row) for row in rows)
        folders = (paths.partition_path(name, row) for row in rows)
        yield InSession(CLUSTER, tuple(map(Delete, (*states, *folders, paths.partitions_path(name)))))
        last = [paths.topic_path(name), paths.delete_topic_path(name)]
        config = [paths.config_path(f"topics/{name}")] if topic.has_config else []
        yield InSession(CLUSTER, tuple(map(Delete, (*config, *last))))
        yield from self.create_topic()

    def add_partitions(self) -> Iterator[DemoCommand]:
        """Some more, up to twice as many as at first; then the topic is replaced."""
        name = self._some_topic()
        topic = self.topics[name]
        first, more = len(topic.partitions), self._dice.randint(1, 4)
        if first + more > 2 * self._shape.partitions:
            yield from self.replace_topic()
            return
        topic.partitions += [self._placed() for _ in range(more)]
        yield InSession(CLUSTER, (SetData(paths.topic_path(name), self._assignment(topic)),))
        yield InSession(CLUSTER, tuple(self._states_made(name, first)))

    def configure(self) -> Iterator[DemoCommand]:
        """A topic gets a setting, or another value of it."""
        name = self._some_topic()
        topic = self.topics[name]
        config = encode(EntityConfig(config={"retention.ms": str(self._dice.randrange(10**9))}))
        path = paths.config_path(f"topics/{name}")
        yield InSession(CLUSTER, (SetData(path, config) if topic.has_config else Create(path, config),))
        topic.has_config = True

    def ask_for_work(self) -> Iterator[DemoCommand]:
        """Requests to the controller come, and are done."""
        name = self._some_topic()
        moved = ReassignmentEntry(topic=name, partition=0, replicas=self._placed().replicas)
        chosen = PartitionEntry(topic=name, partition=0)
        asked = (
            (REASSIGN, encode(PartitionReassignment(partitions=(moved,)))),
            (ELECT, encode(PreferredReplicaElection(partitions=(chosen,)))),
            ("/isr_change_notification/isr_change_0000000001", encode(IsrChange(partitions=(chosen,)))),
        )
        for path, data in asked:
            yield InSession(CLUSTER, (Create(path, data),))
        for path, _ in asked:
            yield InSession(CLUSTER, (Delete(path),))

    def broker_dies(self) -> Iterator[DemoCommand]:
        """Its session ends, and every state that names it is written anew, in one burst; so again when it is back."""
        broker = self._dice.choice(sorted(self._alive))
        self._alive.remove(broker)
        yield EndSession(broker_session(broker))
        if broker == self._controller:
            self._controller = self._dice.choice(sorted(self._alive))
            self._epoch += 1
            yield self._elected()
        yield InSession(CLUSTER, tuple(self._left(broker)))
        self._alive.add(broker)
        yield self._register(broker)
        yield InSession(CLUSTER, tuple(self._rejoined(broker)))

    def controller_moves(self) -> Iterator[DemoCommand]:
        """It resigns, and another broker is elected."""
        resigned = InSession(broker_session(self._controller), (Delete("/controller"),))
        self._controller = self._dice.choice(sorted(self._alive))
        self._epoch += 1
        yield resigned
        yield self._elected()

    def _left(self, broker: int) -> Iterator[Write]:
        for name, topic in self.topics.items():
            for row, partition in enumerate(topic.partitions):
                if broker in partition.isr:
                    others = tuple(member for member in partition.isr if member != broker)
                    partition.isr = others or partition.isr
                    partition.leader = others[0] if others else NO_LEADER
                    partition.leader_epoch += 1
                    yield self._state(name, row)

    def _rejoined(self, broker: int) -> Iterator[Write]:
        for name, topic in self.topics.items():
            for row, partition in enumerate(topic.partitions):
                if broker in partition.replicas and (broker not in partition.isr or partition.leader == NO_LEADER):
                    partition.isr = tuple(sorted({*partition.isr, broker}))
                    partition.leader = broker if partition.leader == NO_LEADER else partition.leader
                    yield self._state(name, row)

    def _some_topic(self) -> str:
        return self._dice.choice([*self.topics])

    def _placed(self) -> Partition:
        replicas = tuple(self._dice.sample(sorted(self._alive), self._dice.randint(2, 3)))
        return Partition(replicas, replicas, replicas[0])

    def _states_made(self, name: str, first: int) -> Iterator[Write]:
        for row in range(first, len(self.topics[name].partitions)):
            yield Create(paths.partition_path(name, row))
            yield Create(paths.partition_state_path(name, row), self._state(name, row).data)

    def _state(self, name: str, row: int) -> SetData:
        partition = self.topics[name].partitions[row]
        state = LeaderIsrAndControllerEpoch(
            controller_epoch=self._epoch,
            leader=partition.leader,
            leader_epoch=partition.leader_epoch,
            isr=partition.isr,
        )
        return SetData(paths.partition_state_path(name, row), encode(state))

    def _assignment(self, topic: Topic) -> bytes:
        placed = {row: partition.replicas for row, partition in enumerate(topic.partitions)}
        return encode(TopicAssignment(partitions=placed, topic_id=topic.topic_id, version=3))

    def _register(self, broker: int) -> InSession:
        host = f"broker-{broker}.example"
        registration = BrokerRegistration(
            version=5,
            host=host,
            port=9092,
            endpoints=(f"PLAINTEXT://{host}:9092",),
            rack=f"rack-{broker % self._shape.racks}",
            timestamp=str(self._dice.randrange(10**12)),
        )
        made = Create(paths.broker_path(broker), encode(registration), ephemeral=True)
        return InSession(broker_session(broker), (made,))

    def _elected(self) -> InSession:
        who = ControllerRegistration(version=2, broker_id=self._controller, timestamp=str(self._epoch))
        writes = (
            Create("/controller", encode(who), ephemeral=True),
            SetData("/controller_epoch", encode(ControllerEpoch(self._epoch))),
        )
        return InSession(broker_session(self._controller), writes)


_ID = ClusterId(cluster_id="kdrill-soak-cluster-00")


def _with_parents(folders: Sequence[str]) -> Iterator[Write]:
    made = {""}
    for folder in folders:
        steps = folder.split("/")
        for depth in range(2, len(steps) + 1):
            if (path := "/".join(steps[:depth])) not in made:
                made.add(path)
                yield Create(path)
