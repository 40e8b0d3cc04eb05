"""Groups that a broker coordinates, asked over a socket: the coordinator is ours, metadata and log ends are canned."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from kio.schema.errors import ErrorCode

from model.cluster.ids import TopicPartition
from model.consumers.group_coordinator.records import OFFSETS_TOPIC
from model.hosts.live_broker.groups.group_apis import group_apis
from model.hosts.wire.api_keys import LIST_OFFSETS, METADATA
from model.hosts.wire.messages import Entity
from model.hosts.wire.server import Api, Request, Server
from model.sources.coordinator_groups.source import CoordinatorGroupsSource
from model.sources.feed import Feed, Moment
from model.sources.source import Batch
from tests.model.consumers.group_coordinator.traces import assignment
from tests.model.hosts.live_broker.groups.asking import Broker, broker

READ = TopicPartition("orders", 0)
END = 50


async def _refuse(name: str) -> str:
    raise AssertionError(f"nobody should make {name}")


def metadata(request: Request, port: int) -> Entity:
    """Broker 1 leads everything."""
    topic, place = request.shape("MetadataResponseTopic"), request.shape("MetadataResponsePartition")
    leader = {"leader_id": 1, "leader_epoch": 0, "replica_nodes": (1,), "isr_nodes": (1,), "offline_replicas": ()}
    places = tuple(place(error_code=ErrorCode.none, partition_index=number, **leader) for number in range(2))
    return request.answer(
        "MetadataResponse",
        brokers=(request.shape("MetadataResponseBroker")(node_id=1, host="127.0.0.1", port=port, rack=None),),
        cluster_id="c",
        controller_id=1,
        topics=tuple(
            topic(error_code=ErrorCode.none, name=name, is_internal=False, partitions=places)
            for name in ("orders", OFFSETS_TOPIC)
        ),
    )


async def list_offsets(request: Request) -> Entity:
    """Every log ends at END."""
    topic, place = request.shape("ListOffsetsTopicResponse"), request.shape("ListOffsetsPartitionResponse")
    return request.answer(
        "ListOffsetsResponse",
        topics=tuple(
            topic(
                name=each.name,
                partitions=tuple(
                    place(partition_index=one.partition_index, error_code=ErrorCode.none, offset=END)
                    for one in each.partitions
                ),
            )
            for each in request.body.topics
        ),
    )


@asynccontextmanager
async def cluster(here: Broker) -> AsyncIterator[int]:
    """A listener of one broker; its port."""

    async def tell_metadata(request: Request) -> Entity:
        return metadata(request, port)

    apis = dict(group_apis(here.coordinator, here.logs.metadata, _refuse))
    apis |= {METADATA: Api(8, 8, tell_metadata), LIST_OFFSETS: Api(5, 5, list_offsets)}
    server = Server(apis, listener="PLAINTEXT")
    port = await server.start("127.0.0.1", 0)
    try:
        yield port
    finally:
        await server.close()


class Watched:
    """A feed, and a way to wait for what it says."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._news = asyncio.Event()
        self.feed = Feed("test", self._tell)
        self.feed.take(Batch((), 1, 1, listing=True))

    def _tell(self, _: Moment) -> None:
        self._loop.call_soon_threadsafe(self._news.set)

    async def until(self, holds: Callable[[Moment], object]) -> Moment:
        async with asyncio.timeout(60):
            while not holds(self.feed.moment):
                await self._news.wait()
                self._news.clear()
        return self.feed.moment


async def joined(here: Broker, join: Callable[[], Awaitable[Entity]], *partitions: int) -> str:
    """A member that leads, and owns these."""
    answer = await join()
    member: str = answer.member_id
    share = {member: assignment("orders", *partitions)}
    await here.sync(3, generation_id=answer.generation_id, member_id=member, shares=share)
    return member


async def test_a_group_is_told_followed_and_buried() -> None:
    async with broker() as here, cluster(here) as port:
        member = await joined(here, lambda: here.join(3), 0, 1)
        await here.commit({("orders", 0): 12}, generation_id_or_member_epoch=1, member_id=member)
        watched = Watched()
        source = CoordinatorGroupsSource(f"127.0.0.1:{port}", interval_s=0.01)
        source.open(watched.feed)
        try:
            seen = await watched.until(lambda moment: moment.image.classic_groups and moment.image.log_ends)
            group = seen.image.classic_groups["g"]
            assert (group.state, group.protocol_type, group.protocol, group.coordinator) == (
                "Stable", "consumer", "range", 1,
            )  # fmt: skip
            assert group.owners == {READ: member, TopicPartition("orders", 1): member}
            assert (group.offsets, seen.image.log_ends[READ]) == ({READ: 12}, END)
            assert group.members[member].host == "127.0.0.1"

            await here.commit({("orders", 0): 7}, generation_id_or_member_epoch=1, member_id=member)
            back = await watched.until(lambda moment: moment.image.classic_groups["g"].offsets[READ] == 7)
            assert [change.text for change in back.feed if change.kind == "offset-committed"] == [
                "orders-0 offset 12 -> 7"
            ]
            await here.ask(13, 1, group_id="g", member_id=member)
            left = await watched.until(lambda moment: not moment.image.classic_groups["g"].members)
            assert left.image.classic_groups["g"].rebalances[-1].why == (f"{group.members[member].client_id} left",)
            await here.ask(42, 1, groups_names=("g",))
            await watched.until(lambda moment: not moment.image.classic_groups)
        finally:
            await asyncio.to_thread(source.close)


async def test_a_broker_that_dies_takes_nothing_along() -> None:
    async with broker() as here:
        watched = Watched()
        async with cluster(here) as port:
            await joined(here, lambda: here.join(3), 0)
            source = CoordinatorGroupsSource(f"127.0.0.1:{port}", interval_s=0.01)
            source.open(watched.feed)
            await watched.until(lambda moment: moment.image.classic_groups)
        try:
            stale = await watched.until(lambda moment: moment.status.phase == "stale")
            assert f"127.0.0.1:{port}" in stale.status.reason or "connection" in stale.status.reason
            assert "g" in stale.image.classic_groups
        finally:
            await asyncio.to_thread(source.close)


async def test_closing_does_not_wait_for_a_broker_that_is_silent() -> None:
    async def say_nothing(_: asyncio.StreamReader, __: asyncio.StreamWriter) -> None:
        await asyncio.Event().wait()

    silent = await asyncio.start_server(say_nothing, "127.0.0.1", 0)
    port = silent.sockets[0].getsockname()[1]
    source = CoordinatorGroupsSource(f"127.0.0.1:{port}")
    source.open(Watched().feed)
    async with asyncio.timeout(60):
        await asyncio.to_thread(source.close)
    silent.close()
