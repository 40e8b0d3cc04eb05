"""The last line: keys give way to what is said, and a prompt takes the place of both."""

from hypothesis import given
from hypothesis import strategies as st
from textual import on
from textual.app import ComposeResult
from textual.pilot import Pilot

from tests.tui.screen_text import screen_lines
from tui.app.panes.frames import BottomLine, keys_beside
from tui.app.theme import ThemedApp
from tui.app.widgets.edge_lines import keys_line
from tui.app.widgets.line_view import LineView
from tui.app.widgets.prompt_line import PromptLine

KEYS = (("?", "help"), ("/", "filter"), (":", "cmd"), ("d", "describe"), ("a", "alerts"), ("q", "back"))


class Bottom(ThemedApp[None]):
    """A list, and below it the last line."""

    def compose(self) -> ComposeResult:
        yield LineView(id="list")
        yield BottomLine()

    def on_mount(self) -> None:
        self.ended: list[str] = []
        self.line.show_keys(KEYS)
        self.query_one(LineView).focus()

    @on(PromptLine.PromptAccepted)
    @on(PromptLine.PromptCancelled)
    def _note(self, event: PromptLine.PromptMessage) -> None:
        self.ended.append(event.sign)

    @property
    def line(self) -> BottomLine:
        return self.query_one(BottomLine)


def last(pilot: "Pilot[None]") -> str:
    return screen_lines(pilot.app)[-1]


@given(st.text("abc ", max_size=120), st.integers(1, 160))
def test_a_note_that_fits_is_seen_in_full_beside_the_keys_left(note: str, width: int) -> None:
    line = "".join(text for text, _ in keys_line(keys_beside(KEYS, note, width), width, note))
    assert len(line) <= width
    if note.strip() and len(note) <= width - 3:
        assert line.endswith(note)


def test_the_most_useful_keys_are_the_last_to_give_way() -> None:
    assert keys_beside(KEYS, "", 80) == KEYS
    assert keys_beside(KEYS, "x" * 50, 80) == KEYS[:3]
    assert keys_beside(KEYS, "x" * 77, 80) == ()


async def test_what_is_said_has_precedence_over_what_stands_and_both_over_the_keys() -> None:
    app = Bottom()
    async with app.run_test(size=(60, 4)) as pilot:
        app.line.stand("/orders  3 of 9")
        await pilot.pause()
        assert last(pilot).endswith("/orders  3 of 9") and last(pilot).startswith(" ?help")
        app.line.say("no command 'x'")
        await pilot.pause()
        assert last(pilot).endswith("no command 'x'")
        app.line.stand("")
        app.line._fall_silent()
        await pilot.pause()
        assert last(pilot).startswith(" ?help  /filter  :cmd  d describe")


async def test_a_note_longer_than_the_line_is_cut_where_one_sees_it() -> None:
    app = Bottom()
    async with app.run_test(size=(30, 4)) as pilot:
        app.line.say("y" * 60)
        await pilot.pause()
        assert last(pilot).strip() == "y" * 26 + "…"


async def test_focus_returns_to_where_it_was() -> None:
    app = Bottom()
    async with app.run_test(size=(60, 4)) as pilot:
        for key in ("enter", "escape"):
            app.line.ask("/", "or")
            await pilot.press("d")
            assert last(pilot).startswith(" /ord") and app.line.is_typing
            await pilot.press(key)
            assert not app.line.is_typing and isinstance(app.focused, LineView)


async def test_a_click_elsewhere_ends_typing() -> None:
    app = Bottom()
    async with app.run_test(size=(60, 4)) as pilot:
        for sign in "/:":
            app.line.ask(sign)
            await pilot.press("x")
            await pilot.click("#list")
            assert not app.line.is_typing and isinstance(app.focused, LineView)
        assert app.ended == ["/", ":"]


async def test_what_is_typed_right_after_enter_is_typed() -> None:
    """The word that the prompt lost the focus comes when it has it again."""
    app = Bottom()
    async with app.run_test(size=(60, 4)) as pilot:
        for key in ("enter", "escape"):
            app.line.ask("/", "or")
            await pilot.pause()
            await app._check_bindings(key)
            app.line.ask(":")
            await pilot.pause()
            await pilot.press("d")
            assert last(pilot).startswith(" :d") and app.line.is_typing
            app.line._prompt.action_cancel()
            await pilot.pause()
