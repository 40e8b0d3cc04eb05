"""The thumb tells where the viewport is."""

from hypothesis import assume, given
from hypothesis import strategies as st

from tui.app.widgets.lists import clamp_top, thumb, top_at

HEIGHTS = st.integers(0, 100)
TOTALS = st.integers(0, 2_000_000)


@given(st.integers(-5, 2_000_000), HEIGHTS, TOTALS)
def test_the_thumb_is_inside_and_touches_an_end_only_at_the_end(top: int, height: int, total: int) -> None:
    top = clamp_top(top, height, total)
    lines = thumb(top, height, total)
    assert set(lines) <= set(range(height))
    assert bool(lines) == (0 < height < total)
    if lines and height - len(lines) > 1:
        assert (0 in lines) == (top == 0)
        assert (height - 1 in lines) == (top == total - height)


@given(HEIGHTS, TOTALS)
def test_a_press_on_an_end_of_the_bar_goes_to_that_end(height: int, total: int) -> None:
    assume(1 < height < total)
    assert top_at(0, height, total) == 0
    assert top_at(height - 1, height, total) == total - height
