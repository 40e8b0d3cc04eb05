"""Random keys, sizes and changes: nothing falls over, nothing is written, and the cursor keeps to what it was on."""

import asyncio
import random

import pytest

from tests.thorough import the_rest_when_asked
from tests.tui.conftest import Cluster
from tests.tui.dashboard import Keys, kdrill, mode, opened, press, push, rows, settled, text
from tests.zookeeper.counting_proxy import CountingProxy
from tui.app.panes.live_panes import LiveRows
from tui.app.widgets.edge_lines import KeyFooter
from tui.app.widgets.prompt_line import PromptLine
from tui.engine.actions import ACTIONS

MOTIONS = ("j", "k", "down", "up", "h", "l", "g", "G", "ctrl+d", "ctrl+u", "pagedown", "pageup", "enter", "n", "N")
TYPED = ("o", "r", "colon", "1", "left_parenthesis", "backspace", "space", "exclamation_mark", "vertical_line")
ENDS = {"Q", "ctrl+q", "ctrl+z", "ctrl+p"}
"""Keys that end or suspend the program, and the palette, which offers both."""
KEYS = (*MOTIONS, *MOTIONS, *TYPED, *(key for each in ACTIONS for key in each.keys.split(",") if key not in ENDS))
SIZES = ((80, 24), (60, 16), (30, 8), (130, 30), (200, 60))
STEPS = 300


async def walk(pilot: Keys, dice: random.Random) -> None:
    for _ in range(STEPS):
        key = dice.choice(KEYS)
        if key == "q" and (mode(pilot) == "overview" or is_typing(pilot)):
            key = "escape"  # q would quit, and so would :q
        if dice.random() < 0.03:
            await pilot.resize_terminal(*dice.choice(SIZES))
        await push(pilot, key)
        assert not kdrill(pilot)._exit, f"{key} ended it"


def is_typing(pilot: Keys) -> bool:
    return any(prompt.has_focus for prompt in kdrill(pilot).screen.query(PromptLine))


def named(pilot: Keys) -> dict[str, str]:
    """List in front → the key its cursor is on. On the newest event the cursor stays for newer ones."""
    lists = [each for each in kdrill(pilot).screen.query(LiveRows) if each.row is not None]
    return {each.list_name: each.cursor_key for each in lists if (each.list_name, each.cursor) != ("events", 0)}


@pytest.mark.parametrize("seed", the_rest_when_asked(range(2)))
async def test_random_keys_break_and_write_nothing(cluster: Cluster, seed: int) -> None:
    server, _, root = cluster.address.partition("/")
    with CountingProxy(server) as proxy:
        async with opened(f"{proxy.address}/{root}") as pilot:
            dice = random.Random(seed)
            changing = asyncio.create_task(change(cluster))
            await walk(pilot, dice)
            changing.cancel()
            await pilot.resize_terminal(80, 24)
            await press(pilot, "escape", "escape", "escape", "escape", "3", "escape", "3")
            assert mode(pilot) == "partitions" and rows(pilot, "partitions").total > 0
            assert kdrill(pilot).screen.query_one(KeyFooter).display
            assert "Error" not in text(pilot)
        assert proxy.asked["addWatch"] >= 1
        assert proxy.writes() == {}


async def change(cluster: Cluster) -> None:
    for number in range(1_000):
        await asyncio.to_thread(cluster.demo.step, number)
        await asyncio.sleep(0)


@pytest.mark.parametrize("seed", the_rest_when_asked(range(2)))
async def test_after_random_motions_a_change_leaves_the_cursor_on_its_row(cluster: Cluster, seed: int) -> None:
    dice = random.Random(seed)
    async with opened(cluster.address) as pilot:
        for number in range(14):
            await press(pilot, dice.choice("134"), *dice.choices(("j", "k", "G", "g", "ctrl+d", "s", "S"), k=4))
            before = named(pilot)
            await asyncio.to_thread(cluster.demo.step, number)
            await settled(pilot)
            kept = {row.key for each in kdrill(pilot).screen.query(LiveRows) for row in each.answer.rows}
            assert {name: key for name, key in named(pilot).items() if before.get(name) in kept} == {
                name: key for name, key in before.items() if key in kept
            }
