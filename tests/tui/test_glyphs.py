"""Pictures out of characters: as exact as they say, never silent about something, and whole in ASCII."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.app.theme import Look
from tui.engine import glyphs
from tui.engine.glyphs import ASCII, EIGHTHS, LEVELS, area, bar, bars, halves, sparks
from tui.engine.palette import FILLED, HEATS, heat, stacked
from tui.engine.text import cells, plain

PARTS = st.floats(0, 1)


@given(PARTS, st.integers(1, 60))
def test_a_bar_is_exact_to_an_eighth_of_a_cell(part: float, width: int) -> None:
    drawn = bar(part, width)
    eighths = sum(EIGHTHS.index(sign) for sign in drawn)
    assert cells(drawn) == width
    assert abs(eighths - part * width * 8) <= 1
    assert (eighths > 0) == (part > 0)
    assert (eighths == width * 8) == (part == 1)


@given(st.lists(PARTS, max_size=4), st.integers(1, 40))
def test_parts_follow_each_other_and_fill_the_width(parts: list[float], width: int) -> None:
    drawn = bars([(part, f"hue{place}") for place, part in enumerate(parts)], width)
    assert sum(cells(text) for text, _ in drawn) == width
    named = [name for _, style in drawn for name in style.split("/") if name]
    assert named == sorted(named)


def test_where_two_parts_meet_the_cell_is_shared() -> None:
    assert bars([(0.5, "hue0"), (0.5, "hue1")], 1) == (("▌", "hue0/hue1"),)


def test_of_three_parts_in_a_cell_the_one_seen_before_it_gives_way_and_none_looks_larger() -> None:
    (drawn,) = zip(*area([(18 / 64, 1 / 64, 0.0)], ["heat7", "heat5", "heat3"], 8, 1.0), strict=True)
    assert drawn[:5] == ((" ", ""),) * 5
    assert drawn[5:] == (("▃", "heat5/"), ("█", "heat7/"), ("█", "heat7/"))
    assert area([(1 / 8, 1 / 8, 0.0)], ["heat7", "heat5", "heat3"], 1, 1.0) == ((("▂", "heat7/"),),)


def test_a_bar_is_drawn_in_the_colour_that_its_style_fills_cells_with() -> None:
    for theme in ("dark", "light", "safe"):
        look = Look(theme)
        for text, style in bars([(0.6, "heat6")], 2):
            assert look.style(style).color == look.style("heat6").bgcolor != look.style("heat6").color, text
            assert look.style(style).bgcolor == look.style().bgcolor
    assert Look("ansi").style("heat6/").color == Look("ansi").style("heat6").color


def test_a_part_of_nothing_is_not_drawn() -> None:
    drawn = bars([(0.5, "hue0"), (0.0, "hue1"), (0.2, "hue2")], 5)
    assert "hue1" not in {name for _, style in drawn for name in style.split("/")}


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=80), st.integers(1, 60))
def test_sparks_are_as_high_as_their_values(values: list[float], width: int) -> None:
    drawn = sparks(values, width)
    assert cells(drawn) == width
    levels = [LEVELS.index(sign) for sign in drawn[-len(values) :]]
    shown = values[-width:]
    assert all(
        one <= other
        for one, value in zip(levels, shown, strict=False)
        for other, more in zip(levels, shown, strict=False)
        if value <= more
    )


def test_what_is_not_known_is_no_spark() -> None:
    assert sparks([math.nan, 0, 4], 4) == "  ▁█"


@given(st.lists(st.tuples(PARTS, PARTS, PARTS), min_size=1, max_size=20), st.integers(1, 12))
def test_an_area_has_its_height_and_every_part(stacks: list[tuple[float, ...]], height: int) -> None:
    drawn = area(stacks, ("heat7", "heat4", "heat1"), height, 3)
    assert len(drawn) == height
    assert all(sum(cells(text) for text, _ in line) == len(stacks) for line in drawn)


def test_two_rows_fit_into_one_line() -> None:
    (only,) = halves(["heat7"], ["heat0"])
    style = Look("dark").style(only[1])
    assert (style.color, style.bgcolor) == tuple(Look("dark").style(name).bgcolor for name in ("heat7", "heat0"))


def test_heat_is_for_something() -> None:
    assert [heat(part) for part in (0, 1e-9, 0.5, 1)] == ["heat0", "heat1", f"heat{HEATS // 2}", f"heat{HEATS - 1}"]


@pytest.mark.parametrize("name", sorted(FILLED))
def test_a_cursor_does_not_paint_over_what_a_colour_says(name: str) -> None:
    look = Look("dark")
    assert look.style(name, "cursor").bgcolor == look.style(name).bgcolor
    assert look.style(stacked(name, "heat0"), "cursor").color == look.style(name).bgcolor


@pytest.mark.parametrize("theme", ["ansi", "mono"])
def test_a_bar_is_no_hole_under_a_cursor_in_reverse(theme: str) -> None:
    bar_, name = Look(theme).segments([("██▌", "leader"), ("name", "isr")], "cursor")
    assert not (bar_.style and bar_.style.reverse)
    assert name.style and name.style.reverse


def test_every_sign_has_a_twin_of_one_cell_in_ascii() -> None:
    signs = "".join(text for text in vars(glyphs).values() if isinstance(text, str) and not text.isspace())
    drawn = [sign for sign in signs if not sign.isascii() and sign in EIGHTHS + LEVELS + glyphs.UPPER + glyphs.FOLD]
    assert drawn
    for sign in drawn:
        twin = sign.translate(ASCII)
        assert twin.isascii()
        assert cells(plain(sign)) == cells(twin) == 1
