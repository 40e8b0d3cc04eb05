"""Who leads the quorum, asked over sockets of nodes that answer, pass on, keep silent or are gone."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field

import pytest
from kio.schema.errors import ErrorCode

from model.cluster import records as r
from model.cluster.findings.find import find
from model.cluster.image_parts import Quorum, QuorumReplica
from model.hosts.kafka_client import ReadingClient
from model.hosts.kafka_descriptions import NotAllowedError
from model.hosts.wire.messages import Entity, name_of
from model.hosts.wire.names import ApiKey
from model.hosts.wire.server import Api, Request, Server
from model.sources.kafka.cluster_survey import QuorumSurvey
from tests.model.cluster.build import image

Ask = Callable[[Request], Awaitable[Entity]]
NEVER = 60.0
"""Seconds: longer than a test lasts."""


@dataclass
class Nodes:
    """Nodes on loopback: brokers tell of each other, voters listen apart. `quorum` answers for the node of an id."""

    quorum: Callable[[int, Request], Awaitable[Entity]]
    config: Mapping[str, str] = field(default_factory=dict[str, str])
    brokers: dict[int, int] = field(default_factory=dict[int, int])
    voters: dict[int, int] = field(default_factory=dict[int, int])
    asked: Counter[str] = field(default_factory=Counter[str])

    async def listen(self, stack: AsyncExitStack, node: int, *, is_voter: bool = False) -> int:
        apis: dict[int, tuple[int, int, Ask]] = {
            ApiKey.DESCRIBE_QUORUM: (0, 2, lambda request: self.quorum(node, request))
        }
        if is_voter:
            apis[ApiKey.DESCRIBE_CLUSTER] = (1, 1, self._controllers)
        else:
            apis |= {ApiKey.METADATA: (8, 8, self._metadata), ApiKey.DESCRIBE_CONFIGS: (4, 4, self._configs)}
        server = Server({key: Api(low, high, self._counted(key, ask)) for key, (low, high, ask) in apis.items()})
        stack.push_async_callback(server.close)
        port = await server.start("127.0.0.1", 0)
        (self.voters if is_voter else self.brokers)[node] = port
        return port

    def _counted(self, key: int, ask: Ask) -> Ask:
        async def answer(request: Request) -> Entity:
            self.asked[name_of(key)] += 1
            return await ask(request)

        return answer

    async def _metadata(self, request: Request) -> Entity:
        broker = request.shape("MetadataResponseBroker")
        brokers = tuple(broker(node_id=n, host="127.0.0.1", port=p, rack=None) for n, p in self.brokers.items())
        return request.answer("MetadataResponse", brokers=brokers, cluster_id="c", controller_id=1, topics=())

    async def _configs(self, request: Request) -> Entity:
        one, entry = request.shape("DescribeConfigsResult"), request.shape("DescribeConfigsResourceResult")
        rest = {"read_only": True, "config_source": 4, "is_sensitive": False, "synonyms": ()}
        rest |= {"config_type": 2, "documentation": None}
        configs = tuple(entry(name=name, value=value, **rest) for name, value in self.config.items())
        name = request.body.resources[0].resource_name
        result = one(
            error_code=ErrorCode.none, error_message=None, resource_type=4, resource_name=name, configs=configs
        )
        return request.answer("DescribeConfigsResponse", results=(result,))

    async def _controllers(self, request: Request) -> Entity:
        broker = request.shape("DescribeClusterBroker")
        listed = tuple(broker(broker_id=n, host="127.0.0.1", port=p, rack=None) for n, p in self.voters.items())
        return request.answer(
            "DescribeClusterResponse", error_code=ErrorCode.none, error_message=None, endpoint_type=2, cluster_id="c",
            controller_id=-1, brokers=listed, cluster_authorized_operations=0,
        )  # fmt: skip


def answer(request: Request, leader: int = -1, error: ErrorCode = ErrorCode.none, voters: int = 3) -> Entity:
    """A DescribeQuorumResponse; each of the voters is up to date."""
    place, replica = request.shape("PartitionData"), request.shape("ReplicaState")
    times = {"last_fetch_timestamp": 7_000, "last_caught_up_timestamp": 7_000, "replica_directory_id": None}
    known = {name: value for name, value in times.items() if name in replica.__dataclass_fields__}
    told = tuple(replica(replica_id=number, log_end_offset=9, **known) for number in range(1, voters + 1))
    values = {"error_code": error, "error_message": None, "leader_id": leader, "leader_epoch": 4, "high_watermark": 9}
    values |= {"partition_index": 0, "current_voters": told if leader >= 0 else (), "observers": ()}
    part = place(**{name: value for name, value in values.items() if name in place.__dataclass_fields__})
    topic = request.shape("TopicData")(topic_name="__cluster_metadata", partitions=(part,))
    return request.answer(
        "DescribeQuorumResponse", error_code=ErrorCode.none, error_message=None, topics=(topic,), nodes=()
    )


async def silence(_: int, __: Request) -> Entity:
    """A broker keeps the question while it knows no active controller."""
    await asyncio.sleep(NEVER)
    raise AssertionError("nobody waits so long")


@asynccontextmanager
async def surveyed(
    nodes: Nodes, brokers: int, voters: int = 0, *, timeout_s: float = 20, head_start_s: float = 0
) -> AsyncIterator[QuorumSurvey]:
    """Of brokers 1 to `brokers`, and voters 1 to `voters` which listen apart."""
    async with AsyncExitStack() as stack:
        for number in range(1, brokers + 1):
            await nodes.listen(stack, number)
        for number in range(1, voters + 1):
            await nodes.listen(stack, number, is_voter=True)
        client = ReadingClient([("127.0.0.1", nodes.brokers[1])], "test", timeout_s)
        stack.push_async_callback(client.close)
        await client.refresh()
        yield QuorumSurvey(client, head_start_s)


def findings(quorum: Quorum) -> list[tuple[str, str]]:
    found = image(r.GenerationRecognised(generation="kraft"), r.QuorumDescribed(quorum=quorum))
    return [(one.severity, one.what) for one in find(found).found if one.kind in ("quorum", "voter-lags")]


async def test_one_broker_that_passes_it_on_is_enough() -> None:
    async def passes_on(_: int, request: Request) -> Entity:
        return answer(request, leader=2)

    nodes = Nodes(passes_on)
    async with surveyed(nodes, brokers=3, head_start_s=20) as survey:
        assert [(await survey.look()).leader for _ in range(3)] == [2, 2, 2]
    assert nodes.asked["describe_quorum"] == 3
    assert not findings(await _told(2))


async def _told(leader: int) -> Quorum:
    async def passes_on(_: int, request: Request) -> Entity:
        return answer(request, leader)

    async with surveyed(Nodes(passes_on), brokers=1) as survey:
        return await survey.look()


async def test_all_are_asked_side_by_side_within_one_timeout() -> None:
    everybody, waiting = asyncio.Event(), set[int]()

    async def once_all_wait(node: int, request: Request) -> Entity:
        waiting.add(node)
        if len(waiting) == 5:
            everybody.set()
        await everybody.wait()
        return answer(request, leader=3)

    async with surveyed(Nodes(once_all_wait), brokers=5) as survey:
        assert (await survey.look()).leader == 3
    assert waiting == {1, 2, 3, 4, 5}


async def test_a_look_is_over_when_its_time_is_up_whoever_has_not_answered() -> None:
    nodes = Nodes(silence)
    async with surveyed(nodes, brokers=2, timeout_s=NEVER) as survey:
        survey._client.timeout_s = 0.5  # not that of the connection, which is open already
        async with asyncio.timeout(NEVER / 2):
            assert (await survey.look()).leader == -1


@pytest.mark.parametrize("ids", [True, False])
async def test_without_a_leader_voters_are_asked_where_they_listen(ids: bool) -> None:
    async def one_voter_lives(node: int, request: Request) -> Entity:
        if request.start.api_key == ApiKey.DESCRIBE_QUORUM and node == 7:
            return answer(request, error=ErrorCode.not_leader_or_follower)
        return await silence(node, request)

    nodes = Nodes(one_voter_lives)
    async with AsyncExitStack() as stack:
        port = await nodes.listen(stack, 7, is_voter=True)
        nodes.voters |= {8: 1, 9: 2}  # nobody listens there
        places = {7: port, 8: 1, 9: 2}
        prefix = {number: f"{number}@" if ids else "" for number in places}
        key = "controller.quorum.voters" if ids else "controller.quorum.bootstrap.servers"
        nodes.config = {key: ",".join(f"{prefix[number]}127.0.0.1:{port}" for number, port in places.items())}
        async with surveyed(nodes, brokers=2, timeout_s=1.5) as survey:
            nodes.brokers.pop(2)
            quorum = await survey.look()
    assert (quorum.leader, [each.id for each in quorum.voters], quorum.silent) == (-1, [7, 8, 9], (8, 9))
    assert quorum.unconfirmed == ()
    assert findings(quorum) == [("error", "1 of 3 voters answers: nothing can be elected")]


async def test_closed_listeners_of_voters_are_no_alarm_and_a_broker_that_is_a_voter_answers_for_it() -> None:
    leader = 1

    async def passes_on(node: int, request: Request) -> Entity:
        return answer(request, leader) if leader >= 0 else await silence(node, request)

    nodes = Nodes(passes_on, {"controller.quorum.voters": "1@127.0.0.1:1,2@127.0.0.1:2,3@127.0.0.1:3"})
    async with surveyed(nodes, brokers=2, timeout_s=1.5) as survey:
        assert not findings(await survey.look())
        leader = -1
        quorum = await survey.look()
    assert (quorum.leader, quorum.leader_epoch, quorum.silent) == (-1, 4, (3,))
    assert findings(quorum) == [
        ("error", "2 of 3 voters answer, and none of them is the active controller: nothing can be elected")
    ]


async def test_a_broker_that_is_silent_is_unconfirmed_only_while_nobody_leads() -> None:
    nodes = Nodes(silence, brokers={4: 1})  # whom metadata names, and nobody listens there
    async with surveyed(nodes, brokers=1, timeout_s=1.5) as survey:
        quorum = await survey.look()
        assert (quorum.leader, quorum.unconfirmed) == (-1, (4,))

        async def passes_on(_: int, request: Request) -> Entity:
            return answer(request, leader=2)

        nodes.quorum = passes_on
        assert (await survey.look()).unconfirmed == ()


async def test_who_must_not_know_the_quorum_is_told_so() -> None:
    async def refuses(_: int, request: Request) -> Entity:
        return answer(request, error=ErrorCode.cluster_authorization_failed)

    async with surveyed(Nodes(refuses), brokers=2) as survey:
        with pytest.raises(NotAllowedError, match="DESCRIBE on the cluster"):
            await survey.look()


def test_a_leader_whom_no_majority_follows_cannot_elect() -> None:
    voters = tuple(QuorumReplica(number, 9, 0, at_ms) for number, at_ms in ((1, 60_000), (2, 40_000), (3, -1)))
    assert findings(Quorum(1, 4, 9, voters)) == [
        ("error", "1 of 3 voters keeps up with the metadata log: nothing can be elected")
    ]
    assert not findings(Quorum(1, 4, -1, voters))  # elected just now: nobody has fetched yet
    one_late = Quorum(1, 4, 9, (*voters[:2], QuorumReplica(3, 9, 0, 59_000)))
    assert findings(one_late) == [
        ("warn", "a voter of the metadata quorum that has fallen silent: of 3, no other may be lost")
    ]
