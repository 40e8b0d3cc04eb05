"""The sweep on the real thing: every death, the worst first, and from there to the drill."""

from __future__ import annotations

import asyncio
import re

from textual.pilot import Pilot

from tests.tui.conftest import Cluster
from tests.tui.dashboard import kdrill, mode, opened, press, rows, text, until
from tui.app.panes.live_panes import LiveText
from tui.app.panes.map_panes import MapRows
from tui.app.screens.overlays import Describe
from tui.engine.messages import STOPPABLE


async def sweep(pilot: Pilot[int], *keys: str) -> None:
    """Goes to the sweep, presses these, and waits for the answer."""
    await press(pilot, "7", *keys)
    await until(pilot, lambda: rows(pilot, "sweep-scenarios").total > 0)
    summary = kdrill(pilot).screen.query_one("#sweep", LiveText)
    await until(pilot, lambda: "scenarios" in summary.copy_text and STOPPABLE not in summary.copy_text)
    await press(pilot)


async def test_every_broker_dies_in_turn_the_worst_first(still: str) -> None:
    async with opened(still, size=(160, 40)) as pilot:
        await sweep(pilot)
        assert mode(pilot) == "sweep"
        scenarios = rows(pilot, "sweep-scenarios")
        assert scenarios.total == 5  # the sixth is dead already
        assert "5 of 5 scenarios" in text(pilot) and "every broker" in text(pilot)
        assert "in process" in text(pilot)


async def test_the_key_goes_through_pairs_racks_and_random_sets(still: str) -> None:
    async with opened(still, size=(160, 40)) as pilot:
        await sweep(pilot, "v")
        await until(pilot, lambda: rows(pilot, "sweep-scenarios").total == 10)
        await until(pilot, lambda: "Pairs: partitions" in text(pilot))
        await press(pilot, "v")
        await until(pilot, lambda: "rack rack-a: b1 b4" in text(pilot))
        await press(pilot, "v", "v")
        await until(pilot, lambda: "1,000 random sets of 3" in text(pilot) and "affected  " in text(pilot))
        await press(pilot, "v")
        await until(pilot, lambda: "every broker" in text(pilot) and rows(pilot, "sweep-scenarios").total == 5)


async def test_a_policy_is_told(still: str) -> None:
    async with opened(still, size=(160, 40)) as pilot:
        await sweep(pilot, "P")
        assert "on everywhere" in text(pilot)


async def test_where_it_is_worked_out_is_told_and_forced(still: str) -> None:
    async with opened(still, size=(160, 40)) as pilot:
        await sweep(pilot)
        assert "in process: Spark is off" in text(pilot) and "2 tasks" in text(pilot)
        await press(pilot, "W")
        await until(pilot, lambda: "in process: as asked" in text(pilot))
        await press(pilot, "W")
        await until(pilot, lambda: "there is no Spark here: --spark-master names one" in text(pilot))
        await press(pilot, "W")
        await until(pilot, lambda: "in process: Spark is off" in text(pilot))


async def test_enter_plays_the_scenario_moment_by_moment(still: str) -> None:
    async with opened(still, size=(160, 40)) as pilot:
        await sweep(pilot, "v")
        await until(pilot, lambda: rows(pilot, "sweep-scenarios").total == 10)
        rows(pilot, "sweep-scenarios").focus()
        worst = rows(pilot, "sweep-scenarios").cursor_key
        await press(pilot, "enter")
        await until(pilot, lambda: mode(pilot) == "drill")
        assert kdrill(pilot).view_state.drill.kill == tuple(int(word[1:]) for word in worst.split())
        await until(pilot, lambda: rows(pilot, "drill-timeline").total > 0)


async def pairs(pilot: Pilot[int]) -> MapRows:
    """Goes to the heat map of pairs, and waits for it."""
    await press(pilot, "7", "v")
    heat = rows(pilot, "sweep-heat")
    assert isinstance(heat, MapRows)
    await until(pilot, lambda: heat.total == 5 and heat.column and "cell " in text(pilot))
    return heat


async def test_the_worst_pair_is_under_the_cursor_and_enter_opens_it(still: str) -> None:
    async with opened(still, size=(160, 40)) as pilot:
        heat = await pairs(pilot)
        assert kdrill(pilot).screen.focused is heat
        pair = tuple(sorted(int(thing[1:]) for thing in (heat.cursor_key, heat.column)))
        await until(pilot, lambda: f"{heat.cursor_key[1:]} and {heat.column[1:]}: " in text(pilot))
        await press(pilot, "enter")
        await until(pilot, lambda: mode(pilot) == "drill")
        assert kdrill(pilot).view_state.drill.kill == pair
        await until(pilot, lambda: rows(pilot, "drill-timeline").total > 0)


async def test_arrows_and_mouse_move_over_the_cells(still: str) -> None:
    async with opened(still, size=(160, 40)) as pilot:
        heat = await pairs(pilot)
        things = heat.across.things
        await press(pilot, "right", "down")
        assert (heat.cursor_key, heat.column) == (things[1], things[2])
        await until(pilot, lambda: f"{things[1][1:]} and {things[2][1:]}: " in text(pilot))
        y, line = next((y, line) for y, line in enumerate(text(pilot).split("\n")) if f">{things[2]}" in line)
        x = line.index(things[4])
        await pilot.click(offset=(x, y + 1))
        await until(pilot, lambda: (heat.cursor_key, heat.column) == (things[0], things[4]))
        await pilot.click(offset=(x, y + 1), times=2)
        await until(pilot, lambda: mode(pilot) == "drill")
        assert kdrill(pilot).view_state.drill.kill == tuple(sorted((int(things[0][1:]), int(things[4][1:]))))


async def test_a_heat_map_is_there_for_pairs_only_and_where_there_is_little_room(still: str) -> None:
    async with opened(still) as pilot:
        await pairs(pilot)
        assert "Pairs: partitions" in text(pilot) and "Failures, worst" not in text(pilot)
        await press(pilot, "tab")
        await until(pilot, lambda: "Failures, worst" in text(pilot) and "Pairs: partitions" not in text(pilot))
        await press(pilot, "v")
        await until(pilot, lambda: "Pairs: " not in text(pilot) and rows(pilot).list_name == "sweep-scenarios")


async def fleet(pilot: Pilot[int], *keys: str) -> None:
    """Plays a fleet, and waits until it has been played."""
    await press(pilot, "7", "p", *keys)
    summary = kdrill(pilot).screen.query_one("#sweep", LiveText)
    await until(pilot, lambda: "hurt" in summary.copy_text and STOPPABLE not in summary.copy_text)


async def test_p_plays_every_failure_in_time_and_counts_again(still: str) -> None:
    async with opened(still, size=(160, 40)) as pilot:
        await fleet(pilot, "v")
        assert rows(pilot, "sweep-scenarios").total == 20  # five brokers, who fail or come back, two places to rule
        assert "no leader s" in text(pilot) and "longest s" in text(pilot)
        assert "Longest without a leader" in text(pilot)
        await press(pilot, "p")
        await until(pilot, lambda: "5 of 5 scenarios" in text(pilot) and "no leader s" not in text(pilot))


async def test_rows_come_while_it_plays_and_stay_when_x_stops_it(still: str) -> None:
    async with opened(still, size=(160, 40)) as pilot:
        await press(pilot, "7", "p")
        await until(pilot, lambda: rows(pilot, "sweep-scenarios").total > 0 and "left; esc stops it" in text(pilot))
        await press(pilot, "x")
        await until(pilot, lambda: "stopped: r works it out" in text(pilot) and "partial: " in text(pilot))
        assert rows(pilot, "sweep-scenarios").total > 0
        await press(pilot, "x")
        assert "nothing is being worked out" in text(pilot)


async def test_other_sequences_have_another_seed(still: str) -> None:
    async with opened(still, size=(160, 40)) as pilot:
        await press(pilot, "7", "asterisk")
        assert "only random sequences have a seed" in text(pilot)
        await press(pilot, "p", "asterisk")
        await until(pilot, lambda: "1, of the random sequences" in text(pilot))


async def test_enter_plays_what_the_fleet_played_to_the_same_figures(still: str) -> None:
    async with opened(still, size=(160, 40)) as pilot:
        await fleet(pilot, "v")
        scenarios = rows(pilot, "sweep-scenarios")
        scenarios.focus()
        await press(pilot, "/", *"15 min", "enter")
        await until(pilot, lambda: scenarios.total == 10)
        await press(pilot, "g", "enter")
        played = scenarios.cursor_key
        await until(pilot, lambda: mode(pilot) == "drill")
        assert kdrill(pilot).view_state.drill.played == played
        assert re.fullmatch(r"K\d U\d\+900000 @\d", played)
        await until(pilot, lambda: rows(pilot, "drill-timeline").total > 0)
        row = scenarios.row
        assert row is not None
        longest = next(
            "".join(part for part, _ in cell)
            for cell, column in zip(row.cells, scenarios.answer.columns, strict=True)
            if column.title == "longest s"
        )
        await until(pilot, lambda: f"longest outage {longest} s" in text(pilot))
        await press(pilot, "K")
        assert kdrill(pilot).view_state.drill.played == ""


async def test_the_worst_of_a_cell_opens_from_the_map(still: str) -> None:
    async with opened(still, size=(160, 40)) as pilot:
        await fleet(pilot, "v", "v", "v")
        heat = rows(pilot, "sweep-heat")
        assert isinstance(heat, MapRows)
        await until(pilot, lambda: heat.total == 5 and heat.column == "rack")
        heat.focus()
        await press(pilot, "d")
        await until(pilot, lambda: isinstance(kdrill(pilot).screen, Describe) and "down" in text(pilot))
        await press(pilot, "escape", "enter")
        await until(pilot, lambda: mode(pilot) == "drill")
        assert f"K{heat.cursor_key[1:]}" in kdrill(pilot).view_state.drill.played.replace(",", " K")
        assert len(kdrill(pilot).view_state.drill.played.split()) >= 2


async def test_d_tells_who_leads_afterwards(still: str) -> None:
    async with opened(still, size=(160, 40)) as pilot:
        await sweep(pilot)
        await press(pilot, "d")
        assert isinstance(kdrill(pilot).screen, Describe)
        await until(pilot, lambda: "leaders afterwards" in text(pilot))


async def test_a_cluster_that_moved_on_makes_it_stale_and_r_works_it_out_anew(cluster: Cluster) -> None:
    async with opened(cluster.address, size=(160, 40)) as pilot:
        await sweep(pilot)
        assert "has changed since" not in text(pilot)
        await asyncio.to_thread(cluster.demo.lose_broker, 2)
        await until(pilot, lambda: "has changed since" in text(pilot))
        await press(pilot, "r")
        await until(pilot, lambda: "has changed since" not in text(pilot) and "of 4 scenarios" in text(pilot))
