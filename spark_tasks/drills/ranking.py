"""The worst of many scenarios, kept while they pass by."""

import numpy as np

from spark_tasks.drills.fates import METRICS
from spark_tasks.drills.numbering import Column, Numbers
from spark_tasks.drills.results import NAMES

OFFLINE, UNCLEAN, HURT = (NAMES.index(name) for name in ("newly_offline", "unclean", "hurt"))
BEHIND, MOVED = NAMES.index("under_replicated"), NAMES.index("leaders_moved")
MOST, LOST = METRICS, METRICS + 1
"""Rows below the counts: the most loaded broker's leaders, and 1 where a KRaft quorum loses its majority."""
ROWS = METRICS + 2


class Ranking:
    """`listed` scenarios are kept, and of each count the worst one, in whatever order they come."""

    def __init__(self, listed: int) -> None:
        self.scenarios = self.hurting = 0
        self.worst: dict[int, tuple[int, Numbers]] = {}
        """Row of the counts → index and column."""
        self._listed = listed
        self._index = np.empty(0, np.int64)
        self._facts = np.empty((ROWS, 0), np.int64)

    def take(self, index: Numbers, facts: Numbers) -> None:
        """Scenarios, each with an index that names it: int64[ROWS, S], counts and then MOST and LOST."""
        if not len(index):
            return
        self.scenarios += len(index)
        self.hurting += int((facts[[HURT, LOST]] > 0).any(axis=0).sum())
        for row, values in enumerate(facts):
            place = int(values.argmax())
            known, before = self.worst.get(row, (0, None))
            rank = int(values[place]), -int(index[place])
            if rank > ((0, 0) if before is None else (int(before[row]), -known)):
                self.worst[row] = int(index[place]), facts[:, place]
        some = _worst(facts, self._listed)
        index, facts = np.append(self._index, index[some]), np.append(self._facts, facts[:, some], axis=1)
        order = np.argsort(index)  # of what is as bad, the first stays
        best = order[_worst(facts[:, order], self._listed)]
        self._index, self._facts = index[best], facts[:, best]

    def listed(self) -> list[tuple[int, Numbers]]:
        """Index and facts of the worst, the worst first."""
        order = np.lexsort((self._index, -self._facts[MOST], *(-key for key in reversed(_keys(self._facts)))))
        return [(int(self._index[place]), self._facts[:, place]) for place in order]


def _keys(facts: Numbers) -> tuple[Numbers, Numbers]:
    """What is worse is higher: data or service lost for all, then for some; then the work that it makes."""
    above = int(facts[[HURT, MOVED]].max()) + 1
    gone = facts[OFFLINE] + facts[UNCLEAN]
    gone = gone + facts[LOST] * (int(gone.max()) + 1)  # nothing is elected any more: worse than all else
    return gone * above + facts[HURT], facts[BEHIND] * above + facts[MOVED]


def _worst(facts: Numbers, count: int) -> Column:
    """The places of the `count` worst, in ascending order."""
    first, second = _keys(facts)
    if len(first) <= count:
        return np.arange(len(first))
    least = np.partition(first, len(first) - count)[len(first) - count]
    sure, ties = np.flatnonzero(first > least), np.flatnonzero(first == least)
    missing = count - len(sure)
    tied = second[ties]
    least = np.partition(tied, len(tied) - missing)[len(tied) - missing]
    above = ties[tied > least]
    level = ties[tied == least][: missing - len(above)]
    return np.sort(np.concatenate([sure, above, level]))
