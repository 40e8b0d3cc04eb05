"""Counts of numbers by size: exact below 64, in classes at most 1/32 wide above. Adding up is exact."""

import msgspec
import numpy as np
from numpy.typing import NDArray

_EXACT_BITS = 5
_HALF = 1 << _EXACT_BITS


class Histogram(msgspec.Struct, omit_defaults=True):
    """Numbers from 0 on. `classes` is class → how many; the rest is exact."""

    count: int = 0
    total: int = 0
    smallest: int = 0
    largest: int = 0
    classes: dict[int, int] = {}

    def add(self, numbers: NDArray[np.int64]) -> None:
        """Counts these in; none may be negative."""
        if len(numbers):
            found, counts = np.unique(_class_of(numbers), return_counts=True)
            classes = dict(zip(found.tolist(), counts.tolist(), strict=True))
            extremes = int(numbers.min()), int(numbers.max())
            self.merge(Histogram(len(numbers), int(numbers.sum()), *extremes, classes))

    def merge(self, other: "Histogram") -> None:
        """Counts in what another has counted."""
        if not other.count:
            return
        self.smallest = min(self.smallest, other.smallest) if self.count else other.smallest
        self.largest = max(self.largest, other.largest)
        self.count += other.count
        self.total += other.total
        for number, count in other.classes.items():
            self.classes[number] = self.classes.get(number, 0) + count

    @property
    def median(self) -> int:
        """The middle of the class that the lower median lies in; 0 without numbers."""
        seen = 0
        for number in sorted(self.classes):
            seen += self.classes[number]
            if 2 * seen >= self.count:
                low, high = _lowest(number), _lowest(number + 1) - 1
                return min(max((low + high) // 2, self.smallest), self.largest)
        return 0

    def by_powers(self) -> list[tuple[int, int]]:
        """How many lie below each power of two, but not below the one before it; (limit, count), none of them empty."""
        powers: dict[int, int] = {}
        for number, count in self.classes.items():
            limit = 1 << _lowest(number).bit_length()
            powers[limit] = powers.get(limit, 0) + count
        return sorted(powers.items())


def _class_of(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    exponents = np.frexp(numbers.astype(np.float64))[1].astype(np.int64) - 1
    shift = np.maximum(exponents - _EXACT_BITS, 0)
    return (shift << _EXACT_BITS) + (numbers >> shift)


def _lowest(number: int) -> int:
    """The smallest number of a class."""
    if number < 2 * _HALF:
        return number
    shift = (number >> _EXACT_BITS) - 1
    return (number - (shift << _EXACT_BITS)) << shift
