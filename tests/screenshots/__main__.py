"""`python -m tests.screenshots`: takes the pictures of the README anew, of the real program.

Most are of the demo cluster, standing still, so that pictures differ only where the program does; the rest are of a
sandbox in which the controller was killed. Each screen is taken in dark, some in light and one on a large terminal.
Each is kept as PNG and as SVG; a run with a kill is kept as a GIF, too.
"""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from textual.pilot import Pilot

from model.sandbox.demo.demo import DemoSandbox, DemoSource
from model.sandbox.demo.script import LARGE, Script
from model.sandbox.options import Mode, SandboxOptions
from model.sources.addresses import ZooKeeperAddress, parse_source
from tests.harness.near_link import NearLink
from tests.screenshots.moving import MOVING_SIZE, record_failover, save_gif
from tests.screenshots.png import ScreenshotError, save_png
from tui.app.app import Kdrill
from tui.app.export import screen_svg, screen_text
from tui.app.panes.live_panes import LiveRows, LiveText
from tui.cli import typed_requests
from tui.engine.messages import SANDBOX, STOPPABLE, Opening
from tui.engine.questions import ForecastQuestion
from tui.engine.sandbox.service import SandboxService
from tui.engine.service import DataService
from tui.engine.sources import source_of

FOLDER = Path(__file__).parents[2] / "screenshots"
SIZE, LARGE_SIZE = (120, 40), (200, 60)
SETTLED_S = 0.3
DEADLINE_S = 60.0

Keep = Callable[[Kdrill, str], None]
"""What becomes of a screen that is ready, and its name."""
Drive = Callable[["Pilot[int]"], Awaitable[None]]


class Picture(NamedTuple):
    """How to get to it from the one before, and how it is drawn."""

    drive: Drive
    theme: str = "dark"
    size: tuple[int, int] = SIZE


async def _stay(pilot: "Pilot[int]") -> None:
    """What the picture before shows."""


async def _overview(pilot: "Pilot[int]") -> None:
    await pilot.press("1")


async def _znodes(pilot: "Pilot[int]") -> None:
    app = pilot.app
    assert isinstance(app, Kdrill)
    path = "/brokers/topics/payments/partitions/0/state"
    app.show_znode(path)
    await _settle(pilot, lambda: any(rows.cursor_key == path for rows in app.screen.query(LiveRows)))


async def _partitions(pilot: "Pilot[int]") -> None:
    await pilot.press("3")
    await pilot.press("slash", *"orders | payments | dead-letters", "enter")


async def _consumers(pilot: "Pilot[int]") -> None:
    await pilot.press("escape", "4", "j", "j", "tab")


async def _drill(pilot: "Pilot[int]") -> None:
    await pilot.press("6", "j", "j", "K")
    partitions = pilot.app.screen.query_one("#drill-map", LiveRows)
    await _settle(pilot, lambda: partitions.total > 0)
    for _ in range(8):
        await pilot.press("comma")


async def _lab(pilot: "Pilot[int]") -> None:
    await pilot.press("5")
    await _settle(pilot, lambda: pilot.app.screen.query_one("#lab-groups", LiveRows).total > 1)
    await pilot.press("j", "j")
    consumers = pilot.app.screen.query_one("#lab-consumers", LiveRows)
    await _settle(pilot, lambda: consumers.total > 1)
    before = consumers.total
    await pilot.press("tab", "tab", "j", "j", "j", "J")
    await _settle(pilot, lambda: consumers.total > before)


async def _sweep(pilot: "Pilot[int]") -> None:
    await pilot.press("7", "v")
    await _settle(pilot, lambda: pilot.app.screen.query_one("#sweep-heat", LiveRows).total > 0)


async def _fleet(pilot: "Pilot[int]") -> None:
    """Each broker alone: that is played in a few seconds."""
    await pilot.press("7", "p", "v")
    await _settle(pilot, lambda: _is_over(pilot) and pilot.app.screen.query_one("#sweep-scenarios", LiveRows).total > 0)


async def _forecast(pilot: "Pilot[int]") -> None:
    app = pilot.app
    assert isinstance(app, Kdrill)
    app.view_state = replace(app.view_state, forecast=ForecastQuestion(histories=FORECAST_YEARS))
    await pilot.press("w")
    await _settle(pilot, lambda: _is_over(pilot) and app.screen.query_one("#forecast-topics", LiveRows).total > 0)


async def _forecast_with_plan(pilot: "Pilot[int]") -> None:
    """The plan of the picture before."""
    await pilot.press("p")
    await _settle(pilot, lambda: _is_over(pilot) and "With the plan" in screen_text(pilot.app))


def _is_over(pilot: "Pilot[int]") -> bool:
    """Whether nothing is being worked out, as far as the screen in front says."""
    return all(STOPPABLE not in text.copy_text for text in pilot.app.screen.query(LiveText))


async def _plans(pilot: "Pilot[int]") -> None:
    await pilot.press("9", "j", "K", "enter")
    await _settle(pilot, lambda: pilot.app.screen.query_one("#plan-changes", LiveRows).total > 0)


async def _brokers(pilot: "Pilot[int]") -> None:
    await pilot.press("b", "j")


async def _events(pilot: "Pilot[int]") -> None:
    died = Script(LARGE, 0).play(LARGE.dies_at + 1).server.zxid
    await pilot.press("i", "t", *f"zxid:{died}", "enter")


async def _logs(pilot: "Pilot[int]") -> None:
    await pilot.press("L", "slash", *"orders-", "enter")
    for name in ("log-partitions", "log-segments"):
        rows = pilot.app.screen.query_one(f"#{name}", LiveRows)
        await _settle(pilot, lambda rows=rows: rows.total > 0)
        await pilot.press("enter")
    batches = pilot.app.screen.query_one("#log-batches", LiveRows)
    await _settle(pilot, lambda: batches.total > 0)


async def _sandbox(pilot: "Pilot[int]") -> None:
    await pilot.press("8", "F")
    effects = pilot.app.screen.query_one("#effects", LiveRows)
    await _settle(pilot, lambda: any(kind in row.key for row in effects.answer.rows for kind in LED_AGAIN))
    await pilot.pause(3 * SETTLED_S)


async def _quorum_lost(pilot: "Pilot[int]") -> None:
    """The active controller is killed, and then the one that is elected, which the cursor is on."""
    await pilot.press("8", "F")
    elected = pilot.app.screen.query_one("#effects", LiveRows)
    await _settle(pilot, lambda: any("controller-moved" in row.key for row in elected.answer.rows))
    await pilot.press("K")
    await _settle(pilot, lambda: "NO QUORUM" in screen_text(pilot.app))


DEMO_PICTURES: dict[str, Picture] = {
    "overview": Picture(_overview),
    "overview-200x60": Picture(_stay, size=LARGE_SIZE),
    "znodes": Picture(_znodes),
    "partitions": Picture(_partitions),
    "consumers": Picture(_consumers),
    "drill": Picture(_drill),
    "drill-light": Picture(_stay, theme="light"),
    "lab": Picture(_lab),
    "lab-light": Picture(_stay, theme="light"),
    "sweep": Picture(_sweep),
    "plans": Picture(_plans),
    "brokers": Picture(_brokers),
    "events": Picture(_events),
    "fleet": Picture(_fleet),
    "forecast": Picture(_forecast),
    "forecast-with-plan": Picture(_forecast_with_plan),
}
SANDBOX_PICTURES: dict[str, Picture] = {
    "logs": Picture(_logs),
    "sandbox": Picture(_sandbox),
    "sandbox-light": Picture(_stay, theme="light"),
}
KRAFT_PICTURES: dict[str, Picture] = {
    "sandbox-kraft": Picture(_quorum_lost),
}
SANDBOXES: tuple[tuple[Mode, dict[str, Picture]], ...] = (("zookeeper", SANDBOX_PICTURES), ("kraft", KRAFT_PICTURES))
FORECAST_YEARS = 1_000
PAST_MOMENTS = 100
"""Changes that are known once the demo's past is told, and many more."""
LED_AGAIN = ("leader-moved", "partition-online")
"""What tells that the partitions of a broker that was killed are led again: at once, or after they were offline."""
TRAFFIC_S = 10.0
"""For so long the sandbox's traffic runs before it is disturbed."""


async def take_all(folder: Path) -> list[Path]:
    """Takes every picture into `folder`; returns the files."""
    folder.mkdir(parents=True, exist_ok=True)
    taken: list[Path] = []

    def keep(app: Kdrill, name: str) -> None:
        png, svg = (folder / f"{name}{end}" for end in (".png", ".svg"))
        save_png(app, png)
        svg.write_text(screen_svg(app), encoding="utf-8")
        taken.extend((png, svg))

    await take_of_demo(keep)
    for mode, pictures in SANDBOXES:
        async with _sandbox_with_traffic(mode) as service:
            await _take(service, pictures, keep)
    async with _sandbox_with_traffic() as service:
        taken.append(await take_moving(service, folder / "failover.gif"))
    return taken


@asynccontextmanager
async def _sandbox_with_traffic(mode: Mode = "zookeeper") -> AsyncIterator[DataService]:
    sandbox = SandboxService(SandboxOptions(mode=mode, load=True, rate=20.0))
    try:
        source = await sandbox.open(lambda _: None)
        opening = Opening(source=source, bootstrap=sandbox.bootstrap)
        service = DataService(source_of(opening), name="sandbox", kind=SANDBOX, sandbox=sandbox)
        await asyncio.sleep(TRAFFIC_S)
        yield service
    finally:
        await sandbox.close()


async def take_moving(service: DataService, path: Path) -> Path:
    """The README's moving picture, of a sandbox in which nothing is broken yet."""
    app = Kdrill(NearLink(service), requests=lambda: typed_requests)
    async with app.run_test(size=MOVING_SIZE) as pilot:
        await _settle(pilot, lambda: service.moment.image.provenance.complete)
        save_gif(await record_failover(pilot, _settle), app, path)
    return path


async def take_of_demo(keep: Keep) -> None:
    """Goes through the screens of the demo cluster, and lets each be kept."""
    with DemoSandbox(period_s=None) as demo:
        address = parse_source(demo.source)
        assert isinstance(address, ZooKeeperAddress)
        service = DataService(DemoSource(address, demo.began_ms, stands_still=True), kind="DEMO")
        await _take(service, DEMO_PICTURES, keep, lambda: len(service.moment.feed) > PAST_MOMENTS)


async def _take(
    service: DataService, pictures: Mapping[str, Picture], keep: Keep, is_ready: Callable[[], bool] = lambda: True
) -> None:
    app = Kdrill(NearLink(service), requests=lambda: typed_requests)
    async with app.run_test(size=SIZE) as pilot:
        await _settle(pilot, lambda: service.moment.image.provenance.complete and is_ready())
        for name, picture in pictures.items():
            app.theme = picture.theme
            await pilot.resize_terminal(*picture.size)
            await picture.drive(pilot)
            await _settle(pilot, lambda: True)
            keep(app, name)


async def _settle(pilot: "Pilot[int]", reached: Callable[[], bool]) -> None:
    """Raises ScreenshotError, with the screen, when what a picture is to show does not come."""
    try:
        async with asyncio.timeout(DEADLINE_S):
            while not reached():
                await pilot.pause(0.05)
    except TimeoutError:
        raise ScreenshotError(f"not ready for a picture in {DEADLINE_S:.0f} s:\n{screen_text(pilot.app)}") from None
    await pilot.pause(SETTLED_S)


def main() -> None:
    """Takes the pictures into the folder named, or `screenshots/`."""
    os.environ["TEXTUAL_ANIMATIONS"] = "none"
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    for path in asyncio.run(take_all(folder)):
        print(path)


if __name__ == "__main__":
    main()
