"""The drill screen on the real thing: who dies is chosen with keys, and the timeline is gone through."""

from __future__ import annotations

import pytest
from textual.pilot import Pilot

from tests.tui.dashboard import kdrill, mode, opened, press, rows, settled, text, type_in, until
from tui.app.panes.map_panes import MapRows
from tui.app.screens.overlays import Describe


async def play(pilot: Pilot[int], *keys: str) -> None:
    """Goes to the drill, presses these, and waits for what comes of it."""
    await press(pilot, "6", *keys)
    await until(pilot, lambda: "longest outage" in text(pilot))
    timeline = rows(pilot, "drill-timeline")
    if timeline.is_on_screen:
        await until(pilot, lambda: timeline.total > 0 and timeline.cursor == timeline.total - 1)
    await settled(pilot)


async def test_nothing_is_played_until_somebody_is_chosen(still: str) -> None:
    async with opened(still) as pilot:
        await press(pilot, "6")
        assert mode(pilot) == "drill"
        assert "No failure chosen. K: fail" in text(pilot)
        assert "SIMULATED" in text(pilot).split("\n")[0]


async def test_a_broker_dies_and_the_end_of_it_is_shown(still: str) -> None:
    async with opened(still, size=(120, 40)) as pilot:
        await play(pilot, "K")
        timeline = rows(pilot, "drill-timeline")
        assert timeline.cursor == timeline.total - 1
        assert "+0.000 b1 down" in text(pilot) and "b1 expired" in text(pilot)
        assert rows(pilot, "drill-map").total > 20
        assert any(">K     1 rack-a dead" in line for line in text(pilot).split("\n"))
        assert "longest outage 18.1 s" in text(pilot) and "b1 expired" in text(pilot)


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
    monkeypatch.setattr("tui.app.screens.drill.FRAME_S", 0.01)
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
        await until(pilot, lambda: "No failure chosen." in text(pilot))


async def test_policies_are_told_and_change_what_happens(still: str) -> None:
    async with opened(still, size=(120, 50)) as pilot:
        await play(pilot, "R")
        assert "unclean election as each topic has it; nobody" in text(pilot)
        await press(pilot, "P", "U")
        await until(pilot, lambda: "unclean election on everywhere; up again" in text(pilot))
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


async def test_the_step_says_why_what_was_written_and_who_was_told(still: str) -> None:
    async with opened(still, size=(120, 40)) as pilot:
        await play(pilot, "K")
        await until(pilot, lambda: "decided " in text(pilot) and "UpdateMetadata to brokers 2, 3" in text(pilot))
        rows(pilot, "drill-timeline").focus()
        await press(pilot, "slash")
        await type_in(pilot, "wrote")
        await press(pilot, "enter", "home", "down")
        await until(pilot, lambda: "/state  v0 -> v1" in text(pilot) and "leader 1 -> 2" in text(pilot))


async def test_v_goes_through_map_step_and_summary_where_only_one_has_room(still: str) -> None:
    async with opened(still) as pilot:
        await play(pilot, "K")
        assert "Map: L leader" in text(pilot) and "Why, writes" not in text(pilot)
        await press(pilot, "v")
        await until(pilot, lambda: "Why, writes" in text(pilot) and "Map: L leader" not in text(pilot))
        await until(pilot, lambda: "decided " in text(pilot))
        kdrill(pilot).screen.query_one("#step").focus()
        await press(pilot, "v")
        await until(pilot, lambda: "worst" in text(pilot) and "policy" in text(pilot))
        await press(pilot, "v")
        await until(pilot, lambda: rows(pilot).list_name == "drill-map")
    async with opened(still, size=(120, 40)) as pilot:
        await play(pilot, "K")
        for pane in ("Course", "Brokers", "Summary", "Map: L", "Timeline", "Why, writes"):
            assert pane in text(pilot)
        await press(pilot, "v")
        await until(pilot, lambda: "all panes are in sight" in text(pilot))


async def test_moments_are_gone_through_while_the_timeline_is_out_of_sight(
    still: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(still) as pilot:
        await play(pilot, "K")
        assert not rows(pilot, "drill-timeline").is_on_screen
        await press(pilot, "less_than_sign", "less_than_sign")
        await until(pilot, lambda: "at +0.000 s" in text(pilot))
        await press(pilot, "less_than_sign")
        await until(pilot, lambda: "no mark there" in text(pilot))
        await press(pilot, "full_stop", "full_stop", "full_stop", "comma")
        await until(pilot, lambda: kdrill(pilot).view_state.moment == 2)
        await press(pilot, "v")
        await until(pilot, lambda: rows(pilot, "drill-timeline").cursor == 2)
        await press(pilot, "v")
        monkeypatch.setattr("tui.app.screens.drill.FRAME_S", 0.01)
        await press(pilot, "p")
        await until(pilot, lambda: kdrill(pilot).view_state.moment == -1)


async def test_the_worst_failures_are_told_and_played(still: str) -> None:
    async with opened(still, size=(120, 40)) as pilot:
        await press(pilot, "6")
        deaths = rows(pilot, "drill-deaths")
        await until(pilot, lambda: deaths.total == 7)  # five brokers, and two racks of two
        assert "Worst failures" in text(pilot) and "Course" not in text(pilot)
        deaths.focus()
        await press(pilot, "d")
        await until(pilot, lambda: "lost " in text(pilot) and "affected" in text(pilot))
        await press(pilot, "q")
        worst = deaths.cursor_key
        await press(pilot, "enter")
        assert kdrill(pilot).view_state.drill.kill == tuple(int(word[1:]) for word in worst.split(": ")[-1].split())
        await until(pilot, lambda: rows(pilot, "drill-timeline").total > 0)
        assert rows(pilot).list_name == "drill-brokers"
        await press(pilot, "u")
        await until(pilot, lambda: deaths.is_on_screen and "Course" not in text(pilot))
        deaths.focus()
        await press(pilot, "j", "K")
        assert len(kdrill(pilot).view_state.drill.kill) >= 1


async def test_the_mouse_scrubs_the_timeline(still: str) -> None:
    async with opened(still, size=(120, 40)) as pilot:
        await play(pilot, "K")
        timeline = rows(pilot, "drill-timeline")
        await pilot.click("#course", offset=(0, 1))
        await until(pilot, lambda: timeline.cursor == 0 and kdrill(pilot).view_state.moment == 0)
        await pilot.mouse_down("#course", offset=(5, 1))
        await pilot.hover("#course", offset=(116, 1))
        await pilot.mouse_up("#course", offset=(116, 1))
        await until(pilot, lambda: timeline.cursor == timeline.total - 1)
        await settled(pilot)
        await until(pilot, lambda: any("K━" in line and "@" in line for line in text(pilot).split("\n")))


async def test_several_are_marked_and_die_together(still: str) -> None:
    async with opened(still, size=(120, 40)) as pilot:
        await press(pilot, "6", "space", "j", "space")
        await until(pilot, lambda: "#1 rack-a" in text(pilot) and "#2 rack-b" in text(pilot))
        await press(pilot, "K")
        assert kdrill(pilot).view_state.drill.kill == (1, 2)
        assert kdrill(pilot).view_state.marked == ()


async def test_a_column_of_the_map_is_a_broker_to_kill(still: str) -> None:
    async with opened(still, size=(120, 40)) as pilot:
        await play(pilot, "K")
        rows(pilot, "drill-map").focus()
        await press(pilot, "l", "l")
        await until(pilot, lambda: "X1>2" in text(pilot))
        await press(pilot, "K")
        assert kdrill(pilot).view_state.drill.kill == (1, 2)


async def test_victims_are_picked_on_the_map_of_the_live_cluster(still: str) -> None:
    async with opened(still, size=(160, 40)) as pilot:
        await press(pilot, "3", "K")
        await until(pilot, lambda: "no broker is selected" in text(pilot))
        await press(pilot, "l", "space", "l", "l", "space")
        await until(pilot, lambda: "#1 b2>#3" in text(pilot))
        assert "SIMULATED" not in text(pilot).split("\n")[0]
        await press(pilot, "K")
        await until(pilot, lambda: mode(pilot) == "drill")
        assert kdrill(pilot).view_state.drill.kill == (1, 3)
        await until(pilot, lambda: "SIMULATED" in text(pilot).split("\n")[0])


async def test_a_whole_rack_is_picked_on_the_racks_level(still: str) -> None:
    async with opened(still, size=(160, 40)) as pilot:
        await press(pilot, "3", "z", "z", "z")
        await until(pilot, lambda: rows(pilot).cursor_key == "rack-a")
        await press(pilot, "space")
        await until(pilot, lambda: "#rack-a" in text(pilot))
        await press(pilot, "escape")
        await until(pilot, lambda: "#rack-a" not in text(pilot))
        await press(pilot, "K")
        await until(pilot, lambda: mode(pilot) == "drill")
        assert kdrill(pilot).view_state.drill.racks == ("rack-a",)
        await until(pilot, lambda: "b1, b4" in text(pilot))


async def test_the_column_cursor_comes_and_goes_and_a_click_sets_it(still: str) -> None:
    async with opened(still, size=(160, 40)) as pilot:
        await press(pilot, "3")
        partitions = rows(pilot)
        assert isinstance(partitions, MapRows)
        assert ">b1" not in text(pilot)
        y, line = next((y, line) for y, line in enumerate(text(pilot).split("\n")) if " b1 b2 b3 " in line)
        await pilot.click(offset=(line.index("b3") + 1, y + 2))
        await until(pilot, lambda: ">b3" in text(pilot))
        assert partitions.cursor == 1
        await press(pilot, "h", "h", "h")
        await until(pilot, lambda: ">b" not in text(pilot))
        assert partitions.column == ""


async def test_a_cluster_that_is_no_sandbox_is_not_broken_for_real(still: str) -> None:
    async with opened(still, size=(120, 40)) as pilot:
        await press(pilot, "6", "exclamation_mark")
        await until(pilot, lambda: "not a sandbox: start one" in text(pilot))
        assert mode(pilot) == "drill"


@pytest.mark.parametrize("size", [(60, 16), (80, 24), (300, 80)])
async def test_sizes(still: str, size: tuple[int, int]) -> None:
    async with opened(still, size=size) as pilot:
        await press(pilot, "6", "K")
        await until(pilot, lambda: ">K" in text(pilot) and "dead " in text(pilot))
        await press(pilot, "comma")
        await until(pilot, lambda: kdrill(pilot).view_state.moment > 0)
        assert len(text(pilot).split("\n")) == size[1]


async def test_a_broker_is_shut_down_and_who_follows_as_controller_is_a_race(still: str) -> None:
    async with opened(still, size=(120, 40)) as pilot:
        await play(pilot, "D")
        assert kdrill(pilot).view_state.drill.stop == (1,)
        assert "b1 shuts down" in text(pilot)
        assert "b1 shuts down" in text(pilot) and "b1 closed" in text(pilot)
        await press(pilot, "K")
        await until(pilot, lambda: "b1 down" in text(pilot))
        assert kdrill(pilot).view_state.drill.stop == ()
