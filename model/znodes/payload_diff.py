"""Where two payloads of a znode differ: field by field for JSON, else by lines, else by bytes. Knows no kind of znode.

A JSON list is one value: an ISR is read as a whole. Numbers and texts that only look alike are different.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from enum import Enum
from typing import Any, cast

import msgspec


class Absent(Enum):
    """What stands for a field that is not there; JSON's null is another thing."""

    ABSENT = "absent"


ABSENT = Absent.ABSENT


class Difference(msgspec.Struct, frozen=True):
    """One place and its values. `where` are the keys from the outside in; empty: the payload itself.

    Values are JSON as Python has it, or ABSENT.
    """

    where: tuple[str, ...]
    before: Any
    after: Any


def differences(before: bytes, after: bytes) -> tuple[Difference, ...]:
    """How to get from one payload to the other; empty where they say the same. Never raises."""
    if before == after:
        return ()
    try:
        return tuple(_between((), msgspec.json.decode(before), msgspec.json.decode(after)))
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return _of_text(before, after)


def told(difference: Difference) -> str:
    """A difference in a line: `isr 1,2,3 -> 2,3`; of lists of objects, only what went and what came."""
    before, after = difference.before, difference.after
    place = ".".join(difference.where) + (" " if difference.where else "")
    if isinstance(before, list) and isinstance(after, list):
        old, new = cast(list[Any], before), cast(list[Any], after)
        if any(isinstance(item, dict | list) for item in (*old, *new)):
            return place + _items(old, new)
    is_text = isinstance(before, str | Absent) and isinstance(after, str | Absent)
    if before is ABSENT:
        return f"{place}{_value(after, is_text)} is new"
    if after is ABSENT:
        return f"{place}{_value(before, is_text)} is gone"
    return f"{place}{_value(before, is_text)} -> {_value(after, is_text)}"


def _between(where: tuple[str, ...], before: Any, after: Any) -> list[Difference]:
    if isinstance(before, dict) and isinstance(after, dict):
        old, new = cast(dict[str, Any], before), cast(dict[str, Any], after)
        return [
            found
            for key in dict.fromkeys((*new, *old))
            for found in _between((*where, key), old.get(key, ABSENT), new.get(key, ABSENT))
        ]
    is_same = before is after or (ABSENT not in (before, after) and _json(before) == _json(after))
    return [] if is_same else [Difference(where, before, after)]


def _of_text(before: bytes, after: bytes) -> tuple[Difference, ...]:
    try:
        return (_middle("line", before.decode().split("\n"), after.decode().split("\n"), "\n".join),)
    except UnicodeDecodeError:
        return (_middle("byte", before, after, lambda part: bytes(part).hex(" ")),)


def _middle(unit: str, before: Sequence[Any], after: Sequence[Any], joined: Callable[[Any], str]) -> Difference:
    """What lies between the parts that both begin with and those that both end with."""
    shorter = min(len(before), len(after))
    start = next((i for i in range(shorter) if before[i] != after[i]), shorter)
    most = shorter - start
    end = next((i for i in range(most) if before[-1 - i] != after[-1 - i]), most)
    old, new = before[start : len(before) - end], after[start : len(after) - end]
    where = (f"from {unit} {start + 1}",) if max(len(before), len(after)) > 1 else ()
    return Difference(where, joined(old) if old else ABSENT, joined(new) if new else ABSENT)


def _items(before: list[Any], after: list[Any]) -> str:
    old, new = (Counter(map(_json, items)) for items in (before, after))
    signed = [*(f"- {item}" for item in (old - new).elements()), *(f"+ {item}" for item in (new - old).elements())]
    return ", ".join(signed) or "in another order"


def _value(value: Any, is_text: bool) -> str:
    if is_text and isinstance(value, str) and value:
        return value
    if isinstance(value, list) and value and all(type(item) is int for item in cast(list[Any], value)):
        return ",".join(map(str, cast(list[int], value)))
    return _json(value)


def _json(value: Any) -> str:
    """Compact, with keys in order: the same text is the same value."""
    return msgspec.json.encode(value, order="sorted").decode()
