"""The service asked about a moment past: every page answers from that image, and row one's facts are of it too."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from model.cluster.change import Change
from model.cluster.cluster_image import records_of
from model.cluster.ids import TopicPartition
from model.cluster.records import BrokerLost, ClusterRecord, OffsetCommitted, PartitionStatesWritten
from model.cluster.snapshot_file import read_snapshot
from model.sources.source import FactBatch, Sink, SourceStatus
from model.sources.timeline import Timeline
from model.sources.timeline_window import TimelineWindow
from tests.harness.near_link import NearLink
from tests.model.cluster.build import brokers, topic
from tests.model.recordings.lives import life, record
from tests.tui.data.small_cluster import NOW_MS, WRITTEN_MS, keys_of, rows_of, small_image, state
from tui.engine.cluster.queries import BrokerList, EventList, FindingList
from tui.engine.history.past_service import PastService
from tui.engine.history.queries import ComparisonText, PastEventList, PastEventText, SaveSnapshot
from tui.engine.messages import Opening, TimeAnswer, TimeQuery
from tui.engine.queries import PartitionList, PartitionTextQuery
from tui.engine.service import DataService
from tui.engine.sources import source_of


class Story:
    """A source that tells how broker 3 was lost."""

    name = "by hand"
    sink: Sink

    def __init__(self) -> None:
        self._zxid = 0x100

    def open(self, sink: Sink) -> None:
        self.sink = sink

    def close(self) -> None:
        """Nothing is open."""

    def tell(self, after_ms: int, *records: ClusterRecord, listing: bool = False) -> None:
        self._zxid += 1
        self.sink.take(FactBatch(records, self._zxid, WRITTEN_MS + after_ms, listing=listing))

    def go_on(self) -> None:
        """Four moments."""
        self.tell(0, *records_of(small_image()), listing=True)
        self.sink.report(SourceStatus("live"))
        self.tell(5_000, OffsetCommitted(group="billing", partition=TopicPartition("orders", 2), offset=101))
        self.tell(10_000, BrokerLost(broker=3))
        self.tell(11_000, PartitionStatesWritten(topic="orders", states=(state(2, 4, (4,), 40),)))


@asynccontextmanager
async def told() -> AsyncIterator[tuple[NearLink, Story]]:
    """The link when the whole story was told."""
    story = Story()
    link = NearLink(DataService(story, now_ms=lambda: NOW_MS))
    await link.open(lambda _: None)
    story.go_on()
    try:
        yield link, story
    finally:
        await link.close()


async def went(link: NearLink, *ways: TimeQuery) -> TimeAnswer:
    """Where these ways lead, one after the other."""
    answer = TimeAnswer()
    for way in ways:
        answer = await link.moment(TimeQuery(way.to, way.text, answer.seq))
    return answer


BACK, ON, MARK_BEFORE, MARK_AFTER = map(TimeQuery, ("back", "on", "mark-before", "mark-after"))


async def test_every_page_answers_from_the_moment_asked_for() -> None:
    async with told() as (link, _):
        before = await went(link, BACK, BACK)
        assert before.clock == "22:13:20"
        assert (before.header.brokers_up, before.header.brokers_down) == (5, 1)

        async def seen(at: int) -> tuple[list[str], int, str, list[str]]:
            brokers = await link.rows(BrokerList(at=at))
            events = await link.rows(EventList(at=at, filter="!nothing"))
            why = await link.text(PartitionTextQuery(key="orders-2", at=at, width=100))
            found = await link.rows(FindingList(at=at))
            return [row.key for row in brokers.rows if row.mark == "X"], events.total, why.plain, keys_of(found)

        dead, events, why, found = await seen(before.seq)
        assert (dead, events, "dead-broker/broker 3" in found) == (["5"], 1, False)
        assert "leader 3" in why and "leader 4" not in why
        dead, events, why, found = await seen(0)
        assert (dead, events, "dead-broker/broker 3" in found) == (["3", "5"], 5, True)
        assert "leader 4" in why


async def test_ages_are_counted_from_that_moment() -> None:
    async with told() as (link, _):
        lost = await went(link, TimeQuery("time", "22:13:30"))
        query = PartitionList(filter="orders-3", view="list")
        then = rows_of(await link.rows(PartitionList(filter="orders-3", view="list", at=lost.seq)))
        assert "10s" in then[0] and "33s" in rows_of(await link.rows(query))[0]


async def test_steps_stop_at_events_and_marks_at_marks() -> None:
    async with told() as (link, _):
        newest = await went(link, TimeQuery("now"))
        assert newest.changes == 5
        lost = await went(link, BACK)
        assert lost.said.startswith("broker 3: b3 gone")
        assert (await went(link, MARK_BEFORE)).seq == lost.seq
        first = await went(link, BACK, BACK)
        assert first.said.startswith("cluster: loaded"), "the committed offset is passed over"
        assert (await went(link, BACK, BACK, BACK)).said == "the timeline begins here"
        assert (await went(link, BACK, BACK, ON)).seq == lost.seq
        assert (await went(link, BACK, ON)).seq == newest.seq
        assert "p follows the cluster again" in (await went(link, ON)).said
        assert (await went(link, BACK, MARK_BEFORE)).said.startswith("no mark there")
        assert (await went(link, BACK, BACK, MARK_AFTER)).seq == lost.seq


async def test_an_event_leads_to_its_moment() -> None:
    async with told() as (link, story):
        events = await link.rows(PastEventList())
        key = next(row.key for row in events.rows if "broker-lost" in row.key)
        lost = await went(link, TimeQuery("event", key))
        assert (lost.clock, lost.header.brokers_up) == ("22:13:30", 4)
        assert (await link.rows(PastEventList())).total == events.total, "all are shown"
        text = (await link.text(PastEventText(key=key, at=lost.seq, width=100))).plain
        assert "b3 gone" in text and "22:13:30.000 UTC, 2 changes before the newest" in text
        assert "back to 2023-11-14 22:13:20.000 UTC, 11 s" in text and "4 of at most 10,000, 2 marks" in text
        gone = await went(link, TimeQuery("event", "1/2/3"))
        assert (gone.seq, gone.said) == (0, "the timeline does not reach back to this event")
        story.sink.take(FactBatch((), 0x200, WRITTEN_MS + 12_000))
        assert (await went(link, TimeQuery("event", key))).seq == lost.seq


async def test_two_moments_are_compared() -> None:
    async with told() as (link, _):
        first = await went(link, BACK, BACK)
        plain = (await link.text(ComparisonText(at=first.seq, width=100))).plain
        lines = [line.split() for line in plain.splitlines()]
        assert ["brokers", "5", "4"] in lines
        assert ["broker-lost", "1"] in lines and ["leader-moved", "1"] in lines
        assert "broker 3: b3 gone" in plain and "new findings" in plain
        assert "nothing is different" in (await link.text(ComparisonText(width=100))).plain


async def test_the_moment_looked_at_is_saved_and_no_file_is_replaced(tmp_path: Path) -> None:
    async with told() as (link, _):
        first = await went(link, BACK, BACK)
        path = tmp_path / "then.json.zst"
        said = await link.wish(SaveSnapshot(str(path), at=first.seq))
        assert said.startswith(f"{path}: the cluster at 22:13:20.000, ")
        assert set(read_snapshot(path).brokers) == {1, 2, 3, 4, 6}
        assert await link.wish(SaveSnapshot(str(path))) == f"{path} exists already: choose another name"
        assert set(read_snapshot(path).brokers) == {1, 2, 3, 4, 6}
        await link.wish(SaveSnapshot(str(tmp_path / "now.json")))
        assert set(read_snapshot(tmp_path / "now.json").brokers) == {1, 2, 4, 6}


@pytest.mark.parametrize("name", ["there", "no/such/folder/x.json", "\0.json", "~nobody-at-all/x.json"])
async def test_what_cannot_be_saved_is_one_line(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    async with told() as (link, _):
        said = await link.wish(SaveSnapshot(name))
        assert said and "\n" not in said and "bytes" not in said
    assert list(tmp_path.iterdir()) == []


async def test_a_recording_is_gone_back_in(tmp_path: Path) -> None:
    record(tmp_path, life([(0, [*brokers(1, 2)]), (5_000, [*brokers(3)]), (2_000, [*topic("late", (2,))])]))
    link = NearLink(DataService(source_of(Opening(source=str(tmp_path)))))
    await link.open(lambda _: None)
    newest = await went(link, TimeQuery("now"))
    assert newest.header.topics == 1
    assert (await went(link, BACK)).header.brokers_up == 3
    assert (await went(link, BACK, BACK)).header.brokers_up == 2
    first = await went(link, TimeQuery("time", "01:00:04"))
    assert (first.header.brokers_up, first.clock, first.header.phase) == (2, "01:00:00", "snapshot")
    events = await link.rows(PastEventList())
    kinds = [row.key.split("/")[2] for row in events.rows]
    assert (kinds[0], kinds[-1], "broker-registered" in kinds) == ("topic-created", "loaded", True)
    await link.close()


async def test_why_the_log_before_it_is_not_read_is_said_with_the_timeline() -> None:
    async with told() as (link, story):
        story.sink.report(SourceStatus("live", unread="it has 9 records"))
        text = (await link.text(PastEventText(width=100))).plain
        assert "the cluster's own log is not read from its start: it has 9 records" in text


async def test_before_anything_was_read_there_is_no_moment() -> None:
    link = NearLink(DataService(Story(), now_ms=lambda: NOW_MS))
    await link.open(lambda _: None)
    assert (await went(link, BACK)).said == "nothing was read yet"
    assert "nothing was read yet" in (await link.text(PastEventText())).plain
    assert "nothing was read yet" in await link.wish(SaveSnapshot("x.json"))
    await link.close()


async def test_a_moment_that_leaves_the_timeline_while_it_is_looked_at_stays_as_it_was() -> None:
    async with told() as (link, _):
        service = link._service  # pyright: ignore[reportPrivateUsage]
        live = service.moment
        desk = PastService()
        desk.window = TimelineWindow(Timeline(most_moments=1), is_first=True, is_last=True)
        desk.take(live)
        seen, at_ms = await desk.look(live.seq, live)
        desk.take(type(live)(live.seq + 1, live.image, feed=(*live.feed, Change("leader-moved", "t-0", "3 -> 4"))))
        assert desk.timeline.instants[0].seq == live.seq + 1
        assert await desk.look(live.seq, live) == (seen, at_ms)
