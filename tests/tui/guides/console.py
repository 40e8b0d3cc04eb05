"""The ```console blocks of a guide: commands behind `$ `, and below each what it is shown to print.

In a shown line `…` stands for anything, and as a line of its own for lines that are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple


class Shown(NamedTuple):
    """A command, and the lines that are shown of what it prints."""

    command: str
    lines: tuple[str, ...]


def shown_commands(guide: str) -> Iterator[Shown]:
    """In their order."""
    for block in re.findall(r"```console\n(.*?)```", guide, re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, *lines = part.splitlines()
            yield Shown(command, tuple(line for line in lines if line.strip() and line != "…"))


def missing(shown: Shown, printed: str) -> str:
    """The first shown line that was not printed, in the shown order; empty if all were."""
    rest = iter(printed.splitlines())
    for line in shown.lines:
        pattern = re.compile(".*".join(map(re.escape, line.rstrip().split("…"))))
        if not any(pattern.fullmatch(each.rstrip()) for each in rest):
            return line
    return ""
