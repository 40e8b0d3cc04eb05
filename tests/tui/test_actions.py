"""The registry: one meaning per key and place, motions that nothing shadows, and help that leaves nothing out."""

import pytest

from tui.app.screens.overlays import help_lines
from tui.app.screens.page import bindings
from tui.app.widgets.line_view import LineView, TreeLines
from tui.app.widgets.text_pane import TextPane
from tui.engine.actions import ACTIONS, EVERYWHERE, MOTIONS, SCREENS, footer_keys, holding

NEVER = (
    *(f"ctrl+{letter}" for letter in "abshijmwtn"),
    *("ctrl+backslash", "ctrl+left_square_bracket", "left_square_bracket", "right_square_bracket"),
    *("left_curly_bracket", "right_curly_bracket", "backslash", "vertical_line", "tilde"),
    *(f"f{number}" for number in range(2, 13)),
)
"""Multiplexer prefixes, flow control, bytes that are other keys, keys that need AltGr."""


def keys_of(place: str) -> list[str]:
    return [key for action in holding(place) for key in action.keys.split(",")]


@pytest.mark.parametrize("place", EVERYWHERE)
def test_a_key_has_one_meaning_in_a_place(place: str) -> None:
    keys = keys_of(place)
    assert len(keys) == len(set(keys))


def test_a_key_has_one_meaning_on_all_screens() -> None:
    meanings = {(key, action.id) for action in ACTIONS for key in action.keys.split(",")}
    assert len(meanings) == len({key for key, _ in meanings})


@pytest.mark.parametrize("place", EVERYWHERE)
@pytest.mark.parametrize("moving", [LineView, TreeLines, TextPane])
def test_nothing_shadows_a_motion_and_no_motion_an_action(place: str, moving: type[LineView | TextPane]) -> None:
    motions = {key for binding in moving.BINDINGS for key in str(getattr(binding, "key", "")).split(",")}
    assert not motions & set(keys_of(place))


def test_keys_that_terminals_keep_for_themselves_are_not_bound() -> None:
    bound = {key for place in EVERYWHERE for key in keys_of(place)}
    assert not bound & set(NEVER)
    assert not {key for key in bound if key.startswith("alt+")}


@pytest.mark.parametrize("screen", SCREENS)
def test_help_has_the_motions_and_every_action_that_holds_and_no_other(screen: str) -> None:
    told = [tuple(text.strip() for text, _ in line) for line in help_lines(screen) if line]
    assert told == [*MOTIONS, *((action.sign, action.help) for action in holding(screen))]


@pytest.mark.parametrize("screen", SCREENS)
def test_help_fits_into_80_columns(screen: str) -> None:
    widths = [sum(len(text) for text, _ in line) for line in help_lines(screen)]
    assert max(widths) <= 77


@pytest.mark.parametrize("place", EVERYWHERE)
def test_the_footer_names_keys_that_hold(place: str) -> None:
    signs = {action.sign.split()[0] for action in holding(place)}
    assert {sign for sign, _ in footer_keys(place)} <= signs


@pytest.mark.parametrize("screen", SCREENS)
def test_the_footer_begins_with_help_and_filter(screen: str) -> None:
    assert footer_keys(screen)[:3] == [("?", "help"), ("/", "filter"), (":", "cmd")]


def test_every_action_is_bound_where_it_holds() -> None:
    for place in EVERYWHERE:
        assert [binding.key for binding in bindings(place)] == [action.keys for action in holding(place)]
