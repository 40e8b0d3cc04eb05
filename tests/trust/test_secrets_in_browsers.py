"""The dashboard in a browser, on a cluster full of secrets, logged in with secrets: all bytes that the server sends."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from itertools import pairwise
from pathlib import Path

import pytest
from aiohttp import ClientSession, ClientWebSocketResponse, WSMsgType

from tests.harness.command import KDRILL
from tests.trust.canaries import forms_in
from tests.trust.ground import Ground, environment_in, ground
from tests.trust.leaks import Search
from tests.trust.test_secrets_of_the_dashboard import WITH_SECRETS
from tests.web.serving import Served
from tui.engine.actions import NUMBERS

PATIENCE_S = 60.0
SAID = "server-err"
pytestmark = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="needs Linux's /proc")


@pytest.fixture
def here(tmp_path: Path, zookeeper: str) -> Iterator[Ground]:
    with ground(tmp_path, zookeeper) as here:
        yield here


@contextmanager
def served(here: Ground, **environment: str) -> Iterator[Served]:
    """As anybody's server would run; what it says is kept."""
    own = {**environment_in(here.folder), "KDRILL_CONFIG": str(here.mine / "config.toml"), **environment}
    said = here.mine.parent / SAID
    with (
        said.open("wb") as err,
        subprocess.Popen(
            [*KDRILL, "prod", "--serve", "0"], stdout=subprocess.PIPE, stderr=err, env=own, cwd=here.work, text=True
        ) as server,
    ):
        try:
            assert server.stdout is not None
            yield Served(server.stdout.readline().strip(), server.pid)
        finally:
            server.terminate()
            server.wait(PATIENCE_S)


class Tab:
    """A tab's socket, and all that came by it."""

    def __init__(self, socket: ClientWebSocketResponse) -> None:
        self._socket = socket
        self.heard = b""

    async def until(self, text: str, since: int = 0) -> None:
        """Reads on until it was drawn."""
        async with asyncio.timeout(PATIENCE_S):
            while text.encode() not in self.heard[since:]:
                message = await self._socket.receive()
                assert message.type in (WSMsgType.BINARY, WSMsgType.TEXT), self.heard[-500:]
                self.heard += message.data if message.type == WSMsgType.BINARY else message.data.encode()

    async def type_in(self, text: str, shows: str) -> None:
        """Reads until something was drawn since."""
        since = len(self.heard)
        await self._socket.send_json(["stdin", text])
        await self.until(shows, since)


@asynccontextmanager
async def tab_on(server: Served) -> AsyncIterator[Tab]:
    """Once it shows the cluster."""
    url = f"ws://{server.host}/ws?width=240&height=50"
    async with ClientSession() as client, client.ws_connect(url, origin=f"http://{server.host}") as socket:
        tab = Tab(socket)
        await tab.until("LIVE")
        yield tab


async def looked_around(tab: Tab) -> None:
    """Znodes, decoded, raw and as history; then every screen."""
    for other_view in ("", "v"):
        for number, path in enumerate(WITH_SECRETS):
            await tab.type_in(f"{'' if number else other_view}:zk {path}\r", f" {path} ")
    await tab.type_in("H", "history")
    for key in NUMBERS:
        await tab.type_in(f"q{key}?", " Keys on ")


def secrets_held(process: int) -> set[str]:
    """Names of its environment variables with canaries; `words` for its command line."""
    words, variables = ((Path(f"/proc/{process}") / name).read_bytes() for name in ("cmdline", "environ"))
    held = {each.partition(b"=")[0].decode() for each in variables.split(b"\0") if forms_in(each)}
    return held | ({"words"} if forms_in(words) else set())


async def test_no_secret_comes_over_the_socket_or_lies_in_a_process(here: Ground, tmp_path: Path) -> None:
    search = Search()
    with served(here) as server:
        async with tab_on(server) as tab:
            session, data = server.sessions
            assert secrets_held(server.pid) == {"CANARY_AUTH", "CANARY_ENV", "CANARY_KEY"}, "the search finds nothing"
            assert secrets_held(session) == {"CANARY_AUTH", "CANARY_ENV"}, "what it logs in with"
            assert secrets_held(data) == set()
            await looked_around(tab)
        async with ClientSession() as client, client.get(server.url) as answer:
            search.look("the page", await answer.read() + repr(answer.headers).encode())
    search.look("the socket", tab.heard)
    search.look("the server", (tmp_path / SAID).read_bytes())
    search.look_into(here.folder)
    print(f"{search.files} files, {search.searched_bytes:,} bytes")
    assert b"[hidden]" in tab.heard and not search.found


async def test_the_same_search_finds_them_where_nothing_is_hidden(here: Ground) -> None:
    with served(here, PYTHONPATH=str(Path(__file__).with_name("unhidden"))) as server:
        async with tab_on(server) as tab:
            seen = [len(tab.heard)]
            for keys, shows in ((f":zk {WITH_SECRETS[0]}\r", "SCRAM-SHA-256"), ("v", "data version")):
                await tab.type_in(keys, shows)
                seen.append(len(tab.heard))
    for since, until in pairwise(seen):
        assert forms_in(tab.heard[since:until])
