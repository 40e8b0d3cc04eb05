"""The session that writes, against real servers: pipelined, fenced, through lost connections and to its end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

import pytest

from model.controller.steps.znodes import fenced, unfenced
from model.hosts.writing_session import WritingSession
from model.hosts.zookeeper.protocol import ZooKeeperUnavailable
from model.hosts.zookeeper.settings import ZooKeeperSettings
from model.sandbox.zookeeper_server import EmbeddedZooKeeper
from model.znodes.paths import CONTROLLER_EPOCH
from model.zookeeper import (
    Answer,
    Check,
    Code,
    Create,
    Delete,
    EventKind,
    Exists,
    GetChildren,
    GetData,
    Multi,
    SetData,
)
from tests.harness.waiting import eventually_async
from tests.zookeeper.counting_proxy import CountingProxy

PATIENCE_S = 30.0


class Opened:
    """A session and what it was told."""

    def __init__(self, address: str, chroot: str, timeout_ms: int = 4_000) -> None:
        self.seen: list[tuple[EventKind, str]] = []
        self.ends = 0
        self.session = WritingSession(
            ZooKeeperSettings(address, chroot, session_timeout_ms=timeout_ms),
            on_watch=lambda event: self.seen.append((event.kind, event.path)),
            on_expired=self._ended,
        )

    def _ended(self) -> None:
        self.ends += 1

    async def ask(self, *requests: Any) -> tuple[Answer, ...]:
        async with asyncio.timeout(PATIENCE_S):
            return await self.session.ask(requests)

    async def until(self, condition: Callable[[], object]) -> None:
        await eventually_async(condition)


Open = Callable[..., Any]


@pytest.fixture
async def open_session() -> AsyncIterator[Open]:
    """Opens sessions, `await open_session(address, chroot)`, and closes them after the test."""
    sessions: list[WritingSession] = []

    async def open_session(address: str, chroot: str = "/kafka", **options: Any) -> Opened:
        opened = Opened(address, chroot, **options)
        sessions.append(opened.session)
        await opened.session.open(PATIENCE_S)
        return opened

    yield open_session
    for session in sessions:
        await session.close()


def codes(answers: Sequence[Answer]) -> list[Code]:
    return [answer.code for answer in answers]


async def test_writes_and_reads_say_what_came_of_them(open_session: Open, zookeeper_server: EmbeddedZooKeeper) -> None:
    """The chroot is made, two levels of it."""
    one = await open_session(zookeeper_server.address, "/writing/kafka-1")
    answers = await one.ask(
        Create("/a", b"1"),
        Create("/a"),
        SetData("/a", b"2", 0),
        SetData("/a", b"3", 0),
        GetData("/a"),
        GetData("/nothing"),
        Create("/a/e", b"mine", ephemeral=True),
        GetData("/a/e"),
        Create("/a/c"),
        GetChildren("/a"),
        Delete("/a"),
        Delete("/a/c", 7),
        Delete("/a/c", 0),
        Exists("/a/c"),
        GetData("/a/é"),
    )
    bad, exists, none = Code.BAD_VERSION, Code.NODE_EXISTS, Code.NO_NODE
    ok = Code.OK
    assert codes(answers) == [ok, exists, ok, bad, ok, none, ok, ok, ok, ok, Code.NOT_EMPTY, bad, ok, none, none]
    assert (answers[4].data, answers[4].version) == (b"2", 1)
    assert (answers[7].data, answers[7].owner) == (b"mine", one.session.id)
    assert answers[7].czxid > answers[4].czxid > 0
    assert answers[9].names == ("c", "e")
    assert one.session.timeout_ms == 4_000
    assert await one.ask() == ()


async def test_a_path_that_is_no_text_is_refused_alone(open_session: Open, zookeeper: str) -> None:
    address, _, root = zookeeper.partition("/")
    one = await open_session(address, f"/{root}")
    assert codes(await one.ask(Create("/\ud800"), Create("/b"))) == [Code.OTHER, Code.OK]


async def test_a_fenced_write_takes_place_only_under_its_epoch(open_session: Open, zookeeper: str) -> None:
    address, _, root = zookeeper.partition("/")
    one = await open_session(address, f"/{root}")
    await one.ask(Create(CONTROLLER_EPOCH, b"1"), Create("/state", b"old"))
    right, stale, conflict = (
        fenced(SetData("/state", b"new", version), epoch) for version, epoch in ((0, 0), (1, 9), (7, 0))
    )
    made = fenced(Create("/state/made"), 0)
    requests = [right, stale, conflict, made, Multi((Check("/state", 1), Delete("/state/made")))]
    answers = await one.ask(*requests)
    assert [unfenced(request, answer).code for request, answer in zip(requests, answers, strict=True)] == [
        Code.OK,
        Code.FENCED,
        Code.BAD_VERSION,
        Code.OK,
        Code.OK,
    ]
    assert unfenced(right, answers[0]).version == 1
    assert codes(answers[2].parts) == [Code.OK, Code.BAD_VERSION]
    assert codes(answers[1].parts) == [Code.BAD_VERSION, Code.RUNTIME_INCONSISTENCY]
    read, gone = await one.ask(GetData("/state"), Exists("/state/made"))
    assert read.data == b"new" and gone.code is Code.NO_NODE


async def test_thousands_of_requests_are_answered_in_their_order(open_session: Open, zookeeper: str) -> None:
    address, _, root = zookeeper.partition("/")
    one = await open_session(address, f"/{root}")
    paths = [f"/n{number}" for number in range(3_000)]
    assert set(codes(await one.ask(*(Create(path, path.encode()) for path in paths)))) == {Code.OK}
    assert [answer.data.decode() for answer in await one.ask(*map(GetData, paths))] == paths


async def test_watches_fire_once(open_session: Open, zookeeper: str) -> None:
    address, _, root = zookeeper.partition("/")
    one, other = await open_session(address, f"/{root}"), await open_session(address, f"/{root}")
    await one.ask(Create("/d"), Create("/c"), Create("/unwatched"))
    await one.ask(GetData("/d", watch=True), Exists("/later", watch=True), GetChildren("/c", watch=True))
    for version in range(2):
        await other.ask(SetData("/d", b"x", version), SetData("/unwatched", b"x"), Create(f"/c/{version}"))
    await other.ask(Create("/later"), SetData("/later", b"x"))
    await one.until(lambda: len(one.seen) == 3)
    await one.ask(GetData("/d"))
    kinds = [EventKind.DATA_CHANGED, EventKind.CHILDREN_CHANGED, EventKind.CREATED]
    assert one.seen == list(zip(kinds, ("/d", "/c", "/later"), strict=True))


async def test_what_a_lost_connection_took_is_asked_again_and_watches_are_set_again(
    open_session: Open, zookeeper: str, proxy: CountingProxy
) -> None:
    address, _, root = zookeeper.partition("/")
    one = await open_session(proxy.address, f"/{root}", timeout_ms=20_000)
    other = await open_session(address, f"/{root}")
    await one.ask(Create("/d"), Create("/c"), GetData("/d", watch=True), Exists("/later", watch=True))
    await one.ask(GetData("/c", watch=True), GetChildren("/c", watch=True))
    session = one.session.id
    proxy.cut()
    asked = asyncio.create_task(one.ask(*(Create(f"/n{number}") for number in range(500)), SetData("/d", b"x")))
    await other.ask(SetData("/c", b"changed while it was away"))
    answers = await asked
    # Those that took place before the cut say so now.
    assert set(codes(answers[:-1])) <= {Code.OK, Code.NODE_EXISTS} and answers[-1].ok
    assert len((await other.ask(GetChildren("/")))[0].names) == 502
    await other.ask(Create("/later"), Create("/c/child"))
    await one.until(lambda: len(one.seen) == 4)
    assert sorted(path for _, path in one.seen) == ["/c", "/c", "/d", "/later"]
    assert one.session.id == session and one.ends == 0


async def test_a_watch_that_was_set_as_the_one_before_it_fired_is_set_again(
    open_session: Open, zookeeper: str, proxy: CountingProxy
) -> None:
    address, _, root = zookeeper.partition("/")
    one = await open_session(proxy.address, f"/{root}", timeout_ms=20_000)
    other = await open_session(address, f"/{root}")
    await one.ask(Create("/d"), GetData("/d", watch=True))
    await one.ask(SetData("/d", b"its own"), GetData("/d", watch=True))
    await one.until(lambda: len(one.seen) == 1)
    proxy.cut()
    await other.ask(SetData("/d", b"while it was away"))
    await one.until(lambda: one.seen == [(EventKind.DATA_CHANGED, "/d")] * 2)


async def test_connections_that_break_all_the_time_lose_no_request(
    open_session: Open, zookeeper: str, proxy: CountingProxy
) -> None:
    _, _, root = zookeeper.partition("/")
    one = await open_session(proxy.address, f"/{root}", timeout_ms=30_000)
    await one.ask(Create("/d"))
    for _ in range(5):
        asked = asyncio.create_task(one.ask(*(SetData("/d", b"%d" % number) for number in range(400)), GetData("/d")))
        await asyncio.sleep(0)
        proxy.cut()
        answers = await asked
        assert all(answer.ok for answer in answers) and answers[-1].data == b"399"


async def test_a_session_that_expired_answers_nothing_else_any_more(
    open_session: Open, own_zookeeper: EmbeddedZooKeeper
) -> None:
    one = await open_session(own_zookeeper.address, timeout_ms=2_000)
    other = await open_session(own_zookeeper.address, timeout_ms=20_000)
    await one.ask(Create("/mine", ephemeral=True), GetData("/mine", watch=True))
    with CountingProxy(own_zookeeper.address) as proxy:
        cut_off = await open_session(proxy.address, timeout_ms=2_000)
        await cut_off.ask(Create("/its", ephemeral=True), Exists("/mine", watch=True))
        proxy.swallow()
        asked = [asyncio.create_task(cut_off.ask(Create(f"/late{number}"))) for number in range(3)]
        async with asyncio.timeout(PATIENCE_S):
            while (await other.ask(Exists("/its")))[0].ok:
                await asyncio.sleep(0.05)
        proxy.flow()
        assert [codes(await answers) for answers in asked] == [[Code.SESSION_EXPIRED]] * 3
        await cut_off.until(lambda: cut_off.ends == 1)
        assert codes(await cut_off.ask(GetData("/mine"), GetData("/mine"))) == [Code.SESSION_EXPIRED] * 2
        await other.ask(SetData("/mine", b"x"))
        await one.until(lambda: one.seen == [(EventKind.DATA_CHANGED, "/mine")])
        assert cut_off.seen == [] and cut_off.ends == 1


async def test_a_closed_session_takes_its_ephemerals_along_at_once(
    open_session: Open, own_zookeeper: EmbeddedZooKeeper
) -> None:
    one = await open_session(own_zookeeper.address, timeout_ms=40_000)
    other = await open_session(own_zookeeper.address)
    await one.ask(Create("/mine", ephemeral=True))
    await one.session.close()
    assert (await other.ask(Exists("/mine")))[0].code is Code.NO_NODE
    assert codes(await one.ask(GetData("/mine"))) == [Code.SESSION_EXPIRED] and one.ends == 0


async def test_the_server_comes_back_and_so_does_the_session(
    open_session: Open, own_zookeeper: EmbeddedZooKeeper
) -> None:
    one = await open_session(own_zookeeper.address, timeout_ms=10_000)
    await one.ask(Create("/d"), GetData("/d", watch=True), Create("/mine", ephemeral=True))
    own_zookeeper.kill()
    asked = asyncio.create_task(one.ask(SetData("/d", b"x"), GetData("/mine")))
    await asyncio.to_thread(own_zookeeper.start)
    answers = await asked
    assert codes(answers) == [Code.OK, Code.OK] and answers[1].owner == one.session.id
    await one.until(lambda: one.seen == [(EventKind.DATA_CHANGED, "/d")])


async def test_no_server_is_told_in_time() -> None:
    opened = Opened("127.0.0.1:1", "")
    with pytest.raises(ZooKeeperUnavailable, match=r"no ZooKeeper session within 0\.3 s: .*127.0.0.1:1.*refused"):
        await opened.session.open(0.3)
    await opened.session.close()
