"""The registry with the keys of the settings: every action as it holds then, or one line that says why it cannot.

A key has one meaning in a place, no motion is taken away, and no action is left without a key.
"""

import difflib
from collections.abc import Mapping

from tui.actions import ACTIONS, EVERYWHERE, OVERLAY, Action, holding
from tui.config import Config
from tui.key_names import SAME_BYTES, key_named, sign_of_key

MOTION_KEYS = frozenset(
    {"j", "k", "h", "l", "up", "down", "left", "right", "g", "G", "home", "end", "ctrl+d", "ctrl+u"}
    | {"pageup", "pagedown", "enter", "n", "N"}
)
"""Keys that lists, trees and texts move by; no setting takes them away."""

WAY_OUT = "ctrl+q"
"""Quits whatever is in front, be it a palette that knows no other key."""

NAMES: Mapping[str, str] = {action.name: action.id for action in ACTIONS}
"""Name in the settings → id of the action."""


def remapped(config: Config) -> tuple[Action, ...]:
    """The actions with the keys that the settings give them. Raises ConfigError with file, line and what is wrong."""
    keys = {NAMES[_known(name, config)]: _keys(name, written, config) for name, written in config.keys.items()}
    actions = tuple(_with(action, keys[action.id]) if action.id in keys else action for action in ACTIONS)
    for place in EVERYWHERE:
        _check(place, holding(place, actions), config)
    return actions


def changed(actions: tuple[Action, ...]) -> dict[str, str]:
    """Id → keys of the actions that have others than they come with, as Textual's keymap wants it."""
    return {now.id: now.keys for was, now in zip(ACTIONS, actions, strict=True) if now.keys != was.keys}


def other_signs(actions: tuple[Action, ...]) -> dict[str, str]:
    """The sign that an action comes with → the one it has instead."""
    pairs = (
        (was.sign.partition(" ")[0], now.sign.partition(" ")[0]) for was, now in zip(ACTIONS, actions, strict=True)
    )
    return {was: now for was, now in pairs if was != now}


def _known(name: str, config: Config) -> str:
    if name in NAMES:
        return name
    close = difflib.get_close_matches(name, NAMES, n=1)
    meant = f"did you mean {close[0]!r}? " if close else ""
    raise config.error(f"keys.{name}", f"no such action: {meant}kdrill keys lists them")


def _keys(name: str, written: tuple[str, ...], config: Config) -> tuple[str, ...]:
    keys = tuple(dict.fromkeys(_key(name, each, config) for each in written))
    if not keys:
        raise config.error(f"keys.{name}", "it needs a key")
    return keys


def _key(name: str, written: str, config: Config) -> str:
    key = key_named(written)
    if not key:
        raise config.error(
            f"keys.{name}", f"no such key {written!r}: write it like o, ?, space, f5, ctrl+x, shift+left"
        )
    if key in SAME_BYTES:
        raise config.error(f"keys.{name}", f"{written!r} cannot be told from {SAME_BYTES[key]} by a terminal")
    if key == WAY_OUT and name != "quit":
        raise config.error(f"keys.{name}", f"{written!r} quits, whatever else does")
    if key in MOTION_KEYS:
        raise config.error(f"keys.{name}", f"{written!r} moves the cursor on every screen")
    return key


def _with(action: Action, keys: tuple[str, ...]) -> Action:
    return action._replace(keys=",".join(keys), sign=" ".join(map(sign_of_key, keys)))


def _check(place: str, actions: list[Action], config: Config) -> None:
    taken: dict[str, str] = {}
    for action in actions:
        for key in action.keys.split(","):
            if (other := taken.setdefault(key, action.name)) != action.name:
                order = [*config.keys]
                first, last = sorted((other, action.name), key=lambda name: order.index(name) if name in order else -1)
                where = "texts" if place == OVERLAY else f"the screen {place}"
                raise config.error(f"keys.{last}", f"{sign_of_key(key)!r} is {first} already, on {where}")
