"""The real dashboard on a real ZooKeeper, driven by a pilot: opened, waited for, read. Nothing here sleeps."""

import re
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from textual.pilot import Pilot

from tests.tui.screen_text import assert_screen, screen_lines
from tui.app import Kdrill
from tui.data.link import DataLink
from tui.data.near_link import NearLink
from tui.data.opened import source_of
from tui.data.opening import Opening
from tui.data.service import DataService
from tui.panes.live_list import LiveRows
from tui.panes.live_text import LivePlot, LiveText

BEGAN_MS = 1_700_000_000_000
"""When the demo cluster says that it began."""

NOW_MS = BEGAN_MS + 3 * 3_600_000
"""What the clock says on the screens, for ever: 3 h later, and long before anything ZooKeeper wrote itself."""

DEADLINE_S = 30.0

Keys = Pilot[int]


@asynccontextmanager
async def opened(
    address: str,
    *,
    size: tuple[int, int] = (80, 24),
    link: Callable[[DataLink], DataLink] = lambda link: link,
    **look: Any,
) -> AsyncIterator[Keys]:
    """The dashboard on `host:port/root` once everything in sight has arrived."""
    service = DataService(source_of(Opening(source=f"zk://{address}")), kind="DEMO", now_ms=lambda: NOW_MS)
    app = Kdrill(link(NearLink(service)), now_ms=lambda: NOW_MS, **look)
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: app.facts.phase == "live")
        await settled(pilot)
        yield pilot


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


def mode(pilot: Keys) -> str:
    """Which screen is in front."""
    return kdrill(pilot).current_mode or ""


async def until(pilot: Keys, condition: Callable[[], object]) -> None:
    """Waits for the condition, and fails with the screen when it does not come true."""
    deadline = time.monotonic() + DEADLINE_S
    while not condition():
        assert time.monotonic() < deadline, f"this did not become true within {DEADLINE_S:.0f} s:\n{text(pilot)}"
        await pilot.pause()


async def settled(pilot: Keys) -> None:
    """Waits until no pane in sight waits for an answer."""
    await pilot.pause()
    await until(pilot, lambda: all(asking.is_settled for asking in _askings(pilot)))
    await pilot.pause()


async def press(pilot: Keys, *keys: str) -> None:
    """Presses keys and waits for what they bring."""
    for key in keys:
        await pilot.press(key)
        await settled(pilot)


async def type_in(pilot: Keys, line: str) -> None:
    """Types characters, none of which is a key's name."""
    named = {" ": "space", ":": "colon", "/": "slash", "!": "exclamation_mark", "-": "minus", "_": "underscore"}
    await pilot.press(*(named.get(character, character) for character in line))
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
    ):
        line = re.sub(pattern, lambda found: "#" * len(found[0]), line)
    return line


def _askings(pilot: Keys) -> list[Any]:
    return [pane.asking for kind in (LiveRows, LiveText, LivePlot) for pane in kdrill(pilot).screen.query(kind)]
