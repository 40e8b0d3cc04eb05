"""Which names a topic may have. It knows no topics but those it is given.

Source: `org.apache.kafka.common.internals.Topic` (3.9), `kafka.common.Topic` (0.8.0 to 0.10).
"""

import re
from collections.abc import Iterable

from model.controller.refusal import Refusal

LONGEST = 249
"""In characters, from 0.10.0 on; before, 255. A partition's folder is named for its topic and may not get too long."""

_LEGAL = re.compile(r"[a-zA-Z0-9._-]+", re.ASCII)


def topic_name_problem(name: str, longest: int = LONGEST) -> Refusal | None:
    """Why a topic cannot have this name."""
    why = _why_illegal(name, longest)
    return Refusal("INVALID_TOPIC_EXCEPTION", f"Topic name is invalid: {why}") if why else None


def has_collision_chars(name: str) -> bool:
    """Whether the name has a `.` or `_`, which metrics cannot tell apart."""
    return "." in name or "_" in name


def colliding(name: str, existing: Iterable[str]) -> list[str]:
    """Those of the existing names, other than this one, that metrics could not tell from it; in their order."""
    if not has_collision_chars(name):
        return []
    unified = _unified(name)
    return [other for other in existing if other != name and _unified(other) == unified]


def _unified(name: str) -> str:
    return name.replace(".", "_")


def _why_illegal(name: str, longest: int) -> str | None:
    if not name:
        return "the empty string is not allowed"
    if name in (".", ".."):
        return f"'{name}' is not allowed"
    if len(name) > longest:
        return f"the length of '{name}' is longer than the max allowed length {longest}"
    if not _LEGAL.fullmatch(name):
        return f"'{name}' contains one or more characters other than ASCII alphanumerics, '.', '_' and '-'"
    return None
