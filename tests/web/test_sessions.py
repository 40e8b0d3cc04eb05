"""A server's sessions, without a browser: how many, for whom, and that none outlives its tab or its server."""

from __future__ import annotations

import os
import signal
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from aiohttp import ClientSession, ClientWebSocketResponse, WSMsgType, WSServerHandshakeError, web

from tests.harness.command import failure, kdrill_alone
from tests.harness.waiting import eventually
from tests.web.serving import Served, served
from tui.cli.address import ServeAddress
from tui.cli.serve import DashboardServer, command_of
from tui.engine.messages import ServedSource

PATIENCE_S = 60.0


@pytest.fixture
def server(snapshot_file: Path) -> Iterator[Served]:
    with served(str(snapshot_file)) as server:
        yield server


@asynccontextmanager
async def tab(host: str) -> AsyncIterator[ClientWebSocketResponse]:
    """A tab's socket, once its dashboard has drawn something."""
    async with (
        ClientSession() as client,
        client.ws_connect(f"ws://{host}/ws?width=100&height=30", origin=f"http://{host}") as socket,
    ):
        while (await socket.receive(PATIENCE_S)).type != WSMsgType.BINARY:
            pass
        yield socket


async def test_none_outlives_a_server_that_is_killed(server: Served, is_gone: Callable[[int], bool]) -> None:
    async with tab(server.host):
        sessions = server.sessions
        assert len(sessions) == 2
        os.kill(server.pid, signal.SIGKILL)
        eventually(lambda: all(map(is_gone, sessions)))


async def test_a_tab_is_told_when_its_session_or_the_server_ends(
    server: Served, is_gone: Callable[[int], bool]
) -> None:
    async with tab(server.host) as socket:
        os.kill(server.sessions[0], signal.SIGKILL)
        await closed(socket)
    eventually(lambda: not server.sessions)
    async with tab(server.host) as socket:
        sessions = server.sessions
        os.kill(server.pid, signal.SIGTERM)
        await closed(socket)
    eventually(lambda: all(map(is_gone, [server.pid, *sessions])))


async def closed(socket: ClientWebSocketResponse) -> None:
    """Reads on until the other side closes."""
    while (await socket.receive(PATIENCE_S)).type == WSMsgType.BINARY:
        pass
    assert socket.closed


async def test_a_foreign_page_gets_no_session(server: Served) -> None:
    async with ClientSession() as client:
        for origin in (None, "null", "http://" + "elsewhere.example"):
            with pytest.raises(WSServerHandshakeError) as refused:
                await client.ws_connect(f"ws://{server.host}/ws", origin=origin)
            assert refused.value.status == 403
        for path in ("", "static/js/textual.js", "download/x"):
            async with client.get(f"{server.url}{path}", headers={"Host": "elsewhere.example"}) as answer:
                assert answer.status == 403
    assert not server.sessions


async def test_there_are_no_more_than_may_be(snapshot_file: Path) -> None:
    server = DashboardServer(ServeAddress(), most_sessions=1, patience_s=0.5)
    runner = web.AppRunner(await server.application(), shutdown_timeout=1.0)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    host = f"127.0.0.1:{site.port}"
    try:
        async with ClientSession() as client:
            async with client.get(f"http://{host}/") as starting:
                assert starting.status == 503
            server.command = command_of(["open", str(snapshot_file)], ServedSource())
            async with tab(host):
                with pytest.raises(WSServerHandshakeError) as refused:
                    await client.ws_connect(f"ws://{host}/ws", origin=f"http://{host}")
                assert refused.value.status == 503
            server.patience_s = PATIENCE_S
            async with tab(host):
                pass
    finally:
        await runner.cleanup()


def test_what_cannot_be_served(snapshot_file: Path) -> None:
    def refused(*arguments: str | Path) -> str:
        done = kdrill_alone(*arguments)
        assert done.returncode in (1, 2)
        return failure(done)

    assert "'0.0.0.0:8000': there is no password" in refused(snapshot_file, "--serve", "0.0.0.0:8000")
    assert "--allow-writes" in refused(snapshot_file, "--allow-writes", "--serve")
    assert "--headless is without a dashboard" in refused("sandbox", "--headless", "--serve")
    assert "no-such" in refused("./no-such.json", "--serve", "0")
    with served(str(snapshot_file)) as other:
        assert f"cannot listen on {other.host} (" in refused(snapshot_file, "--serve", other.host)
