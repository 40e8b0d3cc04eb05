"""Arrays that are null where their schema has no null: `kio` lets them through, Kafka closes the connection."""

import dataclasses
import types
import typing
from functools import cache
from typing import Any, NamedTuple, cast

from model.hosts.wire.errors import MalformedError


class _Array(NamedTuple):
    """A field of an entity. `has_arrays`: its items are entities that have arrays, too."""

    name: str
    is_nullable: bool
    has_arrays: bool


def check_arrays(entity: Any) -> None:
    """Raises MalformedError."""
    shape: type[Any] = cast("type[Any]", type(entity))
    for array in _arrays(shape):
        items = getattr(entity, array.name)
        if items is None:
            if not array.is_nullable:
                raise MalformedError(f"{array.name} is null")
        elif array.has_arrays:
            for item in items:
                check_arrays(item)


@cache
def _arrays(shape: type[Any]) -> tuple[_Array, ...]:
    if not dataclasses.is_dataclass(shape):
        return ()
    return tuple(array for name, hint in typing.get_type_hints(shape).items() if (array := _array(name, hint)))


def _array(name: str, hint: Any) -> _Array | None:
    choices = typing.get_args(hint) if isinstance(hint, types.UnionType) else (hint,)
    kind = next((each for each in choices if typing.get_origin(each) is tuple), None)
    if kind is None:
        return None
    return _Array(name, type(None) in choices, bool(_arrays(typing.get_args(kind)[0])))
