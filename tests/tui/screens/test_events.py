"""Going back in time on the real thing: every key of it, on the screens that show the past and on those that do not."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import cast

import pytest

from tests.tui.conftest import Cluster
from tests.tui.dashboard import Keys, foot, kdrill, mark, mode, opened, press, rows, settled, text, type_in, until
from tui.app.export import ROWS_AT_ONCE
from tui.app.screens.overlays import Describe
from tui.engine.actions import NUMBERS, SCREENS, TIMED
from tui.engine.history.queries import SaveSnapshot
from tui.engine.link import DataLink
from tui.engine.messages import ListQuery, Notice
from tui.engine.rows import Window

SIMULATED = ("drill", "lab", "sweep", "plans", "forecast")
"""Screens that never show the cluster as it is."""

MOVE_CONTROLLER = 13
"""Number of the demo's step."""


class Stuck:
    """A link on which no list ever comes whole; all else goes on."""

    def __init__(self, link: DataLink) -> None:
        self._link = link

    def __getattr__(self, name: str) -> object:
        return getattr(self._link, name)

    async def rows(self, query: ListQuery) -> Window:
        if query.count == ROWS_AT_ONCE:
            await asyncio.Event().wait()
        return await self._link.rows(query)


def stuck(link: DataLink) -> DataLink:
    return cast(DataLink, Stuck(link))


def header(pilot: Keys) -> str:
    return text(pilot).split("\n")[0]


async def lose(pilot: Keys, cluster: Cluster, broker: int, up: int) -> None:
    """A broker dies, and the screens know it."""
    await asyncio.to_thread(cluster.demo.lose_broker, broker)
    await until(pilot, lambda: kdrill(pilot).facts.brokers_up == up)
    await settled(pilot)


async def go(pilot: Keys, key: str, said: str) -> None:
    """Presses a key of time travel, and waits until the screen says what is expected."""
    await press(pilot, key)
    await until(pilot, lambda: said in text(pilot))
    await settled(pilot)


async def command(pilot: Keys, line: str, key: str = "colon") -> None:
    await press(pilot, key)
    await type_in(pilot, line)
    await press(pilot, "enter")


async def test_paused_the_screen_stands_still_and_counts_what_is_new(cluster: Cluster) -> None:
    async with opened(cluster.address, size=(160, 40)) as pilot:
        await go(pilot, "p", "PAUSED ")
        assert ", 0 new" in header(pilot)
        before = text(pilot).split("\n")[1:-2]
        await lose(pilot, cluster, 2, up=4)
        await until(pilot, lambda: ", 0 new" not in header(pilot))
        await settled(pilot)
        assert text(pilot).split("\n")[1:-2] == before, "but for the notice at the foot"
        assert "brokers 5 up" in header(pilot), "row one is of that moment too"
        await go(pilot, "p", "4 up")
        assert "LIVE" in header(pilot) and "PAUSED" not in header(pilot)
        assert rows(pilot, "brokers").answer.rows[1].mark == "X"


async def test_steps_and_marks_lead_back_and_forth(cluster: Cluster) -> None:
    async with opened(cluster.address, size=(160, 40)) as pilot:
        await asyncio.to_thread(cluster.demo.step, MOVE_CONTROLLER)
        await until(pilot, lambda: "b6 e8" in header(pilot))
        await lose(pilot, cluster, 2, up=4)
        await until(pilot, lambda: "b2 gone" in text(pilot))
        await go(pilot, "less_than_sign", "PAUSED ")
        # The new controller and its epoch are two znodes: they may come in one moment or in two.
        await until(pilot, lambda: "brokers 5 up" in header(pilot) and "controller b6" in header(pilot))
        await go(pilot, "comma", "PAUSED ")
        await until(pilot, lambda: "controller b6" not in header(pilot))
        assert "b2 gone" not in text(pilot)
        await press(pilot, *["comma"] * 3)
        await until(pilot, lambda: "the timeline begins here" in text(pilot))
        await go(pilot, "greater_than_sign", "controller b6")
        await press(pilot, "less_than_sign")
        await until(pilot, lambda: "no mark there" in text(pilot) or "controller b6" not in header(pilot))
        await press(pilot, *["full_stop"] * 8)
        await until(pilot, lambda: "p follows the cluster again" in text(pilot))
        assert "4 up" in header(pilot) and "PAUSED" in header(pilot)


async def test_a_time_an_epoch_or_a_transaction_is_typed(cluster: Cluster) -> None:
    async with opened(cluster.address, size=(160, 40)) as pilot:
        epoch = kdrill(pilot).facts.controller_epoch
        await asyncio.to_thread(cluster.demo.step, MOVE_CONTROLLER)
        await until(pilot, lambda: "b6 e8" in header(pilot))
        await command(pilot, f"e{epoch}", key="t")
        await until(pilot, lambda: f" e{epoch} " in header(pilot))
        await command(pilot, "at e8")
        await until(pilot, lambda: "PAUSED" in header(pilot) and "b6 e8" in header(pilot))
        await command(pilot, "soon", key="t")
        await until(pilot, lambda: "no time 'soon'" in text(pilot))
        await command(pilot, "live")
        await until(pilot, lambda: "PAUSED" not in header(pilot))


async def test_this_moment_is_compared_with_the_newest(cluster: Cluster) -> None:
    async with opened(cluster.address, size=(120, 40)) as pilot:
        await press(pilot, "equals_sign")
        assert "this is the newest moment" in text(pilot)
        await go(pilot, "p", "PAUSED ")
        await lose(pilot, cluster, 2, up=4)
        await go(pilot, "equals_sign", "broker-lost")
        assert isinstance(kdrill(pilot).screen, Describe)
        assert "PAUSED" in header(pilot)
        assert ["brokers", "5", "4"] in [line.strip("║ ").split()[:3] for line in text(pilot).split("\n")]


async def test_the_moment_is_saved(cluster: Cluster, tmp_path: Path) -> None:
    async with opened(cluster.address, size=(160, 40)) as pilot:
        await go(pilot, "p", "PAUSED ")
        kdrill(pilot).wish(SaveSnapshot(str(tmp_path / "x.json")))
        await until(pilot, lambda: (tmp_path / "x.json").exists() and "the cluster at" in text(pilot))
        kdrill(pilot).wish(SaveSnapshot(str(tmp_path / "x.json")))
        await until(pilot, lambda: "choose another name" in text(pilot))


async def test_no_screen_passes_old_for_live_or_live_for_old(cluster: Cluster) -> None:
    async with opened(cluster.address, size=(200, 50)) as pilot:
        await go(pilot, "p", "PAUSED ")
        await lose(pilot, cluster, 2, up=4)
        for key, name in zip(NUMBERS, SCREENS, strict=True):
            await press(pilot, key)
            if name in TIMED:
                assert " new" in header(pilot) and "brokers 5 up" in header(pilot)
            elif name == "history":
                assert "RECORDED" in header(pilot)
            elif name in SIMULATED:
                assert "SIMULATED" in header(pilot) and "4 up" in header(pilot)
            else:
                assert "PAUSED" in header(pilot) and "stays live" in header(pilot) and "4 up" in header(pilot)


@pytest.mark.parametrize("key", ["3", "4"])
async def test_other_screens_show_the_past_too(cluster: Cluster, key: str) -> None:
    async with opened(cluster.address, size=(120, 40)) as pilot:
        await press(pilot, key)
        await go(pilot, "p", "PAUSED ")
        before = text(pilot).split("\n")[2:-2]
        await lose(pilot, cluster, 2, up=4)
        await press(pilot, "1", key)
        assert text(pilot).split("\n")[2:-2] == before
        await press(pilot, "p")
        await until(pilot, lambda: "PAUSED" not in header(pilot))
        await until(pilot, lambda: kdrill(pilot).facts.brokers_up == 4)


async def test_enter_on_an_event_shows_the_cluster_as_it_was_then(cluster: Cluster) -> None:
    async with opened(cluster.address, size=(160, 40)) as pilot:
        await lose(pilot, cluster, 2, up=4)
        await lose(pilot, cluster, 3, up=3)
        await press(pilot, "i")
        assert mode(pilot) == "events"
        await press(pilot, "slash")
        await type_in(pilot, "broker-lost")
        await press(pilot, "enter")
        await until(pilot, lambda: rows(pilot).total == 2)
        assert "looked at the newest moment" in text(pilot) and "moments" in text(pilot)
        await press(pilot, "j")
        await until(pilot, lambda: "b2 gone" in text(pilot))
        await go(pilot, "enter", "PAUSED ")
        await until(pilot, lambda: "UTC, 1 change" in text(pilot))
        assert rows(pilot).total == 2, "the later event stays in the list: the way there"
        assert "4 up" in header(pilot)
        await press(pilot, "d")
        assert isinstance(kdrill(pilot).screen, Describe) and "b2 gone" in text(pilot)
        await press(pilot, "q", "o")
        assert mode(pilot) == "controller" and "PAUSED" in header(pilot)
        await go(pilot, "p", "3 up")


async def test_commits_are_one_line_that_enter_unfolds_and_escape_folds(cluster: Cluster) -> None:
    async with opened(cluster.address, size=(120, 40)) as pilot:
        await press(pilot, "i")
        before = rows(pilot).total
        await asyncio.to_thread(cluster.demo.step, 0)
        await until(pilot, lambda: "committed" in text(pilot) and rows(pilot).total == before + 1)
        assert rows(pilot).cursor_key.startswith("folded/group ")
        await press(pilot, "enter")
        await until(pilot, lambda: rows(pilot).answer.rows and "kind:offset-committed" in text(pilot).split("\n")[-1])
        assert {row.key.split("/")[2] for row in rows(pilot).answer.rows} == {"offset-committed"}
        assert "PAUSED" not in header(pilot)
        await press(pilot, "escape")
        await until(pilot, lambda: rows(pilot).total == before + 1)


@pytest.mark.parametrize("size", [(60, 16), (80, 24), (300, 80)])
async def test_sizes(still: str, size: tuple[int, int]) -> None:
    async with opened(still, size=size) as pilot:
        await press(pilot, "i")
        await go(pilot, "p", "PAUSED ")
        assert "cluster" in text(pilot)
        assert len(text(pilot).split("\n")) == size[1]


async def test_any_two_moments_are_compared_by_a_mark(cluster: Cluster) -> None:
    async with opened(cluster.address, size=(160, 40)) as pilot:
        await command(pilot, "before it", key="m")
        await until(pilot, lambda: "is marked 'before it'" in text(pilot))
        await lose(pilot, cluster, 2, up=4)
        await go(pilot, "p", "PAUSED ")
        await lose(pilot, cluster, 3, up=3)
        await go(pilot, "equals_sign", "the mark 'before it'")
        assert "looked at" in text(pilot) and "newest" not in text(pilot)
        assert ["brokers", "5", "4"] in [line.strip("║ ").split()[:3] for line in text(pilot).split("\n")]
        await press(pilot, "q")
        await command(pilot, "compare live")
        await until(pilot, lambda: "the newest moment" in text(pilot))
        assert ["brokers", "4", "3"] in [line.strip("║ ").split()[:3] for line in text(pilot).split("\n")]
        await press(pilot, "q", "p")
        await command(pilot, "before mark")
        await until(pilot, lambda: "brokers 5 up" in header(pilot))
        await press(pilot, "i", "slash")
        await type_in(pilot, "kind:mark")
        await press(pilot, "enter")
        await until(pilot, lambda: rows(pilot).total == 1 and "before it" in text(pilot))
        await press(pilot, "p")
        await go(pilot, "enter", "PAUSED ")
        await until(pilot, lambda: "brokers 5 up" in header(pilot))
        await press(pilot, "p")
        await go(pilot, "equals_sign", "the mark 'before it'")
        await press(pilot, "q")
        await go(pilot, "enter", "PAUSED ")
        await command(pilot, "mark")
        await until(pilot, lambda: "'before it' is gone" in text(pilot) and rows(pilot).total == 0)


async def test_one_goes_to_the_next_of_a_kind(cluster: Cluster) -> None:
    async with opened(cluster.address, size=(160, 40)) as pilot:
        await asyncio.to_thread(cluster.demo.step, MOVE_CONTROLLER)
        await until(pilot, lambda: "b6 e8" in header(pilot))
        await lose(pilot, cluster, 2, up=4)
        await until(pilot, lambda: "b2 gone" in text(pilot))
        await command(pilot, "before Controllers")
        await until(pilot, lambda: "brokers 5 up" in header(pilot) and "controller b6" in header(pilot))
        await command(pilot, "next broker")
        await until(pilot, lambda: "4 up" in header(pilot))
        await command(pilot, "next controller")
        await until(pilot, lambda: "no controller there" in text(pilot))
        await command(pilot, "next weather")
        await until(pilot, lambda: "no kind of moment 'weather': broker, controller, leader" in text(pilot))


async def test_a_notice_takes_no_focus_and_no_key_and_can_be_read_later(cluster: Cluster) -> None:
    async with opened(cluster.address, size=(160, 40)) as pilot:
        await press(pilot, "tab", "tab")
        focused = kdrill(pilot).screen.focused
        await press(pilot, "colon")
        await type_in(pilot, "top")
        await lose(pilot, cluster, 2, up=4)
        await until(pilot, lambda: "offline" in text(pilot))
        assert text(pilot).split("\n")[-1].startswith(" :top"), "what is being typed stays"
        await press(pilot, "escape")
        await until(pilot, lambda: " X " in foot(pilot))
        assert kdrill(pilot).screen.focused is focused
        await press(pilot, "i", "slash")
        await type_in(pilot, "kind:finding")
        await press(pilot, "enter")
        await until(pilot, lambda: rows(pilot).total > 0)
        await press(pilot, "p")
        await go(pilot, "enter", "PAUSED ")
        await until(pilot, lambda: "4 up" in header(pilot))


async def test_notices_can_be_turned_off(cluster: Cluster) -> None:
    async with opened(cluster.address, size=(160, 40), notices=False) as pilot:
        await command(pilot, "notify")
        await until(pilot, lambda: "notices are off" in text(pilot))
        app = kdrill(pilot)
        app.take_notice(Notice(app.last_notice.number + 1, "the sky falls"))
        await pilot.pause()
        await command(pilot, "notify on")
        await until(pilot, lambda: "notices are on" in text(pilot))
        app.take_notice(Notice(app.last_notice.number + 1, "the sky fell"))
        await until(pilot, lambda: "the sky fell" in text(pilot))
        await command(pilot, "notify off")
        await until(pilot, lambda: "notices are off" in text(pilot))
        assert "falls" not in text(pilot)


async def test_a_finding_is_acknowledged(cluster: Cluster) -> None:
    async with opened(cluster.address, size=(160, 40)) as pilot:
        total = int(header(pilot).partition(" FINDING")[0].rpartition(" ")[2])
        await press(pilot, "A")
        await until(pilot, lambda: "which finding?" in text(pilot))
        await press(pilot, "A")
        await until(pilot, lambda: f"{total - 1} FINDINGS, 1 acknowledged" in header(pilot))
        await until(pilot, lambda: mark(pilot, "findings") == "a")
        await press(pilot, "A")
        await until(pilot, lambda: f"{total} FINDINGS" in header(pilot) and "acknowledged" not in header(pilot))


async def test_what_is_under_way_is_listed_and_an_export_is_stopped(still: str, tmp_path: Path) -> None:
    async with opened(still, size=(160, 40), link=stuck) as pilot:
        await command(pilot, "jobs")
        await until(pilot, lambda: "nothing is under way" in text(pilot))
        await press(pilot, "q")
        await press(pilot, "colon")
        await type_in(pilot, f"export {tmp_path}/rows.json")
        await pilot.press("enter")
        await until(pilot, lambda: "exporting; esc stops it" in text(pilot))
        await pilot.press("escape")
        await until(pilot, lambda: "stopped: nothing was written" in text(pilot))
        assert not kdrill(pilot).doing and list(tmp_path.iterdir()) == []
