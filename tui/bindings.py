"""The registry of actions as Textual's bindings."""

from textual.binding import Binding

from tui.actions import holding


def bindings(place: str) -> list[Binding]:
    """What holds at a place, with the keys that it comes with: the app's keymap has those of the settings, by id."""
    return [Binding(action.keys, action.target, action.help, show=False, id=action.id) for action in holding(place)]
