"""The five themes can be read, mono has no colours, and a change of theme is seen."""

import re

import pytest
from rich.color import Color
from rich.style import Style
from textual.app import ComposeResult
from textual.containers import Container
from textual.widgets import Label

from tests.tui.screen_text import screen_codes
from tui.app.theme import Look, ThemedApp
from tui.app.widgets.line_view import LineView
from tui.engine.palette import BASES, IDENTITIES, MARKS, PLOT, STYLES, THEMES
from tui.engine.rows import Column, Row, Window

COLOUR_CODE = re.compile(r"\x1b\[(?:[0-9;]*;)?(?:3[0-9]|4[0-9]|9[0-7]|10[0-7])(?:;[0-9;]*)?m")
COLOURED = ("dark", "light", "safe")
QUIET = {"rule", "placeholder", "scrollbar", "dim", "simulated", "armed"}
"""Needs less contrast: not read, or bold on a strong colour."""
SWATCHES = {f"hue{number}" for number in range(IDENTITIES)}
"""Seen as blocks, not read."""
NEVER_UNDER_CURSOR = QUIET | {"paused", "stale"}


def luminance(color: Color) -> float:
    channels = [value / 255 for value in color.get_truecolor()]
    red, green, blue = (c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(style: Style) -> float:
    assert style.color is not None
    assert style.bgcolor is not None
    dark, light = sorted((luminance(style.color), luminance(style.bgcolor)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("theme", THEMES)
def test_every_name_has_a_style_in_every_theme(theme: str) -> None:
    look = Look(theme)
    assert all(isinstance(look.style(name, "cursor"), Style) for name in STYLES)
    assert set(MARKS.values()) <= set(STYLES)


@pytest.mark.parametrize("theme", COLOURED)
def test_text_can_be_read(theme: str) -> None:
    look = Look(theme)
    for name in sorted(set(STYLES) - {"caret"}):
        least = 1.5 if name == "rule" else 3 if name in QUIET | SWATCHES else 4.5
        assert contrast(look.style(name)) >= least, name
        assert contrast(look.style(name, under="header")) >= (1 if name in QUIET | SWATCHES else 4.5), name
        assert contrast(look.style(name, "cursor")) >= (1 if name in NEVER_UNDER_CURSOR | SWATCHES else 3), name


@pytest.mark.parametrize("theme", THEMES)
def test_the_sixteen_colours_of_a_plot_are_the_palettes(theme: str) -> None:
    look = Look(theme)
    assert len(PLOT) == 16
    for number, name in enumerate(PLOT):
        drawn = look.adopt(Style(color=Color.from_ansi(number)))
        assert (drawn.color, drawn.bgcolor) == (look.style(name).color, look.style().bgcolor)
    other = look.adopt(Style(color=Color.from_ansi(200)))
    assert other.color is not None and other.color.number == 200, "all other colours are as they come"


def test_the_mono_theme_is_made_of_bold_reverse_and_underline() -> None:
    styles = [BASES["mono"], *(styles[THEMES.index("mono")] for styles in STYLES.values())]
    words = {word for style in styles for word in style.split()}
    assert words <= {"bold", "reverse", "underline"}


def test_the_ansi_theme_has_sixteen_colours() -> None:
    styles = [Look("ansi").style(name) for name in STYLES]
    numbers = {color.number for style in styles for color in (style.color, style.bgcolor) if color}
    assert numbers <= {None, *range(16)}


def test_simulated_has_a_colour_of_its_own() -> None:
    for theme in COLOURED:
        own = Look(theme).style("simulated").bgcolor
        others = [Look(theme).style(name) for name in STYLES if name != "simulated"]
        assert all(own not in (style.color, style.bgcolor) for style in others)


def test_an_unknown_name_looks_like_text() -> None:
    assert Look("dark").style("no such style") == Look("dark").style("text")


def test_a_faded_look_has_one_foreground() -> None:
    look = Look("dark", faded=True)
    assert {look.style(name).color for name in ("ok", "error", "leader")} == {Look("dark").style("dim").color}
    assert look.style("error").bold


class Screen(ThemedApp[None]):
    CSS = "Container { border: solid $primary; background: $panel; } LineView { height: 4; }"

    def compose(self) -> ComposeResult:
        with Container():
            yield Label("a label of Textual's")
            yield LineView()

    def on_mount(self) -> None:
        cells = tuple(((f" {name}", name),) for name in STYLES if name)
        columns = tuple(Column(name, 8) for name in STYLES if name)
        rows = (Row("a", cells, mark="X"), Row("b", cells))
        self.query_one(LineView).show(Window(0, 2, rows, columns))


@pytest.mark.parametrize("theme", THEMES)
async def test_only_the_mono_theme_sends_no_colours(theme: str) -> None:
    app = Screen(theme=theme)
    async with app.run_test(size=(300, 12)):
        assert bool(COLOUR_CODE.search(screen_codes(app))) == (theme != "mono")


@pytest.mark.parametrize("theme", THEMES)
async def test_no_color_in_the_environment_wins_over_every_theme(theme: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    app = Screen(theme=theme)
    async with app.run_test(size=(300, 12)) as pilot:
        assert not COLOUR_CODE.search(screen_codes(app))
        app.theme = "light"
        await pilot.pause()
        assert not COLOUR_CODE.search(screen_codes(app))


async def test_a_change_of_theme_is_seen_at_once() -> None:
    app = Screen(theme="dark")
    async with app.run_test(size=(100, 12)) as pilot:
        dark = screen_codes(app)
        app.theme = "light"
        await pilot.pause()
        light = screen_codes(app)
        app.theme = "dark"
        await pilot.pause()
        assert dark != light
        assert screen_codes(app) == dark


async def test_fading_takes_the_colours_and_gives_them_back() -> None:
    app = Screen()
    async with app.run_test(size=(100, 12)) as pilot:
        fresh = screen_codes(app)
        app.faded = True
        await pilot.pause()
        assert screen_codes(app) != fresh
        app.faded = False
        await pilot.pause()
        assert screen_codes(app) == fresh


@pytest.mark.parametrize("theme", THEMES)
async def test_the_theme_can_be_named_at_start(theme: str) -> None:
    app = Screen(theme=theme)
    async with app.run_test():
        assert app.theme == theme
