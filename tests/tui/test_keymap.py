"""Keys of the settings: what may be given to which action, what is refused in which words, what a screen says then."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.binding import Binding

from tests.architecture.source_tree import modules, read
from tests.tui.dashboard import kdrill, mode, opened, press, rows, text, until
from tui.app.screens.overlays import help_lines
from tui.app.widgets.line_view import LineView, TreeLines
from tui.app.widgets.text_and_plot import TextPane
from tui.engine.actions import ACTIONS, EVERYWHERE, Action, holding
from tui.engine.conditions import Here
from tui.engine.config import ConfigError, load_config
from tui.engine.keymap import MOTION_KEYS, NAMES, SAME_BYTES, WAY_OUT, changed, key_named, remapped, sign_of_key
from tui.engine.link import PHRASES

LASTING = """
alerts back brokers-back brokers-on clusters command compare copy copy-text describe export failover filter full help
history interrupt join kill kill-rack mark-back mark-on measure palette pane-back pane-on play policy previous quit
quit-or-back refresh related reset restart reverse screen-consumers screen-controller screen-drill screen-events
screen-lab screen-logs screen-overview screen-partitions screen-plans screen-sandbox screen-sweep screen-znodes sort
step-back step-on suspend theme time undo view zombie zoom brake cut expire terminate
"""
"""Names that stand in somebody's settings."""


def keymap(folder: Path, text: str) -> tuple[Action, ...]:
    path = folder / "config.toml"
    path.write_text(f"[keys]\n{text}\n")
    return remapped(load_config(path))


def keys_of(actions: tuple[Action, ...], name: str) -> set[str]:
    return {action.keys for action in actions if action.name == name}


def test_no_settings_change_nothing(tmp_path: Path) -> None:
    assert keymap(tmp_path, "") == ACTIONS
    assert changed(ACTIONS) == {}


def test_names_stay_as_they_are_and_are_one_to_one_with_actions() -> None:
    assert set(LASTING.split()) <= NAMES.keys()
    assert len(set(NAMES.values())) == len(NAMES) == len({action.id for action in ACTIONS})


def test_an_action_holds_by_its_new_keys_wherever_it_holds(tmp_path: Path) -> None:
    actions = keymap(tmp_path, "kill = ['ctrl+K', 'F8']")
    assert keys_of(actions, "kill") == {"ctrl+k,f8"}
    assert {action.sign for action in actions if action.name == "kill"} == {"ctrl+k F8"}
    assert [now for now in actions if now.name != "kill"] == [was for was in ACTIONS if was.name != "kill"]
    assert changed(actions) == {"kill": "ctrl+k,f8"}


def test_two_actions_may_change_places(tmp_path: Path) -> None:
    actions = keymap(tmp_path, "sort = 'o'\nrelated = 's'")
    assert (keys_of(actions, "sort"), keys_of(actions, "related")) == ({"o"}, {"s"})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("# a word\nsrot = 'x'", "3: keys.srot: no such action: did you mean 'sort'? kdrill keys lists them"),
        ("zzzzz = 'x'", "2: keys.zzzzz: no such action: kdrill keys lists them"),
        ("sort = []", "2: keys.sort: it needs a key"),
        ("sort = 'ctrll+x'", "2: keys.sort: no such key 'ctrll+x': write it like o, ?, space, f5, ctrl+x, shift+left"),
        ("sort = 'shift+1'", "2: keys.sort: no such key 'shift+1': write it like o, ?, space, f5, ctrl+x, shift+left"),
        ("sort = ''", "2: keys.sort: no such key '': write it like o, ?, space, f5, ctrl+x, shift+left"),
        ("sort = 'ctrl+m'", "2: keys.sort: 'ctrl+m' cannot be told from enter by a terminal"),
        ("sort = 'ctrl+['", "2: keys.sort: 'ctrl+[' cannot be told from escape by a terminal"),
        ("sort = 'pgdn'", "2: keys.sort: 'pgdn' moves the cursor on every screen"),
        ("sort = ['f5', 'j']", "2: keys.sort: 'j' moves the cursor on every screen"),
        ("sort = 'ctrl+q'", "2: keys.sort: 'ctrl+q' quits, whatever else does"),
        ("view = 'f5'\nsort = 'o'", "3: keys.sort: 'o' is related already, on the screen overview"),
        ("related = 's'", "2: keys.related: 's' is sort already, on the screen overview"),
        ("failover = 'f5'\nundo = 'F5'", "3: keys.undo: 'F5' is failover already, on the screen drill"),
        ("undo = 'F5'\nfailover = 'f5'", "3: keys.failover: 'F5' is undo already, on the screen drill"),
        ("history = '?'", "2: keys.history: '?' is help already, on the screen znodes"),
    ],
)
def test_what_cannot_be_is_refused_with_file_and_line(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(ConfigError) as refused:
        keymap(tmp_path, text)
    assert str(refused.value) == f"{tmp_path}/config.toml:{said}"


def test_a_key_may_serve_two_screens(tmp_path: Path) -> None:
    actions = keymap(tmp_path, "history = 'f7'\nfailover = 'f7'")
    assert keys_of(actions, "history") == keys_of(actions, "failover") == {"f7"}


KEYS = st.sampled_from([*"abdejklowxyzJKOWXYZ019!?,.<>=", "f5", "F6", "ctrl+x", "ctrl+o", "space", "esc", "tab", "up"])


@given(st.dictionaries(st.sampled_from(sorted(NAMES)), st.lists(KEYS, min_size=1, max_size=3), max_size=5))
def test_settings_are_refused_or_every_key_has_one_meaning_in_each_place(
    tmp_path_factory: pytest.TempPathFactory, wanted: dict[str, list[str]]
) -> None:
    folder = tmp_path_factory.getbasetemp()
    try:
        actions = keymap(folder, "\n".join(f"{name} = {keys}" for name, keys in wanted.items()))
    except ConfigError:
        return
    for name, keys in wanted.items():
        assert keys_of(actions, name) == {",".join(dict.fromkeys(map(key_named, keys)))}
    for place in EVERYWHERE:
        bound = [key for action in holding(place, actions) for key in action.keys.split(",")]
        assert len(bound) == len(set(bound))
        assert not MOTION_KEYS & set(bound)


def test_reserved_keys_are_those_that_widgets_move_by() -> None:
    moving = [binding for widget in (LineView, TreeLines, TextPane) for binding in widget.BINDINGS]
    assert {key for binding in moving for key in str(getattr(binding, "key", "")).split(",")} == MOTION_KEYS


@given(st.characters(min_codepoint=33, max_codepoint=0x2FFF, exclude_categories=["C", "Z"]).filter(lambda c: c != ","))
def test_a_character_is_called_as_textual_calls_it(character: str) -> None:
    (binding,) = Binding.make_bindings([Binding(character, "x", "")])
    assert key_named(character) == binding.key


@pytest.mark.parametrize("action", ACTIONS, ids=lambda action: f"{action.name}-{action.places[0]}")
def test_a_key_can_be_written_as_it_is_shown(action: Action) -> None:
    keys = action.keys.split(",")
    assert " ".join(map(sign_of_key, keys)) == action.sign
    assert [key_named(sign) for sign in action.sign.split()] == keys
    assert not {WAY_OUT, *SAME_BYTES} & set(keys) - {WAY_OUT}


def test_help_makes_room_for_long_keys(tmp_path: Path) -> None:
    actions = keymap(tmp_path, "sort = ['ctrl+shift+f5', 'ctrl+shift+f6']")
    signs = {line[0][0] for line in help_lines(Here("overview"), actions) if len(line) == 3}
    assert len({len(sign) for sign in signs}) == 1, signs
    assert "ctrl+shift+F5 ctrl+shift+F6  " in signs


SETTINGS = """
sort = "o"
related = ["f5", "s"]
help = "f12"
history = "ctrl+y"
screen-partitions = "F3"
screen-overview = "f9"
theme = "ctrl+t"
quit = "f10"
step-back = "ctrl+left"
palette = "f11"
policy = "ctrl+p"
"""


async def test_what_the_data_process_says_of_keys_is_true_too(still: str, tmp_path: Path) -> None:
    actions = keymap(tmp_path, "kill = 'f5'\nkill-rack = 'f6'")
    async with opened(still, size=(120, 40), actions=actions) as pilot:
        await press(pilot, "6")
        await until(
            pilot, lambda: "No failure chosen. F5: fail this" in text(pilot) and "F6: fail its rack" in text(pilot)
        )
        await until(pilot, lambda: "F5 fail  F6 fail rack" in text(pilot))
        assert not re.search(r"\b[KR]( kills|: fail)", text(pilot))
        await press(pilot, "9")
        await until(pilot, lambda: "F5: a broker leaves" in text(pilot))


def test_no_two_actions_have_the_same_key_to_begin_with() -> None:
    owners: dict[str, set[str]] = {}
    for action in ACTIONS:
        for sign in action.sign.split():
            owners.setdefault(sign, set()).add(action.id)
    assert all(len(ids) == 1 for ids in owners.values()), owners


@pytest.mark.parametrize("phrase", PHRASES)
def test_the_data_process_says_so_with_the_keys_that_kdrill_comes_with(phrase: str) -> None:
    said = phrase.format_map({action.id: action.sign.partition(" ")[0] for action in ACTIONS})
    assert any(said in read(path) for path in modules("tui") if path.is_relative_to("tui/engine"))


async def test_a_screen_obeys_the_new_keys_and_names_no_other(still: str, tmp_path: Path) -> None:
    actions = keymap(tmp_path, SETTINGS)
    async with opened(still, size=(160, 100), actions=actions) as pilot:
        assert "[F9]Overview" in text(pilot)
        await press(pilot, "f3")
        assert mode(pilot) == "partitions"
        await until(pilot, lambda: "[F3]Partitions" in text(pilot))
        await until(pilot, lambda: "F12 help  z zoom  /filter" in text(pilot).splitlines()[-1])
        assert "F12 help" in text(pilot).splitlines()[1]
        await press(pilot, "3")
        assert mode(pilot) == "partitions"
        await press(pilot, "o")
        assert kdrill(pilot).view_state.of(rows(pilot).list_name).sort
        await press(pilot, "ctrl+c")
        await until(pilot, lambda: "F10 or ctrl+q quits" in text(pilot))
        await press(pilot, "ctrl+t")
        assert kdrill(pilot).theme == "light"
        await press(pilot, "f12")
        shown = text(pilot)
        told = [(each.sign, f" {each.label} ") for each in holding("partitions", actions)]
        assert all(re.search(f"{re.escape(sign)} +{label}", shown) for sign, label in told)
        await press(pilot, "question_mark", "q", "f11")
        await until(pilot, lambda: "go to  F5 s" in text(pilot))
        await press(pilot, "escape", "f9")
        assert mode(pilot) == "overview"
        await press(pilot, "Q")
        assert kdrill(pilot).return_code is None
        await pilot.press("f10")
    assert kdrill(pilot).return_code == 0
