"""The plans' screen on the real thing: brokers leave and come with keys, the plan is made, and written to files."""

from __future__ import annotations

import json
from pathlib import Path

from textual.pilot import Pilot

from tests.tui.dashboard import kdrill, mode, opened, press, rows, text, type_in, until


async def planned(pilot: Pilot[int], *keys: str) -> None:
    """Goes to the plans, presses these, and waits for the plan."""
    await press(pilot, "9", *keys, "enter")
    await until(pilot, lambda: "copies" in text(pilot) and "Balance: spread" in text(pilot))
    await press(pilot)


async def test_nothing_is_planned_until_it_is_asked_for(still: str) -> None:
    async with opened(still, size=(170, 40)) as pilot:
        await press(pilot, "9")
        assert mode(pilot) == "plans" and rows(pilot, "plan-brokers").total == 5
        assert "enter makes the plan" in text(pilot) and "no plan yet" in text(pilot)


async def test_a_rebalance_says_what_it_costs_and_how_far_from_the_bound_that_is(still: str) -> None:
    async with opened(still, size=(170, 40)) as pilot:
        await planned(pilot)
        assert "proven optimum" in text(pilot)
        assert rows(pilot, "plan-changes").total > 0


async def test_a_broker_that_leaves_ends_with_nothing(still: str) -> None:
    async with opened(still, size=(170, 40)) as pilot:
        await planned(pilot, "j", "K")
        assert kdrill(pilot).view_state.plan.remove == (2,)
        await until(pilot, lambda: rows(pilot, "plan-brokers").answer.rows[1].mark == "-")
        leaving = rows(pilot, "plan-brokers").answer.rows[1]
        assert "leaves" in str(leaving.cells) and leaving.cells[3][-1][0] == "0"


async def test_how_far_it_goes_and_by_what_are_keys(still: str) -> None:
    async with opened(still, size=(170, 40)) as pilot:
        await planned(pilot, "v", "v", "v")
        assert "leaders only: no data moves" in text(pilot)
        changes = rows(pilot, "plan-changes").answer.rows
        assert changes and all(row.mark == "~" for row in changes)
        await press(pilot, "M")
        await until(pilot, lambda: "by bytes" in text(pilot))
        await press(pilot, "P")
        await until(pilot, lambda: "tolerance 5%" in text(pilot))
        await press(pilot, "0")
        await until(pilot, lambda: "enter makes the plan" in text(pilot))


async def test_a_broker_comes_by_a_command_and_the_plan_is_written_with_its_way_back(
    still: str, tmp_path: Path
) -> None:
    async with opened(still, size=(170, 40)) as pilot:
        await press(pilot, "colon")
        await type_in(pilot, "add 9:rack-c")
        await press(pilot, "enter")
        await until(pilot, lambda: mode(pilot) == "plans")
        await until(pilot, lambda: rows(pilot, "plan-brokers").total == 6)
        await planned(pilot)
        await until(pilot, lambda: rows(pilot, "plan-brokers").answer.rows[5].mark == "+")
        kdrill(pilot).run_command(f"plan {tmp_path / 'p.json'}")
        await until(pilot, (tmp_path / "p-rollback.json").exists)
        forward, back = (json.loads((tmp_path / name).read_text()) for name in ("p.json", "p-rollback.json"))
        assert (
            len(forward["partitions"]) == len(back["partitions"]) == rows(pilot, "plan-changes").answer.unfiltered_total
        )
        assert any(9 in row["replicas"] for row in forward["partitions"])
        assert not any(9 in row["replicas"] for row in back["partitions"])


async def test_what_cannot_be_planned_is_said_in_a_line(still: str) -> None:
    async with opened(still, size=(170, 40)) as pilot:
        await press(pilot, "9", "K", "j", "K", "j", "K", "j", "K", "enter")
        await until(pilot, lambda: "working it out" not in text(pilot) and "looking for" not in text(pilot))
        assert "copies " not in text(pilot)
        await until(pilot, lambda: "broker" in rows(pilot, "plan-changes").answer.note.lower())


async def test_a_plan_is_reviewed_batch_by_batch_and_its_files_are_copied(still: str) -> None:
    async with opened(still) as pilot:
        await press(pilot, "9", "x")
        await until(pilot, lambda: "no plan yet" in text(pilot))
        await press(pilot, "enter")
        await until(pilot, lambda: rows(pilot, "plan-changes").total > 0)
        await press(pilot, "x")
        await until(pilot, lambda: "all batches that are in" in text(pilot))
        assert "Brokers, before and after" not in text(pilot)
        await press(pilot, "j")
        await until(pilot, lambda: "batch 1 of " in text(pilot))
        await press(pilot, "v")
        await until(pilot, lambda: "worst case:" in text(pilot))
        await press(pilot, "v", "v")
        await until(pilot, lambda: "Rollback JSON" in text(pilot) and '"version":1' in text(pilot))
        await press(pilot, "y")
        assert json.loads(kdrill(pilot).clipboard)["partitions"][0]["replicas"]
        await press(pilot, "v", "escape")
        await until(pilot, lambda: "Brokers, before and after" in text(pilot))
        assert mode(pilot) == "plans"


async def test_a_batch_is_left_out_and_the_plan_stays_as_it_is_while_it_is_reviewed(still: str) -> None:
    async with opened(still, size=(170, 40)) as pilot:
        await planned(pilot, "space")
        await press(pilot, "x", "j", "space")
        batches = rows(pilot, "plan-batches")
        await until(pilot, lambda: batches.answer.rows[1].mark == "-")
        assert kdrill(pilot).view_state.plan.left_out == (1,)
        asked = kdrill(pilot).view_state.plan
        await press(pilot, "K", "M", "P", "0")
        assert kdrill(pilot).view_state.plan == asked and "esc leaves it" in text(pilot)
        await press(pilot, "k", "space")
        await until(pilot, lambda: batches.answer.rows[1].mark == "")
        await press(pilot, "x", "M")
        assert kdrill(pilot).view_state.plan.by == "bytes"


async def test_a_file_that_is_there_stays(still: str, tmp_path: Path) -> None:
    async with opened(still, size=(170, 40)) as pilot:
        (tmp_path / "p.json").write_text("mine")
        await planned(pilot)
        kdrill(pilot).run_command(f"plan {tmp_path / 'p.json'}")
        await until(pilot, lambda: "is there already" in text(pilot))
        assert (tmp_path / "p.json").read_text() == "mine"
