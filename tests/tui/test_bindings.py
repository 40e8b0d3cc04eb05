"""Every key of the registry on every screen, pressed on the real thing: it does what it is there for.

What is expected stands in a table; an action without a row there fails, so that no key comes without its test.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from textual.command import CommandPalette
from textual.screen import Screen

from tests.thorough import the_rest_when_asked
from tests.tui.conftest import Cluster
from tests.tui.dashboard import Keys, kdrill, mode, opened, press, rows, settled, text, until
from tests.tui.data.logs.log_folders import write_log
from tests.tui.screens.pages import PAGES, arrive, look_into_logs
from tests.tui.screens.still_sandbox import WithSandbox
from tui.app.app import Kdrill
from tui.app.screens.live_screen import LiveScreen
from tui.app.screens.overlays import Describe, Help
from tui.app.widgets.prompt_line import PromptLine
from tui.engine.actions import OVERLAY, SCREENS, Action, holding
from tui.engine.view_state import ViewState


class Before(NamedTuple):
    """How it was before the key."""

    state: ViewState
    at: int
    text: str
    focused: object
    theme: str
    wakes: int


Effect = Callable[[Keys, Before], object]


class Expected(NamedTuple):
    """What a key does; `first` are keys without which it would have nothing to do."""

    effect: Effect
    first: tuple[str, ...] = ()


def leads_to(name: str) -> Expected:
    return Expected(lambda pilot, _: mode(pilot) == name and len(kdrill(pilot).screen_stack) == 1)


def opens(kind: type[Screen[Any]]) -> Expected:
    return Expected(lambda pilot, _: isinstance(kdrill(pilot).screen, kind))


def asks(sign: str, beginning: str = "") -> Expected:
    def is_asked(pilot: Keys, _: Before) -> bool:
        prompt = kdrill(pilot).screen.query_one(PromptLine)
        return prompt.has_focus and prompt.sign == sign and prompt.text.startswith(beginning)

    return Expected(is_asked)


def says(part: str) -> Expected:
    return Expected(lambda pilot, _: part in said(pilot))


def chooses(part: Callable[[ViewState], object], *first: str) -> Expected:
    """Another part of what the operator chose."""
    return Expected(lambda pilot, before: part(kdrill(pilot).view_state) != part(before.state), first)


def shows_else(*first: str) -> Expected:
    """Something else is on the screen, not counting the last line."""
    return Expected(lambda pilot, before: text(pilot).split("\n")[:-1] != before.text.split("\n")[:-1], first)


def travels(*first: str) -> Expected:
    """Another moment is looked at."""
    return chooses(lambda state: state.at, *first)


def ends(pilot: Keys, _: Before) -> bool:
    return vars(pilot.app)["ended"] in ([0], [None])


def said(pilot: Keys) -> str:
    page = kdrill(pilot).page
    return page.bottom._said if page is not None else ""


def forms(state: ViewState) -> Mapping[str, str]:
    return {name: each.view for name, each in state.lists.items()}


def orders(state: ViewState) -> Mapping[str, tuple[str, bool]]:
    return {name: (each.sort, each.reverse) for name, each in state.lists.items()}


def offsets(state: ViewState) -> Mapping[str, int]:
    return {name: each.offset for name, each in state.lists.items()}


def is_filtered(state: ViewState) -> bool:
    return any(each.filter for each in state.lists.values())


EXPECTED: Mapping[str | tuple[str, str], Expected] = {
    "help": opens(Help),
    "filter": asks("/"),
    "command": asks(":"),
    "command_palette": opens(CommandPalette),
    **{f"screen('{name}')": leads_to(name) for name in SCREENS},
    "alerts": Expected(lambda pilot, _: mode(pilot) == "overview" and rows(pilot).list_name == "findings"),
    "sort": chooses(orders),
    ("znodes", "sort"): says("one order"),
    "reverse": chooses(orders),
    "view": chooses(forms),
    ("sweep", "view"): chooses(lambda state: state.sweep.kind),
    ("sweep", "play"): chooses(lambda state: state.sweep.fleet),
    "reseed": says("only random sequences have a seed"),
    ("sweep", "act"): says("nothing is being worked out"),
    ("plans", "view"): chooses(lambda state: state.plan.reach),
    "describe": opens(Describe),
    "related": leads_to("partitions"),
    ("overview", "related"): leads_to("znodes"),
    ("partitions", "related"): leads_to("znodes"),
    ("consumers", "related"): leads_to("znodes"),
    ("controller", "related"): leads_to("znodes"),
    ("lab", "related"): leads_to("consumers"),
    ("events", "related"): Expected(lambda pilot, _: mode(pilot) != "events"),
    ("sweep", "related"): says("nothing to go to"),
    ("forecast", "refresh"): chooses(lambda state: state.forecast.take),
    ("forecast", "engine"): chooses(lambda state: state.forecast.engine),
    ("forecast", "act"): says("nothing is being worked out"),
    ("forecast", "related"): leads_to("partitions"),
    "more": chooses(lambda state: state.forecast.histories),
    ("history", "view"): says("no recording is open"),
    ("history", "act"): says("no recording is open"),
    ("history", "copy"): says("nothing to copy"),
    "next_cluster": says("no recording is open"),
    ("history", "describe"): says("nothing is selected"),
    ("history", "related"): says("nothing is selected"),
    ("history", "refresh"): chooses(lambda state: state.history.take),
    ("history", "engine"): chooses(lambda state: state.history.engine),
    ("lab", "engine"): chooses(lambda state: state.preview.engine),
    ("sweep", "engine"): chooses(lambda state: state.sweep.engine),
    "copy": says("copied"),
    "copy_text": says("copied"),
    ("consumers", "copy_text"): says("no text to copy"),
    ("lab", "copy_text"): says("cop"),
    "history": opens(Describe),
    "records": says("only KRaft has a metadata log"),
    "zoom": chooses(forms),
    ("lab", "moves"): shows_else(),
    ("consumers", "moves"): Expected(lambda pilot, before: said(pilot) or text(pilot) != before.text),
    "brokers(1)": chooses(offsets),
    "brokers(-1)": chooses(offsets, "right_parenthesis"),
    ("drill", "pick"): chooses(lambda state: state.marked),
    ("partitions", "pick"): chooses(lambda state: state.marked, "z", "z"),
    ("plans", "pick"): says("review"),
    ("lab", "pick"): chooses(lambda state: state.played),
    "for_real": leads_to("sandbox"),
    ("partitions", "for_real"): Expected(leads_to("sandbox").effect, ("z", "z")),
    ("drill", "kill"): chooses(lambda state: state.drill.kill),
    ("partitions", "kill"): Expected(leads_to("drill").effect, ("z", "z")),
    ("sandbox", "kill"): says("Kill("),
    ("lab", "kill"): chooses(lambda state: state.trial.leaves),
    ("plans", "kill"): chooses(lambda state: state.plan.remove),
    ("controller", "kill"): leads_to("drill"),
    "kill_rack": chooses(lambda state: state.drill),
    ("drill", "wish('terminate')"): chooses(lambda state: state.drill.stop),
    ("drill", "failover"): chooses(lambda state: state.drill.controllers),
    ("drill", "wish('cut')"): chooses(lambda state: state.drill.folders),
    ("drill", "join"): chooses(lambda state: state.drill.voters),
    ("drill", "restart"): chooses(lambda state: state.drill.restart_after_ms),
    ("sandbox", "restart"): says("Start("),
    ("drill", "policy"): chooses(lambda state: state.drill.unclean),
    ("sweep", "policy"): chooses(lambda state: state.sweep.unclean),
    ("plans", "policy"): chooses(lambda state: state.plan.tolerance_percent),
    ("drill", "undo"): chooses(lambda state: state.drills, "R"),
    ("sandbox", "undo"): says("Undo("),
    ("drill", "reset"): chooses(lambda state: state.drill.kill),
    ("sandbox", "reset"): says("UndoAll("),
    ("lab", "reset"): chooses(lambda state: state.trial.joins, "J"),
    ("plans", "reset"): chooses(lambda state: state.plan.asked),
    "step(-1)": travels(),
    "step(1)": travels("comma", "comma"),
    "mark(-1)": travels(),
    "mark(1)": travels("less_than_sign", "less_than_sign"),
    ("drill", "step(-1)"): chooses(lambda state: state.moment, "full_stop", "full_stop"),
    ("drill", "step(1)"): chooses(lambda state: state.moment, "comma", "comma"),
    ("drill", "mark(-1)"): chooses(lambda state: state.moment, "full_stop", "full_stop", "full_stop"),
    ("drill", "mark(1)"): chooses(lambda state: state.moment, "less_than_sign", "less_than_sign"),
    "time": asks("@"),
    "play": travels(),
    ("drill", "play"): chooses(lambda state: state.moment),
    "compare": Expected(opens(Describe).effect, ("comma",)),
    "put_mark": asks(":", "mark "),
    "acknowledge": says("which finding"),
    "wish('terminate')": says("Terminate("),
    "wish('pause')": says("Pause("),
    "wish('expire')": says("ExpireSession("),
    "failover": says("KillController("),
    "wish('cut')": says("CutLink("),
    "wish('brake')": says("SlowLink("),
    "join": chooses(lambda state: state.trial.joins),
    "made_up": asks(":", "readers"),
    ("forecast", "made_up"): asks(":", "with "),
    ("forecast", "play"): says("there is no plan yet"),
    ("forecast", "reset"): says("nothing is played beside"),
    ("lab", "act"): leads_to("plans"),
    ("plans", "act"): shows_else(),
    "by": chooses(lambda state: state.plan.by),
    "pane(1)": Expected(lambda pilot, before: kdrill(pilot).screen.focused is not before.focused),
    "pane(-1)": Expected(lambda pilot, before: kdrill(pilot).screen.focused is not before.focused),
    "full": Expected(lambda pilot, _: kdrill(pilot).screen.has_class("-full")),
    "refresh": Expected(lambda pilot, before: page(pilot).wakes > before.wakes),
    ("lab", "refresh"): chooses(lambda state: state.preview.take),
    ("drill", "refresh"): chooses(lambda state: state.drill.take),
    ("sweep", "refresh"): chooses(lambda state: state.sweep.take),
    ("plans", "refresh"): chooses(lambda state: state.plan.take),
    "clusters": says("names no other cluster"),
    "export": asks(":", "export kdrill-"),
    "previous": leads_to("znodes"),
    ("znodes", "previous"): leads_to("overview"),
    "theme": Expected(lambda pilot, before: kdrill(pilot).theme != before.theme),
    "quit_or_back": leads_to("overview"),
    ("overview", "quit_or_back"): Expected(ends),
    "back": leads_to("overview"),
    ("overview", "back"): chooses(is_filtered, "slash", "k", "enter"),
    "leave": Expected(ends),
    "interrupt": says("quits"),
    "suspend_process": Expected(lambda pilot, _: vars(pilot.app)["was_suspended"]),
}
"""(screen, action), or the action wherever no row says otherwise → what its key does."""


@pytest.fixture
def logs(tmp_path: Path) -> str:
    write_log(tmp_path / "orders-0", batches=3)
    return str(tmp_path)


@pytest.mark.parametrize("are_first", the_rest_when_asked([True, False]), ids=["first", "again"])
@pytest.mark.parametrize("place", SCREENS)
async def test_every_key_does_what_it_is_there_for(cluster: Cluster, place: str, logs: str, are_first: bool) -> None:
    async with opened(cluster.address, size=(110, 32), link=WithSandbox) as pilot:
        await live_a_little(pilot, cluster)
        await look_into_logs(pilot, logs)
        keep_running(kdrill(pilot))
        await arrive(pilot, PAGES[START.get(place, place)])
        if place == "znodes":
            kdrill(pilot).show_znode("/brokers/ids/3")
            await until(pilot, lambda: rows(pilot, "znodes").cursor_key == "/brokers/ids/3")
        state, row = kdrill(pilot).view_state, rows(pilot, main_list(pilot)).cursor_key
        for action in holding(place):
            if is_first(place, action) != are_first:
                continue
            if action.id.startswith("screen(") and action.id not in neighbours(place):
                continue
            for key in action.keys.split(","):
                await stand(pilot, place, state, row)
                await pressed(pilot, place, action, key)


def is_first(place: str, action: Action) -> bool:
    """Whether no screen before has the key, or it is to do something else here. The rest is `thorough`."""
    if action.id.startswith("screen("):
        return True
    before = (each for screen in SCREENS[: SCREENS.index(place)] for each in holding(screen))
    return (place, action.id) in EXPECTED or all(each.id != action.id for each in before)


def neighbours(place: str) -> list[str]:
    """Of the keys to screens, which are pressed on this one: two each, so that all of them are, without 12 times 12."""
    at = SCREENS.index(place)
    return [f"screen('{SCREENS[(at + step) % len(SCREENS)]}')" for step in (1, 5)]


START = {"controller": "brokers"}
"""Screen → the page to begin with, where its name is another."""


async def pressed(pilot: Keys, place: str, action: Action, key: str) -> None:
    expected = EXPECTED.get((place, action.id)) or EXPECTED.get(action.id)
    assert expected is not None, f"{action.sign} on {place} has no row in EXPECTED: what does it do?"
    await press(pilot, *expected.first)
    app = kdrill(pilot)
    before = Before(app.view_state, app.view_state.at, text(pilot), app.screen.focused, app.theme, page(pilot).wakes)
    await press(pilot, key)
    try:
        await until(pilot, lambda: expected.effect(pilot, before))
    except AssertionError as late:
        raise AssertionError(f"{key} on {place} does not do what {action.id} is there for; {late}") from None


async def test_keys_of_an_overlay_do_what_they_are_there_for(still: str) -> None:
    async with opened(still, size=(120, 40)) as pilot:
        keep_running(kdrill(pilot))
        state, row = kdrill(pilot).view_state, rows(pilot, "brokers").cursor_key
        for action in holding(OVERLAY):
            for key in action.keys.split(","):
                await stand(pilot, "overview", state, row)
                await press(pilot, "d")
                await pressed(pilot, OVERLAY, action, key)


async def live_a_little(pilot: Keys, cluster: Cluster) -> None:
    """There are moments to go back to, marks among them."""
    for number in (1, 13, 3, 7):
        before = kdrill(pilot).changes
        await asyncio.to_thread(cluster.demo.step, number)
        await until(pilot, lambda before=before: kdrill(pilot).changes > before)
    await settled(pilot)


def keep_running(app: Kdrill) -> None:
    """What would end or stop the program is noticed, and not done."""
    vars(app).update(ended=[], was_suspended=False)
    vars(app)["exit"] = lambda code=None, *_: vars(app)["ended"].append(code)
    vars(app)["action_suspend_process"] = lambda: vars(app).update(was_suspended=True)


async def stand(pilot: Keys, place: str, state: ViewState, row: str) -> None:
    """On a screen as it was, having come from the znodes, or to those from the overview."""
    app = kdrill(pilot)
    while len(app.screen_stack) > 1:
        await app.pop_screen()
    if page(pilot).bottom.is_typing:
        await press(pilot, "escape")
    if getattr(app.screen, "_playing", None):
        await press(pilot, "p")
    if app.screen.has_class("-review"):
        await press(pilot, "x")
    app.go_live()
    app.theme = "dark"
    vars(app).update(ended=[], was_suspended=False)
    await app.action_screen(place)
    app._before = "overview" if place == "znodes" else "znodes"
    app.view_state = state
    app.screen.remove_class("-full", "-graph")
    page(pilot).first_pane().focus()
    page(pilot).say("")
    rows(pilot, main_list(pilot)).seek(row)
    await settled(pilot)


def page(pilot: Keys) -> Any:
    front = kdrill(pilot).page
    assert front is not None
    return front


def main_list(pilot: Keys) -> str:
    screen = kdrill(pilot).screen
    assert isinstance(screen, LiveScreen)
    return screen.main_list
