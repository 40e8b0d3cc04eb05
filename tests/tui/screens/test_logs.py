"""The logs screen on real log folders: from partitions down to records and back, look-ups, damage, other terminals."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from textual.pilot import Pilot

from tests.tui.dashboard import kdrill, mark, mode, opened, press, rows, settled, text, type_in, until
from tests.tui.data.logs.log_folders import flip, write_log
from tui.app.screens.overlays import Describe


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two logs; the second one's oldest segment is damaged, and its newest is cut short."""
    logs = tmp_path_factory.mktemp("logs")
    write_log(logs / "orders-0")
    log = write_log(logs / "orders-1")
    flip(log.folder / f"{0:020d}.log", 390)
    newest = log.folder / f"{80:020d}.log"
    newest.write_bytes(newest.read_bytes()[:-30])
    return logs


async def command(pilot: Pilot[int], line: str) -> None:
    await press(pilot, "colon")
    await type_in(pilot, line)
    await press(pilot, "enter")
    await settled(pilot)


async def look_into(pilot: Pilot[int], folder: Path) -> None:
    kdrill(pilot).run_command(f"logs {folder}")
    await until(pilot, lambda: mode(pilot) == "logs" and rows(pilot, "log-partitions").total == 2)
    await settled(pilot)


async def test_where_logs_are_elsewhere_it_says_how_to_see_some(still: str) -> None:
    async with opened(still) as pilot:
        await press(pilot, "L")
        assert mode(pilot) == "logs"
        assert ":logs DIR" in text(pilot)
        await command(pilot, "offset 5")
        assert "choose a partition first" in text(pilot)


async def test_enter_goes_deeper_and_escape_back(still: str, folder: Path) -> None:
    async with opened(still) as pilot:
        await look_into(pilot, folder)
        await press(pilot, "enter")
        assert (rows(pilot).list_name, rows(pilot).total) == ("log-segments", 5)
        await press(pilot, "j", "enter")
        assert (rows(pilot).list_name, rows(pilot).total) == ("log-batches", 10)
        assert "Batches of orders-0, segment 20" in text(pilot)
        assert "offsets 20-21, format v2" in text(pilot)
        await press(pilot, "enter")
        assert (rows(pilot).list_name, rows(pilot).total) == ("log-records", 2)
        assert "10" * 7 + "xxxxxxx" in text(pilot)
        await press(pilot, "enter")
        assert isinstance(kdrill(pilot).screen, Describe)
        await press(pilot, "escape", "escape", "escape")
        assert rows(pilot).list_name == "log-segments"
        assert rows(pilot).cursor == 1
        await press(pilot, "q", "escape")
        assert mode(pilot) == "overview"


async def test_v_draws_the_segments_as_bars(still: str, folder: Path) -> None:
    async with opened(still) as pilot:
        await look_into(pilot, folder)
        await press(pilot, "enter")
        assert "newest record" in text(pilot)
        await press(pilot, "v")
        assert "██████" in text(pilot)


async def test_an_offset_is_found_and_the_three_steps_stand_beside_it(still: str, folder: Path) -> None:
    async with opened(still, size=(120, 40)) as pilot:
        await look_into(pilot, folder)
        await command(pilot, "offset 51")
        await until(pilot, lambda: rows(pilot).cursor_key.endswith("orders-0\t40\t500"))
        shown = text(pilot)
        assert "How offset 51 was found" in shown
        assert "1 segment binary search of base offsets: 40" in shown
        assert "2 index" in shown and "3 scan    from byte 300: 3 batches" in shown
        await press(pilot, "k")
        assert "offsets 48-49" in text(pilot)  # another batch is told of itself
        await command(pilot, "time 2023-11-14T22:13:20.135Z")
        await until(pilot, lambda: rows(pilot).cursor_key.endswith("orders-0\t20\t400"))
        await command(pilot, "offset 1000")
        await until(pilot, lambda: "the log ends before 1000" in text(pilot))
        await command(pilot, "offset many")
        await until(pilot, lambda: "is no offset" in text(pilot))


async def test_damage_is_marked_from_the_partition_down_to_the_batch(still: str, folder: Path) -> None:
    async with opened(still) as pilot:
        await look_into(pilot, folder)
        await press(pilot, "j")
        assert mark(pilot) == "X"
        assert "1 bad CRC" in text(pilot)
        await press(pilot, "enter", "G")
        assert mark(pilot) == "X"
        assert "truncated end" in text(pilot)
        await press(pilot, "enter", "G")
        assert (mark(pilot), rows(pilot).total) == ("X", 5)
        assert "cannot be read" in text(pilot) and "A write was cut short" in text(pilot)
        await press(pilot, "escape", "g", "enter", "j", "j", "j")
        assert mark(pilot) == "X"
        assert "Consumers and followers stop at it" in text(pilot)


async def test_r_sees_what_was_appended(still: str, tmp_path: Path) -> None:
    log = write_log(tmp_path / "t-0", batches=3)
    write_log(tmp_path / "t-1", batches=3)
    async with opened(still) as pilot:
        await look_into(pilot, tmp_path)
        await press(pilot, "enter", "enter")
        assert rows(pilot).total == 3
        path = log.folder / f"{0:020d}.log"
        path.write_bytes(path.read_bytes() + path.read_bytes()[:100])
        deadline = time.monotonic() + 60
        while rows(pilot).total != 4:
            assert time.monotonic() < deadline, text(pilot)
            await press(pilot, "r")


@pytest.mark.parametrize("size", [(60, 16), (300, 80)])
async def test_it_can_be_used_in_other_terminals(still: str, folder: Path, size: tuple[int, int]) -> None:
    async with opened(still, size=size) as pilot:
        await look_into(pilot, folder)
        await press(pilot, "enter", "enter", "enter")
        assert rows(pilot).list_name == "log-records"
        assert rows(pilot).is_on_screen
        await press(pilot, "f", "tab")
        await until(pilot, lambda: "offset 0" in text(pilot))


async def test_hostile_names_are_plain_text(still: str, tmp_path: Path) -> None:
    write_log(tmp_path / "[bold]t\x1b[31m\u202e-0", batches=1)
    write_log(tmp_path / "u-0", batches=1)
    async with opened(still) as pilot:
        await look_into(pilot, tmp_path)
        shown = text(pilot)
        assert "\x1b" not in shown and r"[bold]t\x1b" in shown
        await press(pilot, "enter", "enter", "enter", "d")
        assert "\x1b" not in text(pilot)
