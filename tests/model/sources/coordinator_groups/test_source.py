"""Groups that a broker coordinates, asked over a socket: coordinator and records are ours, all else is canned."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
from contextlib import asynccontextmanager

from kio.schema.errors import ErrorCode

from model.cluster import records as r
from model.cluster.ids import OFFSETS_TOPIC, TopicPartition
from model.cluster.image_parts import GroupImage
from model.hosts.live_broker.member_requests import ZooKeeperOffsets
from model.hosts.live_broker.with_logs import group_apis
from model.hosts.wire.messages import Entity
from model.hosts.wire.names import ApiKey
from model.hosts.wire.server import Api, Request, Server
from model.sources.feed import Feed, Moment
from model.sources.kafka.group_requests import TRIES
from model.sources.kafka.groups import CoordinatorGroupsSource
from model.sources.source import FactBatch
from tests.harness.live_brokers import no_zookeeper
from tests.model.cluster.build import brokers
from tests.model.consumers.group_coordinator.traces import assignment
from tests.model.hosts.live_broker.groups.asking import Broker, broker
from tests.model.hosts.live_broker.groups.log_in_memory import LogsInMemory

READ = TopicPartition("orders", 0)
END = 50


async def _refuse(name: str) -> str:
    raise AssertionError(f"nobody should make {name}")


def metadata(request: Request, port: int, leaders: Sequence[int]) -> Entity:
    """Broker 1, which is the only one, leads `orders`; `leaders` are those of the offsets topic."""
    topic, place = request.shape("MetadataResponseTopic"), request.shape("MetadataResponsePartition")
    rest = {"leader_epoch": 0, "replica_nodes": (1,), "isr_nodes": (1,), "offline_replicas": ()}
    return request.answer(
        "MetadataResponse",
        brokers=(request.shape("MetadataResponseBroker")(node_id=1, host="127.0.0.1", port=port, rack=None),),
        cluster_id="c",
        controller_id=1,
        topics=tuple(
            topic(
                error_code=ErrorCode.none,
                name=name,
                is_internal=False,
                partitions=tuple(
                    place(error_code=ErrorCode.none, partition_index=number, leader_id=leader, **rest)
                    for number, leader in enumerate(led)
                ),
            )
            for name, led in (("orders", (1, 1)), (OFFSETS_TOPIC, leaders))
        ),
    )


async def list_offsets(request: Request, logs: LogsInMemory, silent: Collection[str]) -> Entity:
    """Every log ends at END, but those that are there; of topics in `silent` nothing is told."""
    topic, place = request.shape("ListOffsetsTopicResponse"), request.shape("ListOffsetsPartitionResponse")
    return request.answer(
        "ListOffsetsResponse",
        topics=tuple(
            topic(
                name=each.name,
                partitions=tuple(
                    place(
                        partition_index=one.partition_index,
                        error_code=ErrorCode.not_leader_or_follower if each.name in silent else ErrorCode.none,
                        offset=logs.end_offset(TopicPartition(each.name, one.partition_index))
                        if each.name == OFFSETS_TOPIC
                        else END,
                    )
                    for one in each.partitions
                ),
            )
            for each in request.body.topics
        ),
    )


class Fetches:
    """Answers to Fetch from the logs, and where they were asked to begin."""

    def __init__(self, logs: LogsInMemory, error: ErrorCode = ErrorCode.none) -> None:
        self.offsets: list[int] = []
        self._logs = logs
        self._error = error

    async def fetch(self, request: Request) -> Entity:
        """One batch of each partition, which is what a reader gets at least."""
        topic, data = request.shape("FetchableTopicResponse"), request.shape("PartitionData")
        answers: list[Entity] = []
        for each in request.body.topics:
            assert each.topic == OFFSETS_TOPIC
            self.offsets += [one.fetch_offset for one in each.partitions]
            parts = tuple(
                data(
                    partition_index=one.partition,
                    error_code=self._error,
                    high_watermark=0,
                    last_stable_offset=-1,
                    log_start_offset=0,
                    aborted_transactions=None,
                    records=self._logs.read(TopicPartition(each.topic, one.partition), one.fetch_offset, 1),
                )
                for one in each.partitions
            )
            answers.append(topic(topic=each.topic, partitions=parts))
        return request.answer("FetchResponse", error_code=ErrorCode.none, session_id=0, responses=tuple(answers))


@asynccontextmanager
async def cluster(
    here: Broker,
    fetches: Fetches | None = None,
    leaders: Sequence[int] = (1, 1),
    asked: Counter[int] | None = None,
    silent: Collection[str] = (),
) -> AsyncIterator[int]:
    """A listener of one broker; its port. `asked` counts requests by their API; `silent` as in `list_offsets`."""

    def counted(key: int, api: Api) -> Api:
        async def answer(request: Request) -> Entity | None:
            if asked is not None:
                asked[key] += 1
            return await api.answer(request)

        return api._replace(answer=answer)

    async def tell_metadata(request: Request) -> Entity:
        return metadata(request, port, leaders)

    apis = dict(group_apis(here.coordinator, here.logs.metadata, _refuse, ZooKeeperOffsets(no_zookeeper, lambda: 0)))
    apis |= {
        ApiKey.METADATA: Api(8, 8, tell_metadata),
        ApiKey.LIST_OFFSETS: Api(5, 5, lambda one: list_offsets(one, here.logs, silent)),
        ApiKey.FETCH: Api(4, 9, (fetches or Fetches(here.logs)).fetch),
    }
    server = Server({key: counted(key, api) for key, api in apis.items()}, listener="PLAINTEXT")
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
        self.feed.take(FactBatch((), 1, 1, listing=True))

    def _tell(self, _: Moment) -> None:
        self._loop.call_soon_threadsafe(self._news.set)

    async def until(self, holds: Callable[[Moment], object]) -> Moment:
        async with asyncio.timeout(60):
            while not holds(self.feed.moment):
                await self._news.wait()
                self._news.clear()
        return self.feed.moment


def group(moment: Moment) -> GroupImage:
    """The group, empty while nothing is known of it."""
    return moment.image.classic_groups.get("g", GroupImage("g"))


def generation(moment: Moment) -> int | None:
    """The group's."""
    return group(moment).generation


def is_at(offset: int) -> Callable[[Moment], bool]:
    """Whether the group has read so far."""
    return lambda moment: group(moment).offsets.get(READ) == offset


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
            known = group(seen)
            assert (known.state, known.protocol_type, known.protocol, known.coordinator) == (
                "Stable", "consumer", "range", 1,
            )  # fmt: skip
            assert known.owners == {READ: member, TopicPartition("orders", 1): member}
            assert (known.offsets, seen.image.log_ends[READ]) == ({READ: 12}, END)
            assert known.members[member].host == "127.0.0.1"

            await here.commit({("orders", 0): 7}, generation_id_or_member_epoch=1, member_id=member)
            back = await watched.until(lambda moment: moment.image.classic_groups["g"].offsets[READ] == 7)
            assert [change.text for change in back.feed if change.kind == "offset-committed"] == [
                "orders-0 offset 12 -> 7"
            ]
            await here.ask(13, 1, group_id="g", member_id=member)
            left = await watched.until(lambda moment: not moment.image.classic_groups["g"].members)
            assert left.image.classic_groups["g"].rebalances[-1].why == (f"{known.members[member].client_id} left",)
            await here.ask(42, 1, groups_names=("g",))
            await watched.until(lambda moment: not moment.image.classic_groups)
        finally:
            await asyncio.to_thread(source.close)


async def test_generations_are_read_from_the_coordinators_records() -> None:
    async with broker() as here:
        fetches = Fetches(here.logs)
        async with cluster(here, fetches) as port:
            first = await joined(here, lambda: here.join(3), 0, 1)
            for offset in range(5):
                await here.commit({("orders", 0): offset}, generation_id_or_member_epoch=1, member_id=first)
            watched = Watched()
            source = CoordinatorGroupsSource(f"127.0.0.1:{port}", interval_s=0.01)
            source.open(watched.feed)
            try:
                await watched.until(lambda moment: generation(moment) == 1)
                read = len(fetches.offsets)
                for offset in range(5, 10):
                    await here.commit({("orders", 0): offset}, generation_id_or_member_epoch=1, member_id=first)
                    await watched.until(is_at(offset))
                assert len(fetches.offsets) == read, "commits were read although no group had changed"

                await here.ask(13, 1, group_id="g", member_id=first)
                await watched.until(lambda moment: generation(moment) == 2)
                # One record of the group and ten commits were there before, the last one maybe after its look began.
                assert min(fetches.offsets[read:]) >= 10
                await joined(here, lambda: here.join(3), 0)
                seen = await watched.until(lambda moment: generation(moment) == 3)
                assert [past.generation for past in group(seen).rebalances] == [2, 3]
                assert seen.status.phase == "live"
            finally:
                await asyncio.to_thread(source.close)


async def test_generations_that_may_not_be_read_are_not_known() -> None:
    async with broker() as here:
        fetches = Fetches(here.logs, ErrorCode.topic_authorization_failed)
        async with cluster(here, fetches) as port:
            member = await joined(here, lambda: here.join(3), 0)
            watched = Watched()
            source = CoordinatorGroupsSource(f"127.0.0.1:{port}", interval_s=0.01)
            source.open(watched.feed)
            try:
                for offset in range(2 * TRIES):  # as many looks, at least
                    await here.commit({("orders", 0): offset}, generation_id_or_member_epoch=1, member_id=member)
                    await watched.until(is_at(offset))
                seen = watched.feed.moment
                assert (group(seen).state, generation(seen), seen.status.phase) == ("Stable", None, "live")
                assert len(fetches.offsets) <= TRIES
            finally:
                await asyncio.to_thread(source.close)


async def test_a_group_is_asked_of_the_leader_of_its_partition() -> None:
    name, place = "mailer", 0  # the hash is negative: without its sign instead of its absolute value it would be 2
    async with broker(LogsInMemory(3)) as here:
        here.coordinator.on_leadership(TopicPartition(OFFSETS_TOPIC, 2), True, 0)
        leaders = [1 if number == place else 9 for number in range(3)]
        async with cluster(here, leaders=leaders) as port:
            await here.join(3, group=name)
            watched = Watched()
            source = CoordinatorGroupsSource(f"127.0.0.1:{port}", interval_s=0.01)
            source.open(watched.feed)
            try:
                await watched.until(lambda moment: name in moment.image.classic_groups)
            finally:
                await asyncio.to_thread(source.close)


async def test_an_end_that_nobody_tells_any_more_is_not_before_what_was_committed_since() -> None:
    silent = set[str]()
    async with broker() as here, cluster(here, silent=silent) as port:
        member = await joined(here, lambda: here.join(3), 0)
        await here.commit({("orders", 0): 12}, generation_id_or_member_epoch=1, member_id=member)
        watched = Watched()
        source = CoordinatorGroupsSource(f"127.0.0.1:{port}", interval_s=0.01)
        source.open(watched.feed)
        try:
            await watched.until(lambda moment: moment.image.log_ends.get(READ) == END)
            silent.add("orders")
            await here.commit({("orders", 0): END + 10}, generation_id_or_member_epoch=1, member_id=member)
            seen = await watched.until(is_at(END + 10))
            assert seen.image.log_ends[READ] == END + 10
            silent.clear()
            await watched.until(lambda moment: moment.image.log_ends[READ] == END)
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


async def test_what_a_broker_tells_otherwise_than_zookeeper_does() -> None:
    states = (r.PartitionState(0, 1, 0, (1,), zxid=7), r.PartitionState(1, 2, 3, (1, 2), zxid=8))
    truth = [
        *brokers(1),
        r.TopicAssigned(topic="orders", replicas={0: (1,), 1: (1, 2)}),
        r.PartitionStatesWritten(topic="orders", states=states),
        r.TopicAssigned(topic=OFFSETS_TOPIC, replicas={0: (1,), 1: (1,)}),
    ]
    async with broker() as here, cluster(here) as port:
        watched = Watched()
        watched.feed.take(FactBatch(tuple(truth), 8, 1, listing=True))
        source = CoordinatorGroupsSource(f"127.0.0.1:{port}", interval_s=0.01, compared_s=0)
        source.image = lambda: watched.feed.moment.image
        source.open(watched.feed)
        try:
            seen = await watched.until(lambda moment: moment.image.differences)
            assert seen.image.differences == {
                "orders-1 at broker 1": "leader 1 e0 ISR [1] for it, leader 2 e3 ISR [1, 2] in ZooKeeper"
            }
            assert "views-differ" in {found.kind for found in seen.findings.found}
            mended = r.PartitionStatesWritten(topic="orders", states=(r.PartitionState(1, 1, 0, (1,), zxid=9),))
            watched.feed.take(FactBatch((mended,), 9, 1))
            await watched.until(lambda moment: not moment.image.differences)
        finally:
            source.close()
