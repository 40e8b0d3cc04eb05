"""What a recording tells, from a key: figures that grow, the heat map, and the way to the cluster as it was."""

from __future__ import annotations

import re
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from textual.pilot import Pilot

from model.analyses.history import history
from model.sources.addresses import RecordingName
from model.sources.file_source import RecordingSource
from tests.spark.history.months import recorded
from tests.tui.dashboard import kdrill, mode, opened, opened_on, press, rows, text, until
from tests.tui.screen_text import assert_screen
from tui.app.panes.live_panes import LiveText

DEATH = "2024-10-03T23:10:00Z"


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """Under a name of the same length in every run."""
    with TemporaryDirectory(prefix="kdrill-history-", dir="/tmp") as named:
        yield recorded(Path(named))


@asynccontextmanager
async def opened_recording(path: Path, size: tuple[int, int] = (160, 48), **look: Any) -> AsyncIterator[Pilot[int]]:
    async with opened_on(RecordingSource(RecordingName(path)), size=size, phase="snapshot", **look) as pilot:
        yield pilot


def summary(pilot: Pilot[int]) -> str:
    return kdrill(pilot).screen.query_one("#history", LiveText).copy_text


async def read(pilot: Pilot[int]) -> None:
    """Goes to the history, and waits until all of it is read."""
    await press(pilot, "I")
    await until(pilot, lambda: "in process" in summary(pilot) and "partial" not in summary(pilot))
    await press(pilot)


async def test_a_recording_tells_who_lost_what_when_and_who_waited(folder: Path) -> None:
    async with opened_recording(folder / "cluster=busy") as pilot:
        await read(pilot)
        assert mode(pilot) == "history"
        shown = text(pilot)
        assert "Leaderships lost by broker and hour" in shown
        assert "b1, 2024-10-03T23:00Z to 2024-10-04T00:00Z" in summary(pilot)
        assert "3 leaderships lost, 2 times out of ISRs, 0 times back in" in " ".join(summary(pilot).split())
        assert "5 changes, 5 leaderships lost" in summary(pilot)
        assert "1 h 20 min in 4 outages" in summary(pilot)
        assert [row.key for row in rows(pilot, "history-hours").answer.rows] == ["b1", "b2", "b3"]
        assert rows(pilot, "history-moments").cursor_key == DEATH
        assert [row.key for row in rows(pilot, "history-topics").answer.rows] == [f"{DEATH} orders", f"{DEATH} old"]


async def test_on_a_small_terminal_the_lists_take_the_place_of_the_map(folder: Path) -> None:
    async with opened_recording(folder / "cluster=busy", (80, 24)) as pilot:
        await read(pilot)
        assert "Leaderships lost" in text(pilot) and "Worst moments" not in text(pilot)
        await press(pilot, "tab", "tab")
        await until(pilot, lambda: "Worst moments" in text(pilot) and "Leaderships lost" not in text(pilot))
        assert rows(pilot).list_name == "history-moments"
        assert "10-03 23:10:00" in text(pilot) and "1 h 10 min" in text(pilot)
        await press(pilot, "shift+tab", "shift+tab")
        await until(pilot, lambda: "Leaderships lost" in text(pilot))


async def test_the_key_counts_isr_churn_instead(folder: Path) -> None:
    async with opened_recording(folder / "cluster=busy") as pilot:
        await read(pilot)
        await press(pilot, "v")
        await until(pilot, lambda: "ISR churn by broker and hour" in text(pilot))
        totals = ["".join(piece for piece, _ in row.cells[1]) for row in rows(pilot, "history-hours").answer.rows]
        assert totals == ["4", "2", "2"]


@pytest.mark.parametrize("pane", ["history-moments", "history-topics", "history-hours"])
async def test_enter_opens_the_cluster_as_it_was_then(folder: Path, pane: str) -> None:
    async with opened_recording(folder / "cluster=busy") as pilot:
        await read(pilot)
        rows(pilot, pane).focus()
        await press(pilot, "enter")
        await until(pilot, lambda: mode(pilot) == "overview" and kdrill(pilot).past is not None)
        past = kdrill(pilot).past
        assert past is not None
        assert past.clock.endswith("23:00:00" if pane == "history-hours" else "23:10:00")
        assert past.header.offline == (0 if pane == "history-hours" else 4)


async def test_a_storm_is_opened_where_it_began(folder: Path) -> None:
    async with opened_recording(folder / "cluster=stormy") as pilot:
        await read(pilot)
        storms = rows(pilot, "history-groups")
        assert storms.cursor_key == "2024-10-03T23:57:00Z g"
        assert "7 in 6 min 0 s" in text(pilot)


async def test_what_was_read_stays_when_the_rest_is_given_up(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    goes_on, told = threading.Event(), history.day_told

    def slow(day: history.ClusterDay, from_ms: int, to_ms: int) -> history.HistoryTables:
        if day.day == "2024-10-03":
            goes_on.wait(60)
        return told(day, from_ms, to_ms)

    monkeypatch.setattr(history, "day_told", slow)
    try:
        async with opened_recording(folder / "cluster=busy") as pilot:
            await press(pilot, "I")
            await until(pilot, lambda: "1 of 2 parts read, the newest first" in summary(pilot))
            assert "1 h 20 min known" in summary(pilot)
            await press(pilot, "x")
            await until(pilot, lambda: "stopped: r works it out" in summary(pilot))
            assert "1 of 2 parts read" in summary(pilot) and "1 h 20 min known" in summary(pilot)
            goes_on.set()
            await press(pilot, "r")
            await until(pilot, lambda: "2 h 20 min known" in summary(pilot) and "partial" not in summary(pilot))
    finally:
        goes_on.set()


async def test_another_folder_is_opened_by_a_command(still: str, folder: Path) -> None:
    async with opened(still, size=(160, 48)) as pilot:
        await press(pilot, "I")
        await until(pilot, lambda: "this source is no recording" in text(pilot))
        await press(pilot, "v")
        await until(pilot, lambda: "no recording is open: :history DIR shows one" in text(pilot))
        kdrill(pilot).run_command(f"history {folder}")
        await until(pilot, lambda: "busy, 1 of 2: O shows the next one" in summary(pilot))
        await press(pilot, "O")
        await until(pilot, lambda: "stormy, 2 of 2" in summary(pilot))
        await press(pilot, "O")
        await until(pilot, lambda: "busy, 1 of 2" in summary(pilot))
        rows(pilot, "history-moments").focus()
        await press(pilot, "enter")
        await until(pilot, lambda: kdrill(pilot).wanted is not None)
        wanted = kdrill(pilot).wanted
        assert wanted is not None and wanted.source == f"{folder}/cluster=busy@{DEATH}"


async def test_no_other_folder_is_read_for_a_browser(still: str, folder: Path) -> None:
    async with opened(still, size=(160, 48), is_served=True) as pilot:
        kdrill(pilot).run_command(f"history {folder}")
        await until(pilot, lambda: "no other folder of recordings is read" in text(pilot))
        assert not rows(pilot, "history-hours").total


def mask(line: str) -> str:
    """Without what differs by run: the folder, and how long it took."""
    line = re.sub(r"kdrill-history-\w{8}", "kdrill-history-12345678", line)
    return re.sub(r"\d\.\d\d s", "0.01 s", line)


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)], ids=str)
async def test_it_reads_as_it_did_and_in_ascii(folder: Path, size: tuple[int, int]) -> None:
    name = f"history/{size[0]}x{size[1]}"
    async with opened_recording(folder / "cluster=busy", size) as pilot:
        await read(pilot)
        await until(pilot, lambda: rows(pilot, "history-hours").total == 3)
        assert_screen(kdrill(pilot), name, mask)
    async with opened_recording(folder / "cluster=busy", size, ascii_only=True) as pilot:
        await read(pilot)
        await until(pilot, lambda: rows(pilot, "history-hours").total == 3)
        assert text(pilot).isascii()
        assert_screen(kdrill(pilot), f"{name}.ascii", mask)
