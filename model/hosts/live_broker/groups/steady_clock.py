"""A clock for sessions and delays: it tells the time of day, and goes on evenly when somebody sets that."""

import time
from collections.abc import Callable

_NS_PER_MS = 1_000_000


def steady_clock() -> Callable[[], int]:
    """Ms since the epoch, as the machine's clock says now, and evenly from then on."""
    offset_ns = time.time_ns() - time.monotonic_ns()
    return lambda: (offset_ns + time.monotonic_ns()) // _NS_PER_MS
