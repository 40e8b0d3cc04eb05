"""An observer at work, over sockets: simulated voters on loopback, and what was asked of them on the wire."""

from __future__ import annotations

import asyncio
import struct
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from itertools import pairwise

import pytest
from kio.schema.errors import ErrorCode

from model.hosts.observing.observing import Observing
from model.hosts.wire.messages import Entity
from model.hosts.wire.names import ApiKey, error_code
from model.hosts.wire.server import Api, Request, Server
from model.observer.messages import Address, BatchesCommitted, FetchLog, FetchSnapshot, Handed, LogPosition
from model.observer.state import ObserverStatus
from tests.harness.waiting import eventually_async
from tests.model.observer.simulated_quorum import SimulatedQuorum

VOTE = 52
PARKED_S = 0.05


class Followed:
    """What an observer told."""

    def __init__(self) -> None:
        self.handed: list[Handed] = []
        self.standings: list[ObserverStatus] = []

    def take(self, handed: Handed) -> None:
        self.handed.append(handed)

    def stand(self, standing: ObserverStatus) -> None:
        self.standings.append(standing)

    @property
    def phase(self) -> str:
        return self.standings[-1].phase if self.standings else ""

    @property
    def end(self) -> int:
        """Of what was handed on."""
        batches = [each for told in self.handed if isinstance(told, BatchesCommitted) for each in told.batches]
        return batches[-1].next_offset if batches else 0


class Voters:
    """A simulated quorum behind sockets. Releases are told apart by the newest version of Fetch that they know."""

    def __init__(self, newest_fetch: int = 18) -> None:
        self.quorum = SimulatedQuorum()
        self.ports: dict[int, int] = {}
        self.asked: Counter[int] = Counter()
        """By API key."""
        self.fetches = self.most_fetches = 0
        """That wait for an answer now, and at most at one time."""
        self.newest_fetch = newest_fetch
        self.silent = set[int]()
        self.cluster_id = "simulated"
        self.denies = False
        """Whether nobody may read the log."""
        self._servers: dict[int, Server] = {}

    @property
    def addresses(self) -> list[Address]:
        return [("127.0.0.1", port) for port in self.ports.values()]

    async def listen(self, number: int, *, as_broker: bool = False) -> None:
        def api(key: int, low: int, high: int, answer: Callable[[int, Request], Awaitable[Entity]]) -> Api:
            async def counted(request: Request) -> Entity:
                self.asked[key] += 1
                if number in self.silent:
                    await asyncio.sleep(600)
                return await answer(number, request)

            return Api(low, high, counted, until_gone=True)

        apis = {ApiKey.FETCH: api(ApiKey.FETCH, 13, self.newest_fetch, self._fetch)}
        apis[ApiKey.FETCH_SNAPSHOT] = api(ApiKey.FETCH_SNAPSHOT, 0, 1, self._fetch_snapshot)
        apis[ApiKey.DESCRIBE_CLUSTER] = api(ApiKey.DESCRIBE_CLUSTER, 1, 1, self._describe_cluster)
        known: dict[int, Api] = {**apis}
        if not as_broker:
            known[VOTE] = api(VOTE, 0, 0, self._fetch)
        self._servers[number] = Server(known)
        self.ports[number] = await self._servers[number].start("127.0.0.1", self.ports.get(number, 0))

    async def close(self, *numbers: int) -> None:
        for number in numbers or tuple(self._servers):
            await self._servers.pop(number).close()

    async def _fetch(self, number: int, request: Request) -> Entity:
        if refused := self._refused(request):
            return request.answer("FetchResponse", error_code=error_code(refused), responses=())
        part = request.body.topics[0].partitions[0]
        end = LogPosition(part.fetch_offset, part.last_fetched_epoch)
        question = FetchLog(part.current_leader_epoch, end, getattr(part, "high_watermark", -1))
        told = self.quorum.fetch(number, question, 3)
        if told.error == "NONE" and not told.records and told.snapshot is None and told.diverging is None:
            self.fetches += 1
            self.most_fetches = max(self.most_fetches, self.fetches)
            try:
                await asyncio.sleep(PARKED_S)
            finally:
                self.fetches -= 1
            told = self.quorum.fetch(number, question, 3)
        shape = request.shape
        more: dict[str, object] = {}
        if told.snapshot is not None:
            more["snapshot_id"] = shape("SnapshotId")(end_offset=told.snapshot.offset, epoch=told.snapshot.epoch)
        if told.diverging is not None:
            more["diverging_epoch"] = shape("EpochEndOffset")(
                epoch=told.diverging.epoch, end_offset=told.diverging.offset
            )
        data = shape("PartitionData")(
            partition_index=0,
            error_code=error_code(told.error),
            high_watermark=told.high_watermark,
            current_leader=shape("LeaderIdAndEpoch")(leader_id=told.leader.id, leader_epoch=told.leader.epoch),
            log_start_offset=told.log_start,
            aborted_transactions=None,
            records=told.records,
            **more,
        )
        topic = shape("FetchableTopicResponse")(topic_id=request.body.topics[0].topic_id, partitions=(data,))
        nodes = ()
        if request.start.version >= 17 and told.endpoints:
            node = told.leader.id
            nodes = (shape("NodeEndpoint")(node_id=node, host="127.0.0.1", port=self.ports[node]),)
        return request.answer("FetchResponse", error_code=ErrorCode.none, responses=(topic,), node_endpoints=nodes)

    def _refused(self, request: Request) -> str:
        if request.body.cluster_id not in (None, self.cluster_id):
            return "INCONSISTENT_CLUSTER_ID"
        return "CLUSTER_AUTHORIZATION_FAILED" if self.denies else ""

    async def _fetch_snapshot(self, number: int, request: Request) -> Entity:
        part = request.body.topics[0].partitions[0]
        snapshot = LogPosition(part.snapshot_id.end_offset, part.snapshot_id.epoch)
        told = self.quorum.fetch_snapshot(number, FetchSnapshot(part.current_leader_epoch, snapshot, part.position))
        if told.top_error != "NONE":
            return request.answer("FetchSnapshotResponse", error_code=error_code(told.top_error), topics=())
        data = request.shape("PartitionSnapshot")(
            index=0,
            error_code=ErrorCode.none,
            snapshot_id=request.shape("SnapshotId")(end_offset=snapshot.offset, epoch=snapshot.epoch),
            current_leader=request.shape("LeaderIdAndEpoch")(leader_id=told.leader.id, leader_epoch=told.leader.epoch),
            size=told.size,
            position=told.position,
            unaligned_records=told.data,
        )
        topic = request.shape("TopicSnapshot")(name="__cluster_metadata", partitions=(data,))
        return request.answer("FetchSnapshotResponse", error_code=ErrorCode.none, topics=(topic,))

    async def _describe_cluster(self, number: int, request: Request) -> Entity:
        broker = request.shape("DescribeClusterBroker")
        listed = tuple(broker(broker_id=each, host="127.0.0.1", port=port) for each, port in self.ports.items())
        return request.answer(
            "DescribeClusterResponse", error_code=ErrorCode.none, cluster_id=self.cluster_id, brokers=listed
        )


@asynccontextmanager
async def followed(voters: Voters, *numbers: int) -> AsyncIterator[Followed]:
    """Given these voters' addresses, or all."""
    told = Followed()
    addresses = [("127.0.0.1", voters.ports[number]) for number in numbers or voters.ports]
    task = asyncio.create_task(Observing(addresses, told).run())
    try:
        yield told
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


@pytest.fixture
async def voters() -> AsyncIterator[Voters]:
    """Three, led by 1, with 20 batches."""
    voters = Voters()
    for number in (1, 2, 3):
        await voters.listen(number)
    lead(voters.quorum, 1, 20)
    yield voters
    await voters.close()


def lead(quorum: SimulatedQuorum, number: int, batches: int) -> None:
    """Elects it; all of it is committed."""
    assert quorum.elect(number)
    for _ in range(batches):
        quorum.voters[number].write(2)
    for each in quorum.voters:
        quorum.learn(each)
        quorum.replicate(each, 1_000)


def bytes_of(told: Followed) -> bytes:
    batches = [each for one in told.handed if isinstance(one, BatchesCommitted) for each in one.batches]
    assert all(before.next_offset == after.base_offset for before, after in pairwise(batches))
    return b"".join(each.data for each in batches)


async def test_it_follows_over_a_change_of_leaders(voters: Voters) -> None:
    quorum = voters.quorum
    async with followed(voters, 2) as told:
        await eventually_async(lambda: (told.end, told.phase) == (41, "live"), standing=lambda: told.standings[-1])
        lead(quorum, 3, 5)
        await eventually_async(lambda: (told.end, told.phase) == (52, "live"), standing=lambda: told.standings[-1])
        await voters.close(3)
        lead(quorum, 2, 5)
        await eventually_async(lambda: (told.end, told.phase) == (63, "live"), standing=lambda: told.standings[-1])
    assert bytes_of(told) == b"".join(each.data for each in quorum.committed)


async def test_only_what_reads_is_asked_and_one_question_waits(voters: Voters) -> None:
    voters.quorum.make_snapshot(1, trims=True)
    async with followed(voters) as told:
        await eventually_async(lambda: told.phase == "live", standing=lambda: told.standings[-1])
        before = voters.asked[ApiKey.FETCH]
        await eventually_async(lambda: voters.asked[ApiKey.FETCH] >= before + 5)
    assert set(voters.asked) == {ApiKey.FETCH, ApiKey.FETCH_SNAPSHOT, ApiKey.DESCRIBE_CLUSTER}
    assert (voters.asked[ApiKey.DESCRIBE_CLUSTER], voters.most_fetches) == (1, 1)


@pytest.mark.parametrize("newest_fetch", [13, 15, 16])
async def test_releases_before_3_9_tell_no_endpoints(newest_fetch: int) -> None:
    voters = Voters(newest_fetch)
    for number in (1, 2, 3):
        await voters.listen(number)
    lead(voters.quorum, 3, 4)
    try:
        async with followed(voters) as told:
            await eventually_async(lambda: told.phase == "live", standing=lambda: told.standings[-1])
        assert told.end == 9
    finally:
        await voters.close()


async def test_a_leader_that_keeps_silent_is_left(voters: Voters) -> None:
    async with followed(voters) as told:
        await eventually_async(lambda: told.phase == "live", standing=lambda: told.standings[-1])
        voters.silent.add(1)
        lead(voters.quorum, 2, 1)
        await eventually_async(lambda: told.end == 44, standing=lambda: told.standings[-1])
        assert told.standings[-1].leader == 2


async def test_a_broker_is_told_from_a_controller() -> None:
    voters = Voters(17)
    await voters.listen(1, as_broker=True)
    try:
        async with followed(voters) as told:
            await eventually_async(lambda: told.phase == "fault")
        port = voters.ports[1]
        assert told.standings[-1].reason == f"127.0.0.1:{port} is a broker's listener, not a controller's"
        assert not voters.asked, "nothing but its versions"
    finally:
        await voters.close()


async def test_nobody_listens_and_then_somebody_does(voters: Voters) -> None:
    await voters.close()
    async with followed(voters) as told:
        await eventually_async(lambda: told.phase == "stale" and "Connect call failed" in told.standings[-1].reason)
        for number in (1, 2, 3):
            await voters.listen(number)
        await eventually_async(lambda: told.phase == "live", standing=lambda: told.standings[-1])


async def test_garbage_is_no_answer() -> None:
    async def lie(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.IncompleteReadError):
            (size,) = struct.unpack(">i", await reader.readexactly(4))
            number = (await reader.readexactly(size))[4:8]
            writer.write(struct.pack(">i", 40) + number + b"\xff" * 36)
            await writer.drain()
        writer.close()

    server = await asyncio.start_server(lie, "127.0.0.1", 0)
    told = Followed()
    task = asyncio.create_task(Observing([server.sockets[0].getsockname()[:2]], told).run())
    await eventually_async(lambda: told.standings and "garbled" in told.standings[-1].reason)
    task.cancel()
    server.close()
    assert not told.handed
