"""The service behind every screen, in this process: when it speaks, and what it says of sources of every kind."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
import pytest

from model.cluster.cluster_image import Provenance
from model.cluster.snapshot_file import write_snapshot
from model.sandbox.embedded_zookeeper import ZnodeSession
from model.sources.source import FactBatch, Sink, SourceStatus
from model.zookeeper import Create, SetData
from tests.demo_tree import demo_tree
from tests.harness.near_link import NearLink
from tests.tui.data.pulses import Pulses, live
from tests.tui.data.small_cluster import small_image
from tui.engine.cluster.queries import BrokerList, ZnodeList, ZnodeText
from tui.engine.messages import Opening
from tui.engine.service import LATE_MS, DataService
from tui.engine.sources import source_of

TREE = ZnodeList(opened=("/",))


class ByHand:
    """A source that a test speaks for."""

    name = "by hand"
    sink: Sink

    def open(self, sink: Sink) -> None:
        self.sink = sink

    def close(self) -> None:
        """Nothing is open."""


@asynccontextmanager
async def following(service: DataService) -> AsyncIterator[tuple[NearLink, Pulses]]:
    link, pulses = NearLink(service), Pulses()
    await link.open(pulses.hear)
    try:
        yield link, pulses
    finally:
        await link.close()


@pytest.fixture
def snapshot(tmp_path: Path) -> Path:
    image = msgspec.structs.replace(small_image(), provenance=Provenance(source="zk://there", time_ms=1, complete=True))
    write_snapshot(tmp_path / "small.json", image)
    return tmp_path / "small.json"


async def test_a_snapshot_is_told_once_and_has_no_znodes(snapshot: Path) -> None:
    async with following(DataService(source_of(Opening(source=str(snapshot))))) as (link, pulses):
        pulse = await pulses.until(lambda pulse: pulse.header.phase == "snapshot")
        assert pulse.header.reason == "taken of zk://there"
        assert pulse.header.image_time_ms == 1
        assert (await link.rows(BrokerList())).total
        assert "ZooKeeper holds no tree" in (await link.rows(TREE)).note
        assert (await link.text(ZnodeText(key="/controller"))).lines == ()


async def test_a_burst_of_news_is_few_pulses() -> None:
    source = ByHand()
    async with following(DataService(source)) as (_, pulses):
        await pulses.until(lambda pulse: pulse)
        for number in range(1000):
            source.sink.report(SourceStatus("loading", done=number, total=1000))
        pulse = await pulses.until(lambda pulse: pulse.seq == 1000)
        assert pulse.header.progress == (999, 1000)
        assert len(pulses.heard) < 10


async def test_news_from_the_sources_thread_is_heard_and_after_the_end_does_no_harm() -> None:
    source = ByHand()
    async with following(DataService(source, name="prod-eu1")) as (_, pulses):
        await asyncio.to_thread(source.sink.report, SourceStatus("live"))
        assert (await pulses.until(live)).header.cluster == "prod-eu1"
    await asyncio.to_thread(source.sink.report, SourceStatus("closed"))


def test_a_source_may_outlive_the_event_loop() -> None:
    source = ByHand()

    async def briefly() -> None:
        DataService(source).open()

    asyncio.run(briefly())
    source.sink.report(SourceStatus("closed"))


@pytest.mark.parametrize("phase", ["closed", "denied"])
async def test_a_source_that_ends_before_it_knew_anything_ends_the_program(phase: str) -> None:
    source = ByHand()
    async with following(DataService(source)) as (_, pulses):
        source.sink.report(SourceStatus(phase, reason="zk://a: nobody there"))  # pyright: ignore[reportArgumentType]
        assert (await pulses.until(lambda pulse: pulse.fatal)).fatal == "zk://a: nobody there"


async def test_a_source_that_ends_later_leaves_its_last_image() -> None:
    source = ByHand()
    async with following(DataService(source)) as (_, pulses):
        source.sink.take(FactBatch((), zxid=1, time_ms=2, listing=True))
        source.sink.report(SourceStatus("closed", reason="zk://a: the session is gone"))
        pulse = await pulses.until(lambda pulse: pulse.header.phase == "closed")
        assert (pulse.fatal, pulse.header.reason) == ("", "zk://a: the session is gone")


async def test_the_tree_marks_what_changed_since_it_was_looked_at(zookeeper: str) -> None:
    with demo_tree(zookeeper) as tree:
        async with following(DataService(source_of(Opening(source=tree.source)))) as (link, pulses):
            await pulses.until(live)
            before = {row.key: row.mark for row in (await link.rows(TREE)).rows}
            assert before["/controller"] == ""
            address, slash, root = zookeeper.partition("/")
            session = ZnodeSession(address, f"{slash}{root}/kafka")
            session.apply([Create("/new", b"1"), SetData("/controller_epoch", b"99")])
            session.close()
            await pulses.until(lambda pulse: pulse.header.controller_epoch == 99)
            after = {row.key: row.mark for row in (await link.rows(TREE)).rows}
            assert (after["/new"], after["/controller_epoch"]) == ("+", "~")


async def test_that_a_source_lives_is_told_now_and_then_and_that_it_is_late_at_once() -> None:
    source, times = ByHand(), [1_000_000]
    image = Provenance(source="by hand", zxid=1, time_ms=times[0], complete=True)
    async with following(DataService(source, now_ms=lambda: times[0])) as (_, pulses):
        source.sink.take(FactBatch((), image.zxid, image.time_ms, listing=True))
        source.sink.report(SourceStatus("live", verified_ms=times[0]))
        told = await pulses.until(live)
        assert told.header.rests_ms > 0
        for _ in range(20):
            source.sink.report(SourceStatus("live", verified_ms=times[0]))
        times[0] += LATE_MS + 1
        late = await pulses.until(lambda pulse: live(pulse) and pulse.header.rests_ms == 0)
        assert len(pulses.heard) - pulses.heard.index(told) < 10
        source.sink.report(SourceStatus("live", verified_ms=times[0]))
        await pulses.until(lambda pulse: pulse.seq > late.seq and pulse.header.rests_ms > 0)
