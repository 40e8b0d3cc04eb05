"""Plots are shown with their colours, in the size there is."""

import pytest
from textual.app import ComposeResult

from tests.tui.hostile import HOSTILE
from tests.tui.quiet import resized
from tests.tui.screen_text import screen_codes, screen_lines
from tui.app.theme import ThemedApp
from tui.app.widgets.text_and_plot import PlotView
from tui.engine.text import cells


class PlotApp(ThemedApp[None]):
    def __init__(self, theme: str = "dark") -> None:
        super().__init__(theme=theme)
        self.sizes: list[tuple[int, int]] = []

    def compose(self) -> ComposeResult:
        yield PlotView()

    @property
    def plot(self) -> PlotView:
        return self.query_one(PlotView)

    def on_plot_view_plot_wanted(self, message: PlotView.PlotWanted) -> None:
        self.sizes.append((message.width, message.height))


async def test_a_plot_is_asked_for_in_the_size_there_is() -> None:
    app = PlotApp()
    async with app.run_test(size=(40, 10)) as pilot:
        assert "no data yet" in "".join(screen_lines(app))
        await resized(pilot, 60, 12)
        assert app.sizes == [(40, 10), (60, 12)]


async def test_a_plot_is_shown_with_its_colours_cut_and_filled_up() -> None:
    app = PlotApp()
    async with app.run_test(size=(8, 4)) as pilot:
        app.plot.show("\x1b[31m▁▂▃▄▅▆▇█████\x1b[0m\n\n日本語\x1b[1mtopic")
        await pilot.pause()
        assert screen_lines(app) == ["▁▂▃▄▅▆▇█", "", "日本語to", ""]
        first = next(iter(app.screen._compositor.render_strips()[0]))
        assert first.style
        assert first.style.color
        assert first.style.color.triplet, "the colours of the terminal are made ours"
        app.plot.show("\x1b[32mx")
        await pilot.pause()
        assert screen_lines(app) == ["x", "", "", ""]


async def test_mono_plots_have_no_colour() -> None:
    app = PlotApp(theme="mono")
    async with app.run_test(size=(8, 4)) as pilot:
        app.plot.show("\x1b[1;38;2;1;2;3;48;5;9mabc\x1b[0m")
        await pilot.pause()
        assert "\x1b[1mabc" in screen_codes(app)
        assert "38;2" not in screen_codes(app)


@pytest.mark.parametrize("width", [1, 7, 60, 300])
async def test_hostile_text_is_shown_and_not_obeyed(width: int) -> None:
    app = PlotApp()
    async with app.run_test(size=(width, 30)) as pilot:
        app.plot.show("\n".join(HOSTILE))
        await pilot.pause()
        for strip in app.screen._compositor.render_strips():
            assert strip.text.isprintable()
            assert cells(strip.text) == width
