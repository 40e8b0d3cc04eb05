"""`kafka://…` of a KRaft cluster over sockets: a broker that is polled, and voters that have a real quorum's log."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

import pytest
from kio.schema.errors import ErrorCode

from model.hosts.wire.messages import Entity
from model.hosts.wire.names import ApiKey
from model.hosts.wire.server import Api, Request, Server
from model.sources.addresses import KafkaAddress
from model.sources.feed import Feed
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

    def apis(self) -> dict[int, Api]:
        return super().apis() | {ApiKey.DESCRIBE_QUORUM: Api(0, 2, self._quorum)}

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
async def naming(voters: Voters | None) -> AsyncIterator[int]:
    """A broker's port."""
    broker = NamingBroker()
    broker.voters = voters
    server = Server(broker.apis())
    broker.port = await server.start("127.0.0.1", 0)
    try:
        yield broker.port
    finally:
        await server.close()


@contextmanager
def followed(port: int, *, trial_s: float = 60.0, retry_s: float = 0.2, patience_s: float = 0.5) -> Iterator[Feed]:
    polling = KafkaSource(KafkaAddress((("127.0.0.1", port),)), interval_s=0.1, connect_s=60.0)
    source = ClusterSource(polling, None, trial_s, retry_s, patience_s)
    feed = Feed(source.name, lambda _: None)
    source.open(feed)
    try:
        yield feed
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
    async with naming(voters) as port:
        for voter in voters.quorum.voters.values():
            voter.epoch, voter.leader = 4, -1
        with followed(port) as feed:
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
    assert voters.asked.keys() <= {ApiKey.FETCH, ApiKey.FETCH_SNAPSHOT, ApiKey.DESCRIBE_CLUSTER}, "only reads"


async def test_without_a_leader_for_long_brokers_tell_everything_until_there_is_one(voters: Voters) -> None:
    async with naming(voters) as port:
        with followed(port) as feed:
            await shows(feed, LOGGED)
            for voter in voters.quorum.voters.values():
                voter.epoch, voter.leader = 4, -1
            await shows(feed, POLLED, "controllers cannot be followed: a controller is being elected (epoch 4)")
            for voter in voters.quorum.voters.values():
                voter.epoch, voter.leader = 5, 2
            await shows(feed, LOGGED, "")


async def test_who_lacks_the_right_polls_and_is_refused_once(voters: Voters) -> None:
    voters.denies = True
    async with naming(voters) as port:
        with followed(port) as feed:
            await shows(feed, POLLED, "CLUSTER_ACTION is missing")
            asked, looked = voters.asked[ApiKey.FETCH], feed.moment.status.verified_ms
            await eventually_async(lambda: feed.moment.status.verified_ms > looked + 500, "more looks")
            assert voters.asked[ApiKey.FETCH] == asked


async def test_closed_ports_are_said(voters: Voters) -> None:
    await voters.close()
    async with naming(voters) as port:
        with followed(port, trial_s=0.1) as feed:
            await shows(feed, POLLED, "controllers' ports cannot be reached")


async def test_the_controllers_of_another_cluster_are_not_followed(voters: Voters) -> None:
    voters.cluster_id = "another"
    async with naming(voters) as port:
        with followed(port, trial_s=0.1) as feed:
            await eventually_async(lambda: "of another cluster than c" in feed.moment.status.polled)
            assert feed.moment.image.topics.keys() == POLLED


async def test_releases_that_tell_no_endpoints_are_polled() -> None:
    async with naming(None) as port:
        with followed(port) as feed:
            await shows(feed, POLLED, "brokers do not tell where controllers listen")
