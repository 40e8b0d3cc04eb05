"""Text in the syntax of Java's properties, as server.properties is. It knows no keys.

Source: `java.util.Properties.load`: comments, three separators, continued lines, escapes. Of equal keys the last
wins, which is for the reader to see to.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

_BLANKS = " \t\f"
_ESCAPES = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_LINE_ENDS = re.compile("\r\n|\r|\n")
_NUMBER_OF_CHARACTER = re.compile(r"[0-9A-Fa-f]{4}")


class Property(NamedTuple):
    """A key with its value, and the line on which it begins, from 1."""

    key: str
    value: str
    line: int


class PropertiesError(ValueError):
    r"""A line that is no property: a `\u` without four digits is all that Java refuses."""


def read_properties(text: str) -> list[Property]:
    """The properties in order, equal keys included. Raises PropertiesError, naming the line."""
    return [_split(line, number) for number, line in _logical_lines(text)]


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Lines without comments and blank ones, each with those that continue it."""
    begun: str | None = None
    number = 0
    lines = _LINE_ENDS.split(text)
    for at, raw in enumerate(lines if lines[-1] else lines[:-1], 1):
        line = raw.lstrip(_BLANKS)
        if not begun:
            if not line or line[0] in "#!":
                begun = None
                continue
            number = at
        backslashes = len(line) - len(line.rstrip("\\"))
        if backslashes % 2:
            begun = (begun or "") + line[:-1]
        else:
            yield number, (begun or "") + line
            begun = None
    if begun is not None:
        yield number, begun


def _split(line: str, number: int) -> Property:
    """The key ends at the first `=`, `:` or blank that is not escaped."""
    end, escaped = 0, False
    while end < len(line) and (escaped or line[end] not in "=:" + _BLANKS):
        escaped = line[end] == "\\" and not escaped
        end += 1
    value = line[end:].lstrip(_BLANKS)
    if value[:1] in ("=", ":"):
        value = value[1:].lstrip(_BLANKS)
    return Property(_unescape(line[:end], number), _unescape(value, number), number)


def _unescape(text: str, number: int) -> str:
    parts = text.split("\\")
    result = parts[0]
    rest = iter(parts[1:])
    for part in rest:
        if not part:  # two backslashes: the second stands for itself
            result += "\\" + next(rest, "")
        elif part[0] == "u":
            if not _NUMBER_OF_CHARACTER.match(part, 1):
                raise PropertiesError(f"line {number}: \\{part[:5]} is no character: \\u takes four hexadecimal digits")
            result += chr(int(part[1:5], 16)) + part[5:]
        else:
            result += _ESCAPES.get(part[0], part[0]) + part[1:]
    return result
