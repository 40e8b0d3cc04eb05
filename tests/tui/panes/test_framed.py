"""Frames: their shapes, their titles, and that they leave to the pane what is its own."""

import pytest
from textual.app import ComposeResult
from textual.geometry import Size

from tests.tui.hostile import HOSTILE
from tests.tui.screen_text import screen_lines
from tui.app.panes.frames import Framed, FrameGroup
from tui.app.theme import ThemedApp
from tui.app.widgets.text_and_plot import TextPane
from tui.engine.rows import line


class Frames(ThemedApp[None]):
    """Two frames side by side."""

    CSS = "FrameGroup { layout: horizontal; }"

    def compose(self) -> ComposeResult:
        first, second = TextPane(), TextPane()
        first.show([line("left")])
        second.show([line("right")])
        yield FrameGroup(Framed("One", first, id="one"), Framed("Two", second, id="two"))


async def test_frames_are_told_apart_by_their_shape() -> None:
    app = Frames()
    async with app.run_test(size=(24, 4)) as pilot:
        app.query_one("#two", Framed).be_at_hand(True)
        await pilot.pause()
        assert screen_lines(app) == [
            "┌─ One ────┐╔═ Two ════╗",
            "│left      │║right     ║",
            "│          │║          ║",
            "└──────────┘╚══════════╝",
        ]


async def test_in_ascii_they_are_ascii() -> None:
    app = Frames(ascii_only=True)
    async with app.run_test(size=(24, 3)):
        assert screen_lines(app) == ["+- One ----++- Two ----+", "|left      ||right     |", "+----------++----------+"]


@pytest.mark.parametrize("title", [*HOSTILE, "long" * 20, "日本語" * 9])
@pytest.mark.parametrize("width", [8, 24, 50])
async def test_a_title_is_text_and_stays_in_its_frame(title: str, width: int) -> None:
    app = Frames()
    async with app.run_test(size=(width, 3)) as pilot:
        app.query_one("#one", Framed).name_it(title)
        await pilot.pause()
        strips = app.screen._compositor.render_strips()
        assert {strip.cell_length for strip in strips} == {width}
        if width == 50:
            assert strips[0].text.endswith("┌─ Two ─────────────────┐") or "Two" in strips[0].text


async def test_a_frame_without_a_title_is_a_rule() -> None:
    app = Frames()
    async with app.run_test(size=(24, 3)) as pilot:
        app.query_one("#one", Framed).name_it("")
        await pilot.pause()
        assert screen_lines(app)[0].startswith("┌──────────┐")


async def test_no_line_of_another_size_stays_where_a_frame_is_drawn_before_it_is_told_of_its_new_one() -> None:
    app = Frames()
    async with app.run_test(size=(24, 4)):
        frame, size = app.query_one("#one", Framed), Size(9, 4)
        frame.refresh()
        frame.render_lines(frame.outer_size.region)
        frame.name_it("Uno")
        frame._size_updated(size, size, size)
        assert [strip.cell_length for strip in frame.render_lines(size.region)] == [size.width] * size.height
