"""The real dashboard on a real ZooKeeper, driven by a pilot: opened, waited for, read."""

import asyncio
import re
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import cache
from typing import Any

from textual._context import message_hook as message_hook_context_var
from textual.app import App
from textual.pilot import Pilot

from model.sources.source import Source
from tests.harness.near_link import NearLink
from tests.tui.quiet import Traffic, has_nothing_to_do, is_quiet, send
from tests.tui.screen_text import assert_screen, screen_lines
from tui.app.app import Kdrill
from tui.app.panes.live_panes import LivePlot, LiveRows, LiveText
from tui.app.served import ServedKdrill
from tui.app.theme import Parsed
from tui.cli import typed_requests
from tui.engine.link import DataLink
from tui.engine.messages import Opening
from tui.engine.service import DataService
from tui.engine.sources import source_of

BEGAN_MS = 1_700_000_000_000
"""When the demo cluster says that it began."""

NOW_MS = BEGAN_MS + 3 * 3_600_000
"""What the clock says on the screens, for ever: 3 h later, and long before anything ZooKeeper wrote itself."""

DEADLINE_S = 60.0
BREATH_S = 0.002
"""Threads get this long between two looks."""
BREATH_MOST_S = 0.03
"""And this long when a condition has not come true for some time: what it waits for needs the processor, too."""
BREATHS = 2
"""So long nothing may begin before it is believed that nothing is left to be done."""
AFTERMATH_S = 2.0
"""So long what follows from a condition that came true may take; answers that a test holds back take longer."""

Keys = Pilot[int]


@asynccontextmanager
async def opened(
    address: str,
    *,
    size: tuple[int, int] = (80, 24),
    link: Callable[[DataLink], DataLink] = lambda link: link,
    is_served: bool = False,
    allow_writes: bool = False,
    **look: Any,
) -> AsyncIterator[Keys]:
    """The dashboard on `host:port/root`, or on a SOURCE, once everything in sight has arrived."""
    opening = Opening(source=address if "://" in address else f"zk://{address}", allow_writes=allow_writes)
    source = source_of(opening)
    async with opened_on(source, size=size, link=link, is_served=is_served, acting=opening, **look) as pilot:
        yield pilot


@asynccontextmanager
async def opened_on(
    source: Source,
    *,
    size: tuple[int, int] = (80, 24),
    link: Callable[[DataLink], DataLink] = lambda link: link,
    is_served: bool = False,
    acting: Opening | None = None,
    phase: str = "live",
    **look: Any,
) -> AsyncIterator[Keys]:
    """The same on a source, once it is in this phase."""
    service = DataService(source, kind="DEMO", is_served=is_served, acting=acting, now_ms=lambda: NOW_MS)
    app = (ServedKdrill if is_served else Kdrill)(
        link(NearLink(service)), requests=lambda: typed_requests, now_ms=lambda: NOW_MS, parsed=_parsed(), **look
    )
    traffic = Traffic()
    message_hook_context_var.set(traffic)  # for screens that a test brings to the front itself
    async with app.run_test(size=size, message_hook=traffic) as pilot:
        vars(pilot)["traffic"] = traffic
        await until(pilot, lambda: app.facts.phase == phase)
        await settled(pilot)
        yield pilot


@cache
def _parsed() -> Parsed:
    """The styles of every dashboard before, as who goes from cluster to cluster has them."""
    return {}


def kdrill(pilot: Keys) -> Kdrill:
    """The app that the pilot drives."""
    assert isinstance(pilot.app, Kdrill)
    return pilot.app


def rows(pilot: Keys, name: str = "") -> LiveRows:
    """A list of the screen in front: by name, or the focused one."""
    found = kdrill(pilot).screen.query_one(f"#{name}", LiveRows) if name else kdrill(pilot).screen.focused
    assert isinstance(found, LiveRows)
    return found


def mark(pilot: Keys, name: str = "") -> str:
    """The sign before the row under a list's cursor."""
    row = rows(pilot, name).row
    return row.mark if row else ""


def text(pilot: Keys) -> str:
    """All that is on the screen."""
    return "\n".join(screen_lines(pilot.app))


def foot(pilot: Keys) -> str:
    """The last two lines: the keys, and a note beside them or above."""
    return "\n".join(screen_lines(pilot.app)[-2:])


def mode(pilot: Keys) -> str:
    """Which screen is in front."""
    return kdrill(pilot).current_mode or ""


async def until(pilot: Keys, condition: Callable[[], object]) -> None:
    """Waits for the condition and for what follows from it; fails with the screen when it does not come true."""
    deadline = time.monotonic() + DEADLINE_S
    breath = BREATH_S
    while not (_is_whole(pilot.app) and condition()):
        assert time.monotonic() < deadline, f"this did not become true within {DEADLINE_S:.0f} s:\n{text(pilot)}"
        await is_quiet(pilot.app, _traffic(pilot))
        await asyncio.sleep(breath)
        breath = min(breath * 1.2, BREATH_MOST_S)
    await _is_settled(pilot, AFTERMATH_S)


async def settled(pilot: Keys) -> None:
    """Waits until all that was to be done is done, and no pane in sight waits for an answer."""
    assert await _is_settled(pilot, DEADLINE_S), f"this went on for {DEADLINE_S:.0f} s:\n{text(pilot)}"


async def _is_settled(pilot: Keys, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        seems_quiet = has_nothing_to_do(pilot.app) and not _waits(pilot)
        if seems_quiet and await is_quiet(pilot.app, _traffic(pilot)) and await _stays_quiet(pilot):
            return True
        await asyncio.sleep(BREATH_S)
    return False


async def _stays_quiet(pilot: Keys) -> bool:
    """Whether, of an app in which every pump has come to its end, none begins anew within some breaths."""
    handled = _traffic(pilot).handled
    for _ in range(BREATHS):
        await asyncio.sleep(BREATH_S)
        if _traffic(pilot).handled != handled or not has_nothing_to_do(pilot.app) or _waits(pilot):
            return False
    return True


async def push(pilot: Keys, key: str) -> None:
    """Presses a key as somebody in a hurry: it is carried out, and what follows from it may be still to come."""
    send(pilot.app, key)
    await is_quiet(pilot.app, _traffic(pilot))


async def press(pilot: Keys, *keys: str) -> None:
    """Presses keys, each after all that the one before brought."""
    for key in keys:
        send(pilot.app, key)
        await settled(pilot)


async def type_in(pilot: Keys, line: str) -> None:
    """Types characters, none of which is a key's name."""
    named = {" ": "space", ":": "colon", "/": "slash", "!": "exclamation_mark", "-": "minus", "_": "underscore"}
    for character in line:
        await push(pilot, named.get(character, character))
    await settled(pilot)


def assert_page(pilot: Keys, name: str) -> None:
    """The screen reads as in `snapshots/NAME.txt`, but for ports, real times and session ids."""
    assert_screen(pilot.app, name, mask)


def mask(line: str) -> str:
    """The same line with hashes for what is another in every run; nothing changes its place."""
    for pattern in (
        r"127\.0\.0\.1:\d+",
        r"\d\d:\d\d:\d\d(\.\d{3})?",
        r"20(?!23-11-1)\d\d-\d\d-\d\d",
        r"0x[0-9a-f]{8,}",
        r"\b0[0-9a-f]{11}\b",
        r"(?<=in process, )\d+\.\d+ s",
        r"\d+\.\d+ s(?=, CPU )",
        r"(?<=CPU )\d+\.\d+ s",
        r"\b\d{4}d\b",  # a moment of the past has its real time, the demo's brokers came in 2023
    ):
        line = re.sub(pattern, lambda found: "#" * len(found[0]), line)
    return re.sub(r"(?<= UTC, )\d s", "0 s", line)  # how long it took to come there


def _is_whole(app: App[Any]) -> bool:
    """Whether all parts of the screen in front are there: on a slow machine it comes long before them."""
    return not app._running or app.screen.is_mounted


def _traffic(pilot: Keys) -> Traffic:
    return vars(pilot)["traffic"]


def _waits(pilot: Keys) -> bool:
    """Whether a pane in sight waits for an answer."""
    asking = (LiveRows, LiveText, LivePlot)
    return any(isinstance(pane, asking) and not pane.asking.is_settled for pane in kdrill(pilot).screen.walk_children())
