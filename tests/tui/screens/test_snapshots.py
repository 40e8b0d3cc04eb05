"""Every screen at three sizes, as text and as colours: in the default look, without colour, in ASCII.

`snapshots/screens/SIZE/PAGE.txt` are the letters, `PAGE.colours.txt` the styles. Without colour the letters are those
of the default look, but where a plot tells its series apart by letters then. In ASCII they are those of the default
look, with a fallback in place of each sign that ASCII lacks.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from model.sandbox.demo.demo import DemoCluster
from model.sandbox.embedded_zookeeper import start_zookeeper
from model.sources.addresses import MetadataLogName
from model.sources.metadata_log.metadata_log_source import MetadataLogSource
from model.sources.source import FollowingCost
from model.sources.zookeeper import zookeeper_source
from tests.harness.small_demo import SMALL
from tests.model.metadata_log.kept import QUORUM
from tests.tui.dashboard import BEGAN_MS, Keys, assert_page, kdrill, mask, mode, opened, opened_on, settled, text, until
from tests.tui.data.logs.log_folders import flip, write_log
from tests.tui.screen_text import SNAPSHOTS, difference, screen_codes, screen_lines, screen_styles
from tests.tui.screens.pages import KRAFT_PAGES, PAGES, Page, look_into_logs, walk
from tests.tui.screens.still_sandbox import WithStillSandbox
from tests.tui.test_app_colour import COLOUR
from tui.app.panes.live_panes import LivePicture, LivePlot
from tui.engine.actions import SCREENS
from tui.engine.glyphs import ASCII

SIZES = ((80, 24), (120, 40), (300, 80))
LOGS = "kdrill-logs-"
IN_WAVES = ("forecast", "lab", "lab_estate", "sweep_in_time")
"""Pages that say what work took that is divided by how fast it goes."""
LOOKS: dict[str, dict[str, Any]] = {"default": {}, "mono": {"theme": "mono"}, "ascii": {"ascii_only": True}}


FALLBACKS = {
    "─": "-", "│": "| ", "┌": "+", "┐": "+", "└": "+", "┘": "+", "┤": "+", "┬": "+",
    "═": "-", "║": "|", "╔": "+", "╗": "+", "╚": "+", "╝": "+",
    "━": "=", "┃": "#", "┗": "#", "┳": "#",
    "…": "~", "█": "#", "░": ".",
}  # fmt: skip
"""Sign → what may stand for it in ASCII. Of a bar beside a list nothing is left but its thumb."""


def sizes_and_looks() -> Iterator[Any]:
    """All looks in turn on each page of one size; where a run is thorough, each size from the start in each look."""
    yield pytest.param(SIZES[0], tuple(LOOKS), id=f"{SIZES[0][0]}x{SIZES[0][1]}")
    for size, look in list(product(SIZES, LOOKS))[1:]:
        yield pytest.param(size, (look,), id=f"{size[0]}x{size[1]}-{look}", marks=pytest.mark.thorough)


@pytest.fixture(scope="module")
def logs() -> Iterator[str]:
    """A log folder, one of its logs damaged, under a name of the same length in every run."""
    with TemporaryDirectory(prefix=LOGS, dir="/tmp") as folder:
        write_log(Path(folder, "orders-0"))
        damaged = write_log(Path(folder, "orders-1"))
        flip(damaged.folder / f"{0:020d}.log", 390)
        yield folder


@pytest.fixture(autouse=True)
def costs_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """What ZooKeeper is asked is measured, and so another figure in every run."""
    cost = FollowingCost(requests_per_s=0.5, received_bytes_per_s=43, sent_bytes_per_s=11, watches=1, latency_ms=3.4)
    monkeypatch.setattr(zookeeper_source, "cost_between", lambda *_: cost)


@pytest.mark.parametrize(("size", "looks"), list(sizes_and_looks()))
async def test_every_screen_reads_as_it_did(
    still: str, logs: str, size: tuple[int, int], looks: tuple[str, ...]
) -> None:
    async with opened(still, size=size, link=WithStillSandbox, **LOOKS[looks[0]]) as pilot:
        await look_into_logs(pilot, logs)
        assert not (diffs := await differences(pilot, looks, PAGES)), diffs


CHANGED = {
    "overview_changed": Page(("1",)),
    "events_changed": Page(("i", "g")),
    "past": Page(("j", "enter")),
    "past_brokers": Page(("b",), back=("p",)),
}
"""After a few steps of the demo's script."""
STEPS = (1, 3, 13)
"""An ISR shrinks, a leader moves, a controller takes over: each of them is one transaction, and seen as one."""


async def test_what_happened_reads_as_it_did() -> None:
    """One cluster for all, the first on its server: epochs of brokers are numbers of transactions."""
    with start_zookeeper() as server, DemoCluster(SMALL, server.address, clock_ms=lambda: BEGAN_MS) as demo:
        async with opened(f"{server.address}/kafka") as pilot:
            for number in STEPS:
                before = kdrill(pilot).changes
                await asyncio.to_thread(demo.step, number)
                await until(pilot, lambda before=before: kdrill(pilot).changes > before)
            diffs = ""
            for size in SIZES:
                await pilot.resize_terminal(*size)
                diffs += await differences(pilot, ("default", "mono"), CHANGED)
            assert not diffs, diffs


async def differences(pilot: Keys, looks: tuple[str, ...], pages: Mapping[str, Page]) -> str:
    """Every page that is not as its files have it, as diffs. Of several looks the first one stays."""
    found: list[str] = []
    seen = set[str]()
    async for name in walk(pilot, pages):
        seen.add(mode(pilot))
        for look in looks:
            if len(looks) > 1:
                await wear(pilot, look)
            found += unlike_the_files(pilot, name, look)
        if len(looks) > 1:
            await wear(pilot, looks[0])
    assert seen == set(SCREENS) or pages is not PAGES, "a screen has no page"
    return "\n".join(diff for diff in found if diff)


async def wear(pilot: Keys, look: str) -> None:
    """Another look from now on, as the theme's key gives it; ASCII, which a start decides, as if it had a key."""
    app = kdrill(pilot)
    app.theme = LOOKS[look].get("theme", "dark")
    app.ascii_only = LOOKS[look].get("ascii_only", False)
    app.seq = app.seq
    for widget in app.screen.walk_children(with_self=True):
        widget.refresh(layout=True)
    await settled(pilot)


def unlike_the_files(pilot: Keys, name: str, look: str) -> list[str]:
    """How the page in front is not as its files have it in that look; empty texts where it is."""
    width, height = pilot.app.size
    place = f"screens/{width}x{height}/{name}"
    lines = [re.sub(rf"(?<={LOGS})\w{{8}}", "########", mask(line)) for line in screen_lines(pilot.app)]
    if name in IN_WAVES:
        lines = [re.sub(r"cost {6}[^│|]*", lambda found: "#" * len(found[0]), line) for line in lines]
        lines = [re.sub(r"(?<= {10})(tasks|task )(?= +[│|])", "#####", line) for line in lines]  # one, or more
    assert len(lines) == height
    match look:
        case "default":
            return [difference(f"{place}.txt", lines), difference(f"{place}.colours.txt", screen_styles(pilot.app))]
        case "mono":
            assert not COLOUR.search(screen_codes(pilot.app)), f"{name} has a colour"
            drawn = has_picture(pilot)
            return [difference(f"{place}{'.mono' * drawn}.txt", lines, is_kept=drawn)]
        case _ if has_picture(pilot):
            return [f"{place}: {line}" for line in lines if not line.isascii()]
        case _:
            return [unlike(f"{place}.txt", lines)]


def has_picture(pilot: Keys) -> bool:
    """Whether something is drawn with other signs where cells cannot be filled with colours."""
    screen = pilot.app.screen
    drawn = [
        *screen.query(LivePlot),
        *screen.query(LivePicture),
        *screen.query("#lab-strategies"),
        *screen.query("#sweep-heat"),
    ]
    return any(each.is_on_screen for each in drawn)


def unlike(name: str, lines: list[str]) -> str:
    """How these lines in ASCII are not those of `snapshots/NAME` sign by sign; empty where they are."""
    normal = (SNAPSHOTS / name).read_text(encoding="utf-8").split("\n")[:-1]
    return "\n".join(
        f"{name}:{number} {usual}\n{' ' * len(name)} {number} {line}"
        for number, (usual, line) in enumerate(zip(normal, lines, strict=True), start=1)
        if len(usual) != len(line) or not all(map(may_stand_for, line, usual))
    )


def may_stand_for(sign: str, usual: str) -> bool:
    """Whether a sign is in ASCII what this one is elsewhere."""
    return " " <= sign <= "~" and (sign in FALLBACKS.get(usual, usual) or sign == usual.translate(ASCII))


async def test_a_kraft_cluster_reads_as_it_did(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(QUORUM.parent)  # the header has the path as it is given
    async with opened_on(MetadataLogSource(MetadataLogName(Path(QUORUM.name))), phase="snapshot") as pilot:
        diffs = ""
        for size in SIZES:
            await pilot.resize_terminal(*size)
            diffs += await differences(pilot, ("default",), KRAFT_PAGES)
        assert not diffs, diffs


async def test_a_small_terminal_reads_as_it_did(still: str) -> None:
    async with opened(still, size=(60, 16)) as pilot:
        assert_page(pilot, "screens/60x16/overview")
        await pilot.resize_terminal(50, 12)
        await until(pilot, lambda: "kdrill needs" in text(pilot))
        assert_page(pilot, "screens/50x12/too_small")
