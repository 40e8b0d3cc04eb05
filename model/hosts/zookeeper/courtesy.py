"""How much may be asked of a server at a time: less while it answers slower than it is used to. Pure; sends nothing."""

import msgspec

SLOW = 4.0
"""So many times its own usual latency, and a server has too much to do."""

FAST_MS = 50.0
"""What is answered within this is fast enough, whatever is usual."""

WEIGHT = 0.2
"""Of the newest answer in the running mean."""

FORGETTING = 1.002
"""The best latency rises so much with every answer: a server that stays slower is measured by that in the end."""

STEP = 0.1
LEAST = 1 / 32
LONGEST_PAUSE_S = 1.0


class Limits(msgspec.Struct, frozen=True):
    """The operator's ceilings. Raises ValueError, as one line."""

    in_flight: int = 500
    """Requests sent and not answered."""
    reads_per_s: float = 0.0
    """Znodes asked for each second; 0: no ceiling."""

    def __post_init__(self) -> None:
        if self.in_flight < 1:
            raise ValueError(f"{self.in_flight} requests in flight: at least one is needed")
        if not 0 <= self.reads_per_s < float("inf"):
            raise ValueError(f"{self.reads_per_s:g} reads a second: must be a number above 0, or 0 for no ceiling")


class Courtesy(msgspec.Struct, frozen=True):
    """What a connection has learnt of its server's latency, in ms, and which share of the usual may be in flight."""

    usual_ms: float = 0.0
    latency_ms: float = 0.0
    share: float = 1.0

    @property
    def is_holding_back(self) -> bool:
        """Whether less is asked than could be."""
        return self.share < 1.0

    def after(self, latency_ms: float) -> "Courtesy":
        """One answer later: half as much where answers became slow, a step more where they are not."""
        usual = min(latency_ms, self.usual_ms * FORGETTING) if self.usual_ms else latency_ms
        mean = self.latency_ms + WEIGHT * (latency_ms - self.latency_ms) if self.usual_ms else latency_ms
        is_slow = mean > max(FAST_MS, SLOW * usual)
        share = max(self.share / 2, LEAST) if is_slow else min(self.share + STEP, 1.0)
        return Courtesy(usual, mean, share)

    def in_flight(self, most: int) -> int:
        """Requests that may be unanswered where `most` are the usual; at least one."""
        return max(int(most * self.share), 1)

    def pause_s(self, most: int) -> float:
        """To wait before a request: where even one at a time is more than the share, it is asked less often."""
        part = most * self.share
        return 0.0 if part >= 1 else min(self.latency_ms / 1000 * (1 / part - 1), LONGEST_PAUSE_S)
