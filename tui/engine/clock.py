"""Two clocks: the time of day, which may be set back or forward, and a steady one that may not.

How long ago something was, and when something is due, stands on the second one: a machine whose clock is set forward or
back must not make what is fresh look old, or, worse, what is old look fresh.
"""

import time
from collections.abc import Callable

JUMP_MS = 1_000
"""Where both clocks went on differently by less than this, nobody set one: they were read one after the other."""

# Unlike Python's monotonic clock it goes on while the machine sleeps (macOS: under the second name).
_STEADY = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


def wall_clock_ms() -> int:
    """Wall-clock time, ms since the epoch."""
    return time.time_ns() // 1_000_000


def steady_ms() -> int:
    """Ms since an arbitrary moment; only differences mean anything."""
    return time.clock_gettime_ns(_STEADY) // 1_000_000


class RunningClock:
    """The time of day as it was when the clock was last set, and evenly on from there."""

    def __init__(self, given: Callable[[], int] | None = None) -> None:
        """`given`: both clocks in one, as a test has them."""
        self._wall_ms, self._steady_ms = given or wall_clock_ms, given or steady_ms
        self.set()

    def set(self) -> None:
        """Sets it to the machine's time of day."""
        self._offset_ms = self._wall_ms() - self._steady_ms()

    def __call__(self) -> int:
        return self._steady_ms() + self._offset_ms


class Proof:
    """When a source last proved that it is live, as a time of day. Thread-safe."""

    def __init__(self, wall_ms: Callable[[], int], steady_ms: Callable[[], int]) -> None:
        self._wall_ms, self._steady_ms = wall_ms, steady_ms
        self._taken = 0, wall_ms(), steady_ms()
        """The source's word, and both clocks when it came."""

    def take(self, proved_ms: int) -> None:
        """Takes the source's latest time, which may be the same as before."""
        if proved_ms != self._taken[0]:
            self._taken = proved_ms, self._wall_ms(), self._steady_ms()

    @property
    def at_steady_ms(self) -> int:
        """The same on the steady clock."""
        proved_ms, wall_ms, steady_ms = self._taken
        return steady_ms - max(wall_ms - proved_ms, 0)

    @property
    def at_ms(self) -> int:
        """When that was, as the time of day is counted now."""
        proved_ms, wall_ms, steady_ms = self._taken
        set_by_ms = (self._wall_ms() - wall_ms) - (self._steady_ms() - steady_ms)
        return proved_ms + (set_by_ms if abs(set_by_ms) >= JUMP_MS else 0)
