"""The forecast from a key: first figures at once, which narrow; causes, what helps, and what stays when stopped."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from textual.pilot import Pilot

from model.analyses.forecast import forecast
from spark_tasks.worker import Worker
from tests.thorough import the_rest_when_asked
from tests.tui.dashboard import kdrill, mode, opened, press, rows, settled, text, until
from tests.tui.quiet import resized
from tests.tui.screens.pages import few_years
from tui.app.panes.live_panes import LiveText
from tui.app.screens.overlays import Describe
from tui.engine.messages import STOPPABLE

LARGE = (170, 60)


def summary(pilot: Pilot[int]) -> str:
    return " ".join(kdrill(pilot).screen.query_one("#forecast", LiveText).copy_text.split())


async def played(pilot: Pilot[int], histories: int = 200) -> None:
    """Goes to the forecast, and waits until all of it is played."""
    few_years(pilot, histories)
    await press(pilot, "w")
    whole = f"{histories:,} of {histories:,} years"
    await until(pilot, lambda: whole in summary(pilot) and STOPPABLE not in summary(pilot))
    await press(pilot)


async def test_what_it_tells_and_where_that_leads(still: str) -> None:
    """Its years are played once, by processes of their own: the parts below look at the same ones."""
    async with opened(still, size=LARGE) as pilot:
        await played(pilot)
        assert mode(pilot) == "forecast"
        _tells_topics_causes_and_what_helps(pilot)
        await _d_tells_all_about_a_row(pilot)
        await _a_change_is_played_beside_it_and_taken_back(pilot)
        await _a_small_terminal_has_causes_and_what_helps_in_place_of_the_rest(pilot)
        await _enter_leads_to_the_failure_that_is_to_blame(pilot)


def _tells_topics_causes_and_what_helps(pilot: Pilot[int]) -> None:
    assert rows(pilot, "forecast-topics").total > 3 and rows(pilot, "forecast-causes").total > 3
    assert "detection" in text(pilot) and "failures detected 1/3 sooner" in text(pilot)
    assert "rates are defaults, not yours" in summary(pilot) and "moves the answer most" in summary(pilot)
    assert "Loss of acknowledged records was seen in" in summary(pilot)
    assert "in process" in summary(pilot)


async def _d_tells_all_about_a_row(pilot: Pilot[int]) -> None:
    rows(pilot, "forecast-actions").focus()
    await press(pilot, "d")
    assert isinstance(kdrill(pilot).screen, Describe)
    await until(pilot, lambda: "through the same accidents" in text(pilot) and "(95 %:" in text(pilot))
    await press(pilot, "escape")
    rows(pilot, "forecast-topics").focus()


async def _a_change_is_played_beside_it_and_taken_back(pilot: Pilot[int]) -> None:
    topic = rows(pilot, "forecast-topics").cursor_key
    await press(pilot, "p")
    assert "there is no plan yet" in text(pilot)
    kdrill(pilot).run_command(f"with {topic}:min.insync.replicas=1")
    beside = f"With {topic}:min.insync.replicas=1: "
    await until(pilot, lambda: beside in summary(pilot) and STOPPABLE not in summary(pilot))
    assert "and with the change" in text(pilot) and "fewer" in text(pilot)
    await press(pilot, "0")
    await until(pilot, lambda: "200 of 200 years" in summary(pilot) and "With " not in summary(pilot))
    assert "with the change" not in text(pilot)
    await press(pilot, "0")
    assert "nothing is played beside the cluster as it is" in text(pilot)


async def _a_small_terminal_has_causes_and_what_helps_in_place_of_the_rest(pilot: Pilot[int]) -> None:
    await resized(pilot, 80, 24)
    await settled(pilot)
    assert "worst topics first" in text(pilot) and "What helps" not in text(pilot)
    await press(pilot, "tab", "tab")
    await until(pilot, lambda: "What helps" in text(pilot) and "worst topics first" not in text(pilot))
    await press(pilot, "shift+tab", "shift+tab")
    await until(pilot, lambda: "worst topics first" in text(pilot))
    await resized(pilot, *LARGE)
    await settled(pilot)


async def _enter_leads_to_the_failure_that_is_to_blame(pilot: Pilot[int]) -> None:
    causes = rows(pilot, "forecast-causes")
    causes.focus()
    while not causes.cursor_key.startswith("broker "):
        await press(pilot, "j")
    broker = int(causes.cursor_key.removeprefix("broker "))
    await press(pilot, "enter")
    await until(pilot, lambda: mode(pilot) == "drill")
    assert kdrill(pilot).view_state.drill.kill == (broker,)


async def test_enter_leads_to_a_topics_worst_moments_which_are_played_on_a_copy(still: str) -> None:
    async with opened(still, size=LARGE) as pilot:
        await played(pilot)
        await press(pilot, "j")
        topic = rows(pilot, "forecast-topics").cursor_key
        await press(pilot, "enter")
        moments = rows(pilot, "forecast-moments")
        await until(pilot, lambda: moments.total > 0)
        assert f"Worst moments of {topic}" in text(pilot) and "worst topics first" not in text(pilot)
        await press(pilot, "escape")
        assert "worst topics first" in text(pilot) and rows(pilot).cursor_key == topic
        await press(pilot, "enter")
        await until(pilot, lambda: bool(rows(pilot).cursor_key))
        moment = moments.cursor_key
        await press(pilot, "enter")
        await until(pilot, lambda: mode(pilot) == "drill" and rows(pilot, "drill-timeline").total > 0)
        assert kdrill(pilot).view_state.drill.played == moment
        failed = {act for act in moment.split() if act[0] in "KD"}
        assert failed and "cannot be played" not in text(pilot)
        await press(pilot, "w", "o")
        await until(pilot, lambda: mode(pilot) == "partitions")
        assert kdrill(pilot).view_state.of("partitions").filter == f"topic:={topic}"


async def test_the_plan_is_played_beside_it(still: str) -> None:
    async with opened(still, size=LARGE) as pilot:
        await press(pilot, "9", "enter")
        await until(pilot, lambda: rows(pilot, "plan-changes").total > 0)
        few_years(pilot)
        await press(pilot, "w", "p")
        await until(pilot, lambda: "With the plan: " in summary(pilot) and STOPPABLE not in summary(pilot))
        await press(pilot, "p")
        await until(pilot, lambda: "200 of 200 years" in summary(pilot) and "With " not in summary(pilot))


@pytest.mark.parametrize("key", the_rest_when_asked(["escape", "x"]))
async def test_what_was_played_stays_when_the_rest_is_given_up(
    still: str, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    goes_on, play = asyncio.Event(), Worker.play

    async def slow(worker: Worker, *asked: Any) -> Any:
        """Years are played in a process of their own: more than the first look are not asked for before they may."""
        if asked[2].histories > forecast.PILOT:
            await goes_on.wait()
        return await play(worker, *asked)

    monkeypatch.setattr(Worker, "play", slow)
    try:
        async with opened(still, size=LARGE) as pilot:
            few_years(pilot, 1_000)
            await press(pilot, "w")
            await until(pilot, lambda: "200 of 1,000 years played, about" in summary(pilot))
            shown = rows(pilot, "forecast-topics").answer.rows
            assert shown
            await press(pilot, key)
            await until(pilot, lambda: "stopped: r works it out" in summary(pilot))
            assert "200 of 1,000 years" in summary(pilot)
            assert rows(pilot, "forecast-topics").answer.rows == shown
            await press(pilot, "x")
            assert "nothing is being worked out" in text(pilot)
            goes_on.set()
            await press(pilot, "r")
            await until(pilot, lambda: "1,000 of 1,000 years" in summary(pilot) and STOPPABLE not in summary(pilot))
    finally:
        goes_on.set()
