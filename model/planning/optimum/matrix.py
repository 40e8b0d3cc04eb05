"""A linear program being written down: rows with bounds, columns with entries. It solves nothing."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from model.planning.optimum.problem import Flags, Floats

Entries = Iterable[tuple[int, float]]
"""(row, coefficient)"""


class Matrix(NamedTuple):
    """Columns by their entries; all variables are whole numbers from 0 to their limit."""

    start: NDArray[np.int32]
    row: NDArray[np.int32]
    value: Floats
    least: Floats
    most: Floats
    """Bounds of the rows."""
    limit: Floats
    """Of the columns."""

    @property
    def columns(self) -> int:
        """How many variables."""
        return len(self.start) - 1

    def chosen(self, columns: Flags) -> "Matrix":
        """Without the other columns."""
        lengths = np.diff(self.start)
        entries = np.repeat(columns, lengths)
        start = np.concatenate([[0], np.cumsum(lengths[columns])]).astype(np.int32)
        return self._replace(start=start, row=self.row[entries], value=self.value[entries], limit=self.limit[columns])

    def priced(self, prices: Floats) -> Floats:
        """What each column's entries are worth at these prices of the rows."""
        return np.add.reduceat(self.value * prices[self.row], self.start[:-1])

    def totals(self, values: Floats | NDArray[np.int64]) -> Floats:
        """What each row adds up to."""
        columns = np.repeat(np.arange(self.columns), np.diff(self.start))
        return np.bincount(self.row, self.value * values[columns], len(self.least)).astype(np.float64)

    def with_rows(self, rows: NDArray[np.intp], least: Floats, most: Floats) -> "Matrix":
        """With other bounds for these rows."""
        new_least, new_most = self.least.copy(), self.most.copy()
        new_least[rows], new_most[rows] = least, most
        return self._replace(least=new_least, most=new_most)

    def beyond(self, base: Floats) -> "Matrix":
        """The program of what is added to `base`."""
        there = self.totals(base)
        return self._replace(least=self.least - there, most=self.most - there, limit=self.limit - base)

    def with_columns(self, rows: NDArray[np.intp], values: Floats, limits: Floats) -> "Matrix":
        """With more columns of one entry each."""
        return self._replace(
            start=np.concatenate([self.start, self.start[-1] + 1 + np.arange(len(rows))]).astype(np.int32),
            row=np.concatenate([self.row, rows]).astype(np.int32),
            value=np.concatenate([self.value, values]),
            limit=np.concatenate([self.limit, limits]),
        )

    def with_row(self, coefficients: Floats, least: float, most: float) -> "Matrix":
        """With one more row, dense in `coefficients` of the columns."""
        rows = len(self.least)
        filled = coefficients != 0
        at = self.start[1:][filled]
        return Matrix(
            start=(self.start + np.concatenate([[0], np.cumsum(filled)])).astype(np.int32),
            row=np.insert(self.row, at, rows).astype(np.int32),
            value=np.insert(self.value, at, coefficients[filled]),
            least=np.append(self.least, least),
            most=np.append(self.most, most),
            limit=self.limit,
        )


class MatrixBuilder:
    """Collects rows and columns, in order."""

    def __init__(self) -> None:
        self._start = [0]
        self._row: list[int] = []
        self._value: list[float] = []
        self._least: list[float] = []
        self._most: list[float] = []

    def row(self, least: float, most: float) -> int:
        """A new row and its number."""
        self._least.append(least)
        self._most.append(most)
        return len(self._least) - 1

    def column(self, entries: Entries) -> int:
        """A new column and its number."""
        for row, value in entries:
            self._row.append(row)
            self._value.append(value)
        self._start.append(len(self._row))
        return len(self._start) - 2

    def built(self) -> Matrix:
        """What was collected."""
        return Matrix(
            np.array(self._start, np.int32),
            np.array(self._row, np.int32),
            np.array(self._value, np.float64),
            np.array(self._least, np.float64),
            np.array(self._most, np.float64),
            np.full(len(self._start) - 1, np.inf),
        )
