"""Keys that come in one piece, from a paste or over a slow link: each means what it would mean if it came alone."""

import pytest

from tests.tui.conftest import Cluster
from tests.tui.dashboard import Keys, kdrill, mode, opened, press, rows, settled, text, type_in, until
from tests.tui.quiet import send
from tests.tui.screen_text import screen_lines
from tui.app.screens.overlays import SIGN, Confirm, Describe
from tui.engine.actions import NUMBERS, SCREENS

WIDE = (150, 40)


async def in_one_piece(pilot: Keys, *keys: str) -> None:
    """Presses keys, all before the first was looked at."""
    for key in keys:
        send(pilot.app, key)
    await settled(pilot)


def last(pilot: Keys) -> str:
    return screen_lines(pilot.app)[-1]


async def assert_a_command_goes_on(pilot: Keys, keys: tuple[str, ...], name: str) -> None:
    """A command whose first letter comes in one piece with keys that lead to the screen of this name."""
    await in_one_piece(pilot, *keys, "colon", "r")
    assert mode(pilot) == name and last(pilot).startswith(" :r"), text(pilot)


async def test_a_command_begun_with_the_key_of_its_screen_goes_on(still: str) -> None:
    async with opened(still, size=WIDE) as pilot:
        for key, name in zip(NUMBERS, SCREENS, strict=True):
            await assert_a_command_goes_on(pilot, (key,), name)
            await press(pilot, "escape")


@pytest.mark.parametrize(
    ("keys", "name"),
    [
        (("a",), "overview"),
        (("v",), "overview"),
        (("tab",), "overview"),
        (("o",), "znodes"),
        (("3", "o"), "znodes"),
        (("5", "v"), "lab"),
        (("5", "V"), "lab"),
        (("7", "v"), "sweep"),
        (("9", "tab"), "plans"),
    ],
)
async def test_a_command_begun_with_a_key_that_moves_the_focus_goes_on(
    still: str, keys: tuple[str, ...], name: str
) -> None:
    async with opened(still, size=WIDE) as pilot:
        await assert_a_command_goes_on(pilot, keys, name)


@pytest.mark.parametrize(
    ("keys", "name"),
    [
        (("enter",), "partitions"),
        (("b", "enter"), "partitions"),
        (("5", "enter"), "lab"),
        (("6", "enter"), "drill"),
        (("7", "enter"), "drill"),
        (("9", "enter"), "plans"),
    ],
)
async def test_a_command_begun_with_the_opening_of_a_row_goes_on(still: str, keys: tuple[str, ...], name: str) -> None:
    async with opened(still, size=WIDE) as pilot:
        await press(pilot, *keys[:-1])
        await until(pilot, lambda: rows(pilot).total > 0)
        await assert_a_command_goes_on(pilot, keys[-1:], name)


async def test_words_typed_after_a_row_was_opened_are_sought_in_what_it_shows(still: str) -> None:
    async with opened(still, size=WIDE) as pilot:
        pilot.app.screen.set_focus(rows(pilot, "events"))
        await settled(pilot)
        await in_one_piece(pilot, "enter", "slash", "r", "a")
        assert isinstance(pilot.app.screen, Describe) and last(pilot).startswith(" /ra"), text(pilot)


async def test_words_typed_after_d_are_sought_in_what_it_shows(still: str) -> None:
    async with opened(still, size=WIDE) as pilot:
        await in_one_piece(pilot, "d", "slash", "r", "a")
        assert isinstance(pilot.app.screen, Describe) and last(pilot).startswith(" /ra"), text(pilot)


async def test_a_click_on_a_proposal_leaves_the_line_that_confirms_it(cluster: Cluster) -> None:
    async with opened(cluster.address, size=WIDE, allow_writes=True) as pilot:
        await type_in(pilot, ":topics create --topic made --partitions 1 --replication-factor 1")
        await press(pilot, "enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, Confirm) and kdrill(pilot).page is not None)
        assert last(pilot).startswith(f" {SIGN}"), text(pilot)
        await pilot.click(offset=(10, 10))
        await type_in(pilot, "no")
        assert last(pilot).startswith(f" {SIGN}no"), text(pilot)
        await press(pilot, "escape")
        assert not isinstance(pilot.app.screen, Confirm)
