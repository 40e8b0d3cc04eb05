"""The dashboard in a real browser: shown, driven by keys, refused what would touch its machine, and left."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from model.sandbox.embedded_zookeeper import ZnodeSession
from model.sandbox.zookeeper_server import EmbeddedZooKeeper
from model.zookeeper import Create
from tests.demo_tree import demo_tree
from tests.harness.waiting import eventually
from tests.web.browser import ELSEWHERE, PATIENCE_MS, Tab, chromium
from tests.web.serving import Served, served
from tui.engine.messages import ONLY_SHOWS

HOSTILE_TOPIC = "[@click=app.leave][bold red]x"
HOSTILE_TEXT = b"\x1b]0;owned\x07\x1b[2J"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


@pytest.fixture(scope="module")
def server(zookeeper_server: EmbeddedZooKeeper) -> Iterator[Served]:
    """On the demo cluster, where somebody chose names that would hurt a terminal."""
    root = f"/web-{uuid.uuid4().hex[:12]}"
    session = ZnodeSession(zookeeper_server.address)
    session.make_path(root)
    with demo_tree(zookeeper_server.address + root) as tree:
        writes = {
            f"{root}/kafka/admin/hostile": HOSTILE_TEXT,
            f"{root}/kafka/brokers/topics/{HOSTILE_TOPIC}": b'{"version":1,"partitions":{"0":[1]}}',
        }
        session.apply([Create(path, data) for path, data in writes.items()])
        with served(tree.source) as server:
            yield server
    session.close()


def test_it_is_looked_at_by_keys_left_and_opened_again(browser: Browser, server: Served, tmp_path: Path) -> None:
    tab = Tab(browser, server.url)
    tab.shows("READ-ONLY", "LIVE", "dead-letters-4")
    tab.press("3")
    tab.shows("[3]Partitions", "__consumer_offsets-0")
    tab.press("j")
    tab.shows(">  __consumer_offsets-0")
    tab.says("copied 20 characters", lambda: tab.press("y"))
    eventually(lambda: tab.page.evaluate("navigator.clipboard.readText()") == "__consumer_offsets-0")
    tab.press("?")
    tab.shows("Keys on partitions")
    tab.press("Escape")
    tab.shows("[3]Partitions")
    tab.press("/")
    tab.type_in("app.leave")
    tab.shows(HOSTILE_TOPIC, "1 of ")
    tab.press("Enter")
    tab.command("zk /admin/hostile")
    tab.shows("[2]Znodes", "\\x1b]0;owned\\x07\\x1b[2J")
    tab.says(f"{ONLY_SHOWS}: no file is written", lambda: tab.press("e"))
    tab.says(f"{ONLY_SHOWS}: nothing is written", lambda: tab.command(f"snapshot {tmp_path}/now.json"))
    assert list(tmp_path.iterdir()) == []
    assert {url.split("/")[2] for url in tab.requests if not url.startswith("data:")} == {server.host}
    assert tab.errors == []
    assert tab.page.title() == "kdrill"
    assert server.sessions
    quit_and_open_another(tab)
    tab.close()
    eventually(lambda: not server.sessions)


def quit_and_open_another(tab: Tab) -> None:
    tab.press("Q")
    tab.page.wait_for_selector("text=This session has ended", timeout=PATIENCE_MS)
    tab.page.click("text=Open another")
    tab.shows("LIVE")


OPEN_SOCKET = """url => new Promise(done => {
    const socket = new WebSocket(url);
    socket.onopen = () => done("open");
    socket.onerror = () => done("refused");
})"""


def test_pages_of_other_sites_are_refused(browser: Browser, server: Served) -> None:
    page = browser.new_page()
    port = server.host.rpartition(":")[2]
    answer = page.goto(f"http://{ELSEWHERE}:{port}/")
    assert answer is not None and answer.status == 403
    assert "this server answers only as" in answer.text()
    for host in (server.host, f"{ELSEWHERE}:{port}"):
        assert page.evaluate(OPEN_SOCKET, f"ws://{host}/ws") == "refused"
    page.goto("about:blank")
    assert page.evaluate(OPEN_SOCKET, f"ws://{server.host}/ws") == "refused"
    assert not server.sessions
    page.goto(server.url.replace("127.0.0.1", "localhost"))
    assert page.evaluate(OPEN_SOCKET, f"ws://localhost:{port}/ws") == "open", "the test would notice nothing"
    page.close()
