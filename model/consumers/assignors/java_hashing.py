"""The order and the hash of Java's strings, and the orders that its hash tables have, which decide ties in Kafka's
assignors. Knows nothing of Kafka.

Source: `java.lang.String.hashCode` and `compareTo`, `java.util.HashMap` (17). Bins of eight and more entries, which
Java turns into trees, keep the order of insertion here.
"""

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

Hashes = npt.NDArray[np.uint32]

LEAST_TABLE = 16
_WORD = 0xFFFFFFFF


def in_name_order(texts: Iterable[str]) -> list[str]:
    """Texts as Java's `String.compareTo` sorts them."""
    texts = list(texts)
    if all(map(str.isascii, texts)):
        return sorted(texts)
    return sorted(texts, key=lambda text: text.encode("utf-16-be", "surrogatepass"))


def string_hash(text: str) -> int:
    """`String.hashCode` as an unsigned 32-bit number."""
    code = 0
    units: Iterable[int] = text.encode() if text.isascii() else _code_units(text)
    for unit in units:
        code = code * 31 + unit & _WORD
    return code


def signed(code: int) -> int:
    """The same 32 bits as Java's int."""
    return code - (1 << 32) if code >> 31 else code


def _code_units(text: str) -> Iterable[int]:
    data = text.encode("utf-16-be", "surrogatepass")
    return (high << 8 | low for high, low in zip(data[::2], data[1::2], strict=True))


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
