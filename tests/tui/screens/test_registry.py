"""That the table of screens names classes that are there, each under its own name."""

import pkgutil
from importlib import import_module

from tui.app import screens
from tui.app.navigation import Navigation
from tui.app.screens.live_screen import LiveScreen
from tui.engine.actions import REGISTRY


def test_every_screen_is_in_the_table_under_its_name() -> None:
    for module in pkgutil.iter_modules(screens.__path__, f"{screens.__name__}."):
        import_module(module.name)
    assert {*Navigation.MODES.values()} == {each for each in _below(LiveScreen) if each.place}
    assert [each.place for each in Navigation.MODES.values()] == [screen.name for screen in REGISTRY]
    assert [*Navigation.MODES] == [screen.name for screen in REGISTRY]


def test_nothing_is_told_of_two_screens() -> None:
    for values in zip(*(screen[:4] for screen in REGISTRY), strict=True):
        assert len({*values}) == len(REGISTRY)


def _below(kind: type[LiveScreen]) -> set[type[LiveScreen]]:
    return {below for each in kind.__subclasses__() for below in (each, *_below(each))}
