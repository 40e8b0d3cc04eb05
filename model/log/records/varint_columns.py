"""Variable-length integers at many places at once, as `varint` reads one."""

import numpy as np
from numpy.typing import NDArray

from model.log.records.varint import MAX_VARINT

Int64s = NDArray[np.int64]
Flags = NDArray[np.bool_]


def read_varints(data: NDArray[np.uint8], at: Int64s, max_size: int = MAX_VARINT) -> tuple[Int64s, Int64s, Flags]:
    """The numbers at `at`, the places after them, and which of them fit `max_size` bytes and the data.

    Places outside the data are allowed. Numbers that do not fit mean nothing, nor do the places after them.
    """
    low = data.take(at, mode="clip")
    raw = low.astype(np.uint64)
    after = at + 1
    longer = np.flatnonzero(low >= 0x80)
    if len(longer):
        raw &= np.uint64(0x7F)
    for size in range(1, max_size):
        if not len(longer):
            break
        byte = data.take(after[longer], mode="clip")
        raw[longer] |= (byte & 0x7F).astype(np.uint64) << np.uint64(7 * size)
        after[longer] += 1
        longer = longer[byte >= 0x80]
    fits = after <= len(data)
    fits[longer] = False
    if max_size == MAX_VARINT:
        raw &= np.uint64(0xFFFFFFFF)
    number = (raw >> np.uint64(1)).astype(np.int64)
    negative = np.flatnonzero(raw & np.uint64(1))
    number[negative] = ~number[negative]
    return number, after, fits
