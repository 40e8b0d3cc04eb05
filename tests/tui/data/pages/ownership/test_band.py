"""Edges drawn with line characters: every edge can be followed with the finger, whatever stars there are."""

from hypothesis import given
from hypothesis import strategies as st

from tests.tui.data.small_cluster import text_of
from tui.engine.consumers.graph_picture import FOCUS, GAINED, NOW, THEN, Star, band

OPEN = {
    "─": "EW", "│": "NS", "┌": "ES", "┐": "WS", "└": "EN", "┘": "WN", "├": "ENS", "┤": "WNS", "┬": "EWS", "┴": "EWN",
    "┼": "EWNS",
}  # fmt: skip
STEPS = {"E": (0, 1), "W": (0, -1), "N": (-1, 0), "S": (1, 0)}


def lines(stars: list[Star], width: int = 12) -> list[str]:
    drawn = band(stars, width).lines
    return [text_of(drawn.get(row, ())).rstrip() for row in range(max(drawn, default=-1) + 1)]


def test_a_star_from_either_side():
    assert lines([Star(NOW, 1, (0, 1, 2))], 6) == [" ┌────", "─┼────", " └────"]
    assert lines([Star(FOCUS, 0, (0, 2), from_left=False)], 6) == ["━┳━━━━", " ┃", "━┛"]


def test_stems_that_meet_have_columns_of_their_own_and_do_not_cross_without_need():
    assert lines([Star(NOW, 0, (0, 1, 2)), Star(NOW, 1, (3, 4))], 8) == [
        "──┬─────",
        "─┐├─────",
        " │└─────",
        " ├──────",
        " └──────",
    ]
    assert lines([Star(NOW, 3, (0, 1)), Star(NOW, 4, (2, 3))], 8) == [
        " ┌──────",
        " ├──────",
        " │┌─────",
        "─┘├─────",
        "──┘",
    ]


def test_what_moved_is_drawn_over_the_rest_in_other_signs():
    stars = [Star(NOW, 0, (0,)), Star(THEN, 0, (2,)), Star(GAINED, 1, (2,))]
    assert lines(stars, 8) == ["┄┐──────", "══╗", " └╚════>"]
    assert lines(stars[1:2], 8) == ["┄┐", " ┆", " └┄┄┄┄┄x"]


def test_without_room_the_longest_are_left_out_and_counted_but_never_those_that_matter():
    stars = [Star(NOW, row, (20 - row,)) for row in range(8)]
    found = band([*stars, Star(FOCUS, 8, (19,))], 6)
    assert found.left_out == 5
    assert "━" in text_of(found.lines[8]) and "━" in text_of(found.lines[19])
    assert band([], 6).lines == {}


@st.composite
def stars(draw: st.DrawFn) -> list[Star]:
    """Partitions of one owner each, in any rows."""
    owners = draw(st.lists(st.integers(0, 14), unique=True, max_size=6))
    nodes = draw(st.permutations(range(15)))
    return [Star(NOW, owner, tuple(sorted(nodes[at * 2 : at * 2 + 2]))) for at, owner in enumerate(owners)]


@given(stars())
def test_from_each_row_of_a_star_lines_lead_to_all_its_others(found: list[Star]):
    drawn = band(found, 20)
    assert not drawn.left_out
    cells = {(row, x): sign for row, line in drawn.lines.items() for x, sign in enumerate(text_of(line)) if sign != " "}

    def reached(start: tuple[int, int]) -> set[tuple[int, int]]:
        seen, ahead = {start}, [start]
        while ahead:
            row, x = ahead.pop()
            for way in OPEN[cells[row, x]]:
                after = (row + STEPS[way][0], x + STEPS[way][1])
                if after in cells and after not in seen:
                    seen.add(after)
                    ahead.append(after)
        return seen

    for star in found:
        ends = reached((star.centre, 0))
        assert all((leaf, 19) in ends for leaf in star.leaves)
