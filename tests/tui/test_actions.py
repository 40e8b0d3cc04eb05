"""The registry: one meaning per key and place, motions that nothing shadows, and help that leaves nothing out."""

from collections.abc import Iterator

import pytest

from tui.app.commands import WORDS
from tui.app.screens.overlays import LABELS, command_lines, help_lines
from tui.app.screens.page import bindings
from tui.app.widgets.line_view import LineView, TreeLines
from tui.app.widgets.text_and_plot import TextPane
from tui.engine.actions import ACTIONS, EVERYWHERE, MOTIONS, SCREENS, Action, footer_keys, holding
from tui.engine.conditions import (
    BREAKING,
    NEEDS,
    NOT_A_SANDBOX,
    READ_ONLY,
    WRITING,
    Here,
    needs,
    reason,
    reason_of_word,
)
from tui.engine.messages import HeaderFacts
from tui.engine.questions import (
    NO_DRILL,
    DrillPlan,
    ForecastQuestion,
    LabTrial,
    MadeUp,
    PlanQuestion,
    PreviewQuestion,
    SweepQuestion,
)
from tui.engine.view_state import ListState, ViewState

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
    told = [tuple(text.strip() for text, _ in line) for line in help_lines(Here(screen))]
    keys = [words for words in told if len(words) > 1 and not words[-1].startswith("not now")]
    assert sorted(keys) == sorted([*MOTIONS, *((each.sign, each.label, each.help) for each in holding(screen))])


@pytest.mark.parametrize("screen", SCREENS)
def test_help_begins_with_the_keys_of_this_screen(screen: str) -> None:
    lines = [tuple(text.strip() for text, _ in line) for line in help_lines(Here(screen))]
    headings = [words[0] for words in lines if len(words) == 1 and words[0]]
    has_its_own = any(each.group == "here" for each in holding(screen))
    assert headings == [*(["Here"] if has_its_own else []), "Move", "Go", "Everywhere"]
    assert all(set(SCREENS) - set(each.places) for each in holding(screen) if each.group == "here")


@pytest.mark.parametrize("screen", SCREENS)
def test_help_fits_into_80_columns(screen: str) -> None:
    widths = [sum(len(text) for text, _ in line) for line in help_lines(Here(screen))]
    assert max(widths) <= 77


@pytest.mark.parametrize("place", EVERYWHERE)
def test_the_footer_names_keys_that_hold_by_the_words_of_help(place: str) -> None:
    words = {(action.sign.split()[0], action.label) for action in holding(place)}
    assert set(footer_keys(place)) <= words


@pytest.mark.parametrize("screen", SCREENS)
def test_the_footer_has_help_the_five_most_useful_keys_and_the_way_back(screen: str) -> None:
    first, *middle, last = footer_keys(screen)
    assert (first, last) == (("?", "help"), ("q", "back"))
    assert len(middle) == 5


@pytest.mark.parametrize("screen", SCREENS)
def test_the_footer_offers_no_key_that_can_do_nothing(screen: str) -> None:
    here = Here(screen, orders=1)
    keys = footer_keys(screen, is_possible=lambda action: not reason(action, here))
    impossible = {action.sign.split()[0] for action in holding(screen) if reason(action, here)}
    assert "s" in impossible and not {sign for sign, _ in keys} & impossible


def test_a_label_is_one_word_or_two_and_short_enough_for_help() -> None:
    assert all(1 <= len(action.label.split()) <= 2 and len(action.label) < LABELS for action in ACTIONS)


SEVERAL_WORDS = {
    "filter": {"filter", "find"},
    "kill": {"fail", "kill", "leave", "remove"},
    "policy": {"policy", "tolerance"},
    "made_up": {"invent", "change"},
    "play": {"play", "pause", "in time", "with plan"},
    "pick": {"pick", "in/out", "play"},
    "act": {"plan", "review", "stop"},
    "wish('cut')": {"cut", "fail folder"},
    "join": {"join", "voter"},
}
"""Ids whose key does another thing on another screen."""


def test_an_action_has_one_word_and_a_word_means_one_key_in_a_place() -> None:
    words: dict[str, set[str]] = {}
    for action in ACTIONS:
        words.setdefault(action.id, set()).add(action.label)
    assert {id: labels for id, labels in words.items() if len(labels) > 1} == SEVERAL_WORDS
    for place in EVERYWHERE:
        labels = sorted(action.label for action in holding(place) if action.id != "back")  # as q
        assert labels == sorted({*labels})


def test_what_is_needed_is_said_of_actions_that_there_are() -> None:
    ids = {action.id for action in ACTIONS}
    there = {(place, action.id) for action in ACTIONS for place in action.places}
    assert all(key in ids if isinstance(key, str) else key in there for key in NEEDS)


@pytest.mark.parametrize("action", [each for each in ACTIONS if any(needs(each, place) for place in each.places)])
def test_a_reason_is_a_few_words_and_vanishes_with_its_cause(action: Action) -> None:
    for place in set(action.places) - ({"sweep"} if action.id == "related" else set()):
        told = {reason(action, here) for here in cases(place)}
        held = [{bool(need.holds(here)) for here in cases(place)} for need in needs(action, place)]
        assert all(each == {True, False} for each in held)
        assert all(len(words) <= 68 and "{" not in words for words in told)
        assert len(told) > 1 or not needs(action, place), f"{action.id} on {place} is never refused"


def cases(place: str) -> Iterator[Here]:
    """Each condition holds in one of them, and fails in another."""
    yield Here(place, clusters=0, has_text=False, orders=1)
    yield Here(place, is_served=True)
    yield Here(place, HeaderFacts(generation="kraft"))
    group, chosen = MadeUp(("orders*",), 4), ListState(column="b3", scope="billing", view="matrix")
    graph = ListState(scope="billing", view="graph")
    state = ViewState(
        lists={"group": graph, "lab-strategies": chosen, "partitions": chosen},
        drills=(NO_DRILL, DrillPlan(kill=(1,))),
        trial=LabTrial(leaves="c1"),
        plan=PlanQuestion(asked=True),
        sweep=SweepQuestion(fleet="random"),
        forecast=ForecastQuestion(add=((7, "r1"),)),
        at=7,
    )
    for list_name in ("plan-batches", "brokers"):
        yield Here(
            place,
            HeaderFacts(kind="SANDBOX", errors=1, recording="recordings/cluster=east"),
            state,
            list_name,
            "row",
            "row",
        )
    lists = {"group": ListState(view="table"), "lab-strategies": ListState(scope=group.keys[0])}
    yield Here(place, state=ViewState(lists=lists, preview=PreviewQuestion(made_up=group)))


def test_why_a_key_can_do_nothing_names_the_keys_of_the_settings() -> None:
    actions = tuple(each._replace(keys="f5", sign="F5") if each.id == "kill" else each for each in ACTIONS)
    step = next(each for each in holding("drill") if each.id == "step(1)")
    assert reason(step, Here("drill")) == "no failure is chosen: K fails a broker"
    assert reason(step, Here("drill"), actions) == "no failure is chosen: F5 fails a broker"


def test_commands_say_why_they_are_refused() -> None:
    here = Here("overview")
    assert reason_of_word("reassign", here) == READ_ONLY
    assert reason_of_word("fill", here) == NOT_A_SANDBOX
    assert not reason_of_word("fill", here._replace(facts=HeaderFacts(kind="SANDBOX", allows_writes=True)))
    assert set(WORDS) >= WRITING | BREAKING
    assert any(NOT_A_SANDBOX in text for line in command_lines(here) for text, _ in line)


def test_every_action_is_bound_where_it_holds() -> None:
    for place in EVERYWHERE:
        assert [binding.key for binding in bindings(place)] == [action.keys for action in holding(place)]
