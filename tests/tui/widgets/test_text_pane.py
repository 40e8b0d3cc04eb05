"""Text is wrapped, scrolled, searched and copied."""

import pytest
from textual.app import ComposeResult
from textual.events import MouseScrollDown

from tests.tui.hostile import HOSTILE
from tests.tui.quiet import resized
from tests.tui.screen_text import assert_screen, screen_lines
from tui.app.theme import ThemedApp
from tui.app.widgets.text_and_plot import TextPane
from tui.engine.rows import Line
from tui.engine.text import cells

JSON: tuple[Line, ...] = (
    (('{"version":', "name"), ("1", "number"), (',"brokerid":', "name"), ("4", "number"), (",", "")),
    (('  "timestamp":', "name"), ('"1700652025030"', "string"), ("}", "")),
)


class PaneApp(ThemedApp[None]):
    def __init__(self, *, wrap: bool = True) -> None:
        super().__init__()
        self.wrap = wrap

    def compose(self) -> ComposeResult:
        yield TextPane(empty="nothing selected", wrap=self.wrap)

    def on_mount(self) -> None:
        self.pane.focus()

    @property
    def pane(self) -> TextPane:
        return self.query_one(TextPane)


def numbered(count: int) -> list[Line]:
    return [((f"line {number}", ""),) for number in range(count)]


async def test_text_is_wrapped_at_spaces_and_copied_as_it_was() -> None:
    app = PaneApp()
    async with app.run_test(size=(40, 6)) as pilot:
        assert "nothing selected" in "".join(screen_lines(app))
        why = (("b5 holds the only copy. The controller may elect only a live member of the ISR; there is none.", ""),)
        app.pane.show([*JSON, why])
        await pilot.pause()
        assert_screen(app, "text_pane")
        assert app.pane.plain.splitlines()[1] == '  "timestamp":"1700652025030"}'
        await resized(pilot, 24, 9)
        assert all(cells(line) <= 23 for line in screen_lines(app))


async def test_unwrapped_text_is_cut() -> None:
    app = PaneApp(wrap=False)
    async with app.run_test(size=(20, 6)) as pilot:
        app.pane.show(JSON)
        await pilot.pause()
        assert screen_lines(app)[0] == '{"version":1,"brok…'


async def test_motions() -> None:
    app = PaneApp()
    async with app.run_test(size=(40, 10)) as pilot:
        app.pane.show(numbered(100))
        tops: list[int] = []
        for key in (
            "j",
            "down",
            "k",
            "ctrl+d",
            "pagedown",
            "ctrl+u",
            "pageup",
            "G",
            "j",
            "g",
            "k",
            "end",
            "home",
            "up",
        ):
            await pilot.press(key)
            tops.append(app.pane.top)
        assert tops == [1, 2, 1, 6, 16, 11, 1, 90, 90, 0, 0, 90, 0, 0]
        await pilot._post_mouse_events([MouseScrollDown], TextPane, button=0)
        assert screen_lines(app)[0].startswith("line 3")


async def test_the_same_subject_keeps_its_place_and_another_one_begins_at_the_top() -> None:
    app = PaneApp()
    async with app.run_test(size=(40, 10)) as pilot:
        app.pane.show(numbered(100))
        await pilot.press("G")
        app.pane.show(numbered(99))
        assert app.pane.top == 89
        app.pane.show(numbered(98), keep_place=False)
        assert app.pane.top == 0


async def test_searching() -> None:
    app = PaneApp()
    async with app.run_test(size=(40, 10)) as pilot:
        app.pane.show(numbered(100))
        app.pane.search("LINE 3")
        assert app.pane.top == 3
        await pilot.press("n", "n")
        assert app.pane.top == 31
        await pilot.press("N")
        assert app.pane.top == 30
        app.pane.search("no such words")
        await pilot.press("n", "N")
        assert app.pane.top == 30
        app.pane.search("")
        await pilot.press("n")
        assert app.pane.top == 30


@pytest.mark.parametrize("width", [1, 2, 20, 60, 300])
@pytest.mark.parametrize("wrap", [True, False])
async def test_hostile_text_is_shown_and_not_obeyed(width: int, wrap: bool) -> None:
    app = PaneApp(wrap=wrap)
    async with app.run_test(size=(width, 60)) as pilot:
        app.pane.show([((text, "string"), (text, "no such style")) for text in HOSTILE])
        app.pane.search("[")
        await pilot.pause()
        for strip in app.screen._compositor.render_strips():
            assert strip.text.isprintable()
            assert cells(strip.text) == width
