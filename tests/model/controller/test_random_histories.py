"""Random histories of a cluster, each from a seed: what must be true at all times, and what in the end.

Brokers die, leave, hang and come back, also while a controller is in the middle of something; people create, extend,
move and delete topics. A history that fails is repeated by its seed.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

import pytest

from model.cluster.ids import TopicPartition
from model.controller import events
from model.hosts.memory_zookeeper.operations import Create, Delete, GetData, SetData
from model.hosts.zookeeper.values import Znode
from tests.model.controller.golden_trace import writes
from tests.model.controller.trace_scenarios import assignment, create_topic
from tests.model.controller.virtual_cluster import VirtualCluster

BROKERS = (0, 1, 2, 3)
STEPS = 30


class History:
    """One history. `replicas` is what people asked for, by topic."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)
        self.cluster = VirtualCluster(auto_leader_rebalance_enable=seed % 2 == 0)
        self.replicas: dict[str, list[tuple[int, ...]]] = {}
        self.paused: set[int] = set()
        self.created = 0

    def run(self) -> None:
        for broker in BROKERS:
            self.cluster.start(broker)
        for _ in range(STEPS):
            act = self.dice.choice(ACTS)
            self.cluster.patience = self.dice.choice((-1, -1, self.dice.randrange(1, 40)))
            act(self)
            self.check()
        self.cluster.patience = -1
        for broker in BROKERS:
            self.bring_back(broker)
        self.cluster.settle()
        self.check_end()

    # What happens

    def kill(self) -> None:
        running = sorted(self.cluster.nodes.keys() - self.paused)
        if len(running) > 1:
            self.cluster.kill(self.dice.choice(running))

    def start(self) -> None:
        missing = sorted(set(BROKERS) - self.cluster.nodes.keys())
        if missing:
            self.cluster.start(self.dice.choice(missing))

    def pause(self) -> None:
        running = sorted(self.cluster.nodes.keys() - self.paused)
        if len(running) > 1:
            broker = self.dice.choice(running)
            self.paused.add(broker)
            self.cluster.pause(broker)
            self.cluster.settle()

    def resume(self) -> None:
        if self.paused:
            broker = self.dice.choice(sorted(self.paused))
            self.paused.discard(broker)
            self.cluster.resume(broker)

    def expire(self) -> None:
        running = sorted(self.cluster.nodes.keys() - self.paused)
        self.cluster.expire(self.dice.choice(running))

    def depose(self) -> None:
        self.cluster.write(Delete("/controller"))

    def create(self) -> None:
        topic = f"t{self.created}"
        self.created += 1
        self.replicas[topic] = [self._replicas() for _ in range(self.dice.randrange(1, 4))]
        create_topic(self.cluster, topic, *self.replicas[topic])

    def extend(self) -> None:
        if self.replicas:
            topic = self.dice.choice(sorted(self.replicas))
            znode = self._read(f"/brokers/topics/{topic}")
            if znode is not None and not znode["adding_replicas"] and not znode["removing_replicas"]:
                now = [tuple(znode["partitions"][str(number)]) for number in range(len(znode["partitions"]))]
                self.cluster.write(SetData(f"/brokers/topics/{topic}", assignment(topic, *now, self._replicas())))

    def delete(self) -> None:
        if self.replicas:
            topic = self.dice.choice(sorted(self.replicas))
            del self.replicas[topic]
            self.cluster.write(Create(f"/admin/delete_topics/{topic}"))

    def move(self) -> None:
        if self.replicas:
            topic, target = self.dice.choice(sorted(self.replicas)), self._replicas()
            if not self._would_drop_the_isr(topic, target):
                self._ask(events.ReassignmentsRequested, targets=((TopicPartition(topic, 0), target),))

    def prefer(self) -> None:
        self.cluster.fire_timers()

    def bring_back(self, broker: int) -> None:
        if broker in self.paused:
            self.paused.discard(broker)
            self.cluster.resume(broker)
        elif broker not in self.cluster.nodes:
            self.cluster.start(broker)

    # What must be true

    def check(self) -> None:
        active = [node.controller.context for node in self.cluster.nodes.values() if node.controller.context.active]
        assert len({context.epoch for context in active}) == len(active), "two controllers of one epoch"
        epochs: dict[str, int] = {}
        versions: dict[str, int] = {}
        for write in writes(self.cluster.log):
            if write.verb == "delete":
                epochs.pop(write.path, None)
                versions.pop(write.path, None)
            elif write.path.endswith("/state"):
                state = write.data
                assert state["leader"] in (-1, *state["isr"]), "a leader outside the ISR"
                assert state["isr"], "an empty ISR"
                assert state["leader_epoch"] >= epochs.get(write.path, 0), "a leader epoch went back"
                assert write.version == versions.get(write.path, -1) + 1, "a write went missing"
                epochs[write.path], versions[write.path] = state["leader_epoch"], write.version

    def check_end(self) -> None:
        context = self.cluster.nodes[self.cluster.controller].controller.context
        assert not context.deletion.queued
        assert not context.reassigning
        assert set(context.topics.by_name) == set(self.replicas)
        for name, partition in context.topics.items():
            assert partition.leadership is not None, name
            stored = self._read(f"/brokers/topics/{name.topic}/partitions/{name.partition}/state")
            assert stored is not None
            assert stored["leader"] == partition.leadership.state.leader != -1, name
            assert sorted(stored["isr"]) == sorted(partition.assignment.replicas), name

    def _replicas(self) -> tuple[int, ...]:
        return tuple(self.dice.sample(BROKERS, self.dice.randrange(1, 4)))

    def _ask(self, kind: type[events.RequestReceived], **fields: Any) -> None:
        active = [broker for broker, node in self.cluster.nodes.items() if node.controller.context.active]
        for broker in active:
            self.cluster.tell(broker, kind(request=10_000_000, **fields))
        self.cluster.settle()

    def _would_drop_the_isr(self, topic: str, target: tuple[int, ...]) -> bool:
        """Kafka deletes the replicas of an overridden reassignment even if nobody else is in sync."""
        znode = self._read(f"/brokers/topics/{topic}")
        state = self._read(f"/brokers/topics/{topic}/partitions/0/state")
        adding = set() if znode is None else set(znode["adding_replicas"].get("0", ()))
        return state is None or set(state["isr"]) <= adding - set(target)

    def _read(self, path: str) -> dict[str, dict[str, list[int]]] | None:
        result = self.cluster.operator.ask(GetData(path)).result
        return json.loads(result.data) if isinstance(result, Znode) else None


ACTS: tuple[Callable[[History], None], ...] = (
    History.kill,
    History.start,
    History.start,
    History.pause,
    History.resume,
    History.expire,
    History.depose,
    History.create,
    History.create,
    History.extend,
    History.delete,
    History.move,
    History.move,
    History.prefer,
)


@pytest.mark.parametrize("seed", range(60))
def test_a_history_keeps_its_promises(seed: int) -> None:
    History(seed).run()
