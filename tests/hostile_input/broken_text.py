"""Texts of lines broken by word and by line: for properties, TOML, checkpoints and what tools print."""

from __future__ import annotations

import re
from collections.abc import Sequence
from random import Random

from tests.hostile_input.broken_bytes import broken
from tests.hostile_input.hostile_values import DEEP, NUMBERS, TEXTS

_WORD = re.compile(r'"[^"\n]*"|[A-Za-z0-9_.-]+|\s+|.')


def broken_text(random: Random, examples: Sequence[bytes], words: Sequence[str] = ()) -> bytes:
    """One of the examples, some of its words and lines changed; `words` are those that the format knows."""
    lines = random.choice(examples).decode("utf-8", "surrogateescape").split("\n")
    for _ in range(random.choice((1, 1, 2, 4))):
        _change_lines(random, lines, words)
    data = random.choice(("\n", "\n", "\n", "\r\n", "\r")).join(lines).encode("utf-8", "surrogatepass")
    return broken(random, data, examples, 2) if random.random() < 0.2 else data


def _change_lines(random: Random, lines: list[str], words: Sequence[str]) -> None:
    at = random.randrange(len(lines)) if lines else 0
    match random.randrange(8) if lines else 7:
        case 0:
            del lines[at]
        case 1:
            lines[at:at] = [random.choice(lines)] * random.choice((1, 1, 3, 200))
        case 2:
            lines.insert(at, random.choice(TEXTS))
        case 3:
            other = random.randrange(len(lines))
            lines[at], lines[other] = lines[other], lines[at]
        case 7:
            lines.append(_hostile_word(random, words))
        case _:
            lines[at] = _changed_line(random, lines[at], words)


def _changed_line(random: Random, line: str, words: Sequence[str]) -> str:
    pieces = _WORD.findall(line)
    if not pieces:
        return _hostile_word(random, words)
    at = random.randrange(len(pieces))
    match random.randrange(6):
        case 0:
            del pieces[at]
        case 1:
            pieces.insert(at, pieces[at] * random.choice((1, 2, 1000)))
        case 2:
            pieces[at] = random.choice(pieces)
        case _:
            pieces[at] = _hostile_word(random, words)
    return "".join(pieces)


def _hostile_word(random: Random, words: Sequence[str]) -> str:
    match random.randrange(8):
        case 0 | 1 | 2:
            return random.choice(NUMBERS)
        case 3 | 4:
            text = random.choice(TEXTS)
            return f'"{text}"' if random.random() < 0.3 else text
        case 5:
            return random.choice(DEEP) if random.random() < 0.1 else random.choice(("true", "false", "[]", "{}", "''"))
        case _:
            return random.choice(words) if words else random.choice(("=", ":", "[", "]", "{", "}", ",", "#", "\\", '"'))
