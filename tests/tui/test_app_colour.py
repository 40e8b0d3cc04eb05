"""Without colour there is none, and every screen still says which pane is at hand and what is wrong."""

import re
from typing import Any

import pytest

from tests.thorough import the_rest_when_asked
from tests.tui.dashboard import kdrill, opened, press
from tests.tui.screen_text import screen_codes, screen_lines

COLOUR = re.compile(r"\x1b\[(?:[0-9;]*;)?(?:3[0-8]|4[0-8]|9[0-7]|10[0-7])(?:;[0-9;]*)?m")


@pytest.mark.parametrize("keys", ["1", "1v", "2", "3", "3d", "4", "3?", "3/x", "1a", "1:"])
@pytest.mark.parametrize("size", the_rest_when_asked([(80, 24), (200, 50), (40, 10)]))
async def test_under_no_color_no_colour_is_sent(
    still: str, keys: str, size: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    named = {"?": "question_mark", "/": "slash", ":": "colon"}
    async with opened(still, size=size) as pilot:
        await press(pilot, *(named.get(key, key) for key in keys))
        assert not COLOUR.search(screen_codes(pilot.app))
        await press(pilot, "escape", "T")
        assert not COLOUR.search(screen_codes(pilot.app)), "no theme brings colours back"


async def test_with_colour_some_is_sent(still: str) -> None:
    async with opened(still) as pilot:
        assert COLOUR.search(screen_codes(pilot.app))


async def test_the_palette_has_no_colour_and_no_emoji_either(still: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with opened(still) as pilot:
        await press(pilot, "ctrl+p")
        assert not COLOUR.search(screen_codes(pilot.app))
        assert all(ord(character) < 0x2600 for line in screen_lines(pilot.app) for character in line)


@pytest.mark.parametrize("look", [{"theme": "mono"}, {"ascii_only": True}])
async def test_the_pane_at_hand_is_told_from_the_others_without_colour(still: str, look: dict[str, Any]) -> None:
    async with opened(still, **look) as pilot:
        kdrill(pilot).theme = "mono"
        await press(pilot, "1")
        seen = set[str]()
        for _ in range(4):
            await press(pilot, "tab")
            seen.add(screen_codes(pilot.app))
        assert len(seen) == 4


async def test_ascii_is_ascii_on_every_screen(still: str) -> None:
    async with opened(still, size=(200, 50), ascii_only=True) as pilot:
        for key in ("1", "v", "d", "escape", "2", "l", "3", "d", "escape", "4", "enter", "v", "question_mark"):
            await press(pilot, key)
            assert "\n".join(screen_lines(pilot.app)).isascii()
