"""On which line of a TOML text a key stands: who wrote it is told where to look. Judges nothing."""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

_TOKEN = re.compile(
    r'"""(?:\\.|[^\\])*?"{3,5}|\'\'\'.*?\'{3,5}|"(?:\\.|[^"\\])*"|\'[^\']*\'|#[^\n]*|[][{}\n]', re.DOTALL
)
"""What tells where a value ends: texts and comments, which may hold brackets, and brackets."""


def line_of(text: str, key: str) -> int:
    """The line, from 1 on, on which the value at `clusters.prod.tls` begins, or what holds it; 0 where nothing does."""
    words = re.sub(r"\[.*", "", key).split(".")
    brought = list(_brought(text))
    held = (line for count in range(len(words), 0, -1) for line, document in brought if _has(document, words[:count]))
    return next(held, 0)


def _brought(text: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Each table and each value: the line on which it begins, and a document of it alone."""
    table = ""
    for line, statement in _statements(text):
        is_table = statement.lstrip().startswith("[")
        table = statement if is_table else table
        yield line, tomllib.loads(table if is_table else f"{table}\n{statement}")


def _statements(text: str) -> Iterator[tuple[int, str]]:
    """Lines, those of one value together."""
    starts, begins, line, depth = 0, 1, 1, 0
    for token in _TOKEN.finditer(text):
        line += token[0].count("\n")
        depth += (token[0] in "[{") - (token[0] in "]}")
        if token[0] == "\n" and not depth:
            yield begins, text[starts : token.end()]
            starts, begins = token.end(), line
    yield begins, text[starts:]


def _has(value: Any, words: Sequence[str]) -> bool:
    if not words:
        return True
    names = {count: ".".join(words[:count]) for count in range(1, len(words) + 1)}  # a name may have dots itself
    return isinstance(value, dict) and any(
        name in value and _has(value[name], words[count:]) for count, name in names.items()
    )
