"""Where each record starts in many runs of records: the one thing that has to be found one after the other.

In lock-step: a step goes from the n-th to the next record in all runs at once, so the numpy calls are as many as the
longest run has records. Nothing is checked: damaged lengths give wrong starts, never a wrong access or a long loop.
"""

import numpy as np
from numpy.typing import NDArray

Int64s = NDArray[np.int64]
Bytes = NDArray[np.uint8]


def record_starts(data: Bytes, begins: Int64s, counts: Int64s) -> Int64s:
    """The starts of `counts` records each in the runs that begin at `begins`, run after run. `data` is not empty."""
    first = np.cumsum(counts) - counts
    found = np.empty(int(counts.sum()), np.int64)
    longest_first = np.argsort(-counts, kind="stable")
    place, remaining = first[longest_first], counts[longest_first]
    at = begins[longest_first]
    for step in range(int(remaining[0]) if len(remaining) else 0):
        active = int(np.searchsorted(-remaining, -step))
        at, place = at[:active], place[:active]
        found[place + step] = at
        at = _after(data, at)
    return found


def _after(data: Bytes, at: Int64s) -> Int64s:
    """Where the records after those at `at` start."""
    low = data.take(at, mode="clip").astype(np.int64)
    after = at + 1 + (low >> 1)
    longer = np.flatnonzero(low >= 0x80)
    if len(longer):
        at, low = at[longer], low[longer] & 0x7F
        high = data.take(at + 1, mode="clip").astype(np.int64)
        third = data.take(at + 2, mode="clip").astype(np.int64)
        # Three bytes are lengths below a MiB; longer ones are left wrong, for the record by record path.
        is_third = high >= 0x80
        raw = low | (high & 0x7F) << 7 | np.where(is_third, third, 0) << 14
        after[longer] = at + 2 + is_third + (raw >> 1)
    return after
