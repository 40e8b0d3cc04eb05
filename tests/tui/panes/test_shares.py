"""Panes share their room by need: all of it, nobody less than the least, nobody cut off beside emptiness."""

from hypothesis import given
from hypothesis import strategies as st

from tui.app.panes.shares import Claim, shares

CLAIMS = st.lists(
    st.builds(
        lambda least, more, grows: Claim(least, least + more, grows),
        st.integers(1, 20),
        st.integers(0, 80),
        st.integers(0, 3),
    ),
    min_size=1,
    max_size=5,
)


@given(CLAIMS, st.integers(0, 240))
def test_all_of_the_room_is_given(claims: list[Claim], room: int) -> None:
    assert sum(shares(room, claims)) == room


@given(CLAIMS, st.integers(0, 240))
def test_nobody_gets_less_than_the_least_where_that_fits(claims: list[Claim], room: int) -> None:
    given_ = shares(room, claims)
    if sum(claim.least for claim in claims) <= room:
        assert all(has >= claim.least for has, claim in zip(given_, claims, strict=True))


@given(CLAIMS, st.integers(0, 240))
def test_nobody_has_more_than_wanted_while_another_is_cut_off(claims: list[Claim], room: int) -> None:
    given_ = shares(room, claims)
    is_cut = any(has < claim.wants for has, claim in zip(given_, claims, strict=True))
    has_spare = any(has > claim.wants for has, claim in zip(given_, claims, strict=True))
    assert not (is_cut and has_spare)


def test_what_is_left_over_goes_to_those_that_grow() -> None:
    assert shares(100, [Claim(5, 20), Claim(5, 30, 1)]) == [20, 80]
    assert shares(100, [Claim(5, 20), Claim(5, 30)]) == [45, 55]


def test_where_not_even_the_least_fits_all_give_way() -> None:
    assert shares(10, [Claim(10, 10), Claim(10, 40)]) == [5, 5]
