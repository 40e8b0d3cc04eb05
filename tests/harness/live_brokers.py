"""Brokers of ours in one process, on real sockets and disks, under a controller that does as the test says.

The controller elects nobody: a test says who leads. It takes every ISR that a leader proposes, if its epochs hold.
"""

from __future__ import annotations

import asyncio
import itertools
import uuid
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from model.broker.metadata import BrokerNode, Endpoint
from model.broker.partition import Partition
from model.broker.settings.server_properties import read_server_properties
from model.cluster.ids import TopicPartition
from model.controller.events_and_commands import (
    EPOCH_DURING_DELETE,
    AlterPartitionReceived,
    AnswerRequest,
    BrokerAnswer,
    LeaderAndIsrRequest,
    PartitionOutcome,
    PartitionToKnow,
    PartitionToServe,
    PartitionToStop,
    RequestReceived,
    StopReplicaRequest,
    UpdateMetadataRequest,
)
from model.controller.leader_and_isr import LeaderAndIsr, ReplicaAssignment
from model.hosts.live_broker.apis.client_quotas import ClientQuotas
from model.hosts.live_broker.apis.controller_apis import BrokerRequests
from model.hosts.live_broker.apis.metadata_requests import MetadataRequests
from model.hosts.live_broker.apis.producer_ids import ProducerRequests
from model.hosts.live_broker.parts import AskZooKeeper, BrokerSurroundings, wall_clock_ms
from model.hosts.live_broker.replicas.log_dirs import LogDirs
from model.hosts.live_broker.replicas.replica_manager import ReplicaManager
from model.hosts.live_broker.with_logs import DataApis
from model.hosts.wire.connection import Channel, Connection
from model.hosts.wire.messages import shaped, shapes
from model.hosts.wire.names import topic_id_text
from model.hosts.wire.server import Api, Server
from model.log.records import Record, encode_batch
from model.zookeeper import Answer, Code, ZooKeeperRequest

PATIENCE_S = 60.0
QUICK = {
    "replica.fetch.wait.max.ms": "200",
    "replica.fetch.backoff.ms": "50",
}
"""Settings that let a test see soon what would take long. Followers have 30 s before they lag."""
LAG_MS = 4_000
SOON_LAGGING = {**QUICK, "replica.lag.time.max.ms": str(LAG_MS)}
"""For tests that let a follower lag, by `time_passes`: more than a stall of a loaded machine."""


async def no_zookeeper(requests: Sequence[ZooKeeperRequest]) -> tuple[Answer, ...]:
    """A ZooKeeper with nothing in it, for tests that need none."""
    return tuple(Answer(Code.NO_NODE) for _ in requests)


def batch(*values: str | bytes, first: int = 0, key: bytes | None = None, time_ms: int = 1_700_000_000_000) -> bytes:
    """A batch of records as a producer sends it."""
    records = [
        Record(first + number, time_ms, key, value.encode() if isinstance(value, str) else value)
        for number, value in enumerate(values)
    ]
    return bytes(encode_batch(records))


@dataclass
class Node:
    """A broker's process, or what is left of it: its folder."""

    id: int
    folder: Path
    replicas: ReplicaManager
    server: Server
    port: int
    quotas: ClientQuotas

    def partition(self, name: TopicPartition) -> Partition:
        return self.replicas.partitions[name]

    def log_bytes(self, name: TopicPartition) -> bytes:
        """All segments of a log, as they lie on the disk."""
        return b"".join(path.read_bytes() for path in sorted((self.folder / str(name)).glob("*.log")))


@dataclass
class Cluster:
    """`settings` hold for brokers that are started from then on."""

    folder: Path
    settings: Mapping[str, str] = field(default_factory=lambda: QUICK)
    nodes: dict[int, Node] = field(default_factory=dict)
    states: dict[TopicPartition, LeaderAndIsr] = field(default_factory=dict)
    replicas: dict[TopicPartition, tuple[int, ...]] = field(default_factory=dict)
    topic_ids: dict[str, str] = field(default_factory=dict)
    ask_zookeeper: AskZooKeeper = no_zookeeper
    answers_isr: asyncio.Event = field(default_factory=asyncio.Event)
    """While it is cleared, no proposal is answered."""
    refuse_isr: str = "NONE"
    """What every proposal is answered with."""
    ahead_ms: int = 0
    """How far the brokers' clocks are ahead."""
    epoch: int = 1
    office: Server | None = None
    channel: Channel | None = None
    producer_ids: Iterable[int] = field(default_factory=lambda: itertools.count(1000))

    async def start(self, *brokers: int, recover: bool = False, log_dirs: int = 1) -> None:
        """Start brokers, and tell all of all."""
        if self.office is None:
            self.answers_isr.set()
            self.office = Server(BrokerRequests(self._answer, dict).apis)
            self.channel = Channel("127.0.0.1", await self.office.start("127.0.0.1", 0), "test")
        for broker in brokers:
            await self._start(broker, recover=recover, log_dirs=log_dirs)
        await self.tell_metadata()

    async def _start(self, broker: int, *, recover: bool, log_dirs: int) -> None:
        assert self.channel is not None
        folder = self.folder / str(broker)
        dirs = [folder] if log_dirs == 1 else [folder / str(number) for number in range(log_dirs)]
        text = "".join(f"{key}={value}\n" for key, value in self.settings.items())
        text += f"broker.id={broker}\nzookeeper.connect=127.0.0.1:1\nlog.dirs={','.join(map(str, dirs))}\n"
        read = read_server_properties(text)
        assert not read.refusals, read.refusals
        surroundings = BrokerSurroundings(
            self.channel.ask,
            self.ask_zookeeper,
            now_ms=lambda: wall_clock_ms() + self.ahead_ms,
        )
        replicas = ReplicaManager(broker, read.settings, LogDirs(read.settings.log_dirs), surroundings)
        await replicas.load(recover=recover)
        replicas.registered(100 + broker)
        ids = iter(self.producer_ids)

        async def take_id() -> int:
            return next(ids)

        async def create(_topic: str) -> str:
            return "UNKNOWN_TOPIC_OR_PARTITION"

        quotas = ClientQuotas(read.settings, surroundings.now_ms)
        apis = {
            **DataApis(replicas, quotas).apis,
            **MetadataRequests(replicas.metadata, lambda: "test", create).apis,
            **ProducerRequests(take_id).apis,
        }
        server = Server(apis, pace=quotas.answer)
        port = await server.start("127.0.0.1", 0)
        self.nodes[broker] = Node(broker, folder, replicas, server, port, quotas)

    async def kill(self, broker: int) -> None:
        """End a broker's process as if by kill -9: nothing is flushed or marked."""
        node = self.nodes.pop(broker)
        await node.server.close()
        await node.replicas.abandon()
        await self.tell_metadata()

    def time_passes(self) -> None:
        """Longer than a follower may be silent."""
        self.ahead_ms += 2 * LAG_MS

    async def stop(self, broker: int) -> None:
        """End it in order."""
        node = self.nodes.pop(broker)
        await node.server.close()
        await node.replicas.close()
        node.replicas.mark_clean_shutdown()
        await self.tell_metadata()

    async def close(self) -> None:
        """End everything."""
        for broker in list(self.nodes):
            await self.stop(broker)
        if self.channel is not None:
            await self.channel.close()
        if self.office is not None:
            await self.office.close()

    # What the controller says.

    async def create(self, topic: str, *partitions: tuple[int, ...], is_new: bool = True) -> list[TopicPartition]:
        """A topic with these replicas for each partition; the first one leads, all are in sync."""
        self.topic_ids.setdefault(topic, topic_id_text(uuid.uuid4()) or "")
        names = [TopicPartition(topic, number) for number in range(len(partitions))]
        for name, replicas in zip(names, partitions, strict=True):
            self.replicas[name] = replicas
            self.states[name] = LeaderAndIsr(replicas[0], 0, replicas)
        await self.tell_metadata(*names)
        await self.tell_leaders(*names, is_new=is_new)
        return names

    async def elect(self, name: TopicPartition, leader: int, isr: tuple[int, ...] | None = None) -> None:
        """Let somebody else lead."""
        before = self.states[name]
        self.states[name] = msgspec.structs.replace(
            before.with_leader(leader, before.isr if isr is None else isr), partition_epoch=before.partition_epoch + 1
        )
        await self.tell_metadata(name)
        await self.tell_leaders(name)

    async def tell_metadata(self, *names: TopicPartition) -> None:
        """UpdateMetadata to all."""
        nodes = {
            broker: BrokerNode(broker, (Endpoint("PLAINTEXT", "127.0.0.1", node.port),))
            for broker, node in self.nodes.items()
        }
        told = tuple(
            PartitionToKnow(name, self.states[name], self.epoch, self.replicas[name], ())
            for name in names or self.states
        )
        request = UpdateMetadataRequest(9, self.epoch, told, tuple(nodes), tuple(self.topic_ids.items()))
        for node in self.nodes.values():
            await node.replicas.take_update_metadata(request, nodes, -1)

    async def tell_leaders(self, *names: TopicPartition, is_new: bool = False) -> dict[int, BrokerAnswer]:
        """LeaderAndIsr to all that are concerned."""
        answers: dict[int, BrokerAnswer] = {}
        for broker, node in self.nodes.items():
            told = tuple(
                PartitionToServe(name, self.states[name], self.epoch, ReplicaAssignment(self.replicas[name]), is_new)
                for name in names or self.states
                if broker in self.replicas[name]
            )
            ids = tuple((topic, self.topic_ids[topic]) for topic in {each.partition.topic for each in told})
            request = LeaderAndIsrRequest(9, self.epoch, told, tuple(self.nodes), ids)
            answers[broker] = await node.replicas.take_leader_and_isr(request, -1)
        return answers

    async def delete(self, topic: str) -> None:
        """StopReplica with deletion to all."""
        names = [name for name in self.states if name.topic == topic]
        told = tuple(PartitionToStop(name, EPOCH_DURING_DELETE, True) for name in names)
        for node in self.nodes.values():
            await node.replicas.take_stop_replica(StopReplicaRequest(9, self.epoch, told), -1)
        for name in names:
            del self.states[name]

    async def _answer(self, event: Callable[[int], RequestReceived]) -> AnswerRequest:
        asked = event(0)
        assert isinstance(asked, AlterPartitionReceived)
        await self.answers_isr.wait()
        outcomes: list[PartitionOutcome] = []
        for each in asked.proposals:
            state = self.states[each.partition]
            error = self.refuse_isr
            if each.leader_epoch != state.leader_epoch:
                error = "FENCED_LEADER_EPOCH"
            elif each.partition_epoch != state.partition_epoch:
                error = "INVALID_UPDATE_VERSION"
            if error == "NONE":
                state = msgspec.structs.replace(state, isr=each.isr, partition_epoch=state.partition_epoch + 1)
                self.states[each.partition] = state
            outcomes.append(PartitionOutcome(each.partition, error, state=state if error == "NONE" else None))
        return AnswerRequest(0, partitions=tuple(outcomes))

    # What clients do.

    @property
    def bootstrap(self) -> str:
        """For clients."""
        return ",".join(f"127.0.0.1:{node.port}" for node in self.nodes.values())

    def leader(self, name: TopicPartition) -> Node:
        return self.nodes[self.states[name].leader]

    async def produce(self, name: TopicPartition, *values: str, acks: int = -1, timeout_ms: int = 30_000) -> int:
        """Append to the leader; returns the offset, which is only there when all went well."""
        done = await self.leader(name).replicas.append({name: batch(*values)}, acks=acks, timeout_ms=timeout_ms)
        assert done[name].error == "NONE", done[name]
        return done[name].base_offset


class Asker:
    """Asks in the version it is told to."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def __call__(self, key: int, version: int, name: str, /, **values: object) -> Any:
        shape = getattr(shapes(key, version, "request"), name)
        return await self._connection.ask(shaped(shape, **values))


@asynccontextmanager
async def served(apis: Mapping[int, Api]) -> AsyncIterator[Asker]:
    server = Server(apis)
    port = await server.start("127.0.0.1", 0)
    connection = await Connection.open("127.0.0.1", port, "test")
    try:
        yield Asker(connection)
    finally:
        await connection.close()
        await server.close()
