"""The app's screen as lines of text and as lines of styles, and their comparison with files in `snapshots/`.

`KDRILL_UPDATE_SNAPSHOTS=1` writes the files instead of comparing; the difference is then reviewed like any other.
"""

import difflib
import os
from collections.abc import Callable
from itertools import groupby
from pathlib import Path
from typing import Any

from rich.style import Style
from textual.app import App

SNAPSHOTS = Path(__file__).parent / "snapshots"


def screen_lines(app: App[Any]) -> list[str]:
    """What a terminal would show, line by line, without the spaces at the ends."""
    return [strip.text.rstrip() for strip in app.screen._compositor.render_strips()]


def screen_codes(app: App[Any]) -> str:
    """What a terminal would be sent for the whole screen."""
    return "\n".join(strip.render(app.console) for strip in app.screen._compositor.render_strips())


def screen_styles(app: App[Any]) -> list[str]:
    """How each line looks: its runs as `cells style`, of `bold #79c0ff on #1b222b`; `-` where there is none.

    A blank looks like what stands before it, unless it has a background or a line of its own.
    """
    return [_runs(strip) for strip in app.screen._compositor.render_strips()]


def assert_screen(app: App[Any], name: str, mask: Callable[[str], str] = str) -> None:
    """The screen reads as in `snapshots/NAME.txt`; if not, the failure is a diff. `mask` hides what differs by run."""
    diff = difference(f"{name}.txt", [mask(line) for line in screen_lines(app)])
    assert not diff, f"the screen is not what it was\n{diff}"


def difference(name: str, seen: list[str], *, is_kept: bool = True) -> str:
    """How these lines differ from the file `snapshots/NAME`, as a diff; empty where they do not.

    With the switch, they become the file, if it `is_kept` for them and not for others who compare with it.
    """
    path = SNAPSHOTS / name
    if is_kept and os.environ.get("KDRILL_UPDATE_SNAPSHOTS") == "1":
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(seen) + "\n", encoding="utf-8")
        return ""
    if not path.exists():
        return f"{path} is missing: run with KDRILL_UPDATE_SNAPSHOTS=1 and review it"
    expected = path.read_text(encoding="utf-8").split("\n")[:-1]
    return "\n".join(difflib.unified_diff(expected, seen, f"snapshots/{name}", "screen", lineterm=""))


def _runs(strip: Any) -> str:
    styles = [(character, segment.style or Style.null()) for segment in strip for character in segment.text]
    looks: list[str] = []
    for character, style in styles:
        is_blank = character == " " and not (style.underline or style.reverse)
        before = looks[-1] if looks else ""
        goes_on = is_blank and before.partition(" on ")[2] == _background(style)
        looks.append(before if looks and goes_on else _words(style))
    return ", ".join(f"{len(list(run))} {look or '-'}" for look, run in groupby(looks))


def _words(style: Style) -> str:
    said = [name for name in ("bold", "dim", "italic", "underline", "reverse") if getattr(style, name)]
    if style.color is not None and not style.color.is_default:
        said.append(style.color.name)
    background = _background(style)
    return " ".join([*said, *(["on", background] if background else [])])


def _background(style: Style) -> str:
    return "" if style.bgcolor is None or style.bgcolor.is_default else style.bgcolor.name
