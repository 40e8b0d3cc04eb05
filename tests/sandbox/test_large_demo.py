"""The demo that is shown: what its plan holds, what is wrong with it, its ten minutes of past, and that it goes on."""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import AsyncExitStack
from functools import cache
from typing import Any

import msgspec
import pytest
from kazoo.client import KazooClient

from model.cluster.changes import changes_between
from model.cluster.cluster_image import ClusterImage
from model.cluster.findings import find
from model.cluster.ids import TopicPartition
from model.cluster.image_parts import CLASSIC
from model.sandbox.demo.demo import DemoCluster, DemoSandbox, DemoSource, past_of
from model.sandbox.demo.script import LARGE, STEP_MS, Script, classic_groups
from model.sandbox.demo.state import ClassicGroup, new_client, opening_state
from model.sandbox.demo.tree import broker_session, next_change
from model.sandbox.embedded_zookeeper import start_zookeeper
from model.sources.addresses import ZooKeeperAddress, parse_source
from model.sources.timeline import Timeline
from tui.engine.messages import Opening, served_source, watched
from tui.engine.service import DataService
from tui.engine.sources import source_of

BEGAN_MS = 1_700_000_000_000
PARTS = ("brokers", "topics", "groups", "classic_groups", "log_ends", "log_dirs", "configs", "admin", "unreadable")
WRONG = {
    "offline",
    "under-min-isr",
    "unclean-leader",
    "under-replicated",
    "at-min-isr",
    "dead-broker",
    "single-rack",
    "reassignment-stuck",
    "deletion-stuck",
    "unowned-partition",
    "lagging",
    "unreadable",
    "single-replica",
    "no-spare-replica",
    "non-preferred-leader",
    "leader-skew",
    "replica-skew",
    "reassignment-running",
    "idle-thread",
}


def never(_seconds: float) -> bool:
    return False


@cache
def past() -> Timeline:
    return past_of(Script(LARGE, BEGAN_MS), LARGE.past, never)


def test_what_there_is() -> None:
    image = past().image
    assert len(image.topics) == 40
    assert sum(len(topic) for topic in image.topics.values()) == 500
    assert (len(LARGE.brokers), len(image.brokers), len(LARGE.racks)) == (12, 11, 3)
    assert all(len(each.replicas) == len(set(each.replicas)) for each in opening_state(LARGE, 0).partitions.values())
    sizes = Counter(len(group.members) for group in image.groups.values())
    assert len(image.groups) == 6
    assert len(sizes) >= 4, "old groups of different sizes"
    states = {group.state for group in image.classic_groups.values()}
    assert (len(image.classic_groups), states) == (6, {"Stable", "Empty"})
    assert all(group.coordinator in image.brokers for group in image.classic_groups.values())
    assert {read.topic for group in image.classic_groups.values() for read in group.offsets} <= image.topics.keys()


def test_every_kind_of_trouble_is_found() -> None:
    found = find(past().image).found
    assert {one.kind for one in found} == WRONG
    assert len({one.subject for one in found if one.kind == "lagging"}) < len(list(past().image.every_group()))


def test_what_happened_in_ten_minutes() -> None:
    timeline = past()
    assert len(timeline.instants) == LARGE.past + 1
    assert timeline.instants[-1].at_ms - timeline.instants[0].at_ms == LARGE.past * STEP_MS == 600_000
    happened = Counter(change.kind for change in timeline.feed)
    once = ("broker-lost", "partition-offline", "unclean-election", "deletion-requested")
    assert [happened[kind] for kind in once] == [1, 1, 1, 1]
    for kind in ("isr-shrunk", "isr-expanded", "leader-moved", "controller-moved", "member-left", "group-rebalanced"):
        assert happened[kind] > 1, happened
    errors = [instant.errors for instant in timeline.instants]
    assert errors[0] == 0 < errors[-1]


def test_it_goes_on_for_an_hour() -> None:
    state = opening_state(LARGE, BEGAN_MS)
    for number in range(LARGE.past + 20 * len(LARGE.steps)):
        before, (state, _) = state, next_change(state, number, BEGAN_MS + (number + 1) * STEP_MS)
        for old, new in zip(before.groups, state.groups, strict=True):
            assert all(was <= now for was, now in zip(old.offsets, new.offsets, strict=True)), new.name
    steady = [each for each in state.partitions.values() if not each.is_incident]
    assert sum(not each.is_in_sync for each in steady) <= 2
    assert [len(group.consumers) for group in state.groups] == [reading.hosts for reading in LARGE.readings]


def test_nobody_has_read_beyond_the_end_of_a_log() -> None:
    script = Script(LARGE, BEGAN_MS).play(LARGE.past)
    offsets: dict[tuple[str, TopicPartition], int] = {}
    for _ in range(2 * len(LARGE.steps)):
        script.step()
        told = {type(each).__name__: each for each in script.brokers_tell(everything=True)}
        ends = told["LogEndsRead"].ends  # pyright: ignore[reportAttributeAccessIssue]
        for record in classic_groups(script.state, script.now_ms):
            for read, offset in getattr(record, "offsets", {}).items():
                assert offsets.get((record.group, read), 0) <= offset <= ends[read]  # pyright: ignore[reportAttributeAccessIssue]
                offsets[record.group, read] = offset  # pyright: ignore[reportAttributeAccessIssue]
        for group in script.state.groups:
            for partition, offset in enumerate(group.offsets):
                assert offset <= ends[TopicPartition(group.topic, partition)]


@pytest.mark.parametrize("members", [1, 3, 4, 7])
def test_classic_groups_share_as_kafka_would(members: int) -> None:
    """Evenly, and of cooperative-sticky no partition moves that need not."""
    reads = tuple(TopicPartition(topic, number) for topic in ("a", "b") for number in range(9))
    clients = tuple(new_client("g", host) for host in range(members))
    group = ClassicGroup("g", "cooperative-sticky", clients, reads, {}, 1).rebalanced()
    counts = Counter(group.owners.values())
    assert group.owners.keys() == set(reads)
    assert max(counts.values()) - min(counts.values()) <= 1
    joined = ClassicGroup("g", group.assignor, (*clients, new_client("g", 9)), reads, group.owners, 2).rebalanced()
    newcomer = joined.clients[-1].member_id
    moved = {read for read in reads if joined.owners[read] != group.owners[read]}
    assert {joined.owners[read] for read in moved} == {newcomer}
    assert joined.generation == group.generation + 1


def test_the_same_beginning_is_the_same_course() -> None:
    one, other = (Script(LARGE, BEGAN_MS).play(50) for _ in range(2))
    assert one.server == other.server
    assert one.state == other.state


# With the real ZooKeeper


def same(one: ClusterImage, other: ClusterImage) -> bool:
    return all(getattr(one, part) == getattr(other, part) for part in PARTS)


async def live(service: DataService, changes: int) -> None:
    async with asyncio.timeout(30):
        while service.moment.status.phase != "live" or len(service.moment.feed) < changes:
            await asyncio.sleep(0.02)


async def test_the_past_ends_in_what_the_real_server_has() -> None:
    with DemoSandbox(period_s=None) as demo:
        address = parse_source(demo.source)
        assert isinstance(address, ZooKeeperAddress)
        service = DataService(DemoSource(address, demo.began_ms, stands_still=True))
        service.open()
        await live(service, 1)
        begun = past_of(Script(LARGE, demo.began_ms), LARGE.past, never)
        image = service.moment.image
        assert image.provenance.zxid == begun.image.provenance.zxid
        assert changes_between(begun.image, image) == ()
        await live(service, len(begun.feed))
        assert same(begun.image, service.moment.image), "groups remember their rebalances, too"
        assert [change.text for change in service.moment.feed] == [change.text for change in begun.feed]
        await service.close()


async def test_it_is_alive_and_its_past_can_be_gone_back_to() -> None:
    with DemoSandbox(period_s=0.2) as demo:
        service = DataService(source_of(Opening(source=demo.source, demo_began_ms=demo.began_ms)))
        service.open()
        await live(service, 100)
        known = len(service.moment.feed)
        assert service.moment.feed[0].kind == "loaded"
        assert Counter(change.kind for change in service.moment.feed)["loaded"] == 1
        await live(service, known + 3)
        kinds = {group.kind for _, group in service.moment.image.every_group()}
        assert kinds == {"zookeeper", CLASSIC}
        await service.close()


async def test_a_session_in_a_browser_knows_the_past_too() -> None:
    async with AsyncExitStack() as ends:
        stands = await served_source(Opening(is_demo=True), ends, lambda _: None)
        opening = watched(Opening(is_demo=True), msgspec.json.encode(stands).decode())
        service = DataService(source_of(opening), kind=opening.kind, is_served=opening.is_served)
        service.open()
        await live(service, 100)
        assert service.pulse().header.kind == "DEMO"
        assert "broker-lost" in {change.kind for change in service.moment.feed}
        await service.close()


def test_sessions_go_on_where_the_script_left_them() -> None:
    script = Script(LARGE, BEGAN_MS).play(LARGE.past)
    with start_zookeeper(begins_with=script.server) as server:
        cluster = DemoCluster.resumed(script, server.address)
        client: Any = KazooClient(f"{server.address}/kafka")
        client.start()
        owners = {broker: client.get(f"/brokers/ids/{broker}")[1].ephemeralOwner for broker in LARGE.live_brokers}
        assert owners == {broker: script.sessions[broker_session(broker)] for broker in LARGE.live_brokers}
        cluster.lose_broker(script.state.controller)
        assert client.exists("/controller") is None, "its session has ended"
        cluster.close()
        assert client.get_children("/brokers/ids") == []
        client.stop()
        client.close()
