"""Rules that are kept are those that Textual would have parsed anew, and nodes have those that it would give them."""

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from textual.app import App, ComposeResult
from textual.containers import Vertical
from textual.css.stylesheet import Stylesheet
from textual.dom import DOMNode
from textual.theme import BUILTIN_THEMES
from textual.widget import Widget
from textual.widgets import Button, Input, Label

import tui.app
from tui.app.theme import KeptStylesheet, Parsed, ThemedApp

OURS = (Path(tui.app.__file__).with_name("kdrill.tcss")).read_text()
LATER = "#list { background: $surface; color: $error; }"
DARK, LIGHT = ({**BUILTIN_THEMES[name].to_color_system().generate()} for name in ("textual-dark", "textual-light"))


def with_sources(sheet: Stylesheet, *sources: str) -> Stylesheet:
    for number, source in enumerate(sources):
        sheet.add_source(source, read_from=("", str(number)))
    sheet.reparse()
    return sheet


@pytest.mark.parametrize("variables", [(DARK,), (DARK, LIGHT), (DARK, LIGHT, DARK)], ids=len)
@pytest.mark.parametrize("sources", [(OURS,), (OURS, LATER)], ids=len)
def test_the_rules_are_textuals_own(variables: tuple[dict[str, str], ...], sources: tuple[str, ...]) -> None:
    kept = with_sources(KeptStylesheet(variables=variables[0]), OURS)
    for each in variables:
        kept.set_variables(each)
        with_sources(kept, *sources)
    assert kept.css == with_sources(Stylesheet(variables=variables[-1]), *sources).css


def test_what_is_parsed_once_stays() -> None:
    kept = with_sources(KeptStylesheet(variables=DARK), OURS)
    before = list(kept.rules)
    kept.set_variables(dict(DARK))
    after = with_sources(kept, OURS, LATER).rules
    assert len(after) == len(before) + 1
    assert all(one is other for one, other in zip(before, after, strict=False))


def test_what_another_app_has_parsed_is_not_parsed_again() -> None:
    parsed: Parsed = {}
    before, after, light = (
        with_sources(KeptStylesheet(variables=variables, parsed=parsed), OURS, LATER)
        for variables in (DARK, dict(DARK), LIGHT)
    )
    assert all(one is other for one, other in zip(before.rules, after.rules, strict=True))
    assert light.css == with_sources(Stylesheet(variables=LIGHT), OURS, LATER).css != before.css


class Nested(ThemedApp[None]):
    CSS = """
    .-wide #inner { width: 7; }
    #outer.-full .leaf { height: 3; }
    .leaf:focus { background: red; }
    #inner:focus-within { padding: 1; }
    .leaf:first-child { margin: 1; }
    .-wide > #outer:disabled .leaf { color: $error; }
    """

    def compose(self) -> ComposeResult:
        with Vertical(id="outer"), Vertical(id="inner"):
            yield Input(classes="leaf")
            yield Button("b", classes="leaf")


CHANGES: list[Callable[[Nested], object]] = [
    lambda app: app.screen.toggle_class("-wide"),
    lambda app: app.screen.toggle_class("-nobody-asks-for-this"),
    lambda app: app.query_one("#outer").toggle_class("-full"),
    lambda app: app.query_one(Button).toggle_class("leaf"),
    lambda app: app.screen.set_focus(app.query_one(Input)),
    lambda app: app.screen.set_focus(None),
    lambda app: setattr(app.query_one("#outer"), "disabled", not app.query_one("#outer").disabled),
    lambda app: setattr(app, "theme", "light" if app.theme == "dark" else "dark"),
    lambda app: app.query_one("#inner").mount(Label("new", classes="leaf"), before=0),
]


def given(app: App[None]) -> list[object]:
    """The rules that each node has."""
    return [dict(node.styles.base.get_rules()) for node in app.screen.walk_children(with_self=True)]


async def test_whatever_changes_each_node_has_the_rules_that_textual_would_give_it() -> None:
    dice, app = random.Random(0), Nested()
    async with app.run_test() as pilot:
        for _ in range(60):
            dice.choice(CHANGES)(app)
            await pilot.pause()
            has = given(app)
            for node in app.screen.walk_children(with_self=True):
                Stylesheet.apply(app.stylesheet, node)
            assert has == given(app)


async def test_a_class_that_no_rule_asks_for_costs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    app, replaced = Nested(), list[DOMNode]()
    async with app.run_test() as pilot:
        await pilot.pause()
        replace = Stylesheet.replace_rules
        monkeypatch.setattr(
            KeptStylesheet,
            "replace_rules",
            lambda _, node, *rules, **how: (replaced.append(node), replace(node, *rules, **how)),
        )
        app.screen.add_class("-wide")
        assert app.query_one("#inner") in replaced and app.query_one("#outer") not in replaced
        replaced.clear()
        app.screen.add_class("-nobody-asks-for-this")
        assert not [node for node in replaced if isinstance(node, Widget) and not node._get_component_classes()]
