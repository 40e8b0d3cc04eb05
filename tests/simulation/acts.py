"""What goes wrong and what operators do, each drawn from the history's dice. What makes no sense now does nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import TypeVar

import msgspec

from model.cluster.ids import TopicPartition
from model.controller import events_and_commands
from model.hosts.virtual.scheduled_events import ZOOKEEPER
from model.hosts.virtual.virtual_cluster import VirtualCluster
from model.znodes.topics import (
    PartitionEntry,
    PartitionReassignment,
    PreferredReplicaElection,
    ReassignmentEntry,
    TopicAssignment,
)
from model.zookeeper import Create, Delete, SetData
from tests.simulation.scenario import Scenario
from tests.simulation.znodes import partition_state, partitions, topic, topics, znode

T = TypeVar("T")
TOPICS = ("orders", "a.b", "t")


class Operation:
    """The cluster under test, the dice, and what is remembered of what was done to it."""

    def __init__(self, scenario: Scenario, cluster: VirtualCluster, dice: Random) -> None:
        self.scenario = scenario
        self.cluster = cluster
        self.dice = dice
        self.unclean = scenario.unclean
        """Whether an unclean election has been allowed or asked for."""
        self.wanted: set[str] = set()
        """Topics that were created and not marked for deletion."""
        self.cuts: set[tuple[int, int]] = set()
        self.paused: set[int] = set()
        self.overridden: set[TopicPartition] = set()
        """Partitions that were to go elsewhere while they were on their way."""
        self._created = 0
        self._moves: dict[str, list[int]] = {}

    # Faults

    def crash(self) -> None:
        self._with(self.running(), self.cluster.crash)

    def crash_controller(self) -> None:
        """Its successor is going to be in the middle of something when the next act comes."""
        for broker in self.cluster.controllers[:1]:
            self.cluster.crash(broker)
            self.cluster.expire(broker)

    def boot(self) -> None:
        missing = [broker for broker in self.scenario.brokers if broker not in self.cluster.brokers]
        self._with([broker for broker in missing if (ZOOKEEPER, broker) not in self.cuts], self.start)

    def start(self, broker: int) -> None:
        self.cluster.boot(broker, self.scenario.registration(broker), self.scenario.settings(broker))

    def bounce(self) -> None:
        """Dead and back before its session ended, or so soon after that nobody noticed."""
        broker = self._with(self.running(), self.cluster.crash)
        if broker is not None and (ZOOKEEPER, broker) not in self.cuts:
            if self.dice.random() < 0.7:
                self.cluster.expire(broker)
            self.start(broker)

    def pause(self) -> None:
        broker = self._with(self.running(), self.cluster.pause)
        if broker is not None:
            self.paused.add(broker)

    def resume(self) -> None:
        broker = self._with(sorted(self.paused & set(self.cluster.brokers)), self.cluster.resume)
        if broker is not None:
            self.paused.discard(broker)

    def expire(self) -> None:
        self._with(self.cluster.brokers, self.cluster.expire)

    def cut(self) -> None:
        ends = self.dice.sample((ZOOKEEPER, *self.scenario.brokers), 2)
        link = (min(ends), max(ends))
        self.cuts.add(link)
        self.cluster.cut(*link)

    def mend(self) -> None:
        link = self._with(sorted(self.cuts), lambda link: self.cluster.mend(*link))
        if link is not None:
            self.cuts.remove(link)

    def shut_down(self) -> None:
        self._with(self.running(), self.cluster.shut_down)

    def fail_log_dir(self) -> None:
        broker = self._one(self.running())
        if broker is not None:
            held = [name for name, replicas in partitions(self.cluster.zookeeper) if broker in replicas]
            self.cluster.fail_log_dir(broker, self.dice.sample(held, self.dice.randrange(len(held) + 1)))

    # Operators

    def depose(self) -> None:
        self.cluster.write(Delete("/controller"))

    def create_topic(self) -> None:
        name = self.dice.choice(TOPICS)
        state = self.cluster.zookeeper
        if znode(state, f"/brokers/topics/{name}") or znode(state, f"/admin/delete_topics/{name}"):
            return
        factor = self.dice.randrange(1, min(3, len(self.scenario.brokers)) + 1)
        self.create(name, {number: self.replicas(factor) for number in range(self.dice.randrange(1, 4))})

    def create(self, name: str, replicas: dict[int, tuple[int, ...]]) -> None:
        """A topic with these replicas, by partition."""
        self._created += 1
        self.cluster.write(Create(f"/config/topics/{name}", b'{"version":1,"config":{}}'))
        version = self.scenario.generation.forms.topic_version
        topic_id = f"{name}-{self._created}".ljust(22, "A") if version > 2 else None
        payload = TopicAssignment(partitions=replicas, topic_id=topic_id, version=version)
        if self.cluster.write(Create(f"/brokers/topics/{name}", payload.to_bytes())).ok:
            self.wanted.add(name)

    def delete_topic(self) -> None:
        """Not while it is being reassigned: in Kafka, each may then wait for the other, or an entry is left behind."""
        name = self._one([name for name in sorted(self.wanted) if not self._is_moving(name)])
        if name is not None and self.cluster.write(Create(f"/admin/delete_topics/{name}")).ok:
            self.wanted.remove(name)

    def add_partitions(self) -> None:
        name = self._one(sorted(self.wanted))
        before = topic(self.cluster.zookeeper, name or "")
        if name is not None and before is not None and not before.adding_replicas and not before.removing_replicas:
            added = {**before.partitions, len(before.partitions): self.replicas(len(before.partitions[0]))}
            payload = msgspec.structs.replace(before, partitions=added)
            self.cluster.write(SetData(f"/brokers/topics/{name}", payload.to_bytes()))

    def reassign(self) -> None:
        name = self.some_partition()
        if name is not None:
            self._move(name, self.replicas(self.dice.randrange(1, 4)))

    def cancel(self) -> None:
        moving = [TopicPartition(t, n) for t, a in topics(self.cluster.zookeeper).items() for n in a.adding_replicas]
        name = self._one(moving)
        if name is not None:
            self._move(name, None)

    def reassign_by_znode(self) -> None:
        name = self.some_partition()
        if name is not None:
            self._note_override(name)
            target = self.replicas(self.dice.randrange(1, 4))
            entry = ReassignmentEntry(topic=name.topic, partition=name.partition, replicas=target)
            payload = PartitionReassignment(partitions=(entry,)).to_bytes()
            self.cluster.write(Create("/admin/reassign_partitions", payload))

    def elect_preferred(self) -> None:
        names = tuple(name for name, _ in partitions(self.cluster.zookeeper))
        self.cluster.ask(events_and_commands.ElectionRequested(request=0, partitions=names))

    def elect_preferred_by_znode(self) -> None:
        names = [name for name, _ in partitions(self.cluster.zookeeper)]
        entries = tuple(PartitionEntry(topic=name.topic, partition=name.partition) for name in names)
        payload = PreferredReplicaElection(partitions=entries).to_bytes()
        self.cluster.write(Create("/admin/preferred_replica_election", payload))

    def elect_unclean(self) -> None:
        if self.dice.random() < 0.3:
            self.unclean = True
            names = tuple(name for name, _ in partitions(self.cluster.zookeeper))
            self.cluster.ask(events_and_commands.ElectionRequested(request=0, partitions=names, unclean=True))

    def allow_unclean(self) -> None:
        name = self._one(sorted(self.wanted))
        if name is not None and self.dice.random() < 0.3:
            self.unclean = True
            config = b'{"version":1,"config":{"unclean.leader.election.enable":"true"}}'
            self.cluster.write(SetData(f"/config/topics/{name}", config))
            for broker in self.cluster.controllers:
                self.cluster.tell(broker, events_and_commands.UncleanElectionAllowed(topic=name))

    # Dice

    def running(self) -> list[int]:
        """Brokers that are not paused."""
        return [broker for broker in self.cluster.brokers if broker not in self.paused]

    def replicas(self, count: int) -> tuple[int, ...]:
        """Somewhere, dead brokers included."""
        return tuple(self.dice.sample(self.scenario.brokers, min(count, len(self.scenario.brokers))))

    def some_partition(self) -> TopicPartition | None:
        """A partition of a topic that is not to be deleted. Kafka forgets about moving one that was never led."""
        state = self.cluster.zookeeper
        names = [name for name, _ in partitions(state) if name.topic in self.wanted and partition_state(state, name)]
        return self._one(names)

    def _with(self, choices: Sequence[T], do: Callable[[T], object]) -> T | None:
        """Do it with one of these, if there is one."""
        if not choices:
            return None
        chosen = self.dice.choice(choices)
        do(chosen)
        return chosen

    def _one(self, choices: Sequence[T]) -> T | None:
        return self._with(choices, lambda _: None)

    def _move(self, name: TopicPartition, target: tuple[int, ...] | None) -> None:
        self._note_override(name)
        number = self.cluster.ask(events_and_commands.ReassignmentsRequested(request=0, targets=((name, target),)))
        self._moves.setdefault(name.topic, []).append(number)

    def _note_override(self, name: TopicPartition) -> None:
        if self._is_moving(name.topic):
            self.overridden.add(name)

    def _is_moving(self, name: str) -> bool:
        asked = znode(self.cluster.zookeeper, "/admin/reassign_partitions")
        assignment = topic(self.cluster.zookeeper, name)
        moves = assignment is not None and (assignment.adding_replicas or assignment.removing_replicas)
        waits = any(self.cluster.answer(number) is None for number in self._moves.get(name, ()))
        return bool(moves or waits or (asked is not None and name.encode() in asked.data))
