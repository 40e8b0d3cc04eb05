"""Keys by name: as Textual calls them, as a person writes them, as they are shown. Knows no terminal and no action."""

import re
import unicodedata

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
