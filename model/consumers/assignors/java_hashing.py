"""The orders that Java's hash tables have, which decide ties in Kafka's assignors. Knows nothing of Kafka.

Source: `java.util.HashMap` (17). Bins of eight and more entries, which Java turns into trees, keep the order of
insertion here.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from model.consumers.assignors.java_strings import string_hash

Hashes = npt.NDArray[np.uint32]

LEAST_TABLE = 16


def string_hashes(texts: Sequence[str]) -> Hashes:
    """uint32[N]: `String.hashCode` of every text."""
    return np.fromiter(map(string_hash, texts), dtype=np.uint32, count=len(texts))


def grown_table(size: int) -> int:
    """Buckets of a HashMap that began empty and was given `size` entries."""
    table = LEAST_TABLE
    while size > table * 3 // 4:
        table *= 2
    return table


def copied_table(size: int) -> int:
    """Buckets of a HashSet that was made from a collection of `size` entries."""
    table, wanted = LEAST_TABLE, max(int(size / 0.75) + 1, LEAST_TABLE)
    while table < wanted:
        table *= 2
    return table


def buckets(hashes: Hashes, table: int) -> Hashes:
    """uint32[N]: the bucket each entry is in."""
    return (hashes ^ (hashes >> np.uint32(16))) & np.uint32(table - 1)


def walk(hashes: Hashes, table: int | None = None) -> npt.NDArray[np.intp]:
    """intp[N]: the order in which a table is walked whose entries were put in as `hashes` are listed."""
    return np.argsort(buckets(hashes, table or grown_table(len(hashes))), kind="stable")


class HashSet:
    """Just so much of `java.util.HashSet` that it can tell which element comes first."""

    def __init__(self) -> None:
        self._spread: dict[int, int] = {}
        self._table = LEAST_TABLE

    def __len__(self) -> int:
        return len(self._spread)

    def add(self, element: int, code: int) -> None:
        """Puts in an element whose hash code is `code`."""
        self._spread[element] = code ^ (code >> 16)
        if len(self._spread) > self._table * 3 // 4:
            self._table *= 2

    def remove(self, element: int) -> None:
        """Takes an element out; the table stays as large as it was."""
        del self._spread[element]

    def first(self) -> int:
        """The element that a walk begins with."""
        mask = self._table - 1
        return min(self._spread, key=lambda element: self._spread[element] & mask)
