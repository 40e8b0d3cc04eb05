"""JSON broken where it hurts: values of the wrong kind, keys twice, numbers beyond all bounds, escapes, nesting."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

from tests.hostile_input.broken_bytes import broken
from tests.hostile_input.hostile_values import DEEP, NUMBERS, TEXTS

_ESCAPES = ('"\\ud800"', '"\\udfff\\ud800"', '"\\u0000"', '"\\u001b[2J"', '"\\u202e"', '"\\x"', '"\x01"', '"')


class _Raw(str):
    """Text that stands in the document as it is."""


class _Pairs(list[Any]):
    """An object, as key and value; a key may be there twice."""


def broken_json(random: Random, examples: Sequence[bytes]) -> bytes:
    """One of the examples, some of its values changed; now and then its bytes too."""
    document = json.loads(random.choice(examples), object_pairs_hook=_Pairs)
    for _ in range(random.choice((1, 1, 2, 3, 6))):
        document = _changed(random, document)
    data = _text(document).encode("utf-8", "surrogatepass")
    return broken(random, data, examples, 2) if random.random() < 0.2 else data


def hostile_value(random: Random, depth: int = 3) -> str:
    """Any value, as JSON or nearly so."""
    match random.randrange(10 if depth else 6):
        case 0 | 1:
            return random.choice(NUMBERS)
        case 2 | 3:
            return json.dumps(random.choice(TEXTS), ensure_ascii=random.random() < 0.5)
        case 4:
            return random.choice(("null", "true", "false", "{}", "[]", *_ESCAPES))
        case 5:
            return random.choice(DEEP) if random.random() < 0.05 else str(random.randrange(-3, 1000))
        case 6 | 7:
            return "[" + ",".join(hostile_value(random, depth - 1) for _ in range(random.randrange(4))) + "]"
        case _:
            pairs = (f"{_key(random)}:{hostile_value(random, depth - 1)}" for _ in range(random.randrange(4)))
            return "{" + ",".join(pairs) + "}"


def _key(random: Random) -> str:
    return json.dumps(random.choice((*TEXTS, *NUMBERS)))


def _changed(random: Random, document: Any) -> Any:
    places = list(_places(document, ()))
    if not places:
        return _Raw(hostile_value(random))
    holder, at = random.choice(places)
    is_pairs = isinstance(holder, _Pairs)
    match random.randrange(8):
        case 0:
            del holder[at]
        case 1 if is_pairs:
            holder[at] = (random.choice(TEXTS), holder[at][1])
        case 2 if is_pairs:
            holder[at] = (_Raw(random.choice((json.dumps(random.choice(NUMBERS)), _key(random)))), holder[at][1])
        case 3:
            value = holder[at][1] if is_pairs else holder[at]
            holder.extend([holder[at]] * (1 if isinstance(value, list) else random.choice((1, 2, 50))))
        case 4:
            other, place = random.choice(places)
            value = other[place][1] if isinstance(other, _Pairs) else other[place]
            _set(holder, at, _Raw(_text(value)))
        case _:
            _set(holder, at, _Raw(hostile_value(random)))
    return document


def _set(holder: Any, at: int, value: Any) -> None:
    holder[at] = (holder[at][0], value) if isinstance(holder, _Pairs) else value


def _places(value: Any, _: tuple[()]) -> Iterator[tuple[Any, int]]:
    if not isinstance(value, list):
        return
    for at, item in enumerate(value):
        yield value, at
        yield from _places(item[1] if isinstance(value, _Pairs) else item, ())


def _text(value: Any) -> str:
    if isinstance(value, _Raw):
        return str(value)
    if isinstance(value, _Pairs):
        return (
            "{"
            + ",".join(f"{key if isinstance(key, _Raw) else json.dumps(key)}:{_text(item)}" for key, item in value)
            + "}"
        )
    if isinstance(value, list):
        return "[" + ",".join(map(_text, value)) + "]"
    return json.dumps(value)
