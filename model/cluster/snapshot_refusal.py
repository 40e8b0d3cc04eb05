"""Finds the field that makes a document unusable, with its real path. Slow; only for documents already refused."""

from collections.abc import Iterator
from typing import Any, cast, get_args, get_origin, get_type_hints

import msgspec


def refusal(value: object, kind: Any) -> str:
    """`topics.orders.partitions.0.leader: expected int, got str`."""
    return next(_refusals(value, kind, ""), "a field has the wrong type")


def _refusals(value: object, kind: Any, path: str) -> Iterator[str]:
    try:
        msgspec.convert(value, kind, str_keys=True)
    except msgspec.ValidationError as error:
        for name, part, part_kind in _parts(value, kind):
            yield from _refusals(part, part_kind, f"{path}.{name}" if path else name)
        reason = str(error).partition(" - at ")[0].replace("`", "")
        yield f"{path or 'the document'}: {reason[:1].lower()}{reason[1:]}"


def _parts(value: object, kind: Any) -> Iterator[tuple[str, object, Any]]:
    if isinstance(value, list) and get_origin(kind) is tuple:
        for number, item in enumerate(cast(list[object], value)):
            yield str(number), item, get_args(kind)[0]
    if not isinstance(value, dict):
        return
    fields = cast(dict[str, object], value)
    if get_origin(kind) is dict:
        for name, item in fields.items():
            yield name, item, get_args(kind)[1]
    elif isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        kinds = get_type_hints(kind, include_extras=True)
        for name in fields.keys() & kinds.keys():
            yield name, fields[name], kinds[name]
