"""How many partitions each pair of brokers hurts, as a table that fits a screen."""

from collections.abc import Iterable
from itertools import islice

import numpy as np

from spark_tasks.drills.grid import Grid
from spark_tasks.drills.ledger import Ledger
from spark_tasks.drills.numbering import Numbers, integers
from spark_tasks.drills.ranking import HURT
from spark_tasks.drills.results import HeatMap

SIDE = 64
"""Rows and columns of the largest table."""


class Heat:
    """Takes every pair as it passes by."""

    def __init__(self, grid: Grid, racks: tuple[str, ...]) -> None:
        self._grid, self._racks = grid, racks
        self._rack = integers(grid.arrays, "rack")
        self._by_rack = np.zeros((len(racks), len(racks)), np.int64)
        self._worst = np.zeros(grid.width, np.int64)
        """The worst pair of each broker."""

    def take(self, start: int, end: int, hurt: Numbers) -> None:
        """Partitions hurt, of these rows of the grid; 0 where there is no scenario."""
        self._worst = np.maximum(self._worst, hurt.max(axis=0, initial=0))
        self._worst[start:end] = np.maximum(self._worst[start:end], hurt.max(axis=1, initial=0))
        if not len(self._racks) or self._is_small:
            return
        by_column = np.zeros((end - start, len(self._racks)), np.int64)
        for rack in range(len(self._racks)):
            by_column[:, rack] = hurt[:, self._rack == rack].max(axis=1, initial=0)
        named = self._rack[start:end] >= 0
        np.maximum.at(self._by_rack, self._rack[start:end][named], by_column[named])

    def map(self, ledger: Ledger, listed: Iterable[int]) -> HeatMap:
        """By broker while they are few; else by rack; else of `listed`, the brokers that die in the scenarios listed,
        for one half, and of those in the pairs that hurt most for the other.
        """
        if 2 <= len(self._racks) <= SIDE and not self._is_small:
            return HeatMap("rack", self._racks, _rows(np.maximum(self._by_rack, self._by_rack.T)))
        live = np.flatnonzero(self._grid.first.of[:-1] >= 0)
        by_worst_pair: list[int] = live[np.argsort(-self._worst[live], kind="stable")].tolist()
        first = islice(dict.fromkeys(listed), SIDE // 2)
        some = np.array(sorted(islice(dict.fromkeys((*first, *by_worst_pair)), SIDE)), np.int64)
        table = np.zeros((len(some), len(some)), np.int64)
        for place, row in enumerate(some.tolist()):
            counts = np.where(self._grid.allowed(row, row + 1), ledger.counts(row, row + 1)[HURT], 0)
            table[place] = counts[0, some]
        ids = integers(self._grid.arrays, "brokers")[some]
        return HeatMap("broker", tuple(map(str, ids.tolist())), _rows(np.maximum(table, table.T)))

    @property
    def _is_small(self) -> bool:
        return int((self._grid.first.of[:-1] >= 0).sum()) <= SIDE


def _rows(table: Numbers) -> tuple[tuple[int, ...], ...]:
    return tuple(map(tuple, table.tolist()))
