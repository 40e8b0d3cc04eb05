"""Columns with a cursor across them: it is always in view, and what is drawn is as wide as it says."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.tui.data.asked import rows_shown
from tests.tui.data.small_cluster import moment_of, small_image, text_of
from tui.engine.listing import NOWHERE, visible_columns
from tui.engine.queries import PartitionList
from tui.engine.rows import Window

SHAPES = st.tuples(st.integers(1, 40), st.integers(2, 6), st.integers(0, 90), st.integers(0, 50))


@given(SHAPES, st.integers(0, 39))
def test_the_cursor_is_in_view_and_as_many_columns_as_fit(shape: tuple[int, int, int, int], place: int) -> None:
    count, cell, room, offset = shape
    column = place % count
    shown = visible_columns(count, cell, room, offset, column)
    assert shown.first <= column < shown.first + shown.count <= count
    assert shown.width <= max(room, cell)
    assert shown.count == count or shown.width + cell > room


@given(SHAPES)
def test_without_a_cursor_the_columns_from_the_offset_on_are_seen(shape: tuple[int, int, int, int]) -> None:
    count, cell, room, offset = shape
    shown = visible_columns(count, cell, room, offset)
    assert shown.first == max(0, min(offset, count - shown.count))
    assert text_of(shown.line([("x", "")] * shown.count)).count("x") == shown.count


@given(SHAPES, st.integers(-1, 39))
def test_titles_and_rows_are_as_wide_as_told_with_one_sign_for_the_cursor(
    shape: tuple[int, int, int, int], place: int
) -> None:
    count, cell, room, offset = shape
    shown = visible_columns(count, cell, room, offset, NOWHERE if place < 0 else place % count)
    row = text_of(shown.line([("o", str(number % 2)) for number in range(shown.count)]))
    title = shown.title(["n" * (cell - 1)] * shown.count)
    assert len(row) == len(title) == shown.width
    assert row.count("|") == title.count(">") == (place >= 0)
    if place >= 0:
        assert row.index("|") == title.index(">") == (shown.column - shown.first) * cell


@given(SHAPES, st.integers(-1, 39), st.booleans())
def test_filled_cells_say_the_same_and_are_as_wide(shape: tuple[int, int, int, int], place: int, is_led: bool) -> None:
    count, cell, room, offset = shape
    shown = visible_columns(count, cell, room, offset, NOWHERE if place < 0 else place % count, is_led=is_led)
    cells = [("o" if number % 3 else "L", f"cell-{number % 3}") for number in range(shown.count)]
    filled = shown.filled(cells, "between")
    assert text_of(filled) == text_of(shown.line(cells))
    assert sum(len(text) for text, style in filled if style == "between") <= shown.count
    drawn = "".join(text for text, style in filled if style.startswith("cell-"))
    assert (drawn.count("L"), drawn.count("o")) == (len(cells[::3]), len(cells) - len(cells[::3]))


def partitions(width: int = 100, **asked: object) -> Window:
    query = PartitionList(width=width, **asked)  # pyright: ignore[reportArgumentType]
    return rows_shown(moment_of(small_image()), query, 0)


def test_the_map_tells_its_brokers_and_draws_cursor_and_marks() -> None:
    plain = partitions()
    assert plain.across.things == ("b1", "b2", "b3", "b4", "b5", "b6")
    assert (plain.across.column, plain.columns[1].title) == ("", " b1 b2 b3 b4 X5 b6")
    chosen = partitions(column="b4", marked=("b1", "b5", "rack:r1"))
    assert chosen.across.column == "b4"
    assert chosen.columns[1].title == " #1 b2 b3>b4 #5 b6"
    assert text_of(chosen.rows[0].cells[1]) == "  .  .  L| o  -  ."


def test_a_mark_and_a_death_are_seen_under_the_cursor_where_names_are_narrow() -> None:
    assert partitions(50, column="b4", marked=("b4",)).columns[1].title == " 1 2 3#4X5 6"
    dead = partitions(50, column="b5")
    assert dead.columns[1].title == " 1 2 3 4X5 6"
    assert all("|" in text_of(row.cells[1]) for row in dead.rows)


def test_a_column_that_is_not_there_is_no_cursor() -> None:
    assert partitions(column="b77").across.column == ""
    assert partitions(view="list", column="b4").across.things == ()


def test_where_the_brokers_do_not_fit_those_around_the_cursor_are_seen() -> None:
    assert [partitions(36, column=f"b{number}").columns[1].title for number in (1, 6)] == [">1 2 3", " 4X5>6"]


def test_the_map_stays_where_it_is_when_a_cursor_comes() -> None:
    without, with_cursor = partitions(), partitions(column="b4")
    assert without.columns[1].width == with_cursor.columns[1].width
    assert text_of(without.rows[0].cells[1]) == text_of(with_cursor.rows[0].cells[1]).replace("|", " ")


def test_rows_of_brokers_and_racks_show_marks() -> None:
    marked = ("b2", "b5", "rack:r2")
    assert [text_of(row.cells[0]) for row in partitions(view="brokers", marked=marked).rows] == [
        *("b1", "#2", "b3", "b4", "#5", "b6")
    ]
    assert "#r2" in [text_of(row.cells[0]) for row in partitions(view="racks", marked=marked).rows]
