"""Reads the transaction logs of a real 3.9.1 cluster, and writes down our own transactions in the same words.

A line is `zxid s=SESSION what`; `set path vN` shows the resulting version, `check path vN` the expected one plus one.
A scenario begins at a write to `/zxmark`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

FOLDER = Path(__file__).parents[2] / "data" / "control-plane"
_TIMESTAMP = re.compile(r'"timestamp":"\d+"')


class ZnodeWrite(NamedTuple):
    """A write that took place. `fenced_by` is the version of `/controller_epoch` it was conditional on, plus one."""

    verb: str
    path: str
    version: int
    data: Any
    fenced_by: int | None


def scenario(trace: str, name: str) -> list[str]:
    """The transactions of one scenario, without zxids and sessions."""
    found: list[str] = []
    inside = False
    for line in (FOLDER / trace).read_text(encoding="utf-8").splitlines():
        what = line.split(" ", 2)[2]
        if what.startswith("set /zxmark"):
            inside = what.split(" ")[3:4] == [name]
        elif inside and not what.startswith(("createSession", "closeSession", "create[P] /zxmark")):
            found.append(_TIMESTAMP.sub('"timestamp":"T"', what))
    return found


def writes(lines: Iterable[str]) -> Iterator[ZnodeWrite]:
    """The writes that took place, in order; failed transactions are left out."""
    for line in lines:
        parts = line[len("multi{") : -1].split(" ; ") if line.startswith("multi{") else [line]
        if any(part.startswith("error") for part in parts):
            continue
        checks = [part for part in parts if part.startswith("check /controller_epoch")]
        fence = int(checks[0].rsplit(" v", 1)[1]) if checks else None
        yield from (_write(part, fence) for part in parts if not part.startswith("check"))


def by_path(lines: Iterable[str]) -> dict[str, list[ZnodeWrite]]:
    """Each path's writes in order: between paths the real order follows a hash."""
    grouped: dict[str, list[ZnodeWrite]] = {}
    for write in writes(lines):
        grouped.setdefault(write.path, []).append(write)
    return grouped


def _write(part: str, fence: int | None) -> ZnodeWrite:
    verb, _, rest = part.partition(" ")
    path, _, rest = rest.partition(" ")
    version = 0
    if verb == "set":
        number, _, rest = rest.partition(" ")
        version = int(number[1:])
    return ZnodeWrite(verb, path, version, _data(rest), fence)


def _data(text: str) -> Any:
    try:
        return json.loads(text) if text not in ("", "null") else None
    except json.JSONDecodeError:
        return text
