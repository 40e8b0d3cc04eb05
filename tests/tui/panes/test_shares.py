"""Panes share their room by need: all of it, nobody less than the least, nobody cut off beside emptiness."""

from hypothesis import given
from hypothesis import strategies as st
from textual.app import ComposeResult
from textual.message import Message

from tests.tui.screen_text import screen_lines
from tests.tui.widgets.listing import COLUMNS, row
from tui.app.panes.frames import EDGE, Framed
from tui.app.panes.shares import ByNeed, SpaceClaim, shares
from tui.app.theme import ThemedApp
from tui.app.widgets.line_view import LineView
from tui.app.widgets.lists import ContentShown
from tui.engine.rows import Window

CLAIMS = st.lists(
    st.builds(
        lambda least, more, grows, rank: SpaceClaim(least, least + more, grows, rank),
        st.integers(1, 20),
        st.integers(0, 80),
        st.integers(0, 3),
        st.integers(0, 2),
    ),
    min_size=1,
    max_size=5,
)


@given(CLAIMS, st.integers(0, 240))
def test_all_of_the_room_is_given(claims: list[SpaceClaim], room: int) -> None:
    assert sum(shares(room, claims)) == room


@given(CLAIMS, st.integers(0, 240))
def test_nobody_gets_less_than_the_least_where_that_fits(claims: list[SpaceClaim], room: int) -> None:
    given_ = shares(room, claims)
    if sum(claim.least for claim in claims) <= room:
        assert all(has >= claim.least for has, claim in zip(given_, claims, strict=True))


@given(CLAIMS, st.integers(0, 240))
def test_nobody_has_more_than_wanted_while_another_is_cut_off(claims: list[SpaceClaim], room: int) -> None:
    given_ = shares(room, claims)
    is_cut = any(has < claim.wants for has, claim in zip(given_, claims, strict=True))
    has_spare = any(has > claim.wants for has, claim in zip(given_, claims, strict=True))
    assert not (is_cut and has_spare)


def test_what_is_left_over_goes_to_those_that_grow() -> None:
    assert shares(100, [SpaceClaim(5, 20), SpaceClaim(5, 30, 1)]) == [20, 80]
    assert shares(100, [SpaceClaim(5, 20), SpaceClaim(5, 30)]) == [45, 55]


def test_where_not_even_the_least_fits_all_give_way() -> None:
    assert shares(10, [SpaceClaim(10, 10), SpaceClaim(10, 40)]) == [5, 5]


@given(CLAIMS, st.integers(0, 240))
def test_the_first_in_rank_are_not_cut_off_for_others(claims: list[SpaceClaim], room: int) -> None:
    if sum(claim.least for claim in claims) > room:
        return
    given_ = shares(room, claims)
    cut = [claim.rank for has, claim in zip(given_, claims, strict=True) if has < claim.wants]
    later = [claim.rank for has, claim in zip(given_, claims, strict=True) if has > claim.least]
    assert not cut or max(later, default=0) <= min(cut)


class Two(ThemedApp[None]):
    """A list and one that takes what it leaves."""

    CSS = "ByNeed { layout: horizontal; }"

    def compose(self) -> ComposeResult:
        self.lists = LineView(), LineView()
        frames = (Framed("", each, least=(20, 4), grows=place) for place, each in enumerate(self.lists))
        yield ByNeed(*frames)


async def test_a_pane_is_wider_once_its_contents_want_it() -> None:
    app = Two()
    async with app.run_test(size=(100, 12)) as pilot:
        first, _ = app.lists
        for wants in (30, 60):
            first.show(Window(0, 1, (row(0),), COLUMNS, wants=wants))
            first.post_message(ContentShown(first))
            await pilot.pause()
            await pilot.pause()
            assert [each.size.width for each in app.lists] == [wants, 100 - wants - 2 * EDGE]


async def test_a_title_is_part_of_what_a_pane_wants() -> None:
    app = Two()
    async with app.run_test(size=(100, 12)) as pilot:
        frame = app.query(Framed).first()
        frame.name_it("a title that says what the signs below it mean")
        frame.post_message(ContentShown(frame))
        await pilot.pause()
        await pilot.pause()
        assert frame.title in screen_lines(app)[0]


async def test_panes_are_looked_at_anew_only_where_one_wants_other_room() -> None:
    app, sent = Two(), list[Message]()
    async with app.run_test(size=(100, 12), message_hook=sent.append) as pilot:
        frame = app.query(Framed).first()
        for title, wants_other_room in (("orders-8", True), ("orders-9", False), ("orders-10", True)):
            sent.clear()
            frame.name_it(title)
            await pilot.pause()
            assert any(isinstance(each, ContentShown) for each in sent) == wants_other_room


async def test_a_pane_that_is_hidden_while_its_contents_come_does_no_harm() -> None:
    app = Two()
    async with app.run_test(size=(100, 12)) as pilot:
        app.query(Framed).first().post_message(ContentShown(app.lists[0]))
        await pilot.pause()
        frames = app.query(Framed)
        for each in frames:
            each.display = False
            each.post_message(ContentShown(each))
        await pilot.pause()
        frame = frames.last()
        frame.display = True
        await pilot.pause()
        assert frame.size.width == 100 - EDGE
