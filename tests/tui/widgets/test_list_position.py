"""The position of a list is always a place in it, and follows its key."""

import random

from hypothesis import given
from hypothesis import strategies as st

from tui.app.widgets.lists import CursorPosition, followed, moved, paged, resized, scrolled
from tui.engine.rows import Row, Window

KEYS = st.lists(st.sampled_from([f"k{number}" for number in range(40)]), unique=True, max_size=40)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("go"), st.integers(-5, 50)),
        st.tuples(st.just("page"), st.sampled_from((-1, -0.5, 0.5, 1))),
        st.tuples(st.just("scroll"), st.integers(-5, 50)),
        st.tuples(st.just("resize"), st.integers(1, 15)),
        st.tuples(st.just("shuffle"), st.integers(0, 9)),
    ),
    max_size=20,
)


def window_of(keys: list[str], position: CursorPosition, page: int) -> Window:
    """What a provider sends that is asked for the rows around the viewport and for the cursor's key."""
    first = max(0, position.top - page)
    rows = tuple(Row(key, ()) for key in keys[first : first + 3 * page])
    return Window(first, len(keys), rows, cursor=keys.index(position.key) if position.key in keys else -1)


@given(KEYS, STEPS)
def test_whatever_happens_the_position_is_a_place_in_the_list(keys: list[str], steps: list[tuple[str, int]]) -> None:
    page, position = 7, CursorPosition()
    window = window_of(keys, position, page)
    position = followed(position, window, position.key, page)
    for step, value in steps:
        if step == "go":
            position = moved(position, value, window, page)
            assert position.top <= position.cursor < position.top + page
        elif step == "page":
            position = paged(position, value, window, page)
        elif step == "scroll":
            position = scrolled(position, value, window, page)
        elif step == "resize":
            page = value
            position = resized(position, window, page)
        else:
            random.Random(value).shuffle(keys)
        window = window_of(keys, position, page)
        position = followed(position, window, position.key, page)
        assert 0 <= position.cursor < max(len(keys), 1)
        assert 0 <= position.top <= max(len(keys) - page, 0)
        if keys and position.top <= position.cursor < position.top + page:
            assert keys[position.cursor] == position.key


@given(KEYS.filter(bool), st.integers(0, 9), st.integers(0, 39))
def test_the_cursor_follows_its_key_wherever_it_goes(keys: list[str], seed: int, index: int) -> None:
    page = 5
    position = moved(CursorPosition(), index, Window(0, len(keys), tuple(Row(key, ()) for key in keys)), page)
    random.Random(seed).shuffle(keys)
    after = followed(position, window_of(keys, position, page), position.key, page)
    assert keys[after.cursor] == position.key == after.key
