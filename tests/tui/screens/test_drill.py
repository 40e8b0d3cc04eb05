"""The drill screen on the real thing: who dies is chosen with keys, and the timeline is gone through."""

from __future__ import annotations

import pytest
from textual.pilot import Pilot

from tests.tui.dashboard import kdrill, mode, opened, press, rows, text, type_in, until
from tui.screens.describe import Describe


async def play(pilot: Pilot[int], *keys: str) -> None:
    """Goes to the drill, presses these, and waits for the film."""
    await press(pilot, "6", *keys)
    await until(pilot, lambda: rows(pilot, "drill-timeline").total > 0)
    await press(pilot)


async def test_nothing_is_played_until_somebody_is_chosen(still: str) -> None:
    async with opened(still) as pilot:
        await press(pilot, "6")
        assert mode(pilot) == "drill"
        assert "nobody dies yet" in text(pilot)
        assert "SIMULATED" in text(pilot).split("\n")[0]


async def test_a_broker_dies_and_the_end_of_it_is_shown(still: str) -> None:
    async with opened(still, size=(120, 40)) as pilot:
        await play(pilot, "K")
        timeline = rows(pilot, "drill-timeline")
        assert timeline.cursor == timeline.total - 1
        assert "Broker 1 died" in text(pilot) and "session of broker 1 expired" in text(pilot)
        assert rows(pilot, "drill-map").total > 20
        assert "dead" in text(pilot).split("\n")[4]


async def test_the_moments_are_gone_through(still: str) -> None:
    async with opened(still, size=(120, 40)) as pilot:
        await play(pilot, "K")
        timeline = rows(pilot, "drill-timeline")
        await press(pilot, "less_than_sign")
        await until(pilot, lambda: "expired" in str(timeline.row))
        assert kdrill(pilot).view_state.moment == timeline.cursor
        at = timeline.cursor
        await press(pilot, "comma")
        assert timeline.cursor == at - 1
        await press(pilot, "full_stop", "less_than_sign")
        await until(pilot, lambda: timeline.cursor == 0)
        assert "dead, unknown" in text(pilot)
        await press(pilot, "less_than_sign")
        await until(pilot, lambda: "no mark there" in text(pilot))
        await press(pilot, "t")
        await type_in(pilot, "18.0")
        await press(pilot, "enter")
        await until(pilot, lambda: "expired" in str(timeline.row))


async def test_it_is_played_from_the_start_and_stops_at_the_end(still: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tui.screens.drill.FRAME_S", 0.01)
    async with opened(still, size=(120, 40)) as pilot:
        await play(pilot, "K")
        timeline = rows(pilot, "drill-timeline")
        app, seen = kdrill(pilot), list[int]()
        app.watch(app, "view_state", lambda state: seen.append(state.moment), init=False)
        await press(pilot, "p")
        await until(pilot, lambda: timeline.total - 1 in seen)
        assert seen == sorted(seen) and seen[0] == 0


async def test_undo_and_reset(still: str) -> None:
    async with opened(still) as pilot:
        await play(pilot, "K", "j", "K")
        assert kdrill(pilot).view_state.drill.kill == (1, 2)
        await press(pilot, "u")
        assert kdrill(pilot).view_state.drill.kill == (1,)
        await press(pilot, "0")
        await until(pilot, lambda: "nobody dies yet" in text(pilot))


async def test_policies_are_told_and_change_what_happens(still: str) -> None:
    async with opened(still, size=(120, 40)) as pilot:
        await play(pilot, "R")
        assert "unclean election off; nobody comes back" in text(pilot)
        await press(pilot, "P", "U")
        await until(pilot, lambda: "unclean election on; up again after 60 s" in text(pilot))
        await until(pilot, lambda: rows(pilot, "drill-timeline").total > 0)


async def test_a_moment_and_a_partition_are_described(still: str) -> None:
    async with opened(still, size=(120, 40)) as pilot:
        await play(pilot, "K")
        for pane, shown in (("drill-timeline", "time "), ("drill-map", "outcome")):
            rows(pilot, pane).focus()
            await press(pilot, "d")
            assert isinstance(kdrill(pilot).screen, Describe)
            await until(pilot, lambda shown=shown: shown in text(pilot))
            await press(pilot, "q")


async def test_o_leads_from_a_partition_to_its_map(still: str) -> None:
    async with opened(still, size=(120, 40)) as pilot:
        await play(pilot, "K")
        rows(pilot, "drill-map").focus()
        await press(pilot, "G", "o")
        assert mode(pilot) == "partitions"
        assert rows(pilot).total >= 1


@pytest.mark.parametrize("size", [(60, 16), (80, 24), (300, 80)])
async def test_sizes(still: str, size: tuple[int, int]) -> None:
    async with opened(still, size=size) as pilot:
        await press(pilot, "6", "K")
        await until(pilot, lambda: ">K" in text(pilot) and "dead " in text(pilot))
        await press(pilot, "comma")
        await until(pilot, lambda: rows(pilot, "drill-timeline").total > 0)
        assert len(text(pilot).split("\n")) == size[1]
