"""Every screen at 80x24, as text: in the default look, without colour, in ASCII; and the overview small and wide.

Shapes only. That no look but the default has other letters is what makes the same file good for mono.
"""

from typing import Any

import pytest

from tests.tui.dashboard import assert_page, opened, press, rows, until

LOOKS: dict[str, dict[str, Any]] = {"default": {}, "mono": {"theme": "mono"}, "ascii": {"ascii_only": True}}

PAGES: dict[str, tuple[str, ...]] = {
    "overview": ("1",),
    "znodes": ("2", "j", "j", "l"),
    "partitions": ("3", "j"),
    "partition_list": ("3", "v"),
    "consumers": ("4", "j"),
    "ownership_table": ("4", "j", "v"),
    "help": ("3", "question_mark"),
    "describe": ("a", "d"),
}
"""Page → the keys that lead there from the overview."""


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("page", PAGES)
async def test_a_page_reads_as_it_did(still: str, page: str, look: str) -> None:
    async with opened(still, **LOOKS[look]) as pilot:
        await press(pilot, *PAGES[page])
        assert_page(pilot, f"{page}_80_ascii" if look == "ascii" else f"{page}_80")


@pytest.mark.parametrize("look", LOOKS)
async def test_the_bars_read_as_they_did(still: str, look: str) -> None:
    async with opened(still, **LOOKS[look]) as pilot:
        await press(pilot, "v")
        assert_page(pilot, f"bars_80_{look}")


@pytest.mark.parametrize("width", [60, 300])
async def test_the_overview_reads_as_it_did(still: str, width: int) -> None:
    async with opened(still, size=(width, {60: 16, 300: 80}[width])) as pilot:
        assert_page(pilot, f"overview_{width}")


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("size", [(80, 24), (160, 48)], ids=str)
async def test_a_drill_reads_as_it_did(still: str, look: str, size: tuple[int, int]) -> None:
    async with opened(still, size=size, **LOOKS[look]) as pilot:
        await press(pilot, "6", "K")
        await until(pilot, lambda: rows(pilot, "drill-timeline").total > 0)
        await press(pilot, "comma", "comma")
        assert_page(pilot, f"drill_{size[0]}_ascii" if look == "ascii" else f"drill_{size[0]}")


async def test_what_is_said_in_too_small_a_terminal_reads_as_it_did(still: str) -> None:
    async with opened(still, size=(50, 12)) as pilot:
        assert_page(pilot, "too_small")
