"""The text of a Java properties file → its keys, values and lines. Reads no file and knows no key.

Source: `java.util.Properties.load`: comments, `=`, `:` and blanks as separators, continued lines, escapes.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from model.hosts.client_security.values import SecurityError

_BLANKS = " \t\f"
_KEY_END = re.compile(r"(?<!\\)(?:\\\\)*([=: \t\f])")
_ESCAPED = re.compile(r"\\(u[0-9a-fA-F]{4}|.|$)", re.DOTALL)
_LETTERS = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}


class Property(NamedTuple):
    """One key and its value, unescaped."""

    key: str
    value: str
    line: int
    """Where its key stands, from 1."""


def parse_properties(text: str) -> dict[str, Property]:
    """By key; of a key that is there twice, the last. Raises SecurityError, `LINE: what is wrong`."""
    return {found.key: found for found in (_property(line, number) for line, number in _logical_lines(text))}


def _logical_lines(text: str) -> Iterator[tuple[str, int]]:
    """Lines joined where one ends in an odd number of backslashes, and the number of the first."""
    joined, begun = "", 0
    for number, line in enumerate(re.split(r"\r\n|[\r\n]", text), 1):
        stripped = line.lstrip(_BLANKS)
        if not begun:
            if not stripped or stripped[0] in "#!":
                continue
            begun = number
        joined += stripped
        if (len(stripped) - len(stripped.rstrip("\\"))) % 2:
            joined = joined[:-1]
            continue
        yield joined, begun
        joined, begun = "", 0
    if begun:
        yield joined, begun


def _property(line: str, number: int) -> Property:
    end = _KEY_END.search(line)
    if end is None:
        return Property(_unescaped(line, number), "", number)
    rest = line[end.start(1) :].lstrip(_BLANKS)
    if rest[:1] in ("=", ":"):
        rest = rest[1:].lstrip(_BLANKS)
    return Property(_unescaped(line[: end.start(1)], number), _unescaped(rest, number), number)


def _unescaped(text: str, number: int) -> str:
    def meant(escape: re.Match[str]) -> str:
        what = escape[1]
        if len(what) > 1:
            return chr(int(what[1:], 16))
        if what == "u":
            raise SecurityError(f"{number}: \\u without four hexadecimal digits; write a backslash as \\\\")
        return _LETTERS.get(what, what)

    return _ESCAPED.sub(meant, text)
