"""Keys by name, and the actions with the keys of the settings, or one line that says why they cannot have them.

A key has a name in Textual, one that a person writes and one that is shown. It has one meaning in a place; no motion
is taken away, and no action is left without a key.
"""

import difflib
import re
import unicodedata
from collections.abc import Mapping

from tui.engine.actions import ACTIONS, EVERYWHERE, OVERLAY, Action, holding
from tui.engine.config import Config

_CHARACTERS = {
    "/": "slash",
    "\\": "backslash",
    "@": "at",
    "-": "minus",
    "+": "plus",
    "_": "underscore",
    " ": "space",
}
"""Characters that Textual calls otherwise than Unicode does."""

_SHOWN = {"escape": "esc", "pagedown": "pgdn", "pageup": "pgup", "delete": "del", "insert": "ins"}
_SPECIAL = frozenset(
    {"escape", "enter", "tab", "space", "backspace", "delete", "insert", "home", "end", "pageup", "pagedown"}
    | {"up", "down", "left", "right"}
    | {f"f{number}" for number in range(1, 25)}
)
_MODIFIERS = ("ctrl", "alt", "shift", "super", "hyper", "meta")
_OTHER_WORDS = {"esc": "escape", "pgdn": "pagedown", "pgup": "pageup", "del": "delete", "ins": "insert"}

SAME_BYTES = {
    "ctrl+h": "backspace",
    "ctrl+i": "tab",
    "ctrl+j": "enter",
    "ctrl+m": "enter",
    "ctrl+left_square_bracket": "escape",
}
"""Keys that a terminal cannot tell from others."""


def key_named(written: str) -> str:
    """The key that is written as `o`, `?`, `question_mark`, `ctrl+x`, `esc`, `F5`; empty where there is none such."""
    parts = re.fullmatch(r"((?:[A-Za-z]+\+)*)(.+)", written)
    if parts is None:
        return ""
    modifiers, base = parts[1].lower().split("+")[:-1], _base(parts[2])
    if not base or not set(modifiers) <= set(_MODIFIERS) or len(set(modifiers)) < len(modifiers):
        return ""
    if modifiers == ["shift"] and base not in _SPECIAL:
        return base.upper() if len(base) == 1 and base.isalpha() else ""  # terminals send the character
    return "+".join([*sorted(modifiers, key=_MODIFIERS.index), base.lower() if modifiers else base])


def _base(word: str) -> str:
    if len(word) == 1:
        return _of_character(word)
    word = _OTHER_WORDS.get(word.lower(), word.lower())
    return word if word in _SPECIAL or _character(word) else ""


def _of_character(character: str) -> str:
    if character in _CHARACTERS or character.isalnum():
        return _CHARACTERS.get(character, character)
    if not character.isprintable():
        return ""
    return unicodedata.name(character, "").lower().replace("-", "_").replace(" ", "_")


def _character(name: str) -> str:
    """The character of this name; empty where there is none."""
    known = {_of_character(chr(code)): chr(code) for code in range(33, 0x180)}
    try:
        return known.get(name) or unicodedata.lookup(name.replace("_", " "))
    except KeyError:
        return ""


def sign_of_key(key: str) -> str:
    """How a key is shown: `?`, `ctrl+x`, `esc`, `F5`."""
    modifiers, plus, base = key.rpartition("+")
    if base in _SPECIAL:
        shown = base.upper() if base[0] == "f" and base[1:].isdecimal() else _SHOWN.get(base, base)
    else:
        shown = base if len(base) == 1 else _character(base) or base
    return modifiers + plus + shown


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
