"""`python -m tui.screenshots`: takes the pictures of the README anew, of the real program.

Most are of the demo cluster, standing still, so that pictures differ only where the program does; one is of a sandbox
in which the controller was killed.
"""

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

from textual.pilot import Pilot

from model.sandbox.cluster.options import SandboxOptions
from model.sandbox.demo_sandbox import DemoSandbox
from tui.app import Kdrill
from tui.data.messages import SANDBOX
from tui.data.near_link import NearLink
from tui.data.opened import source_of
from tui.data.opening import Opening
from tui.data.sandbox.desk import SandboxDesk
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


async def _sandbox(pilot: "Pilot[int]") -> None:
    await pilot.press("8", "F")
    effects = pilot.app.screen.query_one("#effects", LiveRows)
    await _settle(pilot, lambda: any("leader-moved" in row.key for row in effects.answer.rows))
    await pilot.pause(3 * SETTLED_S)


DEMO_PICTURES: dict[str, Drive] = {
    "overview": _overview,
    "znodes": _znodes,
    "partitions": _partitions,
    "consumers": _consumers,
    "drill": _drill,
}
SANDBOX_PICTURES: dict[str, Drive] = {"sandbox": _sandbox}
TRAFFIC_S = 10.0
"""For so long the sandbox's traffic runs before it is disturbed."""


async def take_all(folder: Path) -> list[Path]:
    """Takes every picture into `folder`; returns the files."""
    folder.mkdir(parents=True, exist_ok=True)
    with DemoSandbox(period_s=None) as demo:
        service = DataService(source_of(Opening(source=demo.source)), kind="DEMO")
        taken = await _take(service, DEMO_PICTURES, folder)
    desk = SandboxDesk(SandboxOptions(load=True, rate=20.0))
    try:
        source = await desk.open(lambda _: None)
        service = DataService(
            source_of(Opening(source=source, bootstrap=desk.bootstrap)), name="sandbox", kind=SANDBOX, sandbox=desk
        )
        await asyncio.sleep(TRAFFIC_S)
        return [*taken, *await _take(service, SANDBOX_PICTURES, folder)]
    finally:
        await desk.close()


async def _take(service: DataService, pictures: Mapping[str, Drive], folder: Path) -> list[Path]:
    app = Kdrill(NearLink(service))
    taken: list[Path] = []
    async with app.run_test(size=SIZE) as pilot:
        await _settle(pilot, lambda: service.moment.image.provenance.complete)
        for name, drive in pictures.items():
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
