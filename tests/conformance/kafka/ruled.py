"""One history for two clusters: of real brokers, and of ours in virtual time with a controller of the same release.

Both are asked through znodes, as the tools of all releases up to 2.x ask, so that nothing but the controllers differs.
Each looks at what its controller left behind.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from difflib import ndiff
from typing import Any

from kazoo.exceptions import NoNodeError

from model.controller import events_and_commands
from model.controller.generations import default_settings, generation_of
from model.zookeeper import Create, Delete, SetData
from tests.conformance.kafka.seen import PREFERRED_ELECTION, REASSIGNMENTS, Seen, Znodes, marker, seen
from tests.conformance.kafka.topic_znodes import Assignment, assignment_payload, topic_znodes
from tests.harness.kafka import Cluster
from tests.harness.virtual_cluster import VirtualCluster
from tests.harness.waiting import eventually

SETTLED_S = 2.0


class RealZnodes:
    """Of a real ZooKeeper, by the session of the cluster's test."""

    def __init__(self, client: Any) -> None:
        self.client = client

    def create(self, path: str, data: bytes) -> None:
        self.client.create(path, data)

    def set(self, path: str, data: bytes) -> None:
        self.client.set(path, data)

    def delete(self, path: str) -> None:
        self.client.delete(path)

    def get(self, path: str) -> tuple[bytes, int] | None:
        try:
            data, stat = self.client.get(path)
        except NoNodeError:
            return None
        return data or b"", stat.version


class VirtualZnodes:
    """Of a virtual cluster's ZooKeeper: a write returns when all has followed from it."""

    def __init__(self, cluster: VirtualCluster) -> None:
        self.cluster = cluster

    def create(self, path: str, data: bytes) -> None:
        self.cluster.write(Create(path, data))

    def set(self, path: str, data: bytes) -> None:
        self.cluster.write(SetData(path, data))

    def delete(self, path: str) -> None:
        self.cluster.write(Delete(path))

    def get(self, path: str) -> tuple[bytes, int] | None:
        found = self.cluster.read(path)
        return (found.data, found.stat.version) if found.ok else None


class Both:
    """Two clusters of one release. Every method does the same to both and returns when they look the same."""

    def __init__(self, real: Cluster, release: str) -> None:
        settings = default_settings(0, generation_of(release), auto_leader_rebalance_enable=False)
        self.real = real
        self.release = release
        self.virtual = VirtualCluster(
            generation=settings.generation,
            unclean_leader_election_enable=settings.unclean_leader_election_enable,
            auto_leader_rebalance_enable=False,
        )
        self.real_znodes = RealZnodes(real.client)
        self.virtual_znodes = VirtualZnodes(self.virtual)
        self.topics: list[str] = []
        for broker in real.brokers:
            self.virtual.start(broker)

    def meet(self) -> Seen:
        """Wait until both look the same; what they look like. Fails with both views if they do not."""
        ours = seen(self.virtual_znodes, self.topics)

        def real() -> Seen:
            return seen(self.real_znodes, self.topics)

        def difference() -> str:
            return "\n".join(["(- is real, + is ours)", *ndiff(real().lines(), ours.lines())])

        eventually(lambda: real() == ours, "the real cluster to look like ours", standing=difference)
        return ours

    def tool(self, act: Callable[[Znodes], None]) -> Seen:
        """A tool writes znodes."""
        act(self.virtual_znodes)
        act(self.real_znodes)
        return self.meet()

    def create(self, topic: str, assignment: Assignment, config: Mapping[str, str] | None = None) -> Seen:
        self.topics.append(topic)

        def act(znodes: Znodes) -> None:
            for path, data in topic_znodes(topic, assignment, config or {}):
                znodes.create(path, data)

        return self.tool(act)

    def add_partitions(self, topic: str, assignment: Assignment) -> Seen:
        return self.tool(lambda znodes: znodes.set(f"/brokers/topics/{topic}", assignment_payload(assignment)))

    def delete(self, topic: str) -> Seen:
        return self.tool(lambda znodes: znodes.create(marker(topic), b""))

    def reassign(self, topic: str, partition: int, target: Sequence[int]) -> Seen:
        entry = {"topic": topic, "partition": partition, "replicas": list(target)}
        data = json.dumps({"version": 1, "partitions": [entry]}).encode()
        return self.tool(lambda znodes: znodes.create(REASSIGNMENTS, data))

    def elect_preferred(self, topic: str, *partitions: int) -> Seen:
        entries = [{"topic": topic, "partition": partition} for partition in partitions]
        data = json.dumps({"version": 1, "partitions": entries}).encode()
        return self.tool(lambda znodes: znodes.create(PREFERRED_ELECTION, data))

    def start(self, broker: int) -> Seen:
        self.virtual.start(broker)
        self.real.brokers[broker].start()
        self.real.await_serving(broker)
        return self.meet()

    def stop(self, broker: int) -> Seen:
        """A controlled shutdown.

        Up to 3.2 leaders sometimes take a follower back that still fetches while it leaves, and its end costs another
        epoch. Then our leaders do so, too.
        """
        self.virtual.world.ask(
            events_and_commands.ControlledShutdownRequested(request=0, broker=broker), self.virtual.controller
        )
        self.virtual.world.pause(broker)
        self.virtual.settle()
        self.real.brokers[broker].stop()
        eventually(lambda: broker not in self.real.registered(), f"broker {broker} to leave")
        self._take_back(broker)
        self.virtual.kill(broker)
        return self.meet()

    def _take_back(self, broker: int) -> None:
        if generation_of(self.release).forms.refuses_offline_members:
            return
        ours = seen(self.virtual_znodes, self.topics)
        real = eventually(lambda: self._settled_without(broker), "the real cluster to settle")
        for topic, found in ours.topics.items():
            for partition, state in (found.partitions if found else {}).items():
                theirs = real.topics[topic].partitions[partition]
                if state and state.leader != broker and theirs.version == state.version + 2:
                    path = f"/brokers/topics/{topic}/partitions/{partition}/state"
                    payload = json.loads((self.virtual_znodes.get(path) or (b"{}", 0))[0])
                    self.virtual_znodes.set(path, json.dumps({**payload, "isr": [*payload["isr"], broker]}).encode())

    def _settled_without(self, broker: int) -> Seen | None:
        """What the real cluster looks like, if the broker is in no ISR but alone, and nothing changes for a while."""
        before = seen(self.real_znodes, self.topics)
        partitions = [p for topic in before.topics.values() if topic for p in topic.partitions.values() if p]
        if any(broker in state.isr and len(state.isr) > 1 for state in partitions):
            return None
        time.sleep(SETTLED_S)
        return before if before == seen(self.real_znodes, self.topics) else None

    def kill(self, broker: int) -> Seen:
        """kill -9. If it was the controller, the same broker follows it in both."""
        was_controller = self.real.controller() == broker
        self.real.brokers[broker].kill()
        eventually(lambda: broker not in self.real.registered(), f"the end of broker {broker}'s session")
        if was_controller:
            self._follow_election(broker)
        self.virtual.kill(broker)
        assert self.virtual.controller == self.real.controller()
        return self.meet()

    def depose(self) -> Seen:
        """Somebody deletes /controller."""
        epoch = self.real.text("/controller_epoch")
        self.real_znodes.delete("/controller")
        eventually(
            lambda: self.real.text("/controller_epoch") != epoch and self.real.read("/controller"), "a controller"
        )
        self._let_win(self.real.controller())
        self.virtual_znodes.delete("/controller")
        return self.meet()

    def _follow_election(self, before: int) -> None:
        eventually(lambda: self.real.read("/controller") and self.real.controller() != before, "the next controller")
        self._let_win(self.real.controller())

    def _let_win(self, winner: int) -> None:
        """Our brokers hear of things in such an order that this one is the first to claim the office."""
        self.virtual.first = (winner, *(broker for broker in self.real.brokers if broker != winner))
