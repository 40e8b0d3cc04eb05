"""Typing, editing, history, and a caret that stays in view."""

from typing import ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.app import ComposeResult
from textual.binding import Binding
from textual.events import Key, Paste

from tests.tui.hostile import HOSTILE
from tests.tui.quiet import resized
from tests.tui.screen_text import screen_lines
from tui.app.theme import ThemedApp
from tui.app.widgets.line_view import LineView
from tui.app.widgets.prompt_line import PromptLine, TypedLine
from tui.engine.text import cells


class PromptApp(ThemedApp[None]):
    def __init__(self) -> None:
        super().__init__()
        self.heard: list[tuple[str, str, str]] = []

    def compose(self) -> ComposeResult:
        yield PromptLine()

    def on_mount(self) -> None:
        self.prompt.begin("/")

    @property
    def prompt(self) -> PromptLine:
        return self.query_one(PromptLine)

    def on_prompt_line_prompt_changed(self, message: PromptLine.PromptChanged) -> None:
        self.heard.append(("changed", message.sign, message.text))

    def on_prompt_line_prompt_accepted(self, message: PromptLine.PromptAccepted) -> None:
        self.heard.append(("accepted", message.sign, message.text))

    def on_prompt_line_prompt_cancelled(self, message: PromptLine.PromptCancelled) -> None:
        self.heard.append(("cancelled", message.sign, message.text))


async def test_typing_is_told_and_enter_accepts() -> None:
    app = PromptApp()
    async with app.run_test(size=(60, 2)) as pilot:
        await pilot.press("a", ":", "space", "/", "[")
        assert screen_lines(app)[0] == " /a: /["
        await pilot.press("enter")
        assert app.heard[-2:] == [("changed", "/", "a: /["), ("accepted", "/", "a: /[")]
        assert not app.prompt.display


class FilterApp(ThemedApp[None]):
    """A list and a hidden prompt that a key opens, as on every screen."""

    BINDINGS: ClassVar = [Binding("slash", "filter", priority=True)]

    def compose(self) -> ComposeResult:
        yield LineView()
        yield PromptLine()

    def on_mount(self) -> None:
        self.query_one(PromptLine).display = False
        self.query_one(LineView).focus()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return action != "filter" or not isinstance(self.focused, PromptLine)

    def action_filter(self) -> None:
        self.query_one(PromptLine).begin("/")


async def test_no_letter_is_lost_that_follows_the_sign_at_once() -> None:
    app = FilterApp()
    async with app.run_test(size=(60, 12)) as pilot:
        for key, character in (("slash", "/"), ("j", "j"), ("G", "G"), ("slash", "/")):
            app.post_message(Key(key, character))
        await pilot.pause()
        assert app.query_one(PromptLine).text == "jG/"
        assert screen_lines(app)[-1] == " /jG/"


async def test_out_of_view_it_takes_no_key_though_nothing_had_the_focus_before() -> None:
    app = FilterApp()
    async with app.run_test(size=(60, 12)) as pilot:
        app.screen.set_focus(None)
        app.query_one(PromptLine).begin("/")
        app.query_one(PromptLine).action_accept()
        assert isinstance(app.focused, LineView)  # at once: the next key may be here already
        await pilot.pause()
        assert isinstance(app.focused, LineView)


async def test_escape_cancels() -> None:
    app = PromptApp()
    async with app.run_test(size=(60, 2)) as pilot:
        await pilot.press("x", "escape")
        assert app.heard[-1] == ("cancelled", "/", "x")


async def test_editing() -> None:
    app = PromptApp()
    async with app.run_test(size=(60, 2)) as pilot:
        await pilot.press(*"one two", "left", "left", "delete", "backspace", "x")
        assert app.prompt.text == "one xo"
        await pilot.press("home", "delete", "end", "backspace", "!")
        assert app.prompt.text == "ne x!"
        await pilot.press("ctrl+left", "ctrl+k")
        assert app.prompt.text == "ne "
        await pilot.press("ctrl+u")
        assert app.prompt.text == ""
        await pilot.press("backspace", "delete", "left", "right", "ctrl+right")
        assert app.prompt.text == ""


async def test_history_is_kept_for_each_sign_and_the_draft_survives() -> None:
    app = PromptApp()
    async with app.run_test(size=(60, 2)) as pilot:
        for text in ("one", "two", "two"):
            app.prompt.begin("/")
            await pilot.press(*text, "enter")
        app.prompt.begin(":")
        await pilot.press(*"topic", "enter")
        app.prompt.begin("/")
        await pilot.press("d", "up")
        assert app.prompt.text == "two"
        await pilot.press("up", "up", "up")
        assert app.prompt.text == "one"
        await pilot.press("down", "down", "down")
        assert app.prompt.text == "d"


async def test_a_paste_is_one_line() -> None:
    app = PromptApp()
    async with app.run_test(size=(60, 2)) as pilot:
        app.prompt.post_message(Paste("orders\nrm -rf\n"))
        await pilot.pause()
        assert app.prompt.text == "orders"
        app.prompt.post_message(Paste(""))
        await pilot.pause()
        assert app.prompt.text == "orders"


async def test_the_word_on_the_right_gives_way_to_the_text() -> None:
    app = PromptApp()
    async with app.run_test(size=(40, 2)) as pilot:
        await pilot.press(*"orders")
        app.prompt.say("16 of 3,208")
        await pilot.pause()
        assert screen_lines(app)[0] == " /orders                     16 of 3,208"
        await resized(pilot, 16, 2)
        assert screen_lines(app)[0] == " /orders"


@pytest.mark.parametrize("width", [3, 12, 40])
async def test_the_caret_stays_in_view(width: int) -> None:
    app = PromptApp()
    async with app.run_test(size=(width, 2)) as pilot:
        app.prompt.begin(":", "x" * 100 + "日本")
        for key in ("left", "left", "home", "end"):
            await pilot.press(key)
            strip = app.screen._compositor.render_strips()[0]
            assert cells(strip.text) == width
            assert any(segment.style and segment.style.reverse for segment in strip)


@pytest.mark.parametrize("text", HOSTILE)
async def test_hostile_text_is_shown_and_not_obeyed(text: str) -> None:
    app = PromptApp()
    async with app.run_test(size=(60, 2)) as pilot:
        app.prompt.begin("/", text)
        app.prompt.say(text, "error")
        for key in ("left", "left", "left", "home"):
            await pilot.press(key)
            strip = app.screen._compositor.render_strips()[0]
            assert strip.text.isprintable()
            assert cells(strip.text) == 60


EDITS = ("rubbed_out", "deleted", "cleared_before", "cleared_after", "word_left", "word_right")


@given(st.text(), st.integers(-3, 30), st.lists(st.sampled_from(EDITS) | st.text(max_size=3)))
def test_the_caret_is_always_inside_the_text(text: str, caret: int, edits: list[str]) -> None:
    line = TypedLine(text).moved(caret)
    for edit in edits:
        line = getattr(line, edit)() if edit in EDITS else line.typed(edit)
        assert 0 <= line.caret <= len(line.text)


@given(st.text("ab "), st.integers(0, 20))
def test_what_was_typed_can_be_rubbed_out(text: str, caret: int) -> None:
    line = TypedLine(text).moved(caret)
    assert line.typed("x").rubbed_out() == line
    assert line.deleted().text == text[: line.caret] + text[line.caret + 1 :]


@given(st.text("ab "))
def test_words_are_passed_in_both_directions(text: str) -> None:
    words = len(text.split())
    line = TypedLine(text, len(text))
    for _ in range(words):
        line = line.word_left()
    assert text[: line.caret].strip() == ""
    line = line.moved(0)
    for _ in range(words):
        line = line.word_right()
    assert text[line.caret :].strip() == ""
