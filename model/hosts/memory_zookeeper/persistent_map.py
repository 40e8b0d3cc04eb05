"""Mappings and sets of names that are values: a change gives another one, and the old one stays as it was.

Henry Baker's shallow binding: one version of a mapping is a plain dict, and every older one knows only what to put
back in it. So the newest version is as fast as a dict, and an old one costs nothing until somebody reads it: then the
dict moves to it, step by step. Versions that are read in turns soon get a dict each. It takes no locks: all versions
that stem from one mapping belong to one thread at a time.

The names of a znode's children are a list, and a chain of the changes since it was made: adding and removing take
constant time and share everything before them; listing takes as long as the list is.
"""

from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from types import MappingProxyType
from typing import Any, Final, Generic, TypeVar, cast

import msgspec

K = TypeVar("K")
V = TypeVar("V")

_SMALL = 32
"""Up to this size a dict is copied: cheaper than a chain, and an empty origin never holds on to what became of it."""


class _Absent(Enum):
    ABSENT = 0


_ABSENT: Final = _Absent.ABSENT
_NOTHING: Final[Mapping[Any, Any]] = MappingProxyType({})


class _Shown(Generic[K, V]):
    """The dict, over what was there before the first version. None hides what the base has."""

    __slots__ = ("base", "moves", "values")

    def __init__(self, base: Mapping[K, V], values: dict[K, V | None]) -> None:
        self.base = base
        self.values = values
        self.moves = 0
        """Changes undone and redone since it was made, to bring it from version to version."""

    def restore(self, undo: list[tuple[K, V | _Absent | None]]) -> None:
        for key, value in undo:
            if value is _ABSENT:
                self.values.pop(key, None)
            else:
                self.values[key] = value


class PersistentMap(Generic[K, V]):
    """Keys and values over an immutable `base`, which may be lazy: it is asked for what was never changed here.

    None is no value: `get` gives it for an absent key, and `changed` removes what it is given for.
    """

    __slots__ = ("_newer", "_shown", "_undo")

    _shown: _Shown[K, V] | None
    _newer: "PersistentMap[K, V]"
    """The next version towards the dict, where it is elsewhere."""
    _undo: list[tuple[K, V | _Absent | None]]
    """What is different here from there."""

    def __init__(self, base: Mapping[K, V] = _NOTHING) -> None:
        self._shown = _Shown(base, {})

    def get(self, key: K) -> V | None:
        """The key's value, or None."""
        shown = self._shown or self._show()
        value = shown.values.get(key, _ABSENT)
        return shown.base.get(key) if value is _ABSENT else value

    def changed(self, changes: Mapping[K, V | None]) -> "PersistentMap[K, V]":
        """The mapping with these values in place, without the keys whose new value is None."""
        shown = self._shown or self._show()
        values, base = shown.values, shown.base
        newer = cast("PersistentMap[K, V]", PersistentMap.__new__(PersistentMap))
        if len(values) <= _SMALL:
            values = values.copy()
            newer._shown = _Shown(base, values)
        else:
            self._undo = [(key, values.get(key, _ABSENT)) for key in changes]
            self._newer, self._shown, newer._shown = newer, None, shown
        for key, value in changes.items():
            if value is None and key not in base:
                values.pop(key, None)
            else:
                values[key] = value
        return newer

    def items(self) -> Iterator[tuple[K, V]]:
        """Keys and values, in no useful order: it tells of history."""
        shown = self._shown or self._show()
        changed = shown.values.copy()
        for key, value in changed.items():
            if value is not None:
                yield key, value
        for key in shown.base:
            if key not in changed:
                yield key, shown.base[key]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PersistentMap):
            return NotImplemented
        return self is other or dict(self.items()) == dict(cast("PersistentMap[Any, Any]", other).items())

    __hash__ = None  # pyright: ignore[reportAssignmentType]

    def _show(self) -> _Shown[K, V]:
        """Bring the dict to this version, or take a copy when it was moved about more than a copy costs."""
        path: list[PersistentMap[K, V]] = []
        version = self
        while version._shown is None:
            path.append(version)
            version = version._newer
        shown = version._shown
        moves = shown.moves + sum(len(older._undo) for older in path)
        if moves > len(shown.values):
            self._shown = shown = _Shown(shown.base, shown.values.copy())
            for older in reversed(path):
                shown.restore(older._undo)
            del self._newer, self._undo
            return shown
        for older in reversed(path):
            version._undo = [(key, shown.values.get(key, _ABSENT)) for key, _ in older._undo]
            version._newer, version._shown = older, None
            shown.restore(older._undo)
            version = older
        shown.moves = moves
        self._shown = shown
        del self._newer, self._undo
        return shown


_SHORTEST = 16


class Names(msgspec.Struct, frozen=True, gc=False, eq=False):
    """A set of names; `with_change` gives another one."""

    listed: Sequence[str] = ()
    _changes: "_Changes | None" = None
    _length: int = 0

    def __iter__(self) -> Iterator[str]:
        if self._changes is None:
            return iter(self.listed)
        changes: list[tuple[str, bool]] = []
        before = self._changes
        while before is not None:
            before, name, is_there = before
            changes.append((name, is_there))
        names = dict.fromkeys(self.listed)
        for name, is_there in reversed(changes):
            if is_there:
                names[name] = None
            else:
                names.pop(name, None)
        return iter(names)

    def __eq__(self, other: object) -> bool:
        return set(self) == set(other) if isinstance(other, Names) else NotImplemented

    def __hash__(self) -> int:
        return hash(frozenset(self))

    def __repr__(self) -> str:
        return f"Names({sorted(self)})"

    def with_change(self, name: str, is_there: bool) -> "Names":
        """These names and another one, or without one of them."""
        changed = Names(self.listed, (self._changes, name, is_there), self._length + 1)
        # Made into a list whenever the chain has grown as long as that: constant time on average.
        return changed if changed._length <= max(_SHORTEST, len(self.listed)) else Names(tuple(changed))


_Changes = tuple["_Changes | None", str, bool]
NO_NAMES: Final = Names()
