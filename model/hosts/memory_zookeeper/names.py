"""The names of a znode's children as a value: a list, and a chain of the changes since it was made.

Adding and removing take constant time and share everything before them; listing takes as long as the list is.
"""

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

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
