"""`python -m tui.screenshots`: takes the pictures of the README anew, of the real program on the demo cluster.

Starts an embedded ZooKeeper and the demo cluster, standing still, so that pictures differ only where the program does.
"""

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

from textual.pilot import Pilot

from model.sandbox.demo_sandbox import DemoSandbox
from tui.app import Kdrill
from tui.data.near_link import NearLink
from tui.data.opened import source_of
from tui.data.opening import Opening
from tui.data.service import DataService
from tui.panes.live_list import LiveRows
from tui.screenshots.png import save_png

FOLDER = Path(__file__).parents[2] / "screenshots"
SIZE = (132, 40)
SETTLED_S = 0.3

Drive = Callable[["Pilot[int]"], Awaitable[None]]


async def _overview(pilot: "Pilot[int]") -> None:
    await pilot.press("1")


async def _znodes(pilot: "Pilot[int]") -> None:
    app = pilot.app
    assert isinstance(app, Kdrill)
    app.show_znode("/brokers/topics/payments/partitions/0/state")


async def _partitions(pilot: "Pilot[int]") -> None:
    await pilot.press("3")
    await pilot.press("slash", *"orders | payments", "enter")


async def _consumers(pilot: "Pilot[int]") -> None:
    await pilot.press("escape", "4", "j")


async def _drill(pilot: "Pilot[int]") -> None:
    await pilot.press("6", "K")
    timeline = pilot.app.screen.query_one("#drill-timeline", LiveRows)
    await _settle(pilot, lambda: timeline.total > 0)
    for _ in range(3):
        await pilot.press("comma")


PICTURES: dict[str, Drive] = {
    "overview": _overview,
    "znodes": _znodes,
    "partitions": _partitions,
    "consumers": _consumers,
    "drill": _drill,
}


async def take_all(folder: Path) -> list[Path]:
    """Takes every picture into `folder`; returns the files."""
    folder.mkdir(parents=True, exist_ok=True)
    with DemoSandbox(period_s=None) as demo:
        service = DataService(source_of(Opening(source=demo.source)), is_demo=True)
        app = Kdrill(NearLink(service))
        async with app.run_test(size=SIZE) as pilot:
            await _settle(pilot, lambda: service.moment.image.provenance.complete)
            taken: list[Path] = []
            for name, drive in PICTURES.items():
                await drive(pilot)
                await _settle(pilot, lambda: True)
                taken.append(folder / f"{name}.png")
                save_png(app, taken[-1])
    return taken


async def _settle(pilot: "Pilot[int]", reached: Callable[[], bool]) -> None:
    while not reached():
        await pilot.pause(0.05)
    await pilot.pause(SETTLED_S)


def main() -> None:
    """Takes the pictures into the folder named, or `screenshots/`."""
    os.environ["TEXTUAL_ANIMATIONS"] = "none"
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    for path in asyncio.run(take_all(folder)):
        print(path)


if __name__ == "__main__":
    main()
