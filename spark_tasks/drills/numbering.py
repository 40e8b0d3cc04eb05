"""Rows that are alike get the same number, 0, 1, 2, …: what is slow is then done once a number and not once a row."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spark_tasks.analysis import Arrays

Column = NDArray[Any]
Numbers = NDArray[np.int64]

DENSE = 1 << 20
"""Tables of so many entries are quicker than sorting."""


def integers(arrays: Arrays, name: str) -> Numbers:
    """An array of integers as int64."""
    return arrays[name].astype(np.int64, copy=False)


def flags(arrays: Arrays, name: str) -> NDArray[np.bool_]:
    """An array of flags."""
    return arrays[name].astype(np.bool_, copy=False)


def numbered(columns: Sequence[Column]) -> tuple[Numbers, Numbers]:
    """The number of each row, and for each number one row that has it. Columns are of integers or flags."""
    numbers, size = np.zeros(len(columns[0]), np.int64), 1
    for column in columns if len(columns[0]) else ():
        low, span = int(column.min()), int(column.max()) - int(column.min()) + 1
        if span == 1:
            continue
        values: Column = column.astype(np.int64) - low
        if span > DENSE:
            values, span = _sorted(values)
        if size * span > DENSE:
            numbers, size = _dense(numbers, size)
        if size * span > DENSE * DENSE:
            numbers, size = _sorted(numbers)
        numbers *= span
        numbers += values
        size *= span
    numbers, size = _dense(numbers, size)
    row = np.empty(size, np.int64)
    row[numbers] = np.arange(len(numbers))
    return numbers, row


def _dense(numbers: Numbers, size: int) -> tuple[Numbers, int]:
    """The same without gaps."""
    if size == 1:
        return numbers, 1 if len(numbers) else 0
    if size > 4 * DENSE:
        return _sorted(numbers)
    seen = np.bincount(numbers, minlength=size) > 0
    found = int(seen.sum())
    return (numbers, size) if found == size else ((np.cumsum(seen) - 1)[numbers], found)


def _sorted(numbers: Numbers) -> tuple[Numbers, int]:
    distinct, places = np.unique(numbers, return_inverse=True)
    return places, len(distinct)


def summed(keys: Numbers, counts: Numbers | None = None, span: int = 0) -> tuple[Numbers, Numbers]:
    """Distinct keys in ascending order, and how many of each, or the sum of their counts. `span`: all are below."""
    if 0 < span <= max(4 * DENSE, 4 * len(keys)):
        sums = np.bincount(keys, counts, span).astype(np.int64)
        found = np.flatnonzero(sums)
        return found, sums[found]
    if counts is None:
        return np.unique(keys, return_counts=True)
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    starts = np.flatnonzero(np.diff(keys, prepend=keys[0] - 1)) if len(keys) else np.empty(0, np.int64)
    return keys[starts], np.add.reduceat(counts[order], starts) if len(keys) else counts
