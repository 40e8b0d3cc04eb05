"""The README's moving picture: a sandbox in which the controller is killed, as a GIF with a caption for each key.

It is a real run, recorded as it happens; moments in which nothing changed on the screen become one longer frame.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from PIL import Image
from rich.segment import Segment
from rich.style import Style
from textual.pilot import Pilot

from tests.screenshots.png import Strips, drawn, strips_of
from tui.app.app import Kdrill
from tui.app.panes.live_panes import LivePicture
from tui.engine.text import cells

MOVING_SIZE = (112, 34)
FONT_SIZE = 14
COLOURS = 64
EVERY_S = 0.25
LONGEST_S = 2.5
"""A frame that would stand longer is cut short: the run waits for real timeouts, a reader need not."""
LAST_S = 4.0
CAPTION = Style(color="black", bgcolor="yellow", bold=True)

Settle = Callable[["Pilot[int]", Callable[[], bool]], Awaitable[None]]


class Frame(NamedTuple):
    """A screen, and when it was seen (s)."""

    strips: Strips
    seen_s: float


class Recorder:
    """Looks at the screen four times a second, and keeps it when it has changed."""

    def __init__(self, app: Kdrill) -> None:
        self.caption = ""
        self.frames: list[Frame] = []
        self._app = app

    async def run(self) -> None:
        """Until it is cancelled."""
        while True:
            self.look()
            await asyncio.sleep(EVERY_S)

    def look(self) -> None:
        """Keeps the present screen, under the caption of the moment."""
        strips = [*strips_of(self._app), _caption_line(self.caption)]
        if not self.frames or self.frames[-1].strips != strips:
            self.frames.append(Frame(strips, time.monotonic()))


async def record_failover(pilot: "Pilot[int]", settle: Settle) -> list[Frame]:
    """Kills the controller of the sandbox, watches another broker take over, and brings the first one back."""
    app = pilot.app
    assert isinstance(app, Kdrill)
    recorder = Recorder(app)
    recording = asyncio.create_task(recorder.run())
    recorder.caption = "A real ZooKeeper, three brokers, a producer and two consumer groups on this machine"
    await pilot.press("1")
    await pilot.pause(2.0)
    recorder.caption = "8: the sandbox"
    await pilot.press("8")
    controller = app.facts.controller
    await settle(pilot, lambda: f"broker {controller}" in app.screen.query_one(LivePicture).copy_text)
    await pilot.pause(2.0)
    recorder.caption = f"K: kill -9 the broker under the cursor, which is the controller (b{controller})"
    await pilot.press("K")
    await settle(pilot, lambda: app.facts.controller not in (None, controller) and app.facts.brokers_down == 1)
    await settle(pilot, lambda: app.facts.offline == 0)
    recorder.caption = (
        f"b{app.facts.controller} is the controller now, its epoch is one higher, and partitions are led again"
    )
    await pilot.pause(3.0)
    recorder.caption = "u: undo, the broker comes back"
    await pilot.press("u")
    await settle(pilot, lambda: app.facts.brokers_down == 0 and app.facts.under_replicated == 0)
    recorder.caption = "1: every replica is in sync again"
    await pilot.press("1")
    await pilot.pause(2.0)
    recorder.look()
    recording.cancel()
    with suppress(asyncio.CancelledError):
        await recording
    return recorder.frames


def save_gif(frames: list[Frame], app: Kdrill, path: Path) -> None:
    """Draws the frames, all in one palette, and writes them."""
    images = [drawn(frame.strips, app.ansi_theme, FONT_SIZE) for frame in frames]
    palette = _joined(images).quantize(COLOURS, dither=Image.Dither.NONE)
    stands_s = [min(after.seen_s - before.seen_s, LONGEST_S) for before, after in pairwise(frames)] + [LAST_S]
    first, *others = [image.quantize(palette=palette, dither=Image.Dither.NONE) for image in images]
    durations_ms = [round(stands * 1000) for stands in stands_s]
    first.save(path, save_all=True, append_images=others, duration=durations_ms, loop=0, optimize=True)


def _joined(images: list[Image.Image]) -> Image.Image:
    """The first, middle and last of them below each other, for the colours that there are."""
    chosen = [images[0], images[len(images) // 2], images[-1]]
    sheet = Image.new("RGB", (chosen[0].width, sum(image.height for image in chosen)))
    for number, image in enumerate(chosen):
        sheet.paste(image, (0, number * image.height))
    return sheet


def _caption_line(caption: str) -> list[Segment]:
    text = f" {caption}"
    return [Segment(text + " " * (MOVING_SIZE[0] - cells(text)), CAPTION)]
