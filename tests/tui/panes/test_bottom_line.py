"""The last line: what is said stands beside the keys or above them, and a prompt takes the place of the keys."""

from hypothesis import given
from hypothesis import strategies as st
from textual import on
from textual.app import ComposeResult
from textual.pilot import Pilot

from tests.tui.screen_text import screen_lines
from tui.app.panes.frames import BottomLine, NoteLine, keys_within
from tui.app.theme import ThemedApp
from tui.app.widgets.edge_lines import keys_line
from tui.app.widgets.line_view import LineView
from tui.app.widgets.prompt_line import PromptLine

KEYS = (("?", "help"), ("/", "filter"), (":", "cmd"), ("d", "describe"), ("a", "findings"), ("q", "back"))
ALL_KEYS = "?help  /filter  :cmd  d describe  a findings  q back"


class Bottom(ThemedApp[None]):
    """A list, and below it the last line."""

    CSS = "Screen { layers: base note; }"

    def compose(self) -> ComposeResult:
        yield LineView(id="list")
        yield BottomLine(above := NoteLine())
        yield above

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


@given(st.integers(1, 160))
def test_the_way_back_and_help_are_the_last_to_give_way(width: int) -> None:
    kept = keys_within(KEYS, width)
    line = "".join(text for text, _ in keys_line(kept, width))
    assert len(line) <= width
    assert kept[0] == KEYS[0]
    assert len(kept) == 1 or (kept[-1] == KEYS[-1] and list(kept[:-1]) == list(KEYS[: len(kept) - 1]))
    if width >= 15:
        assert line.endswith("q back")


async def test_what_is_said_has_precedence_over_what_stands_and_both_over_the_keys() -> None:
    app = Bottom()
    async with app.run_test(size=(80, 4)) as pilot:
        app.line.stand("/orders  3 of 9")
        await pilot.pause()
        assert last(pilot).endswith("/orders  3 of 9") and last(pilot).startswith(" ?help")
        app.line.say("no command 'x'")
        await pilot.pause()
        assert last(pilot).endswith("no command 'x'")
        app.line.stand("")
        app.line._fall_silent()
        await pilot.pause()
        assert last(pilot).strip() == ALL_KEYS


async def test_a_note_hides_no_key_and_is_cut_where_one_sees_it() -> None:
    app = Bottom()
    async with app.run_test(size=(70, 5)) as pilot:
        for note, above in (("y" * 40, " " + "y" * 40 + " "), ("z" * 90, " " + "z" * 63 + "… ")):
            app.line.say(note)
            await pilot.pause()
            assert last(pilot).strip() == ALL_KEYS
            assert screen_lines(pilot.app)[-2].rstrip().endswith(above.rstrip())
        app.line._fall_silent()
        await pilot.pause()
        assert not screen_lines(pilot.app)[-2].strip()


async def test_what_is_over_is_not_read_to_the_end() -> None:
    app = Bottom()
    async with app.run_test(size=(160, 4)) as pilot:
        app.line.announce("no controller")
        app.line.announce("controller is back", instead_of="no controller")
        await pilot.pause()
        assert last(pilot).endswith("controller is back")
        app.line.announce("no live leader")
        app.line.announce("leader is back", instead_of="no live leader")
        await pilot.pause()
        assert last(pilot).endswith("controller is back")
        app.line._fall_silent()
        await pilot.pause()
        assert last(pilot).endswith("leader is back"), "what it was about was never said"


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
