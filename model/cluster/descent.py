"""Mappings that know what differs from those they were made of: who compares two need not look at all keys."""

from collections.abc import Collection, Mapping
from typing import TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Descended(dict[K, V]):
    """A mapping that was made of another one. Never written to once an image holds it."""

    def __init__(self, base: Mapping[K, V], changes: Mapping[K, V | None]) -> None:
        """`base` with changes laid over it, None deleting."""
        super().__init__(base)
        for key, value in changes.items():
            if value is None:
                self.pop(key, None)
            else:
                self[key] = value
        self.mark = object()
        """Stands for this mapping: descendants must not keep all their ancestors."""
        self.base_mark = base.mark if isinstance(base, Descended) else None
        self.changed: Collection[K] = tuple(changes)


def descended(base: Mapping[K, V], changes: Mapping[K, V | None]) -> Mapping[K, V]:
    """`base` with changes laid over it, None deleting; `base` itself where all of them are what stands there."""
    if all(base.get(key) is value for key, value in changes.items()):
        return base
    return Descended(base, changes)


def differing_keys(before: Mapping[K, V], after: Mapping[K, V]) -> list[K]:
    """Keys of which the two have not the same object: first those that `before` has. Usually quick."""
    if before is after:
        return []
    if isinstance(before, Descended) and isinstance(after, Descended) and after.base_mark is before.mark:
        differing = [key for key in after.changed if before.get(key) is not after.get(key)]
        return sorted(differing, key=lambda key: key not in before)
    differing = [key for key, value in before.items() if after.get(key) is not value]
    return differing + [key for key in after if key not in before]
