"""On a KRaft cluster nothing speaks of ZooKeeper: screens, what `d`, `?`, the palette, `status` and `drill` say."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import msgspec
import pytest

from model.cluster.changes import changes_between
from model.cluster.cluster_delta import ClusterDelta
from model.cluster.cluster_image import EMPTY, Provenance
from model.cluster.findings import find
from model.cluster.image_parts import SHARE, Member, Quorum, QuorumReplica
from model.cluster.records import ClusterRecord, GroupDescribed, PartitionState, PartitionStatesWritten, TopicAssigned
from model.drills.document import document_of
from model.drills.drill import run
from model.drills.rows import BrokerFenced, StateWritten
from model.drills.scenario import Act, Deed, of_acts
from model.drills.sentences import reasons
from model.hosts.kafka_client import PartitionPlace
from model.sources.feed import Moment
from model.sources.kafka.kafka_source import node_at
from model.sources.kafka.views import NOTHING, BrokerView, ClusterView, TopicView, records_between
from model.sources.metadata_tree import TreeReader
from model.sources.source import FactBatch, Sink, SourceStatus
from tests.model.drills.test_voters import kraft
from tests.tui.dashboard import NOW_MS, Keys, kdrill, opened_on, press, rows, settled, text, until
from tests.tui.screens.pages import PAGES, Page, arrive
from tui.app.panes.live_panes import LiveRows
from tui.app.screens.overlays import Describe
from tui.cli.drill import lines
from tui.cli.status import text_of
from tui.engine.actions import has_znodes

ZOOKEEPER = re.compile(
    r"zoo ?keeper|znode|zxid|\bzk\b|/brokers/(ids|topics)|/controller|/admin/|/config/|/consumers/|before Kafka"
    r"|NonExistent|state machine.* it holds|(?<!broker\.)session|one more each time|epoch -1|controller -1"
    r"|gone: its registration|LeaderAndIsr|UpdateMetadata|StopReplica|OfflinePartition|ControlledShutdown"
    r"|controlled\.shutdown\.max|controller_epoch|partition states? of \d",
    re.IGNORECASE,
)
"""What means nothing without a ZooKeeper."""
ELSEWHERE = ("sandbox", "logs", "log_")
"""Screens that are about something else."""

PLACE = PartitionPlace(1, (1, 2, 3), (1, 2, 3), 4)
BEFORE = ClusterView(
    cluster_id="MkU3OEVBNTcwNTJENDM2Qg",
    generation="kraft",
    features={"metadata.version": 29},
    controller=101,
    brokers={number: BrokerView(f"b{number}", 9092, f"r{number}") for number in (1, 2, 3)},
    topics={
        "orders": TopicView("NM3XSjRkRHWvLuqgZlPkNA", {0: PLACE, 1: PLACE}, {1: ((3,), ())}),
        "solo": TopicView("OM3XSjRkRHWvLuqgZlPkNA", {0: PartitionPlace(3, (3,), (3,), 0)}),
    },
    configs={"topics/orders": {"min.insync.replicas": "2"}, "brokers/1": {"log.cleaner.threads": "2"}},
    quorum=Quorum(101, 13, 90, (QuorumReplica(101, 90, 0), QuorumReplica(102, 90, 0)), (QuorumReplica(1, 90, 0),)),
)
AFTER = msgspec.structs.replace(
    BEFORE,
    controller=102,
    brokers={number: BEFORE.brokers[number] for number in (1, 2)},
    topics={
        "orders": TopicView("NM3XSjRkRHWvLuqgZlPkNA", {0: PartitionPlace(1, (1, 2, 3), (1, 2), 5)}),
        "solo": TopicView("OM3XSjRkRHWvLuqgZlPkNA", {0: PartitionPlace(-1, (3,), (3,), 1)}),
        "made": TopicView("PM3XSjRkRHWvLuqgZlPkNA", {0: PartitionPlace(1, (1, 2), (1, 2), 0)}),
    },
    configs={"topics/orders": {"min.insync.replicas": "1"}, "topics/made": {"retention.ms": "1"}},
    quorum=Quorum(102, 17, 190, (QuorumReplica(101, 190, 0), QuorumReplica(102, 190, 0))),
)
"""Broker 3 is gone, another controller leads: what can change has changed."""
GROUP = GroupDescribed(
    group="sharers",
    state="Stable",
    kind=SHARE,
    protocol_type=SHARE,
    coordinator=1,
    members={"m": Member({"orders": 1})},
)


class Brokers:
    """A source like `kafka://`: what brokers told at two looks."""

    name = "kafka://b1:9092"

    def __init__(self) -> None:
        self._sink: Sink | None = None
        self._view = NOTHING
        self.reader = TreeReader(lambda path: node_at(self._view, path))

    def open(self, sink: Sink) -> None:
        self._sink = sink
        self.look(BEFORE, GROUP)

    def look(self, view: ClusterView, *more: ClusterRecord) -> None:
        """Tells what is new since the look before."""
        assert self._sink is not None
        is_first, before, self._view = self._view is NOTHING, self._view, view
        told = records_between(before, view, NOW_MS, "PLAINTEXT")
        self._sink.take(FactBatch((*told, *more), -1, NOW_MS, listing=is_first))
        self._sink.report(SourceStatus("live", since_ms=NOW_MS, verified_ms=NOW_MS, poll_ms=5_000))

    def tell(self, batch: FactBatch) -> None:
        assert self._sink is not None
        self._sink.take(batch)

    def want(self, *_: str) -> None:
        """Everything is told in any case."""

    def close(self) -> None:
        """Nothing runs."""


@asynccontextmanager
async def dashboard() -> AsyncIterator[Keys]:
    """On the cluster, once it has changed."""
    source = Brokers()
    async with opened_on(source, size=(160, 50)) as pilot:
        source.look(AFTER)
        await until(pilot, lambda: kdrill(pilot).facts.controller == 102)
        await settled(pilot)
        yield pilot


def spoken(said: str) -> list[str]:
    """Lines that speak of ZooKeeper."""
    return [line.strip() for line in said.splitlines() if ZOOKEEPER.search(line)]


async def described(pilot: Keys) -> AsyncIterator[str]:
    """What `d` says of each row of each list in sight."""
    for listed in list(kdrill(pilot).screen.query(LiveRows)):
        if not listed.is_on_screen or not listed.total:
            continue
        kdrill(pilot).screen.set_focus(listed)
        await settled(pilot)
        await press(pilot, "g")
        for _ in range(min(listed.total, 12)):
            await press(pilot, "d")
            if isinstance(kdrill(pilot).screen, Describe):
                yield text(pilot)
                await press(pilot, "escape")
            await press(pilot, "j")


PAGES_HERE = {
    name: page
    for name, page in PAGES.items()
    if not name.startswith(ELSEWHERE) and name not in ("describe", "lab", "lab_estate")
} | {"lab": Page(("5",)), "drill_help": Page(("6", "question_mark"), back=("escape",))}


async def test_no_screen_speaks_of_zookeeper() -> None:
    async with dashboard() as pilot:
        assert not has_znodes(kdrill(pilot).facts)
        for name, page in PAGES_HERE.items():
            await arrive(pilot, page)
            assert spoken(text(pilot)) == [], name
            async for said in described(pilot):
                assert spoken(said) == [], f"{name}: d"
            await press(pilot, *page.back)


async def test_o_leads_to_where_the_brokers_tell_it() -> None:
    async with dashboard() as pilot:
        for keys, place in ((("b", "g"), "/brokers/1/registration"), (("3", "g"), "/topics/made/0/data")):
            await press(pilot, *keys, "o")
            await until(pilot, lambda place=place: rows(pilot, "znodes").cursor_key == place)
            await press(pilot, "o")
            await until(pilot, lambda: kdrill(pilot).current_mode == "partitions")
            await press(pilot, "escape")


@pytest.mark.parametrize(
    ("voters", "acts"),
    [
        ((1, 2, 3), [Act(Deed.KILL, (4, 5))]),
        ((1, 2, 3), [Act(Deed.STOP, (4,)), Act(Deed.START, (4,)), Act(Deed.KILL, (2,))]),
        ((1, 2, 3), [Act(Deed.KILL, (5,)), Act(Deed.STOP, (1,))]),
        ((1, 2, 3), [Act(Deed.KILL, (1, 2, 3))]),
        ((7, 8, 9), [Act(Deed.KILL, (1, 2, 3, 4, 5)), Act(Deed.START, (3,))]),
    ],
)
def test_no_drill_speaks_of_zookeeper(voters: tuple[int, ...], acts: list[Act]) -> None:
    drill = run(kraft(voters, leader=voters[1]), of_acts(acts))
    told = [*lines(drill, everything=True), *(json.dumps(row) for row in document_of(drill)["timeline"])]
    rows = drill.timeline.rows
    told += [why for first in range(len(rows)) for why in reasons(rows, first, first + 1)]
    assert spoken("\n".join(told)) == []
    assert any("the controller does not know yet" in line or "asked the controller" in line for line in told)
    assert not any(isinstance(row, StateWritten) and row.by is not None for row in rows)
    fenced = {row.broker for row in rows if isinstance(row, BrokerFenced)}
    is_lost = drill.turnout is not None and drill.turnout.is_lost
    assert fenced == (
        set() if is_lost else {each for act in acts if act.deed is not Deed.START for each in act.brokers}
    )


async def test_what_the_metadata_log_wrote_has_an_offset() -> None:
    topic = TopicAssigned(topic="logged", replicas={0: (1,)}, topic_id="PM3XSjRkRHWvLuqgZlPkNA")
    state = PartitionState(0, 1, 0, (1,), controller_epoch=13, version=0, zxid=4711, time_ms=NOW_MS)
    source = Brokers()
    async with opened_on(source, size=(160, 50)) as pilot:
        source.tell(FactBatch((topic, PartitionStatesWritten(topic="logged", states=(state,))), 4711, NOW_MS))
        await press(pilot, "i", "g")
        said = [one async for one in described(pilot)]
        assert any("offset" in each and "4,711" in each for each in said), said
        assert spoken("".join(said)) == []


def test_neither_status_nor_events_speak_of_zookeeper() -> None:
    image, before = EMPTY, NOTHING
    for view in (BEFORE, AFTER, msgspec.structs.replace(AFTER, controller=-1, quorum=None)):
        delta = ClusterDelta(image).replay_all(records_between(before, view, NOW_MS, "PLAINTEXT"))
        old, before = image, view
        image = delta.apply(Provenance(source="kafka://b1:9092", time_ms=NOW_MS, complete=True))
        findings = find(image)
        told = [text_of(Moment(1, image, findings, (), SourceStatus("live")))]
        told += [f"{one.why} {one.action}" for one in findings.found]
        told += [f"{one.text} {one.path}" for one in changes_between(old, image)]
        assert spoken("\n".join(told)) == []
