"""The rebalance lab on the real thing: strategies side by side, deaths and newcomers tried on a group, and the why."""

from __future__ import annotations

from textual.pilot import Pilot

from tests.tui.dashboard import kdrill, mark, mode, opened, press, rows, text, type_in, until
from tui.app.screens.overlays import Describe
from tui.engine.queries import BLANK
from tui.engine.questions import PLAYED

BILLING = 12
"""Partitions that the group billing reads."""


async def lab(pilot: Pilot[int], *keys: str) -> None:
    """Goes to the lab, to the group `billing`, and presses these."""
    await press(pilot, "5")
    await until(pilot, lambda: rows(pilot, "lab-groups").total == 2)
    await press(pilot, "j")
    await until(pilot, lambda: rows(pilot, "lab-consumers").total == 3 and rows(pilot, "lab-strategies").total == 5)
    await press(pilot, *keys)


def strategies(pilot: Pilot[int]) -> list[str]:
    """Those that the cursor can go to."""
    return [row.key for row in rows(pilot, "lab-strategies").answer.rows if not row.key.startswith(BLANK)]


async def test_every_strategy_stands_beside_the_others(still: str) -> None:
    async with opened(still, size=(170, 40)) as pilot:
        await lab(pilot)
        assert mode(pilot) == "lab" and "SIMULATED" in text(pilot).split("\n")[0]
        assert strategies(pilot) == ["zk-range", "zk-roundrobin", "zk-roundrobin-1.0"]
        assert rows(pilot, "lab-consumers").total == 3
        assert sum(int(row.cells[3][0][0]) for row in rows(pilot, "lab-consumers").answer.rows) == BILLING


async def test_the_strategy_under_the_cursor_is_compared_with_the_one_in_use(still: str) -> None:
    async with opened(still, size=(170, 40)) as pilot:
        await lab(pilot, "enter", "j")
        await until(pilot, lambda: kdrill(pilot).view_state.trial.strategy == "zk-roundrobin")
        await until(pilot, lambda: len(rows(pilot, "lab-partitions").answer.columns) == 6)
        titles = [column.title for column in rows(pilot, "lab-partitions").answer.columns]
        assert titles[1:5] == ["has", "gets", "why", "zk-range"]


async def test_a_consumer_dies_and_its_partitions_go_to_others(still: str) -> None:
    async with opened(still, size=(170, 40)) as pilot:
        await lab(pilot, "enter", "enter", "K")
        consumers = rows(pilot, "lab-consumers")
        dead = consumers.cursor_key
        await until(pilot, lambda: consumers.answer.rows[0].mark == "X")
        assert consumers.answer.rows[0].cells[3][0][0] == "0"
        await until(pilot, lambda: f"leaves    c1, {dead[:12]}" in text(pilot))
        moved = rows(pilot, "lab-partitions").answer.rows
        assert moved[0].mark == "~"
        assert "Strategies for billing if c1 leaves" in text(pilot)
        await press(pilot, "0")
        await until(pilot, lambda: consumers.answer.rows[0].mark == "")
        await until(pilot, lambda: " Strategies for billing ─" in text(pilot))


async def test_members_join_and_the_fourth_press_sends_them_away(still: str) -> None:
    async with opened(still, size=(170, 40)) as pilot:
        await lab(pilot, "J")
        await until(pilot, lambda: rows(pilot, "lab-consumers").total == 4)
        await press(pilot, "J", "J")
        await until(pilot, lambda: rows(pilot, "lab-consumers").total == 6)
        await press(pilot, "J")
        await until(pilot, lambda: rows(pilot, "lab-consumers").total == 3)


async def test_all_groups_at_once_and_the_worst_case_opens_as_it_is(still: str) -> None:
    async with opened(still, size=(120, 40)) as pilot:
        await lab(pilot, "v", "v", "v")
        await until(pilot, lambda: rows(pilot, "lab-cases").total and rows(pilot, "lab-totals").total)
        totals = [row.key for row in rows(pilot, "lab-totals").answer.rows]
        assert totals[:3] == ["now", "zk-range", "zk-roundrobin"]
        group, strategy, leaves, joins = rows(pilot, "lab-cases").cursor_key.split("\n")
        await press(pilot, "enter")
        await until(pilot, lambda: rows(pilot, "lab-strategies").cursor_key == strategy)
        trial = kdrill(pilot).view_state.trial
        assert (trial.strategy, trial.leaves, trial.joins) == (strategy, leaves, int(joins))
        assert rows(pilot, "lab-groups").cursor_key == group
        assert rows(pilot, "lab-consumers").is_on_screen and not rows(pilot, "lab-cases").is_on_screen


async def test_why_a_partition_goes_where_it_goes_is_told_in_full(still: str) -> None:
    async with opened(still, size=(170, 40)) as pilot:
        await lab(pilot, "enter", "enter", "tab", "tab")
        await until(pilot, lambda: rows(pilot, "lab-partitions").total == BILLING)
        await press(pilot, "d")
        assert isinstance(kdrill(pilot).screen, Describe)
        await until(pilot, lambda: "partitions of payments" in text(pilot))
        assert "zk-range" in text(pilot)


async def test_o_leads_to_the_group(still: str) -> None:
    async with opened(still, size=(170, 40)) as pilot:
        await lab(pilot, "o")
        await until(pilot, lambda: mode(pilot) == "consumers")
        await until(pilot, lambda: rows(pilot, "groups").cursor_key == "billing")


async def test_bars_of_both_strategies_stand_beside_the_consumers(still: str) -> None:
    async with opened(still) as pilot:
        await lab(pilot, "enter", "j", "v", "v")
        await until(pilot, lambda: "zk-range gives" in text(pilot) and "zk-roundrobin gives" in text(pilot))
        assert "partitions; no lag is known" in text(pilot) and "Flow" not in text(pilot)
        before = text(pilot)
        await press(pilot, "K")
        await until(pilot, lambda: rows(pilot, "lab-consumers").answer.rows[0].mark == "X")
        await until(pilot, lambda: " Xc1" in text(pilot) and text(pilot) != before)
        await press(pilot, "v", "v")
        await until(pilot, lambda: "Flow" in text(pilot) and "partitions move" in text(pilot))


async def test_bars_are_drawn_without_colours_and_boxes_where_the_terminal_has_none(still: str) -> None:
    async with opened(still, theme="mono", ascii_only=True) as pilot:
        await lab(pilot, "v", "v")
        await until(pilot, lambda: ". has  = zk-range gives" in text(pilot))
        assert text(pilot).isascii()


def matrix(pilot: Pilot[int], strategy: str) -> str:
    """A row of the matrix, in letters."""
    row = next(row for row in rows(pilot, "lab-strategies").answer.rows if row.key == strategy)
    return "".join(text for text, _ in row.cells[1])


async def test_the_cursor_passes_over_now_and_tries_each_strategy(still: str) -> None:
    async with opened(still) as pilot:
        await lab(pilot, "enter")
        matrix_rows = rows(pilot, "lab-strategies")
        assert matrix_rows.cursor_key == "zk-range"
        await press(pilot, "k")
        assert matrix_rows.cursor_key == "zk-range"
        await press(pilot, "g")
        assert matrix_rows.cursor_key == "zk-range"
        await press(pilot, "j")
        await until(pilot, lambda: "zk-roundrobin: " in text(pilot))


async def test_space_plays_from_now_to_then_and_stops(still: str) -> None:
    async with opened(still, size=(120, 40)) as pilot:
        kdrill(pilot).animation_level = "full"
        await lab(pilot, "enter", "j")
        await until(pilot, lambda: ">" in matrix(pilot, "zk-roundrobin"))
        then = matrix(pilot, "zk-roundrobin")
        await press(pilot, "space")
        assert kdrill(pilot).view_state.played < PLAYED
        await until(pilot, lambda: kdrill(pilot).view_state.played == PLAYED)
        await until(pilot, lambda: matrix(pilot, "zk-roundrobin") == then)
        await press(pilot, "space", "space")
        assert kdrill(pilot).view_state.played == PLAYED, "the second press stops it"


async def test_space_goes_to_now_and_back_at_once_where_nothing_is_animated(still: str) -> None:
    async with opened(still) as pilot:
        kdrill(pilot).animation_level = "none"
        await lab(pilot, "enter", "j", "space")
        await until(pilot, lambda: ">" not in matrix(pilot, "zk-roundrobin"))
        assert matrix(pilot, "zk-roundrobin") == matrix(pilot, f"{BLANK}1")
        await press(pilot, "space")
        await until(pilot, lambda: ">" in matrix(pilot, "zk-roundrobin"))


async def test_all_strategies_of_a_group_are_in_sight_on_the_smallest_screen(still: str) -> None:
    async with opened(still) as pilot:
        await press(pilot, "5")
        await until(pilot, lambda: rows(pilot, "lab-groups").total == 2)
        await press(pilot, "c")
        await type_in(pilot, "* 9")
        await press(pilot, "enter")
        await until(pilot, lambda: rows(pilot, "lab-groups").total == 4)
        await until(pilot, lambda: "server-range" in strategies(pilot))
        assert len(strategies(pilot)) == 6
        await until(pilot, lambda: all(f" {name} " in text(pilot) for name in strategies(pilot)))


async def test_a_group_is_made_up_of_topics_tried_as_a_real_one_and_forgotten(still: str) -> None:
    async with opened(still, size=(170, 40)) as pilot:
        await press(pilot, "5")
        await until(pilot, lambda: rows(pilot, "lab-groups").total == 2)
        await press(pilot, "c")
        await type_in(pilot, "pay*,ord* 3")
        await press(pilot, "enter")
        await until(pilot, lambda: rows(pilot, "lab-groups").total == 4)
        await until(pilot, lambda: rows(pilot, "lab-groups").cursor_key == "made-up pay*,ord* by 3")
        await until(pilot, lambda: rows(pilot, "lab-consumers").total == 3)
        assert mark(pilot, "lab-groups") == "?"
        await until(pilot, lambda: "it is not there" in text(pilot))
        await until(pilot, lambda: {"range", "cooperative-sticky"} <= set(strategies(pilot)))
        await until(pilot, lambda: " server-range " in text(pilot))
        await press(pilot, "J")
        await until(pilot, lambda: rows(pilot, "lab-consumers").total == 4)
        await press(pilot, "o")
        await until(pilot, lambda: "exists only here" in text(pilot))
        await press(pilot, "d")
        assert isinstance(kdrill(pilot).screen, Describe)
        await until(pilot, lambda: "range deals" in text(pilot))
        await press(pilot, "escape", "0", "0")
        await until(pilot, lambda: rows(pilot, "lab-groups").total == 2)


async def test_x_leads_to_a_plan_for_the_topics_that_the_group_reads(still: str) -> None:
    async with opened(still, size=(170, 40)) as pilot:
        await lab(pilot, "x")
        await until(pilot, lambda: mode(pilot) == "plans")
        await until(pilot, lambda: "those of group billing" in text(pilot))
        await press(pilot, "enter")
        await until(pilot, lambda: rows(pilot, "plan-changes").total > 0)
        assert {row.key.rpartition("-")[0] for row in rows(pilot, "plan-changes").answer.rows} == {"payments"}
