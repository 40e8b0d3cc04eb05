"""`kafka://…` of a KRaft cluster over sockets: a broker that is polled, and voters that have a real quorum's log."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

import pytest
from kio.schema.errors import ErrorCode

from model.hosts.wire.messages import Entity
from model.hosts.wire.names import ApiKey
from model.hosts.wire.server import Api, Request, Server
from model.sources.addresses import KafkaAddress
from model.sources.feed import Feed, Moment
from model.sources.kafka.kafka_source import KafkaSource
from model.sources.quorum.cluster_source import ClusterSource
from tests.harness.waiting import eventually_async
from tests.model.hosts.observing.test_observing import Voters
from tests.model.sources.kafka.test_kraft_survey import Broker
from tests.model.sources.quorum.test_quorum_source import quorum_of_three

POLLED, LOGGED = {"led", "lost"}, {"elr", "single"}
"""Topics that the broker tells, and those of the log: two clusters, so that it is plain who told."""


class NamingBroker(Broker):
    """Names where voters listen, as since 3.9."""

    voters: Voters | None = None
    asked_meanwhile: int = -1
    """Of voters, until this broker told its groups first, which takes a while."""

    def apis(self) -> dict[int, Api]:
        more = {ApiKey.DESCRIBE_QUORUM: Api(0, 2, self._quorum), ApiKey.LIST_GROUPS: Api(4, 4, self._groups)}
        return super().apis() | more

    async def _configs(self, request: Request) -> Entity:
        """One setting of its own file."""
        setting = request.shape("DescribeConfigsResourceResult")(
            name="log.dirs", value="/data", read_only=True, config_source=4, is_sensitive=False, synonyms=(),
            documentation=None,
        )  # fmt: skip
        told = request.shape("DescribeConfigsResult")(
            error_code=ErrorCode.none, error_message=None, resource_type=4, resource_name="1", configs=(setting,)
        )
        return request.answer("DescribeConfigsResponse", results=(told,))

    async def _groups(self, request: Request) -> Entity:
        if self.asked_meanwhile < 0:
            await asyncio.sleep(0.3)
            self.asked_meanwhile = self.voters.asked.total() if self.voters else 0
        return request.answer("ListGroupsResponse", error_code=ErrorCode.none, groups=())

    async def _quorum(self, request: Request) -> Entity:
        told = await super()._quorum(request)
        if self.voters is None:
            return told
        node, listener = request.shape("Node"), request.shape("Listener")
        nodes = tuple(
            node(node_id=number, listeners=(listener(name="CONTROLLER", host="127.0.0.1", port=port),))
            for number, port in self.voters.ports.items()
        )
        topic = told.topics
        return request.answer(
            "DescribeQuorumResponse", error_code=ErrorCode.none, error_message=None, topics=topic, nodes=nodes
        )


@pytest.fixture
async def voters() -> AsyncIterator[Voters]:
    voters = await quorum_of_three()
    voters.quorum.voters[2].high_watermark = 164
    voters.cluster_id = "c"
    yield voters
    await voters.close()


@asynccontextmanager
async def naming(voters: Voters | None) -> AsyncIterator[NamingBroker]:
    broker = NamingBroker()
    broker.voters = voters
    server = Server(broker.apis())
    broker.port = await server.start("127.0.0.1", 0)
    try:
        yield broker
    finally:
        await server.close()


@contextmanager
def followed(
    port: int, *, trial_s: float = 60.0, retry_s: float = 0.2, patience_s: float = 0.5, rest_s: float = 0.0
) -> Iterator[Feed]:
    polling = KafkaSource(KafkaAddress((("127.0.0.1", port),)), interval_s=0.1, connect_s=60.0)
    source = ClusterSource(polling, None, trial_s, retry_s, patience_s, rest_s)
    moments: list[Moment] = []
    feed = Feed(source.name, moments.append)
    source.open(feed)
    try:
        yield feed
        settled = next((each for each in moments if each.status.phase == "live"), None)
        assert settled is None or settled.status.poll_ms, "who looks once is told by brokers"
    finally:
        source.close()


async def shows(feed: Feed, topics: set[str], polled: str | None = None) -> None:
    """Live, with these topics; polled for this reason."""

    def holds() -> bool:
        moment = feed.moment
        return (moment.status.phase, moment.image.topics.keys()) == ("live", topics) and (
            polled is None or moment.status.polled == polled
        )

    await eventually_async(holds, standing=lambda: (feed.moment.status, list(feed.moment.image.topics)))


async def test_the_first_picture_is_the_brokers_and_the_log_takes_over(voters: Voters) -> None:
    async with naming(voters) as broker:
        for voter in voters.quorum.voters.values():
            voter.epoch, voter.leader = 4, -1
        with followed(broker.port, patience_s=60.0) as feed:
            await shows(feed, POLLED, "")
            assert feed.moment.status.poll_ms == 100
            for voter in voters.quorum.voters.values():
                voter.epoch, voter.leader = 5, 2
            await shows(feed, LOGGED, "")
            status, image = feed.moment.status, feed.moment.image
            assert (status.poll_ms, image.provenance.zxid, image.provenance.source) == (
                0,
                163,
                feed.moment.image.provenance.source,
            )
            assert image.provenance.complete
            assert image.configs["server.properties/1"] == {"log.dirs": "/data"}, "what only brokers know"
    assert voters.asked.keys() <= {ApiKey.FETCH, ApiKey.FETCH_SNAPSHOT, ApiKey.DESCRIBE_CLUSTER}, "only reads"


async def test_without_a_leader_for_long_brokers_tell_everything_until_there_is_one(voters: Voters) -> None:
    async with naming(voters) as broker:
        with followed(broker.port) as feed:
            await shows(feed, LOGGED)
            for voter in voters.quorum.voters.values():
                voter.epoch, voter.leader = 4, -1
            await shows(feed, POLLED, "controllers cannot be followed: a controller is being elected (epoch 4)")
            for voter in voters.quorum.voters.values():
                voter.epoch, voter.leader = 5, 2
            await shows(feed, LOGGED, "")


async def test_who_lacks_the_right_polls_and_is_refused_once(voters: Voters) -> None:
    voters.denies = True
    async with naming(voters) as broker:
        with followed(broker.port) as feed:
            await shows(feed, POLLED, "CLUSTER_ACTION is missing")
            asked, looked = voters.asked[ApiKey.FETCH], feed.moment.status.verified_ms
            await eventually_async(lambda: feed.moment.status.verified_ms > looked + 500, "more looks")
            assert voters.asked[ApiKey.FETCH] == asked


async def test_closed_ports_are_said(voters: Voters) -> None:
    await voters.close()
    async with naming(voters) as broker:
        with followed(broker.port, trial_s=0.1) as feed:
            await eventually_async(lambda: "controllers' ports cannot be reached: 127." in feed.moment.status.polled)
            assert (feed.moment.status.phase, feed.moment.image.topics.keys()) == ("live", POLLED)


async def test_the_controllers_of_another_cluster_are_not_followed(voters: Voters) -> None:
    voters.cluster_id = "another"
    async with naming(voters) as broker:
        with followed(broker.port, trial_s=0.1) as feed:
            await eventually_async(lambda: "of another cluster than c" in feed.moment.status.polled)
            assert feed.moment.image.topics.keys() == POLLED


async def test_releases_that_tell_no_endpoints_are_polled() -> None:
    async with naming(None) as broker:
        with followed(broker.port) as feed:
            await shows(feed, POLLED, "brokers do not tell where controllers listen")


async def test_controllers_are_asked_nothing_until_brokers_told_everything(voters: Voters) -> None:
    async with naming(voters) as broker:
        with followed(broker.port) as feed:
            await shows(feed, LOGGED)
    assert broker.asked_meanwhile == 0


async def test_whoever_looks_once_asks_no_controller(voters: Voters) -> None:
    async with naming(voters) as broker:
        with followed(broker.port, rest_s=60.0) as feed:
            await shows(feed, POLLED, "")
            looked = feed.moment.status.verified_ms
            await eventually_async(lambda: feed.moment.status.verified_ms > looked + 500, "more looks")
    assert not voters.asked


async def test_that_nobody_leads_controllers_is_said_while_they_are_tried(voters: Voters) -> None:
    for voter in voters.quorum.voters.values():
        voter.epoch, voter.leader = 4, -1
    async with naming(voters) as broker:
        with followed(broker.port, trial_s=600.0) as feed:
            await shows(feed, POLLED, "controllers cannot be followed: a controller is being elected (epoch 4)")
