"""A dashboard on a cluster full of secrets, looked at from all sides: none comes over the pipe, or out in any way."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path

import pytest

from model.cluster import texts as rule
from model.sandbox.embedded_zookeeper import ZnodeSession
from tests.demo_tree import demo_tree
from tests.screenshots.png import save_png
from tests.trust.canaries import canary
from tests.trust.ground import BROKER, TOPIC, plant
from tests.trust.leaks import Search
from tests.trust.overheard_link import OverheardLink
from tests.trust.secret_tree import CLIENT, TOKEN, USER, changes
from tests.tui.dashboard import Keys, kdrill, mode, opened, press, settled, text, until
from tests.tui.screen_text import screen_codes
from tests.tui.screens.pages import PAGES, Page, has, walk
from tests.tui.screens.test_acting import confirmed, proposed
from tui.app.screens.live_screen import LiveScreen
from tui.engine.actions import SCREENS
from tui.engine.link import DataLink

WITH_SECRETS = (
    f"/config/users/{USER}",
    f"/config/users/{USER}/clients/{CLIENT}",
    "/config/users/mallory",
    f"/config/brokers/{BROKER}",
    "/config/brokers/<default>",
    f"/config/topics/{TOPIC}",
    "/config/clients/app",
    "/config/changes/config_change_0000000777",
    f"/delegation_token/tokens/{TOKEN}",
    f"/delegation_token/tokens/{TOKEN}-broken",
    "/somebody/vault",
    "/somebody/text",
)
TYPED = f"configs alter --broker 2 --add-config ssl.key.password={canary('typed')}"
WITHOUT_LOGS = {name: page for name, page in PAGES.items() if not name.startswith("log")}


@pytest.fixture
def source(zookeeper: str) -> Iterator[str]:
    with demo_tree(zookeeper) as tree:
        plant(zookeeper)
        yield tree.source


class Watch:
    """Looks at all that can be seen at each stop, and lets every way out be taken there."""

    def __init__(self, folder: Path) -> None:
        self.search = Search()
        self.folder = folder
        self.stops = 0

    async def look(self, pilot: Keys) -> None:
        """The screen and what is on the clipboard."""
        self.stops += 1
        await press(pilot, "y")
        self.search.look(f"screen {self.stops} {mode(pilot)}", screen_codes(pilot.app).encode())
        self.search.look(f"copied at {self.stops}", pilot.app.clipboard.encode())

    async def take_away(self, pilot: Keys) -> None:
        """Files in every form, and a picture as the README has them."""
        for form in ("txt", "svg", "json", "csv"):
            file = self.folder / f"{self.stops}.{form}"
            kdrill(pilot).export(str(file))
            await until(pilot, file.exists)
            await settled(pilot)
        save_png(pilot.app, self.folder / f"{self.stops}.png")


async def look_at(source: str, watch: Watch, looks: Callable[[Keys, Watch], Awaitable[None]]) -> Search:
    """Opens a dashboard and looks; then at what came over the pipe, and at a snapshot."""
    links: list[OverheardLink] = []

    def link(to: DataLink) -> DataLink:
        links.append(OverheardLink(to))
        return links[-1]

    async with opened(source, size=(160, 48), link=link, allow_writes=True) as pilot:
        await looks(pilot, watch)
        kdrill(pilot).run_command(f"snapshot {watch.folder}/past.json")
        await until(pilot, (watch.folder / "past.json").exists)
    for frame in links[0].frames:
        watch.search.look("the pipe", frame)
    watch.search.look_into(watch.folder)
    return watch.search


async def screens(pilot: Keys, watch: Watch) -> None:
    """Every screen, each with its describe."""
    seen = set[str]()
    async for _ in walk(pilot, {**WITHOUT_LOGS, "lab": Page(("5", has("lab-strategies")))}):
        seen.add(mode(pilot))
        await watch.look(pilot)
        if isinstance(kdrill(pilot).screen, LiveScreen):
            await press(pilot, "d")
            await watch.look(pilot)
            await press(pilot, "escape")
    assert seen == {*SCREENS} - {"logs"}


async def znodes(pilot: Keys, watch: Watch, paths: Sequence[str] = WITH_SECRETS) -> None:
    """Decoded, raw, as history, described; as files."""
    for path in paths:
        kdrill(pilot).show_znode(path)
        await press(pilot, "2")
        await watch.look(pilot)
        await press(pilot, "v")
        await watch.look(pilot)
        await press(pilot, "v", "H")
        await watch.look(pilot)
        await press(pilot, "escape", "d")
        await watch.look(pilot)
        await press(pilot, "escape")
    await watch.take_away(pilot)


async def changed(pilot: Keys, watch: Watch) -> None:
    """Secrets are changed under the dashboard's eyes."""
    server, _, root = kdrill(pilot).facts.source.removeprefix("zk://").partition("/")
    before = kdrill(pilot).changes
    with closing(await asyncio.to_thread(ZnodeSession, server, f"/{root}")) as session:
        await asyncio.to_thread(session.apply, changes(TOPIC))
    await until(pilot, lambda: kdrill(pilot).changes > before)
    await press(pilot, "i")
    await watch.look(pilot)
    await watch.take_away(pilot)
    await press(pilot, "p")
    await watch.look(pilot)
    await press(pilot, "p")


async def asked_for(pilot: Keys, watch: Watch) -> None:
    """A secret is set from the dashboard: it is on the screen as long as it is typed, and no longer."""
    await proposed(pilot, TYPED)
    watch.search.look("proposal", screen_codes(pilot.app).encode())
    await confirmed(pilot, "yes")
    await until(pilot, lambda: "broker 2: done" in text(pilot))
    await press(pilot, "i")
    await watch.look(pilot)


async def test_no_secret_comes_out_of_a_dashboard(source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    watch = Watch(tmp_path)

    async def looks(pilot: Keys, watch: Watch) -> None:
        await screens(pilot, watch)
        await znodes(pilot, watch)
        await changed(pilot, watch)
        await znodes(pilot, watch, [write.path for write in changes(TOPIC)])
        await asked_for(pilot, watch)

    search = await look_at(source, watch, looks)
    assert (tmp_path / "state" / "kdrill" / "audit.jsonl").exists()
    print(f"{watch.stops} stops, {search.files} files, {search.searched_bytes:,} bytes")
    assert not search.found


class Everything(frozenset[str]):
    """Holds whatever is asked for."""

    def __contains__(self, _: object) -> bool:
        return True


async def test_the_same_search_finds_them_where_nothing_is_hidden(
    source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rule, "_HINTS", ())
    monkeypatch.setattr(rule, "_USER_QUOTAS", Everything())

    async def looks(pilot: Keys, watch: Watch) -> None:
        await znodes(pilot, watch, (f"/config/users/{USER}", f"/config/brokers/{BROKER}"))

    found = (await look_at(source, Watch(tmp_path), looks)).found
    for way in ("screen ", "copied ", "the pipe", ".txt", ".svg", ".png", "past.json"):
        assert [each for each in found if way in each], way
