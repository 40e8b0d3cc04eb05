"""`kafka://` over a socket: coordinator and records are ours, all else is canned, and some APIs are missing."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from model.hosts.kafka_client import READS
from model.hosts.wire.names import ApiKey
from model.sources.addresses import KafkaAddress
from model.sources.feed import Feed
from model.sources.kafka.kafka_source import KafkaSource
from model.sources.source import LOG_DIRS, FactBatch, SourceStatus
from tests.model.hosts.live_broker.groups.asking import broker
from tests.model.sources.coordinator_groups.test_source import cluster, joined


class Heard:
    """A feed, what it was told, and a way to wait for more."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._news = asyncio.Event()
        self.feed = Feed("test", lambda _: None)
        self.batches: list[FactBatch] = []
        self.statuses: list[SourceStatus] = []

    def take(self, batch: FactBatch) -> None:
        self.batches.append(batch)
        self.feed.take(batch)

    def report(self, status: SourceStatus) -> None:
        self.statuses.append(status)
        self.feed.report(status)
        self._loop.call_soon_threadsafe(self._news.set)

    async def until(self, holds: Callable[[], object]) -> None:
        async with asyncio.timeout(60):
            while not holds():
                await self._news.wait()
                self._news.clear()

    async def looks(self, count: int) -> None:
        """So many more of them have ended."""
        end = len(self.statuses) + count
        await self.until(lambda: len(self.statuses) >= end)


@asynccontextmanager
async def opened(port: int, *, connect_s: float = 60) -> AsyncIterator[tuple[KafkaSource, Heard]]:
    source, heard = KafkaSource(KafkaAddress((("127.0.0.1", port),)), 0.01, connect_s=connect_s), Heard()
    source.open(heard)
    try:
        yield source, heard
    finally:
        source.close()


async def test_a_cluster_is_listed_and_what_its_broker_does_not_know_is_told() -> None:
    async with broker() as here, cluster(here) as port:
        member = await joined(here, lambda: here.join(3), 0, 1)
        async with opened(port) as (_, heard):
            await heard.looks(1)
    image, status = heard.feed.moment.image, heard.statuses[0]
    assert [batch.listing for batch in heard.batches[:2]] == [True, False]
    assert image.provenance.complete
    assert (image.cluster_id, image.generation, image.controller.broker) == ("c", "2.x", 1)
    assert image.brokers[1].endpoints == (f"PLAINTEXT://127.0.0.1:{port}",)
    assert list(image.topics["orders"].rows()) == [(0, (1,), 1, (1,)), (1, (1,), 1, (1,))]
    assert set(image.classic_groups["g"].owners.values()) == {member}
    assert (status.phase, status.poll_ms) == ("live", 10)
    assert sorted(status.warning.split("; ")) == [
        "broker 1: the broker does not know describe_configs",
        "broker 1: the broker does not know describe_log_dirs",
        "reassignments: broker 1: the broker does not know list_partition_reassignments",
    ]


async def test_unchanged_answers_publish_nothing_and_nothing_but_reads_is_asked() -> None:
    asked: Counter[int] = Counter()
    async with broker() as here, cluster(here, asked=asked) as port:
        await joined(here, lambda: here.join(3), 0, 1)
        async with opened(port) as (_, heard):
            await heard.until(lambda: heard.feed.moment.image.classic_groups.get("g"))
            await heard.until(lambda: heard.feed.moment.image.classic_groups["g"].generation)
            await heard.looks(2)
            told, looked = len(heard.batches), asked[ApiKey.METADATA]
            await heard.looks(3)
    assert (len(heard.batches), asked[ApiKey.METADATA] > looked) == (told, True)
    assert asked.keys() <= READS


async def test_only_what_is_wanted_is_asked_for() -> None:
    asked: Counter[int] = Counter()
    async with broker() as here, cluster(here, asked=asked) as port, opened(port) as (source, heard):
        await heard.looks(1)
        source.want(LOG_DIRS)
        await heard.looks(2)  # one may have been under way
        groups = asked[ApiKey.LIST_GROUPS]
        await heard.looks(2)
    assert 0 < asked[ApiKey.LIST_GROUPS] == groups


async def test_where_a_broker_ends_what_was_told_stands() -> None:
    async with broker() as here:
        listening = cluster(here)
        async with opened(await listening.__aenter__()) as (_, heard):
            await heard.looks(1)
            await listening.__aexit__(None, None, None)
            await heard.until(lambda: heard.statuses[-1].phase == "stale")
    assert heard.statuses[-1].reason.startswith("no broker answers: ")
    assert heard.statuses[-1].verified_ms == heard.feed.moment.status.verified_ms > 0
    assert heard.feed.moment.image.brokers.keys() == {1}


async def test_where_nobody_ever_answers_it_closes() -> None:
    async with opened(1, connect_s=0) as (_, heard):
        await heard.until(lambda: heard.statuses[-1].phase == "closed" if heard.statuses else False)
    assert heard.statuses[-1].reason.startswith("kafka://127.0.0.1:1: no broker answers: 127.0.0.1:1: ")
    assert not heard.batches
