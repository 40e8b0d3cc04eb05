"""A coordinator behind a socket, and a client that asks it in any version."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

from model.broker.settings.settings import Settings
from model.cluster.ids import OFFSETS_TOPIC, TopicPartition
from model.hosts.live_broker.group_coordinator import GroupCoordinator
from model.hosts.live_broker.member_requests import ZooKeeperOffsets
from model.hosts.live_broker.parts import AskZooKeeper
from model.hosts.live_broker.with_logs import group_apis
from model.hosts.wire.connection import Connection
from model.hosts.wire.messages import Entity, shaped, shapes
from model.hosts.wire.server import Server
from tests.harness.live_brokers import no_zookeeper
from tests.model.consumers.group_coordinator.traces import subscription
from tests.model.hosts.live_broker.groups.log_in_memory import LogsInMemory

Ask = Callable[..., Awaitable[Entity]]
QUICK: Mapping[str, object] = {"group.initial.rebalance.delay.ms": 0}
MS = timedelta(milliseconds=1)


class Broker:
    """One coordinator on a socket. `ask(api key, version, …)` waits for the response."""

    def __init__(self, logs: LogsInMemory, coordinator: GroupCoordinator, connect: Callable[[], Awaitable[Connection]]):
        self.logs = logs
        self.coordinator = coordinator
        self._connect = connect

    async def ask(self, api_key: int, version: int, **values: Any) -> Entity:
        """On a connection of its own, as a JoinGroup that waits holds up what comes behind it."""
        connection = await self._connect()
        try:
            return await connection.ask(asked(api_key, version, **values))
        finally:
            await connection.close()

    async def join(self, version: int = 9, member: str = "", group: str = "g", **values: Any) -> Entity:
        """JoinGroup."""
        protocol = shapes(11, version, "request").JoinGroupRequestProtocol
        defaults: dict[str, Any] = {
            "session_timeout": timed(30_000),
            "rebalance_timeout": timed(60_000),
            "member_id": member,
            "group_instance_id": None,
            "protocol_type": "consumer",
            "protocols": (protocol(name="range", metadata=subscription("orders")),),
            "reason": None,
        }
        return await self.ask(11, version, group_id=group, **(defaults | values))

    async def sync(self, version: int = 5, group: str = "g", **values: Any) -> Entity:
        """SyncGroup."""
        share = shapes(14, version, "request").SyncGroupRequestAssignment
        shares = values.pop("shares", {})
        assignments = tuple(share(member_id=name, assignment=each) for name, each in shares.items())
        defaults = {"group_instance_id": None, "protocol_type": "consumer", "protocol_name": "range"}
        return await self.ask(14, version, group_id=group, assignments=assignments, **(defaults | values))

    async def commit(
        self, offsets: Mapping[tuple[str, int], int], version: int = 8, group: str = "g", **values: Any
    ) -> dict[tuple[str, int], str]:
        """OffsetCommit; the errors."""
        module = shapes(8, version, "request")
        topics = tuple(
            module.OffsetCommitRequestTopic(
                name=topic,
                partitions=(
                    shaped(
                        module.OffsetCommitRequestPartition,
                        partition_index=partition,
                        committed_offset=offset,
                        committed_leader_epoch=-1,
                        commit_timestamp=-1,
                        committed_metadata="m",
                    ),
                ),
            )
            for (topic, partition), offset in offsets.items()
        )
        defaults = {
            "generation_id_or_member_epoch": -1,
            "member_id": "",
            "group_instance_id": None,
            "retention_time": timed(-1),
        }
        response = await self.ask(8, version, group_id=group, topics=topics, **(defaults | values))
        return {
            (topic.name, each.partition_index): each.error_code.name
            for topic in response.topics
            for each in topic.partitions
        }

    async def fetch(self, group: str = "g") -> dict[tuple[str, int], int]:
        """OffsetFetch of all there is, in version 7."""
        response = await self.ask(9, 7, group_id=group, topics=None, require_stable=True)
        assert response.error_code.name == "none"
        return {
            (topic.name, each.partition_index): each.committed_offset
            for topic in response.topics
            for each in topic.partitions
        }


def timed(ms: int) -> Any:
    """Milliseconds as the schemas want them."""
    return ms * MS


def asked(api_key: int, version: int, **values: Any) -> Entity:
    """A request in this version, from the values that it knows."""
    module = shapes(api_key, version, "request")
    (shape,) = [each for name, each in vars(module).items() if name.endswith("Request")]
    return shaped(shape, **values)


@asynccontextmanager
async def broker(
    logs: LogsInMemory | None = None,
    given: Mapping[str, object] = QUICK,
    create_topic: Callable[[str], Awaitable[str]] | None = None,
    *,
    leads: bool = True,
    zookeeper: AskZooKeeper | None = None,
    listener: str = "PLAINTEXT",
) -> AsyncIterator[Broker]:
    """Started; it leads both partitions of `__consumer_offsets` unless told otherwise."""
    known = logs or LogsInMemory()

    async def refuse(name: str) -> str:
        raise AssertionError(f"nobody should make {name}")

    coordinator = GroupCoordinator(Settings(given), known)
    old_offsets = ZooKeeperOffsets(zookeeper or no_zookeeper, lambda: 4096)
    server = Server(group_apis(coordinator, known.metadata, create_topic or refuse, old_offsets), listener=listener)
    port = await server.start("127.0.0.1", 0)
    await coordinator.start()
    for number in range(2) if leads else ():
        coordinator.on_leadership(TopicPartition(OFFSETS_TOPIC, number), True, 0)
    try:
        yield Broker(known, coordinator, lambda: Connection.open("127.0.0.1", port, "client"))
    finally:
        await coordinator.close()
        await server.close()
