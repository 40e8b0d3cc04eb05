"""Plans as pictures: the matrix adds up to the plan, bars have one scale, and what has no room is added up."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.cluster.snapshot_file import read_snapshot
from model.planning.planner import plan
from model.planning.request import PlanRequest
from tests.tui.data.pages.analyses import Pages
from tests.tui.data.pages.test_plan import IMAGE, SKEWED
from tui.engine.analysis_work import known_sizes
from tui.engine.glyphs import PAIRS, paired
from tui.engine.plan_pictures import Copies, copies_of, matrix, short
from tui.engine.questions import PlanQuestion
from tui.engine.rows import Line
from tui.engine.text import cells

TABLES = st.dictionaries(
    st.tuples(st.integers(-1, 400), st.integers(0, 400)), st.integers(1, 10**13), min_size=1, max_size=80
)


def said(line: Line) -> str:
    return "".join(text for text, _ in line)


def _total(text: str) -> int:
    """Of all copies, at the end of the last row."""
    return next(int(line.split()[-1]) for line in text.splitlines() if line.startswith("gets"))


def worth(text: str) -> float:
    """What a short number means."""
    return float(text.rstrip("KMGTP.") or 0) * 1000 ** " KMGTP".find(text[-1]) if text[-1] in "KMGTP" else float(text)


def test_the_matrix_adds_up_to_the_plans_bytes_and_copies() -> None:
    image = read_snapshot(SKEWED)
    made = plan(image, PlanRequest(remove=(2,)), known_sizes(str(SKEWED)))
    copies = copies_of(made.changes, image)
    assert copies.are_bytes and copies.total == made.cost.bytes
    assert copies.ends(0).total() == copies.ends(1).total() == copies.total
    assert not copies.ends(1)[2]
    unsized = plan(image, PlanRequest(remove=(2,)))
    counted = copies_of(unsized.changes, image)
    assert not counted.are_bytes and counted.total == unsized.cost.moves


@given(TABLES, st.integers(24, 200), st.integers(3, 60), st.booleans())
def test_the_matrix_fits_and_what_is_not_drawn_is_added_up(
    table: dict[tuple[int, int], int], width: int, height: int, is_filled: bool
) -> None:
    copies = Copies(table, are_bytes=True)
    lines = matrix(copies, width, height, is_filled=is_filled)
    assert len(lines) <= height
    body = [line for line in lines if cells(said(line)) > 0]
    assert all(cells(said(line)) <= width for line in body)
    gets = next(line for line in lines if said(line).startswith("gets"))
    assert said(gets).split()[-1] == short(copies.total)
    shown = sum(worth(part) for part in said(gets).split()[1:-1])
    assert shown == pytest.approx(copies.total, rel=0.06)


@given(st.integers(0, 10**17))
def test_short_numbers_are_short_and_near(amount: int) -> None:
    text = short(amount)
    assert len(text) <= 4 and worth(text) == pytest.approx(amount, rel=0.06)


@given(st.integers(0, 1000), st.integers(0, 1000), st.integers(1, 80))
def test_paired_bars_have_one_scale_and_tell_which_is_longer(before: int, after: int, width: int) -> None:
    line = paired(before / 1000, after / 1000, width, ("same", "less", "more"))
    signs = [next((a, b) for a in range(3) for b in range(3) if PAIRS[a][b] == text) for text, _ in line]
    above, below = (sum(pair[side] for pair in signs) for side in (0, 1))
    for drawn, value in ((above, before), (below, after)):
        assert abs(drawn - value / 1000 * width * 2) <= 1 and (drawn > 0) == (value > 0)
    assert above >= below or after > before
    styles = {style for text, style in line if text not in " █▌"}
    assert styles <= {"less" if above > below else "more"}


async def test_brokers_are_drawn_on_one_scale_before_and_after() -> None:
    pages = Pages(IMAGE, PlanQuestion(asked=True, remove=(1,)))
    await pages.rows("plan-batches")
    window = await pages.rows("plan-brokers")
    titles = [column.title for column in window.columns]
    place = titles.index("replicas") + 1
    width = window.columns[place].width
    assert titles[place].startswith("▀") and titles[place] == titles[titles.index("leaders") + 1]
    lengths = {row.key: len(said(row.cells[place]).rstrip()) for row in window.rows}
    assert lengths["1"] == lengths["2"] == width  # both had the most
    assert set(said(window.rows[0].cells[place])) == {"▀"}  # and this one leaves
    figures = {row.key: said(row.cells[place - 1]) for row in window.rows}
    assert figures["1"].endswith(">0") and figures["3"].startswith("0>")


async def test_before_there_is_a_plan_the_bars_tell_how_it_is() -> None:
    pages = Pages(IMAGE, PlanQuestion())
    window = await pages.rows("plan-brokers")
    assert said(window.rows[0].cells[4]).strip("█▌") == ""
    assert said(window.rows[0].cells[3]) == "82" and said(window.rows[2].cells[3]) == "0"
    assert "enter makes one" in (await pages.text("plan-matrix", height=9)).plain


async def test_the_matrix_is_of_the_batches_that_are_in() -> None:
    pages = Pages(IMAGE, PlanQuestion(asked=True))
    await pages.rows("plan-batches")
    whole = (await pages.text("plan-matrix", height=9)).plain
    pages.question = PlanQuestion(asked=True, left_out=(1,))
    fewer = (await pages.text("plan-matrix", height=9)).plain
    total, rest = (
        int(text.splitlines()[-3 if "0  " in text.splitlines()[-1] else -1].split()[-1]) for text in (whole, fewer)
    )
    assert 0 < rest < total


async def test_a_cost_stands_beside_what_it_is_at_least() -> None:
    pages = Pages(IMAGE, PlanQuestion(asked=True))
    await pages.rows("plan-batches")
    text = (await pages.text("plan")).plain
    assert "at least" in text and "█" in text and "proven optimum" in text
    assert "Balance: spread (max - min per broker)" in text and "Partitions affected, worst case" in text
    assert Path(SKEWED).exists()
