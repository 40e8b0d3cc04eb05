"""What deaths change in the counts, by kind of partition and dead members; each case is decided once."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from model.controller.generations import Generation
from spark_tasks.drills.numbering import Numbers, numbered
from spark_tasks.drills.reaction import PartitionKind, before, fate
from spark_tasks.drills.results import NAMES

METRICS = len(NAMES)
Chosen = NDArray[Any] | slice
Vector = tuple[int, ...]
"""METRICS counts where the controller lives, then METRICS that come on top where it is among the dead."""


class Change(NamedTuple):
    """What comes on top, and the member that leads then and did not with fewer deaths; -1: nobody new."""

    vector: Vector
    gained: int


class Fates:
    """Of partitions under one set of rules. `ruled`: a controller is in office."""

    def __init__(self, rules: Generation, *, ruled: bool) -> None:
        @cache
        def play(kind: PartitionKind, dead: int) -> Change:
            lived = fate(kind, dead, rules, ruled=ruled, ruler_dies=False)
            died = fate(kind, dead, rules, ruled=ruled, ruler_dies=True)
            extra = tuple(there - here for here, there in zip(lived.counts, died.counts, strict=True))
            return Change((*lived.counts, *extra), lived.leader)

        self._play = play

    def at_rest(self, kind: PartitionKind) -> Change:
        """Nobody of it dies. Somebody else does, and so the controller elects where it can."""
        return self._play(kind, 0)

    def one(self, kind: PartitionKind, dead: int) -> Change:
        """These die, on top of nobody."""
        after, rest = self._play(kind, dead), self._play(kind, 0)
        vector = tuple(one - other for one, other in zip(after.vector, rest.vector, strict=True))
        return Change(vector, -1 if after.gained == rest.gained else after.gained)

    def two(self, kind: PartitionKind, dead: int, others: int) -> Change:
        """Both die, on top of what comes of the one and of the other alone: the Möbius transform's next term."""
        both, rest = self._play(kind, dead | others), self._play(kind, 0)
        alone = (self._play(kind, dead), self._play(kind, others))
        parts = zip(both.vector, alone[0].vector, alone[1].vector, rest.vector, strict=True)
        known = {rest.gained, alone[0].gained, alone[1].gained}
        return Change(tuple(b - x - y + r for b, x, y, r in parts), -1 if both.gained in known else both.gained)


def as_it_is(kind: PartitionKind) -> Change:
    """The partition before anything happens, as if it were a change."""
    now = before(kind)
    return Change((*now.counts, *(0,) * METRICS), now.leader)


class Changes(NamedTuple):
    """What changes in some rows: the number of each row's case, and the change by case."""

    case: Numbers  # [n]
    changes: Sequence[Change]

    def rows(self, wanted: Callable[[Change], bool]) -> Chosen | None:
        """The rows of such changes; None: there are none."""
        flags = [wanted(change) for change in self.changes]
        if not any(flags):
            return None
        return slice(None) if all(flags) else np.array(flags)[self.case]

    def total(self, weight: Numbers | None) -> Numbers:
        """The sum of all."""
        cases = np.bincount(self.case, weight, len(self.changes)).astype(np.int64)
        return cases @ self.vectors()

    def vectors(self) -> Numbers:
        """int64[cases, 2 * METRICS]"""
        return np.array([change.vector for change in self.changes], np.int64).reshape(-1, 2 * METRICS)


def changes_of(
    kinds: Sequence[PartitionKind], kind: Numbers, deaths: Sequence[Numbers | int], play: Callable[..., Change]
) -> Changes:
    """Of rows of these kinds. `deaths`: the dead members as bits, by row or of all, as often as `play` takes them."""
    case, row = numbered([kind, *(dead for dead in deaths if not isinstance(dead, int))])
    alike = [[dead] * len(row) if isinstance(dead, int) else dead[row].tolist() for dead in deaths]
    found = zip(kind[row].tolist(), *alike, strict=True)
    return Changes(case, [play(kinds[number], *dead) for number, *dead in found])
