"""A real quorum followed while its leaders are killed, paused and stopped, against what its disks hold."""

from __future__ import annotations

import asyncio
import json
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress

import pytest

from model.cluster.cluster_image import ClusterImage
from model.hosts.kafka_client import ReadingClient, address_of
from model.hosts.observing.observing import Observing
from model.interchange.topics_text import partition_line
from model.log.records import RecordBatch, scan
from model.observer.messages import BatchesCommitted, Handed, LogPosition, QuorumSeen, SnapshotRead
from model.observer.state import ObserverStatus
from model.sources.addresses import ControllersAddress, parse_kafka_address, parse_source
from model.sources.feed import Feed
from model.sources.kafka.kafka_source import KafkaSource
from model.sources.quorum.cluster_source import ClusterSource
from model.sources.quorum.quorum_source import QuorumSource
from tests.conformance.kafka.api_counter import ApiCounter
from tests.conformance.kafka.client import Client
from tests.conformance.kafka.commands import Commands
from tests.harness.command import KDRILL
from tests.harness.kraft import KraftCluster
from tests.harness.waiting import eventually_async
from tui.engine.cluster.queries import ZnodeHistoryText
from tui.engine.history.queries import PastEventList, PastEventText
from tui.engine.messages import Opening, TextAnswer, TimeAnswer, TimeQuery
from tui.engine.rows import Window
from tui.engine.service import DataService
from tui.engine.sources import source_of

pytestmark = pytest.mark.conformance


class Followed:
    """What an observer was told."""

    def __init__(self) -> None:
        self.batches: dict[int, bytes] = {}
        """By base offset."""
        self.snapshots: list[SnapshotRead] = []
        self.quorum: QuorumSeen | None = None
        self.end = 0
        self.standings: list[ObserverStatus] = []
        """Each that differs from the one before it."""

    def take(self, handed: Handed) -> None:
        match handed:
            case BatchesCommitted(batches):
                for batch in batches:
                    assert batch.base_offset == self.end, "a gap, or a step back"
                    assert batch.next_offset <= handed.high_watermark
                    self.batches[batch.base_offset] = batch.data
                    self.end = batch.next_offset
            case SnapshotRead():
                assert handed.id.offset > self.end
                self.snapshots.append(handed)
                self.end = handed.id.offset
            case QuorumSeen():
                self.quorum = handed

    def stand(self, standing: ObserverStatus) -> None:
        if not self.standings or (standing.phase, standing.reason) != self._last:
            self.standings.append(standing)

    @property
    def _last(self) -> tuple[str, str]:
        return self.standings[-1].phase, self.standings[-1].reason

    @property
    def leader(self) -> int:
        return self.standings[-1].leader

    def is_live(self, *other_than: int) -> bool:
        return bool(self.standings) and self.standings[-1].phase == "live" and self.leader not in other_than

    async def live(self, *other_than: int) -> None:
        """Until it is, led by somebody else than these."""
        await eventually_async(lambda: self.is_live(*other_than), "LIVE", standing=lambda: self.standings[-3:])

    async def passes(self, end: int) -> None:
        await eventually_async(lambda: self.end > end and self.is_live(), "news", standing=lambda: self.standings[-3:])


@asynccontextmanager
async def followed(controllers: str) -> AsyncIterator[Followed]:
    told = Followed()
    task = asyncio.create_task(Observing([address_of(each) for each in controllers.split(",")], told).run())
    try:
        yield told
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


@pytest.fixture(autouse=True)
def nothing_is_left(quorum: KraftCluster) -> Iterator[None]:
    """Of a broker with more partitions fewer events are told one by one, in whatever test comes next."""
    before = Client(quorum.bootstrap).topics()
    yield
    quorum.restore()
    client = Client(quorum.bootstrap)
    client.delete(client.topics() - before - {"__consumer_offsets"})


async def make_topic(quorum: KraftCluster, name: str, *brokers: int) -> None:
    """Of 40 partitions, so that there is something for a snapshot."""
    client = Client(quorum.bootstrap)
    await asyncio.to_thread(client.create, name, dict.fromkeys(range(40), brokers))


def on_disk(quorum: KraftCluster, number: int) -> dict[int, bytes]:
    """The batches of a node's metadata log, committed or not."""
    found: dict[int, bytes] = {}
    for path in sorted(quorum.metadata_folder(number).glob("*.log")):
        data = path.read_bytes()
        entries = (entry for entry in scan(data) if isinstance(entry, RecordBatch))
        found |= {entry.base_offset: data[entry.position : entry.end] for entry in entries}
    return found


def checkpoints(quorum: KraftCluster, snapshot: LogPosition) -> list[bytes]:
    name = f"{snapshot.offset:020}-{snapshot.epoch:010}.checkpoint"
    paths = (quorum.metadata_folder(number) / name for number in (1, 2, 3))
    return [path.read_bytes() for path in paths if path.exists()]


async def test_a_quorum_followed_over_deaths_of_its_leaders(quorum: KraftCluster) -> None:
    async with followed(quorum.controllers) as told:
        await told.live()
        await make_topic(quorum, "followed-a", 4, 1, 2, 3)
        await told.passes(told.end)

        dead = told.leader
        quorum.kill(dead)
        await told.live(dead)
        assert any(each.phase == "stale" for each in told.standings[-20:])
        before = told.end
        await make_topic(quorum, "followed-b", 4)
        await told.passes(before)
        await asyncio.to_thread(quorum.restore)

        paused = told.leader
        with quorum.paused(paused):
            await told.live(paused)
        before = told.end
        await make_topic(quorum, "followed-c", 4, 1)
        await told.passes(before)

        quorum.stop(told.leader)
        await told.live()
        await asyncio.to_thread(quorum.restore)
        await told.live()
        await eventually_async(lambda: told.quorum and {1, 2, 3} <= told.quorum.quorum.present, "all voters")
    leader, end = told.leader, told.end

    log = on_disk(quorum, leader)
    assert {base: data for base, data in told.batches.items() if log.get(base) != data} == {}
    first = min(told.batches)
    assert [base for base in log if first <= base < end] == sorted(told.batches), "all of them"


async def test_whoever_comes_later_begins_with_a_snapshot(quorum: KraftCluster) -> None:
    def all_have_one() -> bool:
        folders = (quorum.metadata_folder(number) for number in (1, 2, 3))
        return all(any(path.name > f"{1:020}" for path in folder.glob("*.checkpoint")) for folder in folders)

    for number in range(20):
        if all_have_one():
            break
        await make_topic(quorum, f"snapshotted-{number}", 1, 2, 3)
    await eventually_async(all_have_one, "a snapshot at each voter")
    with ApiCounter(quorum.controllers.split(",")[0]) as counter:
        async with followed(counter.address) as told:
            await told.live()
            before = told.end
            await make_topic(quorum, "behind-a-snapshot", 1)
            await told.passes(before)
        assert counter.asked.keys() <= {"ApiVersions", "Fetch"} | {"DescribeCluster", "DescribeQuorum", "FetchSnapshot"}
        assert counter.asked["Fetch"] >= 1
    (snapshot,) = told.snapshots
    assert snapshot.data in checkpoints(quorum, snapshot.id)
    log = on_disk(quorum, told.leader)
    assert min(told.batches) == snapshot.id.offset
    assert {base: data for base, data in told.batches.items() if log.get(base) != data} == {}


async def test_a_broker_s_listener_is_no_controller_s(quorum: KraftCluster) -> None:
    async with followed(quorum.address(4)) as told:
        await eventually_async(lambda: told.standings and told.standings[-1].phase == "fault")
    assert told.standings[-1].reason == f"{quorum.address(4)} is a broker's listener, not a controller's"


async def agrees(quorum: KraftCluster, feed: Feed) -> None:
    """On all partitions, once both have heard the news. Brokers of 3.9 tell ELRs, empty ones, which its log has not."""
    printed, ours = [""], [""]
    for _ in range(10):
        lines = (await asyncio.to_thread(Commands(quorum).describe_text)).splitlines()
        printed = sorted(line for line in lines if line.startswith("\t"))
        topics = feed.moment.image.topics.values()
        ours = sorted(partition_line(topic, row).replace("N/A", "") for topic in topics for row in range(len(topic)))
        if printed == ours:
            return
    assert printed == ours


async def test_the_cluster_is_shown_as_kafka_s_own_tool_tells_it(quorum: KraftCluster) -> None:
    """Byte for byte, also while a broker is dead; groups and log folders come from the brokers that are registered."""
    for topic, assignment in (("shown", {0: [4, 1], 1: [1, 2]}), ("shown-single", {0: [4]})):
        await asyncio.to_thread(Commands(quorum).create, topic, assignment)
    address = parse_source(f"controllers://{quorum.controllers}")
    assert isinstance(address, ControllersAddress)
    source = QuorumSource(address, interval_s=0.5)
    feed = Feed(source.name, lambda _: None)
    source.open(feed)

    def image() -> ClusterImage:
        return feed.moment.image

    try:
        await eventually_async(lambda: image().log_dirs.keys() >= {1, 2, 3, 4}, standing=lambda: feed.moment.status)
        await agrees(quorum, feed)
        quorum.kill(4)
        await eventually_async(lambda: set(image().fenced) == {4}, "broker 4 to be fenced")
        await agrees(quorum, feed)
        assert [image().topics[name].leader.tolist() for name in ("shown", "shown-single")] == [[1, 1], [-1]]
        await asyncio.to_thread(quorum.restore)
        await eventually_async(lambda: not image().fenced and 4 in image().brokers, "broker 4 to be back")
        await agrees(quorum, feed)
        assert feed.moment.status.phase == "live"
    finally:
        source.close()
        await asyncio.to_thread(quorum.restore)


@asynccontextmanager
async def asked_for_brokers(quorum: KraftCluster, *numbers: int, patience_s: float = 60.0) -> AsyncIterator[Feed]:
    source = ClusterSource(
        KafkaSource(parse_kafka_address(quorum.address(*numbers)), interval_s=0.5), patience_s=patience_s, retry_s=1.0
    )
    feed = Feed(source.name, lambda _: None)
    source.open(feed)
    try:
        yield feed
    finally:
        source.close()


async def known_at(quorum: KraftCluster, number: int) -> set[int]:
    """The brokers that one of them names: each hears the news when it does."""
    client = ReadingClient(parse_kafka_address(quorum.address(number)).brokers, "probe", 5.0)
    try:
        return set((await client.refresh(None)).brokers)
    finally:
        await client.close()


async def is_followed(feed: Feed) -> None:
    await eventually_async(
        lambda: feed.moment.status.phase == "live" and not feed.moment.status.poll_ms,
        standing=lambda: feed.moment.status,
    )


def voters(feed: Feed) -> list[tuple[str, ...]]:
    quorum = feed.moment.image.quorum
    return [] if quorum is None else [(each.directory_id, *each.endpoints) for each in quorum.voters]


def events(feed: Feed) -> list[str]:
    """Settings are read later, and the log knows those of everybody."""
    return [f"{one.subject}: {one.text}" for one in feed.moment.feed if one.kind not in ("loaded", "config-changed")]


async def test_asked_for_its_brokers_a_cluster_is_followed_at_its_controllers(quorum: KraftCluster) -> None:
    """Without an event: what brokers told first and what the log tells are one cluster, a fenced broker included."""
    await make_topic(quorum, "found", 2, 4, 1)
    quorum.kill(4)
    try:
        for number in (1, 2, 3):
            while 4 in await known_at(quorum, number):
                await asyncio.sleep(0.1)
        async with asked_for_brokers(quorum, 1, 2) as feed:
            await eventually_async(lambda: feed.moment.image.provenance.complete, "a first picture")
            assert feed.moment.status.poll_ms or not feed.moment.status.verified_ms
            expected = [
                (quorum.directory_id(number), f"CONTROLLER://{address}")
                for number, address in enumerate(quorum.controllers.split(","), 1)
            ]
            assert voters(feed) == expected
            await is_followed(feed)
            assert voters(feed) == expected
            assert set(feed.moment.image.fenced) == {4}
            await agrees(quorum, feed)
            await eventually_async(lambda: feed.moment.image.log_dirs.keys() >= {1, 2, 3}, "log folders of the brokers")
            assert events(feed) == []
            await make_topic(quorum, "found-later", 1)
            await eventually_async(lambda: "found-later" in feed.moment.image.topics, "the news")
    finally:
        await asyncio.to_thread(quorum.restore)


async def test_brokers_tell_while_most_voters_are_gone_and_the_log_afterwards(quorum: KraftCluster) -> None:
    async with asked_for_brokers(quorum, patience_s=3.0) as feed:
        await is_followed(feed)
        quorum.kill(2, 3)
        await eventually_async(
            lambda: feed.moment.status.polled, "brokers to tell", standing=lambda: feed.moment.status
        )
        assert feed.moment.status.polled.startswith("controllers")
        await eventually_async(lambda: feed.moment.image.quorum and not feed.moment.image.quorum.is_led, "no leader")
        await asyncio.to_thread(quorum.restore)
        await is_followed(feed)
        assert feed.moment.status.polled == ""
        told = {each.partition(":")[0] for each in events(feed)} - feed.moment.image.topics.keys()
        assert {each for each in told if each.startswith("broker ")} <= {"broker 2", "broker 3"}
        await agrees(quorum, feed)


@pytest.mark.parametrize("scheme", ["controllers", "kafka"])
async def test_what_happened_before_it_was_opened_is_told(quorum: KraftCluster, scheme: str) -> None:
    """By the cluster's own log: events, the way back in time, and who wrote what."""
    await make_topic(quorum, "before", 4, 1)
    await asyncio.to_thread(quorum.kill, 4)
    client = Client(quorum.bootstrap)
    await eventually_async(lambda: client.partition("before", 0).leader == 1, "another leader")
    address = quorum.controllers if scheme == "controllers" else quorum.bootstrap
    service = DataService(source_of(Opening(source=f"{scheme}://{address}", poll_s=0.5)))
    service.open()
    try:
        query = PastEventList(filter="broker-fenced", count=50)

        async def events() -> Window:
            found = await service.answer(query)
            assert isinstance(found, Window)
            return found

        await eventually_async(lambda: service.moment.status.phase == "live", standing=lambda: service.moment.status)
        async with asyncio.timeout(30):
            while not (await events()).rows:
                await asyncio.sleep(0.2)
        said = await service.answer(PastEventText(width=100))
        assert isinstance(said, TextAnswer)
        assert "from the cluster's own log, since" in said.plain
        went = await service.answer(TimeQuery("event", (await events()).rows[0].key))
        assert isinstance(went, TimeAnswer)
        assert went.seq
        history = await service.answer(ZnodeHistoryText(key="/brokers/4/registration", width=100))
        assert isinstance(history, TextAnswer)
        assert "fenced false -> true" in history.plain
    finally:
        await service.close()
    if scheme == "controllers":
        asked = [*KDRILL, "history", f"{scheme}://{address}", "--no-drill", "--json"]
        done = await asyncio.to_thread(subprocess.run, asked, capture_output=True, text=True, check=True)
        (told,) = json.loads(done.stdout)["clusters"]
        assert told["cluster"] in (address, service.moment.image.cluster_id)
        assert {each["topic"]: each["partitions"] for each in told["topics"]}["before"] >= 1
