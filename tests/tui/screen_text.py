"""The app's screen as lines of text, and its comparison with a file in `snapshots/`. Knows no colours.

`KDRILL_UPDATE_SNAPSHOTS=1` writes the files instead of comparing; the difference is then reviewed like any other.
"""

import difflib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from textual.app import App

SNAPSHOTS = Path(__file__).parent / "snapshots"


def screen_lines(app: App[Any]) -> list[str]:
    """What a terminal would show, line by line, without the spaces at the ends."""
    return [strip.text.rstrip() for strip in app.screen._compositor.render_strips()]


def screen_codes(app: App[Any]) -> str:
    """What a terminal would be sent for the whole screen."""
    return "\n".join(strip.render(app.console) for strip in app.screen._compositor.render_strips())


def assert_screen(app: App[Any], name: str, mask: Callable[[str], str] = str) -> None:
    """The screen reads as in `snapshots/NAME.txt`; if not, the failure is a diff. `mask` hides what differs by run."""
    path = SNAPSHOTS / f"{name}.txt"
    seen = [mask(line) for line in screen_lines(app)]
    if os.environ.get("KDRILL_UPDATE_SNAPSHOTS") == "1":
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(seen) + "\n", encoding="utf-8")
        return
    assert path.exists(), f"{path} is missing: run with KDRILL_UPDATE_SNAPSHOTS=1 and review it"
    expected = path.read_text(encoding="utf-8").split("\n")[:-1]
    diff = "\n".join(difflib.unified_diff(expected, seen, f"snapshots/{name}.txt", "screen", lineterm=""))
    assert not diff, f"the screen is not what it was\n{diff}"
