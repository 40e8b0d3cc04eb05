"""Columns fit, and every one can be reached."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.app.widgets.drawing import EDGES, GAP, lay_out, modest_need, needs_of, titles
from tui.engine.drill.sweep_pages import scenario_columns
from tui.engine.rows import Column, Row
from tui.engine.text import cells

COLUMNS = st.lists(
    st.builds(Column, st.text(max_size=6), st.integers(-12, 12).filter(bool), st.sampled_from("<>")), max_size=8
).map(tuple)


@given(COLUMNS, st.integers(1, 120), st.integers(0, 10))
def test_columns_never_take_more_than_there_is(columns: tuple[Column, ...], width: int, skipped: int) -> None:
    layout = lay_out(columns, width, skipped)
    assert sum(slot.width for slot in layout.slots) + GAP * (len(layout.slots) - 1) <= width
    assert layout.slots[0].column == 0
    for slot in layout.slots[1:]:
        assert slot.width >= abs(columns[slot.column].width)


RANKED_COLUMNS = st.lists(
    st.builds(lambda width, rank: Column("", width, rank=rank), st.integers(-12, 12).filter(bool), st.integers(0, 3)),
    min_size=1,
    max_size=8,
).map(tuple)


@given(COLUMNS.filter(bool) | RANKED_COLUMNS, st.integers(1, 120))
def test_every_column_can_be_reached(columns: tuple[Column, ...], width: int) -> None:
    reached: set[int] = set()
    for skipped in range(len(columns)):
        layout = lay_out(columns, width, skipped)
        reached |= {slot.column for slot in layout.slots}
        if not layout.more_right:
            break
    fits_beside_first = abs(columns[0].width) + GAP
    assert {index for index, column in enumerate(columns) if fits_beside_first + abs(column.width) <= width} <= reached


def test_flexible_columns_share_what_is_left() -> None:
    layout = lay_out((Column("a", -4), Column("b", 5), Column("c", -2)), 20, 0)
    assert [slot.width for slot in layout.slots] == [8, 5, 5]


def test_the_sign_of_the_order_stays_when_a_title_is_cut() -> None:
    columns = (Column("partition", 6, "<", "name"), Column("lag", 4, ">", "lag"))
    layout = lay_out(columns, 20, 0)
    assert titles(columns, layout, "name", False, "…") == "part…^  lag"
    assert titles(columns, layout, "lag", True, "~") == "parti~ lagv"
    assert cells(titles(columns, layout, "lag", True, "~")) == 11


def test_columns_go_by_rank_and_the_verdict_stays() -> None:
    columns = (Column("topic", 6), Column("host", 12, rank=2), Column("epoch", 6, rank=1), Column("state", 8))
    assert [slot.column for slot in lay_out(columns, 24).slots] == [0, 2, 3]
    assert [slot.column for slot in lay_out(columns, 16).slots] == [0, 3]


def test_a_title_is_not_cut_off_beside_blank_cells() -> None:
    columns = (Column("partition brokers 1-9 of 40", -9), Column("size", -4))
    layout = lay_out(columns, 40, needs=needs_of(columns, [Row("k", ((("orders-0", ""),), (("1", ""),)))]))
    assert titles(columns, layout, "", False, "~").split("  ")[0].strip() == columns[0].title


RANKED = st.lists(
    st.tuples(st.integers(-12, 12).filter(bool), st.integers(0, 3), st.integers(0, 30), st.sampled_from((0, 12, 20))),
    min_size=1,
    max_size=8,
)


@given(RANKED, st.integers(1, 160))
def test_no_column_is_cut_off_beside_blank_ones(ranked: list[tuple[int, int, int, int]], width: int) -> None:
    columns = tuple(Column("", width, rank=rank, most=most) for width, rank, _, most in ranked)
    needs = [need for _, _, need, _ in ranked]
    layout = lay_out(columns, width, needs=needs)
    blank = width - sum(slot.width for slot in layout.slots) - GAP * (len(layout.slots) - 1)
    spare = [slot for slot in layout.slots if columns[slot.column].width < 0 and slot.width > needs[slot.column] > 0]
    if any(slot.width < needs[slot.column] for slot in layout.slots):
        assert blank == 0
        assert not spare


def test_a_column_that_has_the_most_it_may_want_leaves_the_rest_to_others() -> None:
    columns = (Column("id", 2), Column("subject", -6, most=10), Column("what", -6, rank=1))
    row = Row("x", ((("1", ""),), (("s" * 40, ""),), (("w" * 30, ""),)))
    needs = needs_of(columns, [row])
    assert [slot.width for slot in lay_out(columns, 44, needs=needs).slots] == [2, 10, 30]
    assert [slot.width for slot in lay_out(columns, 64, needs=needs).slots] == [2, 30, 30], "nobody else is cut off"


def test_a_bar_as_wide_as_its_list_does_not_ask_for_all_of_that() -> None:
    columns = (Column("dies", -26), Column("affected", 38, most=12))
    assert [modest_need(column, need) for column, need in zip(columns, (4, 38), strict=True)] == [4, 12]
    assert [slot.width for slot in lay_out(columns, 60, needs=(4, 38)).slots] == [21, 38]


def test_all_columns_are_shown_in_the_cells_that_they_want() -> None:
    columns = (Column("dies", -26, "<", "dies"), Column("lost", 5, ">", "lost", 1), Column("busiest", 12, rank=2))
    needs = needs_of(columns, [Row("b3", ((("b3", ""),), (("1", ""),), (("69 on b4", ""),)))])
    wanted = sum(modest_need(column, need) for column, need in zip(columns, needs, strict=True)) + 2 * GAP
    assert [slot.column for slot in lay_out(columns, wanted, needs=needs).slots] == [0, 1, 2]


@pytest.mark.parametrize("width", [95, 100, 120, 150])
def test_no_column_is_dropped_for_the_bar_of_the_worst_failures(width: int) -> None:
    columns = scenario_columns(width)
    needs = [cells("rack rack-a: b1 b4 b7 b10"), *(column.width for column in columns[1:])]
    assert len(lay_out(columns, width - EDGES, needs=needs).slots) == len(columns)
